"""What the page's sections are made of: its style, tables, figures, links to data."""

import base64
from html import escape

import palette
from chart import times, with_unit

STYLE = """
:root{--bg:#fdfdfc;--card:#fff;--side:#f3f1f7;--fg:#1c2126;--dim:#5d6770;--line:#dfe3e6;
--bad:#b3261e;--badbg:#fdecea;--good:#0a7d43;--warn:#8a5a00;--warnbg:#fff4dc;LIGHT}
@media (prefers-color-scheme:dark){:root{--bg:#14181b;--card:#1b2024;--side:#231f2b;--fg:#e4e8ea;
--dim:#9aa5ad;--line:#343c42;--bad:#ff8a80;--badbg:#3a1f1d;--good:#3ddc84;--warn:#ffcc66;
--warnbg:#3a2f17;DARK}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:20px 24px 60px;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:26px;margin:8px 0 2px}h2{font-size:20px;margin:36px 0 8px;padding-top:10px;
border-top:1px solid var(--line)}h3{font-size:16px;margin:20px 0 6px}
p,ul{margin:6px 0 10px}.dim{color:var(--dim)}a{color:inherit}code{font-size:12.5px;
overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13.5px;margin:8px 0 14px}
th,td{text-align:right;padding:4px 8px;border-bottom:1px solid var(--line);
vertical-align:top}th{font-weight:600;color:var(--dim);font-size:12.5px}
.l{text-align:left}.whole{white-space:nowrap}td{font-variant-numeric:tabular-nums}
.lost{color:var(--bad);font-weight:600}.won{color:var(--good);font-weight:600}
.worse{color:var(--bad);background:var(--badbg);padding:0 4px;border-radius:3px}
.note{background:var(--warnbg);border-left:4px solid var(--warn);padding:8px 12px;margin:10px 0}
.alarm{background:var(--badbg);border-left:4px solid var(--bad);padding:8px 12px;margin:10px 0}
.grid2{display:grid;grid-template-columns:repeat(auto-fill,minmax(430px,1fr));gap:14px;
align-items:start}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;
padding:10px 12px 6px}figure.there{background:var(--side)}
figcaption{font-size:13.5px;font-weight:600;margin-bottom:4px}figcaption span{font-weight:400;
color:var(--dim)}
svg{width:100%;height:auto;display:block;font:11px system-ui,sans-serif}svg text{fill:var(--fg)}
svg .label{fill:var(--dim)}svg .ours{font-weight:700}
svg .grid{stroke:var(--line);stroke-width:1}svg .axis{stroke:var(--dim);stroke-width:1}
svg .whisker{stroke:var(--fg);stroke-width:1.2;stroke-opacity:.75}
nav a{margin-right:14px}dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;
font-size:13.5px}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
""".replace("LIGHT", palette.variables(False)).replace("DARK", palette.variables(True)).strip()


def table(head, rows, left=(0,)):
    """`rows` are lists of cells that are HTML already; `left` names the columns that begin left."""
    def cells(tag, row):
        return "".join(f'<{tag}{" class=l" if at in left else ""}>{cell}</{tag}>'
                       for at, cell in enumerate(row))
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (f'<div class="wide"><table><thead><tr>{cells("th", head)}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def items(lines):
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def counted(number, one, many):
    return f"{number} {one if number == 1 else many}"


def figure_of(one, unit):
    text = whole(escape(with_unit(one.median, unit)))
    if one.count > 1:
        text += f' <span class="dim">±{one.spread() * 100:.0f}%</span>'
    return text


def factor_text(one):
    cls = "lost" if one.median < 1 else "won"
    text = f'<span class="{cls}">{times(one.median)}</span>'
    if one.count > 1:
        text += f' <span class="dim">{times(one.low)} to {times(one.high)}</span>'
    return whole(text)


def whole(html):
    return f'<span class="whole">{html}</span>'


def data_link(name, text, kind):
    data = base64.b64encode(text.encode("utf-8")).decode("ascii")
    return (f'<a download="{escape(name, quote=True)}" href="data:{kind};base64,{data}">'
            f"{escape(name)}</a>")
