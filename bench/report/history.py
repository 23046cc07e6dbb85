"""The history of reports: one line of JSON for each, and what became worse since.

A row is compared with earlier reports of the same machine, the same size and the same options. What
is compared is its factors over the peers, each with the median of the earlier ones of that peer in
the same build:
the machine's hour is in both. A row is worse when the median over its peers is over 10% below.
"""

import json
import os
import statistics
from dataclasses import dataclass

TOLERANCE = 0.10


@dataclass(frozen=True)
class Change:
    """`now` and `before` are factors over the peer that stands in the middle of the peers."""

    key: str
    part: float  # 0.8: the factor is 20% below what it was
    peer: str
    now: float
    before: float
    reports: int
    within_spread: bool


def record(date, commit, machine_id, minutes, slowness, jobs, compared, versions=None):
    """What a report leaves: sizes, versions of engines, medians and spread of every row."""
    rows = {}
    for one in compared:
        rows[one.key] = {
            "unit": one.unit,
            "ours": _summary(one.ours),
            "peers": {engine: dict(_summary(one.peers[engine]), factor=_summary(factor))
                      for engine, factor in one.factors.items()},
        }
    return {"date": date, "commit": commit, "machine": machine_id, "minutes": minutes,
            "slowness": slowness, "sizes": {job.item.key: size_key(job) for job in jobs},
            "versions": versions or {}, "rows": rows}


def size_key(job):
    """What must be the same for two runs of an item to be compared."""
    return " ".join(job.arguments())


def _summary(one):
    return {"median": _rounded(one.median), "low": _rounded(one.low), "high": _rounded(one.high),
            "count": one.count}


def _rounded(number):
    return float(f"{number:.6g}")


def append(path, entry):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    # A line that was cut off by a full disk or a kill must not swallow this one.
    cut_off = False
    if os.path.exists(path) and os.path.getsize(path) > 0:
        with open(path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            cut_off = file.read(1) != b"\n"
    with open(path, "a", encoding="utf-8") as file:
        file.write(("\n" if cut_off else "") + json.dumps(entry, sort_keys=True) + "\n")


def load(path):
    """(reports, how many lines could not be read)."""
    entries, broken = [], 0
    if not os.path.exists(path):
        return entries, broken
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                _ = entry["machine"], entry["sizes"], entry["rows"]
                entries.append(entry)
            except (ValueError, KeyError, TypeError):
                broken += 1
    return entries, broken


def of_machine(entries, machine_id):
    return [entry for entry in entries if entry["machine"] == machine_id]


def slowness_of(entries, machine_id):
    """How much slower than the plan's costs this machine was, as a power of two; 1 at first."""
    found = [entry["slowness"] for entry in of_machine(entries, machine_id)
             if entry.get("slowness", 0) > 0]
    if not found:
        return 1.0
    middle = statistics.median(found)
    power = 0.25
    while power * 2 ** 0.5 < middle and power < 64:
        power *= 2
    return power


def changes(entries, entry):
    """Every row's change against the earlier reports of `entry`'s machine and sizes."""
    earlier = of_machine(entries, entry["machine"])
    result = {}
    for key, row in entry["rows"].items():
        item = key.split("/")[0]
        same = [_of_same_versions(one, entry, key) for one in earlier
                if one["sizes"].get(item) == entry["sizes"].get(item) and key in one["rows"]]
        change = _change(key, row, same)
        if change is not None:
            result[key] = change
    return result


def _of_same_versions(one, entry, key):
    """A row of an earlier report with those of its peers that were what they are now."""
    before, now = one.get("versions", {}), entry.get("versions", {})
    row = one["rows"][key]
    return dict(row, peers={engine: peer for engine, peer in row["peers"].items()
                            if before.get(engine) == now.get(engine)})


def _change(key, row, earlier):
    parts = []
    for engine, peer in row["peers"].items():
        before = [one["peers"][engine]["factor"]["median"] for one in earlier
                  if engine in one["peers"] and one["peers"][engine]["factor"]["median"] > 0]
        if before:
            middle = statistics.median(before)
            parts.append((peer["factor"]["median"] / middle, engine, middle, len(before)))
    if not parts:
        return None
    parts.sort()
    # Of an even number of peers the worse one of the two in the middle: one that stands for all.
    part, engine, before, count = parts[(len(parts) - 1) // 2]
    factor = row["peers"][engine]["factor"]
    return Change(key, part, engine, factor["median"], before, count,
                  factor["count"] > 1 and factor["low"] <= before <= factor["high"])


def regressions(found):
    """Those of more than 10%, the worst first."""
    return sorted((change for change in found.values() if change.part < 1 - TOLERANCE),
                  key=lambda change: change.part)
