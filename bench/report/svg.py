"""Draws a chart as SVG for the page; colours come from the page's variables, light or dark."""

import math
from html import escape

from chart import axis_name, axis_text, linear_ticks, log_ticks, short
from palette import style_of

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, BOTTOM = 64, 22, 40
LETTER = 6.1  # the mean width of a letter at 11 px


def draw(chart):
    if not any(y > 0 for one in chart.series for _, y in one.points):
        return ""
    if chart.kind == "bars" and len(chart.categories) <= 2:
        return _horizontal_bars(chart)
    legend, top = _legend(chart)
    frame = _Frame(chart, top)
    body = _vertical_bars(chart, frame) if chart.kind == "bars" else _lines(chart, frame)
    return _svg(chart, HEIGHT, legend + frame.axes() + body)


def _svg(chart, height, body):
    label = escape(f"{chart.title}, {chart.y_label}", quote=True)
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">'
            f'{body}</svg>')


def _text(x, y, text, anchor="start", cls="", extra=""):
    names = f' class="{cls}"' if cls else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{names}{extra}>'
            f'{escape(text)}</text>')


def _color(engine):
    return f"var(--e-{style_of(engine).slot})"


def _legend(chart):
    """The legend's marks, and where the plot may begin below it."""
    x, y = LEFT, 12.0
    parts = []
    for one in chart.series:
        if not one.points:
            continue
        width = 24 + LETTER * len(one.name) + 10
        if x + width > WIDTH and x > LEFT:
            x, y = LEFT, y + 15
        style = style_of(one.name)
        if chart.kind == "bars":
            parts.append(f'<rect x="{x:.1f}" y="{y - 8:.1f}" width="14" height="9" '
                         f'fill="{_color(one.name)}"/>')
        else:
            dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
            parts.append(f'<line x1="{x:.1f}" x2="{x + 20:.1f}" y1="{y - 4:.1f}" '
                         f'y2="{y - 4:.1f}" stroke="{_color(one.name)}" '
                         f'stroke-width="{style.width}"{dash}/>')
        parts.append(_text(x + 24, y, one.name))
        x += width
    return "".join(parts), y + 12


class _Frame:
    """Axes and where a value lies."""

    def __init__(self, chart, top):
        self.chart = chart
        self.top = top + 6
        self.bottom = HEIGHT - BOTTOM
        ys = [y for one in chart.series for y in [p[1] for p in one.points] + one.high + one.low]
        ys = [y for y in ys if y > 0] or [1]
        self.log_y = chart.log_y
        self.y_ticks = log_ticks(min(ys), max(ys)) if self.log_y else linear_ticks(max(ys))
        xs = [point[0] for one in chart.series for point in one.points]
        if chart.categories:
            self.low_x, self.high_x = -0.5, len(chart.categories) - 0.5
        elif chart.log_x:
            self.low_x, self.high_x = min(xs), max(xs)
        else:
            self.x_ticks = linear_ticks(max(xs), 6)
            self.low_x, self.high_x = 0, self.x_ticks[-1]
        if self.low_x == self.high_x:
            self.low_x, self.high_x = self.low_x / 2, self.high_x * 2

    def x(self, value):
        low, high = self.low_x, self.high_x
        if self.chart.log_x:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return LEFT + 4 + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT - 4)

    def y(self, value):
        low, high = self.y_ticks[0], self.y_ticks[-1]
        if self.log_y:
            value = max(value, low)
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def axes(self):
        parts = []
        for tick in self.y_ticks:
            y = self.y(tick)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
                         f'y2="{y:.1f}"/>')
            parts.append(_text(LEFT - 5, y + 3.5, axis_text(tick, self.chart.y_label), "end"))
        for value, text in self._x_marks():
            parts.append(_text(self.x(value), self.bottom + 14, text, "middle"))
        parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{self.bottom}" '
                     f'y2="{self.bottom}"/>')
        parts.append(_text((LEFT + WIDTH) / 2, HEIGHT - 8, self.chart.x_label, "middle", "label"))
        middle = (self.top + self.bottom) / 2
        parts.append(_text(11, middle, axis_name(self.chart), "middle", "label",
                           f' transform="rotate(-90 11 {middle:.1f})"'))
        return "".join(parts)

    def _x_marks(self):
        if self.chart.categories:
            return list(enumerate(self.chart.categories))
        if self.chart.log_x:
            xs = sorted({point[0] for one in self.chart.series for point in one.points})
            return [(x, short(x)) for x in xs]
        return [(tick, short(tick)) for tick in self.x_ticks]


