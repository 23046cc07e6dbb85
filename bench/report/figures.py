"""Medians over the rounds, and the factor over each peer in the same round, with its spread.

A factor is how many times better ours is: rates ours / theirs, times and sizes theirs / ours, so
that below 1 is lost whatever the row is. A round in which either of the two failed gives none, and
so does a library that was built with assertions, whichever of the two it is.
"""

import statistics
from dataclasses import dataclass, field

from plan import OURS
from rows import ROWS


@dataclass(frozen=True)
class Summary:
    """The median of the rounds, the least and the largest of them, and how many."""

    median: float
    low: float
    high: float
    count: int

    def spread(self):
        """Half of the way from the least to the largest, by the median: 0.1 is ±10%."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


def derived(found):
    """Figures that follow from others and have a factor, which a loss around 0 has not."""
    loss = found.get(("write_read", "writer_loss"))
    return {("write_read", "writer_kept"): (1 - loss[0], "ratio")} if loss else {}


def summary(values):
    return Summary(statistics.median(values), min(values), max(values), len(values))


@dataclass
class Compared:
    """One row of one item: ours, and each peer's figure with the factor over it."""

    item: object
    row: object
    unit: str
    ours: Summary
    peers: dict = field(default_factory=dict)  # engine -> Summary of its figures
    factors: dict = field(default_factory=dict)  # engine -> Summary of the factors
    unfair: dict = field(default_factory=dict)  # engine with assertions -> Summary of its figures

    @property
    def key(self):
        return f"{self.item.key}/{self.row.phase}/{self.row.metric}"

    @property
    def best_peer(self):
        return min(self.factors, key=lambda engine: self.factors[engine].median)

    @property
    def factor(self):
        return self.factors[self.best_peer]

    @property
    def lost(self):
        return self.factor.median < 1


class Figures:
    """All runs, asked by item, engine and figure. `unfair`: the engines built with assertions."""

    def __init__(self, runs, unfair=()):
        self.runs = runs
        self.unfair = frozenset(unfair)
        self._values = {}
        for run in runs:
            if run.has_figures():
                for name, (value, unit) in (run.figures | derived(run.figures)).items():
                    self._values.setdefault((run.item, run.engine) + name, {})[run.round] = (
                        value, unit)

    def of_rounds(self, item, engine, phase, metric):
        """Round -> value."""
        found = self._values.get((item, engine, phase, metric), {})
        return {number: value for number, (value, _) in found.items()}

    def unit(self, item, phase, metric):
        for (one, _, a, b), rounds in self._values.items():
            if (one, a, b) == (item, phase, metric):
                return next(iter(rounds.values()))[1]
        return ""

    def summary(self, item, engine, phase, metric):
        values = list(self.of_rounds(item, engine, phase, metric).values())
        return summary(values) if values else None

    def engines(self, item):
        names = dict.fromkeys(run.engine for run in self.runs if run.item == item)
        return sorted(names, key=lambda engine: (engine != OURS, list(names).index(engine)))


def factor_of(ours, theirs, better):
    """None where one of them is 0: nothing was counted, so nothing compares."""
    if ours <= 0 or theirs <= 0:
        return None
    return ours / theirs if better == "more" else theirs / ours


def compare(figures, item):
    """Every row of an item that ours and at least one peer have, in the order of rows.py."""
    result = []
    if OURS in figures.unfair:
        return result
    for row in ROWS[item.workload]:
        mine = figures.of_rounds(item.key, OURS, row.phase, row.metric)
        if not mine:
            continue
        compared = Compared(item, row, figures.unit(item.key, row.phase, row.metric),
                            summary(list(mine.values())))
        for engine in figures.engines(item.key):
            if engine == OURS:
                continue
            theirs = figures.of_rounds(item.key, engine, row.phase, row.metric)
            if engine in figures.unfair:
                if theirs:
                    compared.unfair[engine] = summary(list(theirs.values()))
                continue
            factors = [factor_of(mine[number], theirs[number], row.better)
                       for number in mine if number in theirs]
            factors = [factor for factor in factors if factor is not None]
            if factors:
                compared.peers[engine] = summary(list(theirs.values()))
                compared.factors[engine] = summary(factors)
        if compared.factors:
            result.append(compared)
    return result


def losing_first(compared):
    """The rows that are lost, the worst of them first, then the others, the nearest first."""
    return sorted(compared, key=lambda one: one.factor.median)
