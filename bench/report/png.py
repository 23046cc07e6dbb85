"""Draws charts as PNG for the README, with matplotlib, which is Debian's python3-matplotlib."""

from chart import axis_name, axis_text, short
from palette import style_of


def available():
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def draw(charts, path, title):
    """The charts side by side in one picture, on white: it is seen on pages of either kind."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    picture, axes = plt.subplots(1, len(charts), figsize=(6.4 * len(charts), 4.4),
                                 layout="constrained", squeeze=False)
    for chart, one in zip(charts, axes[0]):
        _draw_one(matplotlib, one, chart)
    picture.suptitle(title, fontsize=11)
    picture.savefig(path, dpi=110)
    plt.close(picture)


def _draw_one(matplotlib, axes, chart):
    if chart.kind == "bars":
        _bars(axes, chart)
        value_axis = axes.xaxis
    else:
        _lines(axes, chart)
        value_axis = axes.yaxis
    better = "less is better" if chart.better == "less" else "more is better"
    axes.set_title(f"{chart.title}: {better}", fontsize=10, loc="left")
    value_axis.set_major_formatter(
        matplotlib.ticker.FuncFormatter(lambda value, _: axis_text(value, chart.y_label)))
    axes.tick_params(labelsize=8)
    axes.grid(axis="x" if chart.kind == "bars" else "y", color="#e3e6e8", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _lines(axes, chart):
    for number, one in enumerate(chart.series):
        style = style_of(one.name)
        dashes = {"dashes": [float(part) for part in style.dash.split()]} if style.dash else {}
        axes.plot([x for x, _ in one.points], [y for _, y in one.points], color=style.light,
                  linewidth=style.width, marker="o", markersize=2 + style.width, label=one.name,
                  zorder=50 - number, **dashes)
    if chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if chart.categories:
        axes.set_xticks(range(len(chart.categories)), chart.categories)
    else:
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
    axes.set_xlabel(chart.x_label, fontsize=8)
    axes.set_ylabel(axis_name(chart), fontsize=8)
    axes.legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14),
                ncols=5)


def _bars(axes, chart):
    """A group for each engine, as the page has it."""
    shown = [one for one in chart.series if any(y > 0 for _, y in one.points)]
    height = 0.8 / len(chart.categories)
    for number, one in enumerate(shown):
        for category, value in one.points:
            at = number + (category - (len(chart.categories) - 1) / 2) * height
            bar = axes.barh(at, value, height * 0.9, color=style_of(one.name).light,
                            alpha=1 if category == 0 else 0.55)
            name = f"  {chart.categories[category]}" if len(chart.categories) > 1 else ""
            axes.bar_label(bar, [axis_text(value, chart.y_label) + name], padding=3, fontsize=7)
    axes.set_yticks(range(len(shown)), [one.name for one in shown])
    axes.invert_yaxis()
    axes.set_xlabel(axis_name(chart), fontsize=8)
    axes.set_xlim(right=max(y for one in shown for _, y in one.points) * 1.3)