def _tip(engine, chart, at, y, low=None, high=None):
    where = chart.categories[int(at)] if chart.categories else f"{short(at)} {chart.x_label}"
    unit = "" if chart.y_label in ("us", "bytes") else f" {chart.y_label}"
    text = f"{engine}, {where}: {axis_text(y, chart.y_label)}{unit}"
    if low is not None and low != high:
        text += f" ({axis_text(low, chart.y_label)} to {axis_text(high, chart.y_label)})"
    return f"<title>{escape(text)}</title>"


def _lines(chart, frame):
    parts = []
    # Ours is drawn last, above the others.
    for one in reversed(chart.series):
        points = [(x, y) for x, y in one.points if y > 0 or not chart.log_y]
        if not points:
            continue
        style = style_of(one.name)
        color = _color(one.name)
        if one.low and one.high and len(one.low) == len(one.points):
            band = ([(x, high) for (x, _), high in zip(one.points, one.high)] +
                    [(x, low) for (x, _), low in zip(one.points, one.low)][::-1])
            path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in band)
            parts.append(f'<polygon points="{path}" fill="{color}" fill-opacity="0.12"/>')
        dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" '
                     f'stroke-width="{style.width}"{dash}/>')
        radius = 2.2 + style.width / 3 if len(points) <= 30 else 1.2
        for x, y in points:
            parts.append(f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" '
                         f'r="{radius:.1f}" fill="{color}">'
                         f'{_tip(one.name, chart, x, y)}</circle>')
    return "".join(parts)


def _whisker(x1, y1, x2, y2):
    return f'<line class="whisker" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _vertical_bars(chart, frame):
    shown = [one for one in chart.series if one.points]
    slot = (frame.x(1) - frame.x(0)) * 0.84
    width = slot / len(shown)
    parts = []
    for number, one in enumerate(shown):
        for at, (category, y) in enumerate(one.points):
            if y <= 0:
                continue
            left = frame.x(category) - slot / 2 + number * width
            top = frame.y(y)
            low, high = _range(one, at)
            parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(width - 1, 1):.1f}" '
                         f'height="{max(frame.bottom - top, 0.5):.1f}" '
                         f'fill="{_color(one.name)}">'
                         f'{_tip(one.name, chart, category, y, low, high)}</rect>')
            if low is not None and low != high:
                middle = left + width / 2
                parts.append(_whisker(middle, frame.y(low), middle, frame.y(high)))
    return "".join(parts)


def _range(one, at):
    if at < len(one.low) and at < len(one.high):
        return one.low[at], one.high[at]
    return None, None


def _horizontal_bars(chart):
    """A group for each engine, its name on the left, the figures behind the bars."""
    shown = [one for one in chart.series if any(y > 0 for _, y in one.points)]
    count = len(chart.categories)
    bar = 15 if count == 1 else 12
    group = bar * count + 7
    left = 16 + 6.9 * max(len(one.name) for one in shown)  # ours is bold
    height = 14 + group * len(shown) + 34
    top_value = max(max(y for _, y in one.points) for one in shown)
    top_value = max([top_value] + [high for one in shown for high in one.high])
    room = WIDTH - left - (74 if count == 1 else 78 + LETTER * max(map(len, chart.categories)))
    smallest = min(y for one in shown for _, y in one.points if y > 0)
    ticks = log_ticks(smallest, top_value) if chart.log_y else linear_ticks(top_value, 4)
    low, high = ticks[0], ticks[-1]

    def place(value):
        if chart.log_y:
            value = max(value, low)
            return left + room * math.log10(value / low) / math.log10(high / low)
        return left + room * (value - low) / (high - low)

    bottom = 8 + group * len(shown)
    parts = []
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="6" '
                     f'y2="{bottom}"/>')
        parts.append(_text(place(tick), bottom + 13, axis_text(tick, chart.y_label), "middle"))
    for number, one in enumerate(shown):
        y = 8 + number * group
        parts.append(_text(left - 6, y + bar * count / 2 + 4, one.name, "end",
                           "ours" if style_of(one.name).slot == "ours" else ""))
        for at, (category, value) in enumerate(one.points):
            if value <= 0:
                continue
            top = y + bar * category
            least, most = _range(one, at)
            opacity = 1 if category == 0 else 0.55
            parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" '
                         f'width="{max(place(value) - left, 1):.1f}" height="{bar - 2}" '
                         f'fill="{_color(one.name)}" fill-opacity="{opacity}">'
                         f'{_tip(one.name, chart, category, value, least, most)}</rect>')
            end = place(value)
            if least is not None and least != most:
                parts.append(_whisker(place(least), top + bar / 2 - 1, place(most),
                                      top + bar / 2 - 1))
                end = max(end, place(most))
            text = axis_text(value, chart.y_label)
            text += f"  {chart.categories[category]}" if count > 1 else ""
            parts.append(_text(end + 5, top + bar - 4, text))
    parts.append(_text(left + room / 2, bottom + 28, axis_name(chart), "middle", "label"))
    return _svg(chart, height, "".join(parts))
