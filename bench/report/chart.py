"""What a chart shows, whoever draws it (svg.py for the page, png.py for the README), and how
numbers read."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Series:
    """One engine: its points, (x, y) for lines, (index of a category, y) where there are any.

    `low` and `high` are the least and the largest y of the rounds, in the order of the points.
    """

    name: str
    points: list
    low: list = field(default_factory=list)
    high: list = field(default_factory=list)


@dataclass(frozen=True)
class Chart:
    kind: str  # lines or bars
    title: str
    x_label: str
    y_label: str
    series: tuple = ()
    categories: tuple = ()
    log_x: bool = False
    log_y: bool = False
    better: str = "more"

    def is_empty(self):
        return not any(one.points for one in self.series)


def short(number):
    """1234567 as 1.23 M."""
    size = abs(number)
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")):
        if size >= limit * 0.9995:
            return f"{_digits(number / limit)} {unit}"
    return _digits(number)


def _digits(number):
    size = abs(number)
    if size >= 99.95:
        return f"{number:.0f}"
    if size < 0.01:
        return f"{number:.2g}"
    text = f"{number:.1f}" if size >= 9.995 else f"{number:.2f}"
    return text.rstrip("0").rstrip(".")


def with_unit(value, unit):
    """A figure with its unit, as the tables have it."""
    if unit == "bytes":
        return short(value) + ("B" if short(value)[-1].isalpha() else " B")
    if unit == "us":
        if value >= 1e6:
            return f"{_digits(value / 1e6)} s"
        return f"{_digits(value / 1e3)} ms" if value >= 1e3 else f"{_digits(value)} us"
    if unit == "1/s":
        return short(value) + "/s"
    if unit == "ratio":
        return f"{value * 100:.1f}%"
    if unit == "times":
        return f"{value:.2f}"
    return short(value) if unit == "count" else f"{short(value)} {unit}".strip()


def times(number):
    """A factor."""
    if number < 0.0995:
        return f"{number:.2g}"
    if number < 9.995:
        return f"{number:.2f}"
    return f"{number:.1f}" if number < 99.95 else short(number)


def axis_text(value, unit):
    """A figure at an axis or behind a bar: times and sizes have their unit, rates do not."""
    return with_unit(value, unit) if unit in ("us", "bytes") and value else short(value)


def axis_name(chart):
    """What stands along the axis of the values."""
    name = {"us": "time", "bytes": "size", "1/s": "operations/s"}.get(chart.y_label, chart.y_label)
    return name + (", logarithmic" if chart.log_y else "")


def linear_ticks(top, wanted=5):
    """Round numbers from 0 on, the last of them at or above `top`."""
    if top <= 0:
        return [0, 1]
    raw = top / wanted
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * part for part in (1, 2, 2.5, 5, 10) if power * part >= raw * 0.9999)
    count = math.ceil(top / step - 1e-9)
    return [step * i for i in range(count + 1)]


def log_ticks(low, high):
    """Powers of ten that hold [low, high]; within a decade or two, 2 and 5 times them, too."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    parts = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [10.0 ** power * part for power in range(first, last + 1) for part in parts]
    below = [tick for tick in ticks if tick <= low * 1.0001] or [ticks[0]]
    above = [tick for tick in ticks if tick >= high * 0.9999] or [ticks[-1]]
    kept = [tick for tick in ticks if below[-1] <= tick <= above[0]]
    return kept if len(kept) > 1 else [kept[0], kept[0] * 10]
