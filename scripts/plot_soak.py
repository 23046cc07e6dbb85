#!/usr/bin/env python3
"""Draws a soak (hawthorn-bench soak --csv FILE) as a chart over time: writes, reads, the longest
operation of each second, memory against its cap, and space against the live data.

Usage: plot_soak.py FILE.csv CHART.png|CHART.svg [TITLE]

Of a file with several engines or repeats the first run is drawn. Needs matplotlib (Debian:
python3-matplotlib, for /usr/bin/python3).
"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

GREEN, BLUE, ORANGE, RED, GREY = "#1b7f4b", "#2b6cb0", "#d98324", "#b3312c", "#6b7680"
PURPLE, LIGHT = "#7a5195", "#e8ebee"
WRITES = (("upserts", "upserts", GREEN), ("overwrites", "overwrites behind a get", BLUE),
          ("ingested", "bulk ingests", ORANGE), ("removes", "removed ranges", GREY))
READS = (("range_entries", "entries of ranges", PURPLE), ("multi_gets", "multi_get, keys", BLUE),
         ("gets", "gets", GREEN), ("snapshot_reads", "under a held snapshot", ORANGE))
LONGEST = (("longest_ingest_us", "ingest of a strip", ORANGE),
           ("longest_write_us", "commit", GREEN),
           ("longest_read_us", "read: get, multi_get, range", BLUE))
SMOOTH_SECONDS = 10


class Soak:
    """One run: a list of numbers for each column."""

    def __init__(self, rows):
        self.engine = rows[0]["engine"]
        self.columns = {name: [float(row[name]) for row in rows]
                        for name in rows[0] if name not in ("workload", "engine", "phase")}
        loading = [float(row["second"]) for row in rows if row["phase"] == "load"]
        self.loaded = loading[-1] if loading else None
        soaking = [float(row["second"]) for row in rows if row["phase"] == "soak"]
        self.begins = soaking[0] - 1 if soaking else 0  # a drain may lie before it
        longest = self.columns["second"][-1]
        self.unit, self.scale = ("minutes", 60) if longest >= 300 else ("seconds", 1)
        self.times = [second / self.scale for second in self.columns["second"]]

    def get(self, name):
        return self.columns[name]

    def has(self, name):
        return any(self.columns[name])

    def rates(self, name):
        """Per second, evened out over SMOOTH_SECONDS of the soak: samples may lie further apart
        than one. Of the load nothing: its rate would hide all others."""
        evened, first, inside = [], None, 0.0
        seconds, counts = self.get("second"), self.get(name)
        for i, second in enumerate(seconds):
            if self.loaded is not None and second <= self.loaded:
                evened.append(0.0)
                continue
            if first is None:
                first, begins = i, self.begins
            inside += counts[i]
            while seconds[first] <= second - SMOOTH_SECONDS:
                inside -= counts[first]
                begins = seconds[first]
                first += 1
            evened.append(inside / max(second - begins, 0.5))
        return evened

    def load_rate(self):
        loaded = sum(count for second, count in zip(self.get("second"), self.get("upserts"))
                     if self.loaded is not None and second <= self.loaded)
        return loaded / self.loaded if loaded else 0


def short(number):
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " K")):
        if abs(number) >= limit:
            return f"{number / limit:.3g}{unit}"
    return f"{number:.3g}"


def short_bytes(number):
    return short(number) + "B" if number >= 1e3 else short(number)


def time_text(microseconds):
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3g} s"
    return f"{microseconds / 1e3:.3g} ms" if microseconds >= 1e3 else f"{microseconds:.3g} us"


def finish(axes, soak, title, formatter):
    axes.set_title(title, fontsize=10, loc="left")
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda at, _: formatter(at)))
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", color=LIGHT, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if axes.get_yscale() == "log":
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5), numticks=12))
        axes.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    if soak.loaded is not None:
        axes.axvspan(0, soak.loaded / soak.scale, color="#f3f1ea", zorder=0)
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(fontsize=8, markerscale=2, loc="upper left", bbox_to_anchor=(1.005, 1),
                    frameon=False)


def draw_writes(axes, soak):
    series = [(soak.rates(name), label, color) for name, label, color in WRITES if soak.has(name)]
    axes.stackplot(soak.times, [rates for rates, _, _ in series],
                   labels=[label for _, label, _ in series],
                   colors=[color for _, _, color in series], alpha=0.85, linewidth=0)
    title = f"Keys written per second, mean of {SMOOTH_SECONDS} s, one on the other"
    if soak.load_rate() > 0:
        title += f" (the load: {short(soak.load_rate())}/s)"
    finish(axes, soak, title, short)


def draw_reads(axes, soak):
    for name, label, color in READS:
        if soak.has(name):
            rates = [rate if rate > 0 else float("nan") for rate in soak.rates(name)]
            axes.plot(soak.times, rates, color=color, linewidth=1.2, label=label)
    axes.set_yscale("log")
    finish(axes, soak, f"Keys and entries read per second, mean of {SMOOTH_SECONDS} s, logarithmic",
           short)


def draw_longest(axes, soak):
    for name, label, color in LONGEST:
        points = [(time, longest) for time, longest in zip(soak.times, soak.get(name))
                  if longest > 0]
        if points:
            worst = max(longest for _, longest in points)
            axes.plot(*zip(*points), linestyle="none", marker=".", markersize=4, color=color,
                      alpha=0.7, markeredgewidth=0, label=f"{label}; worst {time_text(worst)}")
    axes.set_yscale("log")
    finish(axes, soak, "Longest operation of each second, logarithmic", time_text)


def draw_memory(axes, soak):
    lines = (("group_bytes", "control group,\npage cache included", GREEN),
             ("rss_bytes", "resident (process)", BLUE),
             ("engine_bytes", "resident of the budget\n(engine's account)", ORANGE))
    for name, label, color in lines:
        if soak.has(name):
            axes.plot(soak.times, soak.get(name), color=color, linewidth=1.2, label=label)
    cap = max(soak.get("cap_bytes"))
    if cap > 0:
        axes.axhline(cap, color=RED, linewidth=1.2, linestyle="--",
                     label=f"cap, {short_bytes(cap)}")
    axes.set_ylim(bottom=0)
    finish(axes, soak, "Memory", short_bytes)


def draw_space(axes, soak):
    axes.stackplot(soak.times, [soak.get("data_bytes"), soak.get("log_bytes")],
                   labels=["data files, blocks", "log, blocks"], colors=["#8fb8de", "#c9ced4"],
                   linewidth=0)
    axes.plot(soak.times, soak.get("live_bytes"), color=GREEN, linewidth=1.5,
              label="live keys and values")
    axes.set_ylim(bottom=0)
    finish(axes, soak, "Space on disk", short_bytes)


def main(arguments):
    if len(arguments) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[1], encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["workload"] == "soak"]
    if not rows:
        print(f"{arguments[1]} has no samples of a soak", file=sys.stderr)
        return 1
    first = (rows[0]["engine"], rows[0]["repeat"])
    soak = Soak([row for row in rows if (row["engine"], row["repeat"]) == first])

    chart, axes = plt.subplots(5, 1, figsize=(12, 14), sharex=True, layout="constrained")
    for draw, axis in zip((draw_writes, draw_reads, draw_longest, draw_memory, draw_space), axes):
        draw(axis, soak)
    axes[-1].set_xlabel(f"{soak.unit} (shaded: the load)", fontsize=9)
    axes[-1].set_xlim(0, soak.times[-1])
    chart.suptitle(arguments[3] if len(arguments) == 4 else f"Soak of {soak.engine}", fontsize=12)
    chart.savefig(arguments[2], dpi=100)
    print(f"chart: {arguments[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
