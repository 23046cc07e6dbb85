"""The page: one file of HTML that loads nothing. Everything from outside goes through escape()."""

import statistics
from dataclasses import dataclass, field
from html import escape

import svg
from chart import times, with_unit
from figures import losing_first
from history import TOLERANCE
from parts import STYLE, counted, data_link, factor_text, figure_of, items, table, whole
from plan import OURS
from run import FAILED, FULL, NO_TIME

TITLE = "Hawthorn beside its peers"


@dataclass
class Content:
    """What a page is made of."""

    date: str
    commit: str
    minutes: float
    seconds: float
    machine: dict
    engines: dict  # name -> run.Engine
    not_built: list
    settings: dict  # name -> lines that hawthorn-bench said of its settings
    plan: object
    documents: tuple
    compared: dict  # item key -> list of Compared
    charts: dict  # document key -> list of Chart
    runs: list
    changes: dict = field(default_factory=dict)
    regressions: list = field(default_factory=list)
    earlier: list = field(default_factory=list)  # reports of this machine
    broken_history: int = 0
    files: dict = field(default_factory=dict)  # name -> text, embedded

    def all_compared(self):
        return [one for rows in self.compared.values() for one in rows]


def render(content):
    parts = [
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{TITLE}</title>", f"<style>{STYLE}</style>", "</head><body>",
        _head(content), _assertions(content), _failed(content), _glance(content), _losing(content),
        _regressions(content),
        _unfit(content),
        *(_document(content, document) for document in content.documents),
        _method(content), _settings(content), _machine(content), _history(content),
        _downloads(content), "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _head(content):
    rows = content.all_compared()
    lost = sum(one.lost for one in rows)
    peers = {engine for one in rows for engine in one.factors}
    verdict = (f"{counted(len(rows), 'row', 'rows')} against the best of "
               f"{counted(len(peers), 'peer', 'peers')}: "
               f'<span class="lost">{lost} lost</span>, '
               f'<span class="won">{len(rows) - lost} won</span>.' if rows
               else '<span class="lost">No row could be compared.</span>')
    links = "".join(f'<a href="#{escape(one.key)}">{escape(one.title)}</a>'
                    for one in content.documents)
    return (f"<h1>{TITLE}</h1>"
            f'<p class="dim">{escape(content.date)}, commit {escape(content.commit)}, a budget of '
            f"{content.minutes:g} min, of which it took {content.seconds / 60:.1f}; "
            f"{escape(content.machine.get('CPU', ''))}, "
            f"{escape(content.machine.get('memory', ''))}</p>"
            f"<p>{verdict} Each figure is a factor over a peer in the same interleaved run: how "
            "many times better ours is, for rates, times and sizes alike, so that below 1 is lost. "
            "Behind it stand the least and the largest of the rounds.</p>"
            f'{_counts(content)}<nav>{links}<a href="#method">Method</a>'
            '<a href="#data">Data</a></nav>')


def _unfair(content):
    """The engines that took part and were built with assertions."""
    ran = {run.engine for run in content.runs if run.has_figures()}
    return [name for name, one in content.engines.items() if one.assertions and name in ran]


def _assertions(content):
    names = _unfair(content)
    if not names:
        return ""
    lines = [f'<b class="lost">{escape(name)}</b>: {escape(content.engines[name].build())}'
             for name in names]
    return ('<div class="alarm" id="assertions"><b>Built with assertions</b>, which cost time: '
            "their figures stand in red, and there is no factor over any of them. "
            "Release builds come from <code>make peers</code>."
            f"{items(lines)}</div>")


def _counts(content):
    """Where to look besides the rows that are lost, with how many there are."""
    failed = sum(run.status == FAILED for run in content.runs)
    found = [(failed, "failed", "run failed", "runs failed"),
             (len(_unfair(content)), "assertions", "engine has assertions on",
              "engines have assertions on"),
             (len(content.regressions), "regressions", "row is worse than before",
              "rows are worse than before"),
             (len(_what_did_not_fit(content)), "unfit", "thing did not fit into the budget",
              "things did not fit into the budget")]
    links = [f'<a href="#{key}">{counted(count, one, many)}</a>'
             for count, key, one, many in found if count]
    return f"<p>{'; '.join(links)}.</p>" if links else ""


def _glance(content):
    """The first row of every item against every peer: one look for the whole."""
    firsts = [rows[0] for rows in content.compared.values() if rows]
    peers = sorted({engine for one in firsts for engine in one.factors},
                   key=lambda engine: (-sum(engine in one.factors for one in firsts), engine))
    if not firsts:
        return ""
    body = []
    for one in firsts:
        cells = []
        for engine in peers:
            factor = one.factors.get(engine)
            cells.append('<span class="dim">–</span>' if factor is None else
                         f'<span class="{"lost" if factor.median < 1 else "won"}">'
                         f'{times(factor.median)}</span>')
        body.append([whole(escape(one.item.key)), escape(one.row.label),
                     figure_of(one.ours, one.unit)] + cells)
    return ("<h2>The main rate of each item: times each peer</h2>" +
            table(["item", "row", "Hawthorn"] + [escape(engine) for engine in peers], body,
                   (0, 1)))


def _failed(content):
    parts = []
    failed = [run for run in content.runs if run.status == FAILED]
    if failed:
        lines = [f"<b>{escape(run.engine)}</b>, {escape(run.item)}, round {run.round + 1}: "
                 f"{escape(run.reason)}" for run in failed]
        parts.append('<div class="alarm" id="failed"><b>'
                     f"{counted(len(failed), 'run', 'runs')} failed</b>: an answer was wrong, or "
                     f"the process ended. None of their figures counts.{items(lines)}</div>")
    full = {(run.engine, run.item): run for run in content.runs if run.status == FULL}
    if full:
        lines = [f"<b>{escape(engine)}</b>, {escape(item)}: {escape(run.reason)}"
                 for (engine, item), run in full.items()]
        parts.append(f'<div class="note"><b>Ran full</b>; the figures are those of what it took in.'
                     f"{items(lines)}</div>")
    return "".join(parts)


def _unfit(content):
    missing = _what_did_not_fit(content)
    if not missing:
        return ""
    return ('<div class="note" id="unfit"><b>What did not fit into the budget</b>'
            f"{items(missing)}</div>")


def _what_did_not_fit(content):
    lines = [f"<b>{escape(item.key)}</b>: {escape(why)}" for item, why in content.plan.not_run]
    for job in content.plan.jobs:
        whys = {}
        for engine, why in job.left_out:
            whys.setdefault(why, []).append(engine)
        for why, engines in whys.items():
            lines.append(f"<b>{escape(job.item.key)}</b> without {escape(', '.join(engines))}: "
                         f"{escape(why)}")
    never = {}
    for run in content.runs:
        if run.status == NO_TIME and run.reason.startswith("not run"):
            never.setdefault((run.item, run.round), []).append(run.engine)
        elif run.status == NO_TIME:
            lines.append(f"<b>{escape(run.item)}</b>, round {run.round + 1}: "
                         f"{escape(run.engine)} {escape(run.reason)}")
    for (item, number), engines in never.items():
        lines.append(f"<b>{escape(item)}</b>, round {number + 1}: no time was left for "
                     f"{escape(', '.join(engines))}")
    return lines


def _regressions(content):
    if not content.regressions:
        return ""
    rows = {one.key: one for one in content.all_compared()}
    lines = []
    for change in content.regressions:
        one = rows.get(change.key)
        name = f"{one.item.key}: {one.row.label}" if one else change.key
        lines.append(f"<b>{escape(name)}</b>: {times(change.now)} times {escape(change.peer)}, "
                     f"{times(change.before)} in the median of "
                     f"{counted(change.reports, 'earlier report', 'earlier reports')} "
                     f"(−{(1 - change.part) * 100:.0f}%"
                     f"{', within the spread of the rounds' if change.within_spread else ''})")
    return ('<div class="alarm" id="regressions"><b>'
            f"{counted(len(lines), 'row is', 'rows are')} more than {TOLERANCE * 100:.0f}% below "
            "earlier reports of this machine and these sizes</b>, in the median over the peers."
            f"{items(lines)}</div>")


def _change(content, key):
    change = content.changes.get(key)
    if change is None:
        return '<span class="dim">–</span>'
    percent = round((change.part - 1) * 100)
    text = f"{percent:+d}%".replace("-", "−") if percent else "0%"
    return f'<span class="worse">{text}</span>' if change.part < 1 - TOLERANCE else text


def _rows(content, rows, with_item):
    head = (["item"] if with_item else []) + ["row", "Hawthorn", "best peer", "its figure",
                                              "factor", "all others", "since"]
    body = []
    for one in rows:
        best = one.best_peer
        others = ", ".join(f"{escape(engine)} {times(factor.median)}" for engine, factor in
                           sorted(one.factors.items(), key=lambda pair: pair[1].median)
                           if engine != best)
        unfair = ", ".join(f'<span class="lost">{escape(engine)} '
                           f"{escape(with_unit(found.median, one.unit))}, assertions on</span>"
                           for engine, found in one.unfair.items())
        body.append(([whole(escape(one.item.key))] if with_item else []) + [
            escape(one.row.label), figure_of(one.ours, one.unit), escape(best),
            figure_of(one.peers[best], one.unit), factor_text(one.factors[best]),
            f'<span class="dim">{others}</span>{", " if others and unfair else ""}{unfair}',
            _change(content, one.key)])
    at = 1 if with_item else 0
    return table(head, body, {0, at, at + 2, at + 5})


def _losing(content):
    lost = [one for one in losing_first(content.all_compared()) if one.lost]
    text = '<h2 id="lost">Rows that we lose</h2>'
    if not lost:
        return text + "<p>None of those that were run.</p>"
    return text + ("<p>Against the best peer of each row, whatever it keeps at a crash "
                   f"(lmdb-writemap keeps nothing).</p>{_rows(content, lost, True)}")


def _chart(chart, where, there):
    better = "less is better" if chart.better == "less" else "more is better"
    drawn = svg.draw(chart)
    if not drawn:
        return ""
    cls = ' class="there"' if there else ""
    return (f"<figure{cls}><figcaption>{escape(chart.title)} "
            f"<span>{where}; {better}</span></figcaption>{drawn}</figure>")


def _document(content, document):
    jobs = [job for job in content.plan.jobs if job.item.document == document.key]
    parts = [f'<h2 id="{escape(document.key)}">{escape(document.title)}</h2>',
             f"<p>The shape is that of <i>{escape(document.source)}</i>: "
             f"{escape(document.shape)}. It ran on {escape(document.machine)}.</p>",
             f'<p class="dim">Settings there: {escape("; ".join(document.settings))}.</p>']
    parts += [f'<p class="dim">{escape(note)}</p>' for note in document.notes]
    for item, why in content.plan.not_run:
        if item.document == document.key:
            parts.append(f'<p class="note">{escape(item.title)}: {escape(why)}.</p>')
    if jobs:
        parts.append(_setup(content, jobs))
    rows = [one for job in jobs for one in content.compared.get(job.item.key, [])]
    if document.published:
        parts.append("<h3>Beside the document's figures</h3>" + _published(document, rows))
    there = [_chart(chart, "the document", True) for chart in document.charts]
    here = [_chart(chart, "here", False) for chart in content.charts.get(document.key, [])]
    paired = [card for pair in zip(there, here) for card in pair]
    paired += there[len(here):] + here[len(there):]
    if paired:
        parts.append(f'<div class="grid2">{"".join(paired)}</div>')
    if rows:
        parts.append("<h3>All rows, those that we lose first</h3>" +
                     _rows(content, losing_first(rows), len(jobs) > 1))
    return "\n".join(parts)


def _setup(content, jobs):
    rows = []
    for job in jobs:
        item = job.item
        memory = (f"a cap of {with_unit(job.cap_bytes, 'bytes')}, page cache included"
                  if job.cap_bytes else f"{with_unit(job.memory_bytes, 'bytes')} for each engine")
        ratio = f"{job.memory_of_shape():.2g} times it"
        if item.ratio:
            ratio += f"; the document {item.ratio:.2g}"
        part = job.size / item.document_size
        rows.append([escape(item.title), f"{item.document_size:,}", f"{job.size:,} "
                     f'<span class="dim">{part * 100:.2g}%</span>', escape(memory),
                     escape(ratio), _rounds(content, job), escape(", ".join(job.engines)),
                     f"<code>hawthorn-bench {escape(' '.join(job.arguments()))}</code>"])
    return table(["", "size there", "size here", "memory", "keys and values", "rounds", "engines",
                   "command, for each engine"], rows, (0, 3, 4, 6, 7))


def _rounds(content, job):
    """How many rounds of ours have figures, and of how many where that is fewer."""
    done = sum(run.item == job.item.key and run.engine == OURS and run.has_figures()
               for run in content.runs)
    return str(done) if done == job.rounds else f"{done} of {job.rounds}"


def _published(document, rows):
    found = {(one.item.key, one.row.phase, one.row.metric): one for one in rows}
    body = []
    for figure in document.published:
        one = found.get((figure.item, figure.phase, figure.metric))
        peer = next((engine for engine in figure.ours_peer if one and engine in one.factors), None)
        there = (f"{escape(figure.engine)} {escape(with_unit(figure.value, figure.unit))}, "
                 f"{escape(figure.peer)} {escape(with_unit(figure.peer_value, figure.unit))}")
        cls = "lost" if figure.factor < 1 else "won"
        line = [escape(figure.label), there, f'<span class="{cls}">{times(figure.factor)}</span>']
        if peer:
            line += [f"{figure_of(one.ours, one.unit)}, {escape(peer)} "
                     f"{figure_of(one.peers[peer], one.unit)}", factor_text(one.factors[peer])]
        elif any(one and engine in one.unfair for engine in figure.ours_peer):
            peer = next(engine for engine in figure.ours_peer if engine in one.unfair)
            line += [f"{figure_of(one.ours, one.unit)}, <span class=\"lost\">{escape(peer)} "
                     f"{figure_of(one.unfair[peer], one.unit)}</span>",
                     '<span class="lost">assertions on</span>']
        else:
            ran = any(one.item.key == figure.item for one in rows)
            line += [f'<span class="dim">{"no figure" if ran else "not run"}</span>',
                     '<span class="dim">–</span>']
        body.append(line)
    return table(["", "the document, on its machine", "its factor", "here", "our factor"], body,
                  (0, 1, 3))


def _method(content):
    plan = content.plan
    skipped = [name for name in content.engines
               if name not in {engine for job in plan.jobs for engine in job.engines}]
    lines = [
        "Each run is a process of its own with a new database; engines take turns round after "
        "round, item after item, and who is first changes from round to round.",
        "hawthorn-bench checks every answer; figures of a run that fails a check do not count, and "
        "it stands above as failed.",
        "A factor is that of ours and the peer in the same round; the table has the median of the "
        "rounds, the least and the largest. ± is half of that range by the median. Of one round "
        "there is no spread.",
        "Sizes follow from the budget and the machine's pace in earlier reports, in steps of 1, 2 "
        "and 5 times powers of ten, so that reports of one machine compare. "
        "A document's settings are kept in shape, not in size.",
        f"The plan took this machine for {plan.slowness:g} times as slow as its costs have it.",
        "Whatever else the machine does meanwhile is in the figures. No fsync: commits survive a "
        "kill of the process.",
    ]
    if skipped:
        lines.append(f"Engines of this build that took no part: {escape(', '.join(skipped))} "
                     "(variants of this engine, the driver's model, settings of one document, or "
                     "named above).")
    if content.not_built:
        lines.append("Not in this build: " + "; ".join(escape(one) for one in content.not_built))
    return f'<h2 id="method">Method</h2>{items(lines)}'


def _settings(content):
    rows = []
    for engine, one in content.engines.items():
        found = content.settings.get(engine)
        if found:
            build = escape(one.build())
            rows.append([f"<b>{escape(engine)}</b>" if engine == OURS else escape(engine),
                         escape(one.summary),
                         f'<span class="lost">{build}</span>' if one.assertions else build,
                         "<br>".join(escape(text) for text in found)])
    return "<h2>Settings of each engine</h2>" + table(
        ["", "what it is", "how it was built", "as it ran"], rows, (0, 1, 2, 3))


def _machine(content):
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
                    for name, value in content.machine.items())
    return f"<h2>The machine</h2><dl>{facts}</dl>"


def _history(content):
    text = "<h2>Earlier reports of this machine</h2>"
    if content.broken_history:
        text += (f'<p class="note">{counted(content.broken_history, "line", "lines")} of the '
                 "history could not be read.</p>")
    if not content.earlier:
        return text + "<p>None: nothing to compare with.</p>"
    rows = []
    for entry in content.earlier[-20:][::-1]:
        factors = [min(peer["factor"]["median"] for peer in row["peers"].values())
                   for row in entry["rows"].values() if row["peers"]]
        lost = sum(factor < 1 for factor in factors)
        middle = f"{statistics.median(factors):.2f}" if factors else "–"
        rows.append([escape(str(entry.get("date", ""))), escape(str(entry.get("commit", ""))),
                     f"{entry.get('minutes', 0):g}", str(len(factors)), str(lost), middle])
    return text + table(["date", "commit", "minutes", "rows", "lost", "median of the factors"],
                         rows, (0, 1))


def _downloads(content):
    links = [data_link(name, text, "application/json" if name.endswith(".json") else "text/csv")
             for name, text in content.files.items()]
    return (f'<h2 id="data">Data</h2><p>In this page, and as files beside it: '
            f"{', '.join(links)}.</p>")
