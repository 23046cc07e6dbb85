"""Rates of reads through the binding: bench.py DIRECTORY [ENTRIES].

Makes a database with 1,000,000 entries (keys of 16 bytes, values of 100) where there is none. Each
round reads all entries by random keys in batches of 1,000, or in order; the first round warms up.
Random keys are made before the clock starts, since Python takes longer for that than for the reads.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Callable

import hawthorn
from hawthorn import Columns

KEY, VALUE, BATCH, ROWS, BYTES = 16, 100, 1000, 4096, 1 << 20
_MASK = (1 << 64) - 1


def mix(x: int) -> int:
    """A number that looks random, of another one."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def make_key(i: int) -> bytes:
    """16 hexadecimal digits."""
    return b"%016x" % mix(i)


def check(holds: bool, what: str) -> None:
    """Ends the program where a result is wrong."""
    if not holds:
        sys.exit(f"wrong result: {what}")


def best(name: str, entries: int, work: Callable[[], None]) -> None:
    """Prints the rate of the second round."""
    work()
    started = time.perf_counter()
    work()
    print(f"{name} {entries / (time.perf_counter() - started):.0f}", flush=True)


def main(directory: str, entries: int) -> None:
    with hawthorn.open(directory, memory_budget_bytes="512M") as db:
        tree = db.tree("bench")
        if len(tree) == 0:
            for i in range(entries):
                key = make_key(i)
                tree[key] = key + b"v" * (VALUE - KEY)
            db.flush()
        check(len(tree) == entries, "the directory has another number of entries")

        wanted = [[make_key(mix(b * BATCH + i + 1) % entries) for i in range(BATCH)]
                  for b in range(entries // BATCH)]  # fmt: skip
        joined = [b"".join(keys) for keys in wanted]
        offsets = array("q", range(0, KEY * BATCH + 1, KEY))
        columns = Columns(ROWS, BYTES, BYTES)

        def multi_get_columns() -> None:
            rows = size = 0
            for key_bytes in joined:
                tree.multi_get_columns(key_bytes, offsets, columns)
                rows += columns.rows
                size += columns.value_offsets[columns.rows]
            check((rows, size) == (entries, entries * VALUE), "multi_get_columns")

        def scan_columns() -> None:
            rows = size = 0
            for filled in tree.range().columns(columns):
                rows += filled.rows
                size += filled.key_offsets[filled.rows] + filled.value_offsets[filled.rows]
            check((rows, size) == (entries, entries * (KEY + VALUE)), "scan_columns")

        def multi_get_objects() -> None:
            rows = size = 0
            for keys in wanted:
                values = tree.multi_get(keys)
                rows += len(values)
                size += sum(map(len, values))  # type: ignore[arg-type]
            check((rows, size) == (entries, entries * VALUE), "multi_get_objects")

        def scan_objects() -> None:
            rows = size = 0
            for key, value in tree.range():
                rows += 1
                size += len(key) + len(value)
            check((rows, size) == (entries, entries * (KEY + VALUE)), "scan_objects")

        for work in (multi_get_columns, scan_columns, multi_get_objects, scan_objects):
            best(work.__name__, entries, work)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
