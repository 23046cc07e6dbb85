"""Which figures of a workload are compared: what they are called, and what is better."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    phase: str
    metric: str
    label: str
    better: str = "more"


def _latencies(phase, what):
    return tuple(Row(phase, metric, f"{what}, {name}", "less") for metric, name in
                 (("p50_us", "p50"), ("p99_us", "p99"), ("p999_us", "p99.9"),
                  ("max_us", "longest")))


SIZES = (Row("verify", "bytes_on_disk", "bytes on disk, closed", "less"),
         Row("verify", "bytes_reachable", "bytes reachable", "less"),
         Row("verify", "write_amplification", "bytes written to the device per byte", "less"))
MEMORY = (Row("verify", "rss_bytes", "peak resident memory", "less"),)

ROWS = {
    "bank": (
        Row("write", "tx_per_s", "transfers/s, alone"),
        Row("drain", "tx_per_s", "transfers/s, drained"),
        Row("write_read", "tx_per_s", "transfers/s beside a reader"),
        Row("write_read", "writer_kept", "what the reader leaves of the writer's rate"),
        Row("write_read", "reads_per_s", "the reader, reads/s"),
        Row("load", "ops_per_s", "load of the accounts, entries/s"),
        Row("scan", "entries_per_s", "scan of all, entries/s"),
        Row("iterate", "entries_per_s", "walk by cursor, entries/s"),
        *_latencies("write", "commit"),
        *SIZES[:2], *MEMORY,
        Row("open", "avg_us", "open after a clean close", "less"),
    ),
    "upsert": (
        Row("upsert", "ops_per_s", "upserts, keys/s"),
        Row("upsert", "first_tenth_ops_per_s", "the first tenth, keys/s"),
        Row("upsert", "last_tenth_ops_per_s", "the last tenth, keys/s"),
        Row("upsert", "worst_second_ops_per_s", "worst second, keys/s"),
        Row("drain", "ops_per_s", "upserts, drained, keys/s"),
        *_latencies("upsert", "commit"), *SIZES, *MEMORY,
    ),
    "scale": (
        Row("insert", "ops_per_s", "inserts/s"),
        Row("insert", "first_ten_rounds_ops_per_s", "inserts/s, first ten rounds"),
        Row("insert", "last_ten_rounds_ops_per_s", "inserts/s, last ten rounds"),
        Row("insert", "worst_second_ops_per_s", "inserts/s, worst second"),
        Row("drain", "ops_per_s", "inserts/s, drained"),
        Row("read", "ops_per_s", "gets/s of 12 threads"),
        Row("read", "first_ten_rounds_ops_per_s", "gets/s, first ten rounds"),
        Row("read", "last_ten_rounds_ops_per_s", "gets/s, last ten rounds"),
        *_latencies("insert", "commit"), *_latencies("read", "get"), *SIZES, *MEMORY,
    ),
    "insert": (
        Row("insert", "ops_per_s", "inserts/s"),
        Row("insert", "worst_second_ops_per_s", "inserts/s, worst second"),
        Row("insert", "last_tenth_ops_per_s", "inserts/s, the last tenth"),
        Row("drain", "ops_per_s", "inserts/s, drained"),
        *_latencies("insert", "insert"), *SIZES, *MEMORY,
    ),
    "nvme": (
        Row("load", "ops_per_s", "load, puts/s"),
        Row("drain", "ops_per_s", "load, drained, puts/s"),
        *_latencies("load", "put of the load"),
        *(row for depth in (1, 8, 16) for row in (
            Row(f"read_{depth}", "ops_per_s", f"gets/s, {depth} under way"),
            *_latencies(f"read_{depth}", f"get, {depth} under way"),
            Row(f"mix_{depth}", "ops_per_s", f"half gets, half puts, {depth} under way, 1/s"),
            Row(f"mix_read_{depth}", "p99_us", f"get of that mix, {depth} under way, p99",
                "less"))),
        Row("range_small", "entries_per_s", "ranges of 1 to 100, entries/s"),
        Row("range_medium", "entries_per_s", "ranges of 512 to 1,024, entries/s"),
        Row("range_large", "entries_per_s", "ranges of 114 K to 131 K, entries/s"),
        *SIZES,
        Row("load", "rss_bytes", "peak resident memory, load", "less"),
        Row("read_16", "rss_bytes", "peak resident memory, gets", "less"),
        Row("range_large", "rss_bytes", "peak resident memory, ranges", "less"),
        Row("mix_16", "rss_bytes", "peak resident memory, mix", "less"),
        Row("open", "avg_us", "open after a clean close", "less"),
    ),
}
