#!/usr/bin/env python3
"""Draws the bank's figures (hawthorn-bench bank --json FILE) as a chart: throughput, latency, size.

Usage: plot_demo.py FILE.json CHART.png [TITLE]
"""

import json
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

OURS = "hawthorn"
HIGHLIGHT = "#1b7f4b"
UNFAIR = "#d40000"  # built with assertions
GREYS = ("#8a96a3", "#aeb7c0", "#6b7680")


class Figures:
    """Medians over the repeats of a file."""

    def __init__(self, rows):
        values = {}
        for row in rows:
            key = (row["engine"], row["phase"], row["metric"])
            values.setdefault(key, []).append(row["value"])
        self.medians = {key: statistics.median(found) for key, found in values.items()}
        self.engines = list(dict.fromkeys(row["engine"] for row in rows))
        self.unfair = {row["engine"] for row in rows if row.get("assertions")}

    def get(self, engine, phase, metric):
        return self.medians.get((engine, phase, metric), 0)


def short(number):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if number >= limit:
            return f"{number / limit:.3g} {unit}"
    return f"{number:.3g}"


def colors_of(figures, shade):
    return [UNFAIR if engine in figures.unfair else
            HIGHLIGHT if engine == OURS else GREYS[shade % len(GREYS)]
            for engine in figures.engines]


def draw_bars(axes, figures, series, title, unit, log=False):
    """Groups of bars: one group for each engine, one bar for each (label, phase, metric)."""
    height = 0.8 / len(series)
    for i, (label, phase, metric) in enumerate(series):
        values = [figures.get(engine, phase, metric) for engine in figures.engines]
        places = [at + (i - (len(series) - 1) / 2) * height for at in range(len(values))]
        bars = axes.barh(places, values, height * 0.92, color=colors_of(figures, i),
                         alpha=1 - 0.28 * i)
        texts = [f"{short(value)}  {label}" if value else "" for value in values]
        axes.bar_label(bars, texts, padding=3, fontsize=7)
    names = [engine + "\n(assertions on)" if engine in figures.unfair else engine
             for engine in figures.engines]
    for label, engine in zip(axes.set_yticks(range(len(names)), names), figures.engines):
        label.label1.set_color(UNFAIR if engine in figures.unfair else "black")
    axes.invert_yaxis()
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(unit, fontsize=8)
    axes.tick_params(labelsize=8)
    # Room for the text behind the longest bar.
    drawn = [bar.get_width() for bar in axes.patches if bar.get_width() > 0]
    if log and drawn:
        axes.set_xscale("log")
        axes.set_xlim(min(drawn) / 3, max(drawn) * 12)
    elif drawn:
        axes.set_xlim(0, max(drawn) * 1.4)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda at, _: short(at)))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main(arguments):
    if len(arguments) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[1], encoding="utf-8") as file:
        figures = Figures(json.load(file))
    if not figures.engines:
        print(f"{arguments[1]} has no figures", file=sys.stderr)
        return 1

    rows = 1.2 + 0.62 * len(figures.engines)
    chart, axes = plt.subplots(2, 2, figsize=(13, 2 * rows), layout="constrained")
    draw_bars(axes[0][0], figures,
              [("alone", "write", "tx_per_s"), ("with a reader", "write_read", "tx_per_s")],
              "Transfers per second: more is better", "tx/s")
    draw_bars(axes[0][1], figures, [("", "write_read", "reads_per_s")],
              "Reads per second beside the writer: more is better", "reads/s")
    draw_bars(axes[1][0], figures,
              [("p50", "write", "p50_us"), ("p99", "write", "p99_us"),
               ("p99.9", "write", "p999_us")],
              "Time of a commit: less is better", "microseconds, logarithmic", log=True)
    draw_bars(axes[1][1], figures,
              [("on disk", "verify", "bytes_on_disk"), ("raw", "verify", "bytes_raw")],
              "Size after close: less is better", "bytes")
    if len(arguments) == 4:
        chart.suptitle(arguments[3], fontsize=11)
    chart.savefig(arguments[2], dpi=110)
    print(f"chart: {arguments[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
