"""The five benchmark documents whose shapes hawthorn-bench runs: their settings and figures.

The figures are copied from the documents; they are of other machines and other engines, so what
compares with a figure of ours is the factor over the peer that both ran. Nothing here is measured.
"""

from dataclasses import dataclass, field

from chart import Chart, Series


@dataclass(frozen=True)
class Published:
    """A figure of a document: `engine` against `peer`, and the rows here that ask the same.

    `item`, `phase` and `metric` name the row here, `ours_peer` the engines that stand for the
    peer, the first of which that ran is taken.
    """

    label: str
    engine: str
    value: float
    peer: str
    peer_value: float
    unit: str
    item: str
    phase: str
    metric: str
    ours_peer: tuple
    better: str = "more"

    @property
    def factor(self):
        if self.better == "more":
            return self.value / self.peer_value
        return self.peer_value / self.value


@dataclass(frozen=True)
class Document:
    key: str
    title: str
    source: str
    shape: str
    machine: str
    settings: tuple
    published: tuple = ()
    charts: tuple = ()
    notes: tuple = field(default=())


ROCKS = ("rocksdb", "rocksdb-tuned")
MDBX = ("mdbx", "lmdb")


def _bars(title, y_label, engines, values, better="more"):
    """One bar for each engine of a document: a series of its own each, for its colour."""
    return Chart("bars", title, "", y_label, better=better, categories=("",),
                 series=tuple(Series(name, [(0, value)]) for name, value in
                              zip(engines, values)))


def _lines(title, x_label, y_label, xs, named, log_x=False):
    series = tuple(Series(name, list(zip(xs, values))) for name, values in named)
    return Chart("lines", title, x_label, y_label, series=series, log_x=log_x)


UPSERT_KEYS = [keys * 1e6 for keys in (10, 30, 50, 70, 90, 110, 130, 150, 170, 190)]
UPSERT = Document(
    key="upsert",
    title="Random upserts into a growing database",
    source="PsiTri, Random Upsert Benchmark: 200M Keys",
    shape="200 rounds of 1M random upserts, keys of 8 bytes, values of 256, 100 a commit, no "
          "readers, no sync; up to 52.8 GB of keys and values in 128 GB of memory",
    machine="AMD EPYC Turin, 16 virtual CPUs, 128 GB, ext4 on NVMe, Linux 6.17",
    settings=("PsiTri: DWAL mode, pinned_cache 256 MB, 2 merge threads, sync none",
              "RocksDB: default options, batches of 100",
              "MDBX: UTTERLY_NOSYNC, map of 200 GB: full after 20M keys"),
    published=(
        Published("first 30 rounds, keys/s", "PsiTri", 1588320, "RocksDB", 1155254, "1/s",
                  "upsert", "upsert", "first_tenth_ops_per_s", ROCKS),
        Published("all 200 rounds, keys/s", "PsiTri", 1129318, "RocksDB", 712824, "1/s",
                  "upsert", "upsert", "ops_per_s", ROCKS),
        Published("last 30 rounds, keys/s", "PsiTri", 909379, "RocksDB", 390162, "1/s",
                  "upsert", "upsert", "last_tenth_ops_per_s", ROCKS),
        Published("size at the end", "PsiTri", 76.7e9, "RocksDB", 51.5e9, "bytes",
                  "upsert", "verify", "bytes_on_disk", ROCKS, "less"),
        Published("slowest round or second, keys/s", "PsiTri", 24791, "RocksDB", 85161, "1/s",
                  "upsert", "upsert", "worst_second_ops_per_s", ROCKS),
    ),
    charts=(
        _lines("Random upserts, smoothed", "keys", "keys/s", UPSERT_KEYS, (
            ("PsiTri", [k * 1e3 for k in
                        (1588, 1488, 1364, 1335, 1101, 1044, 1029, 924, 936, 879)]),
            ("RocksDB", [k * 1e3 for k in
                         (1155, 1053, 1001, 957, 760, 643, 450, 279, 291, 351)]),
            ("MDBX", [296e3]))),
        _bars("Size at the end, 200M keys", "bytes", ("PsiTri", "RocksDB"), (76.7e9, 51.5e9),
              "less"),
    ),
)

SCALE_KEYS = [keys * 1e6 for keys in (2, 10, 25, 50, 75, 100, 128, 150, 175, 200, 225, 250, 275,
                                      300, 325, 350, 375, 400, 419)]
SCALE = Document(
    key="scale",
    title="Inserts beside readers, up to 1.6 times the memory",
    source="PsiTri, Scale Benchmark: 419M Keys, 203 GB",
    shape="418 rounds of 1M random inserts of 8 + 256 bytes, 1,024 a commit, beside 12 threads of "
          "random gets; 110.6 GB of keys and values, 203 GB on disk, 128 GB of memory",
    machine="Apple M5 Max, 128 GB, 8 TB NVMe, macOS",
    settings=("PsiTri: sync none", "TidesDB: no compression, Bloom filters"),
    published=(
        Published("inserts/s, first ten rounds", "PsiTri", 752e3, "TidesDB", 444e3, "1/s",
                  "scale", "insert", "first_ten_rounds_ops_per_s", ("tidesdb",) + ROCKS),
        Published("inserts/s, mean", "PsiTri", 327e3, "TidesDB", 257e3, "1/s",
                  "scale", "insert", "ops_per_s", ("tidesdb",) + ROCKS),
        Published("inserts/s, last ten rounds", "PsiTri", 97e3, "TidesDB", 227e3, "1/s",
                  "scale", "insert", "last_ten_rounds_ops_per_s", ("tidesdb",) + ROCKS),
        Published("gets/s of 12 threads, first ten rounds", "PsiTri", 35.8e6, "TidesDB", 1.9e6,
                  "1/s", "scale", "read", "first_ten_rounds_ops_per_s", ("tidesdb",) + ROCKS),
        Published("gets/s of 12 threads, mean", "PsiTri", 12.6e6, "TidesDB", 342e3, "1/s",
                  "scale", "read", "ops_per_s", ("tidesdb",) + ROCKS),
        Published("gets/s of 12 threads, last ten rounds", "PsiTri", 2.1e6, "TidesDB", 60e3,
                  "1/s", "scale", "read", "last_ten_rounds_ops_per_s", ("tidesdb",) + ROCKS),
        Published("bytes on disk, raw = 1", "PsiTri", 1.84, "TidesDB", 1.49, "times",
                  "scale", "verify", "bytes_on_disk", ("tidesdb",) + ROCKS, "less"),
    ),
    charts=(
        _lines("Inserts beside 12 readers", "keys", "inserts/s", SCALE_KEYS, (
            ("PsiTri", [k * 1e3 for k in (926, 659, 545, 471, 404, 294, 367, 355, 344, 352, 347,
                                          352, 320, 320, 299, 229, 218, 136, 109)]),)),
        _lines("Gets of 12 threads beside the writer", "keys", "gets/s", SCALE_KEYS, (
            ("PsiTri", [k * 1e6 for k in (59.3, 28.2, 23.0, 19.1, 15.3, 14.2, 13.3, 12.8, 12.4,
                                          12.9, 12.7, 13.1, 11.5, 11.6, 10.3, 8.0, 6.5, 3.2,
                                          2.4)]),)),
        Chart("bars", "Inserts: early, at 100M keys, at the end", "", "inserts/s",
              categories=("early", "100M keys", "at the end"),
              series=(Series("PsiTri", list(enumerate((752e3, 352e3, 97e3)))),
                      Series("TidesDB", list(enumerate((444e3, 271e3, 227e3)))))),
        Chart("bars", "Gets: early, at 100M keys, at the end", "", "gets/s", log_y=True,
              categories=("early", "100M keys", "at the end"),
              series=(Series("PsiTri", list(enumerate((35.8e6, 13.9e6, 2.1e6)))),
                      Series("TidesDB", list(enumerate((1.9e6, 376e3, 60e3)))))),
    ),
)

BATCHES = (100, 1e4, 1e5, 1e6)
BANK = Document(
    key="bank",
    title="A bank: transfers in atomic transactions",
    source="PsiTri, Bank Transaction Benchmark",
    shape="1M accounts, 10M transfers tried in each phase (2 gets, 2 updates, 1 insert), 100 a "
          "commit and other batches, alone and beside a reader; seed 12345, no sync",
    machine="AMD EPYC Turin, 8 cores, 121 GB, Linux 6.17 (the same document has an Apple M5 Max)",
    settings=("the same batches and seed for all engines, sync none",
              "RocksDB 9.9.3, libmdbx 0.13.11, TidesDB 8.9.4"),
    notes=("Where libmdbx is not in this build, LMDB, from which it descends, stands for MDBX.",),
    published=(
        Published("transfers/s, 100 a commit", "PsiTri", 163614, "RocksDB", 104102, "1/s",
                  "bank-100", "write", "tx_per_s", ROCKS),
        Published("the same against MDBX", "PsiTri", 163614, "MDBX", 239041, "1/s",
                  "bank-100", "write", "tx_per_s", MDBX),
        Published("beside a reader", "PsiTri", 181168, "MDBX", 229280, "1/s",
                  "bank-100", "write_read", "tx_per_s", MDBX),
        Published("what the reader leaves of the writer's rate", "PsiTri", 1.107, "MDBX", 0.959,
                  "ratio", "bank-100", "write_read", "writer_kept", MDBX),
        Published("the reader, reads/s", "PsiTri", 1117771, "MDBX", 927734, "1/s",
                  "bank-100", "write_read", "reads_per_s", MDBX),
        Published("load of the accounts, entries/s", "PsiTri", 2876212, "MDBX", 2230000, "1/s",
                  "bank-100", "load", "ops_per_s", MDBX),
        Published("scan of all, entries/s", "PsiTri", 19628559, "MDBX", 38100000, "1/s",
                  "bank-100", "scan", "entries_per_s", MDBX),
        Published("bytes reachable", "PsiTri", 561e6, "MDBX", 1257e6, "bytes",
                  "bank-100", "verify", "bytes_reachable", MDBX, "less"),
        Published("bytes on disk", "PsiTri", 2080e6, "MDBX", 1344e6, "bytes",
                  "bank-100", "verify", "bytes_on_disk", MDBX, "less"),
        Published("transfers/s, 1 a commit", "PsiTri DWAL", 427734, "RocksDB", 157588, "1/s",
                  "bank-1", "write", "tx_per_s", ROCKS),
        Published("the reader, reads/s, 1 a commit", "PsiTri DWAL", 1447979, "RocksDB", 289627,
                  "1/s", "bank-1", "write_read", "reads_per_s", ROCKS),
        Published("transfers/s, 10,000 a commit", "PsiTri", 254421, "MDBX", 286117, "1/s",
                  "bank-10000", "write", "tx_per_s", MDBX),
        Published("transfers/s, 100,000 a commit", "PsiTri", 481361, "MDBX", 475811, "1/s",
                  "bank-100000", "write", "tx_per_s", MDBX),
        Published("transfers/s, 1,000,000 a commit", "PsiTri", 593556, "MDBX", 603124, "1/s",
                  "bank-1000000", "write", "tx_per_s", MDBX),
    ),
    charts=(
        _lines("Transfers by batch, alone", "transfers a commit", "tx/s", BATCHES, (
            ("PsiTri", (163614, 254421, 481361, 593556)),
            ("PsiTriRocks", (159186, 212378, 274096, 360102)),
            ("MDBX", (242402, 286117, 475811, 603124)),
            ("RocksDB", (108884, 159623, 144383, 185796))), log_x=True),
        _lines("Transfers by batch, beside a reader", "transfers a commit", "tx/s", BATCHES, (
            ("PsiTri", (181168, 272840, 468694, 509351)),
            ("PsiTriRocks", (117094, 177691, 230013, 361591)),
            ("MDBX", (263524, 292664, 444587, 490456)),
            ("RocksDB", (119185, 138015, 144091, 181406))), log_x=True),
        _lines("The reader by batch", "transfers a commit", "reads/s", BATCHES, (
            ("PsiTri", (1117771, 1278498, 1358428, 1356727)),
            ("PsiTriRocks", (872316, 1095787, 1388806, 1669767)),
            ("MDBX", (1055486, 1166392, 1306705, 1100886)),
            ("RocksDB", (275903, 324247, 347816, 296904))), log_x=True),
        _lines("Rounds of 1M transfers, each at its best batch", "transfers", "tx/s",
               [n * 1e6 for n in range(1, 11)], (
                   ("PsiTri", [k * 1e3 for k in
                               (548, 523, 510, 504, 505, 508, 505, 505, 508, 509)]),
                   ("MDBX", [k * 1e3 for k in
                             (453, 453, 452, 452, 452, 453, 452, 452, 450, 444)]),
                   ("RocksDB", [k * 1e3 for k in
                                (165, 157, 156, 142, 139, 134, 133, 134, 137, 138)]),
                   ("PsiTriRocks", [k * 1e3 for k in
                                    (254, 249, 243, 235, 230, 229, 230, 230, 230, 230)]))),
        Chart("bars", "Bytes reachable, and on disk", "", "bytes", better="less",
              categories=("reachable", "on disk"),
              series=tuple(Series(name, list(enumerate(pair))) for name, pair in (
                  ("PsiTri", (561e6, 2080e6)), ("PsiTriRocks", (558e6, 2298e6)),
                  ("TidesDB", (675e6, 675e6)), ("RocksDB", (567e6, 579e6)),
                  ("MDBX", (1257e6, 1344e6))))),
    ),
)

INSERT = Document(
    key="insert",
    title="Random inserts of small records by 16 threads",
    source="TuplDB, RocksDB vs TuplDB on Optane",
    shape="random single inserts by 16 threads, records of 128, 256 and 512 bytes with their key "
          "of 8, 256 GB each in 16 GB of memory: how fast, and how even",
    machine="Ryzen 7 1700, 16 GB, Intel Optane 900P, Linux 4.13",
    settings=("RocksDB: no compression, level compaction, buffers of 64 MiB, 4 levels, block "
              "cache 8 GiB (here rocksdb-level, its cache M)",
              "TuplDB: B-tree, pages of 4 KiB, direct I/O on the device"),
    notes=("The document's charts are pictures without figures. It says: of 128 bytes RocksDB is "
           "faster than TuplDB, less evenly; at about 250 they cross; of 512 the gap is much wider "
           "in TuplDB's favour.",),
)

NVME = Document(
    key="nvme",
    title="Small records on a fast device, several reads under way",
    source="HedgeDB, Performance: HedgeDB vs RocksDB",
    shape="100M records of 24 + 100 bytes, 12 threads: single puts, random gets with 8 or 16 under "
          "way from each thread, ranges of three widths, a mix of half gets, half puts; direct I/O",
    machine="Intel i7-13700H, 32 GB, Samsung 980 Pro",
    settings=("HedgeDB: io_uring, queue depth 16 (and 8)",
              "RocksDB: universal compaction, direct I/O, cache of 1 GB (here rocksdb-universal)"),
    published=tuple(
        Published(label, "HedgeDB", ours, "RocksDB", theirs, unit, "nvme", phase, metric,
                  ("rocksdb-universal", "rocksdb-universal-get") + ROCKS, better)
        for label, ours, theirs, unit, phase, metric, better in (
            ("load, puts/s", 3.97e6, 1.14e6, "1/s", "load", "ops_per_s", "more"),
            ("load and compaction, puts/s", 3.59e6, 1.13e6, "1/s", "drain", "ops_per_s", "more"),
            ("gets/s, 8 under way", 881e3, 193e3, "1/s", "read_8", "ops_per_s", "more"),
            ("gets/s, 16 under way", 1.03e6, 194e3, "1/s", "read_16", "ops_per_s", "more"),
            ("p50 of a get, 16 under way", 155, 61, "us", "read_16", "p50_us", "less"),
            ("p99 of a get, 16 under way", 632, 198, "us", "read_16", "p99_us", "less"),
            ("p99 of a get, 8 under way", 237.5, 198, "us", "read_8", "p99_us", "less"),
            ("p99 of a put", 6.0, 17.0, "us", "load", "p99_us", "less"),
            ("half gets, half puts, operations/s", 1.33e6, 262e3, "1/s", "mix_16", "ops_per_s",
             "more"),
            ("p99 of a get in it", 1090, 281, "us", "mix_read_16", "p99_us", "less"),
            ("ranges of 1 to 100, entries/s", 4.38e6, 1.32e6, "1/s", "range_small",
             "entries_per_s", "more"),
            ("ranges of 512 to 1,024, entries/s", 19.2e6, 5.12e6, "1/s", "range_medium",
             "entries_per_s", "more"),
            ("ranges of 114 K to 131 K, entries/s", 29.5e6, 23.7e6, "1/s", "range_large",
             "entries_per_s", "more"),
            ("peak memory of the load", 1.53e9, 1.03e9, "bytes", "load", "rss_bytes", "less"),
            ("peak memory of the gets", 455e6, 1.30e9, "bytes", "read_16", "rss_bytes", "less"),
            ("peak memory of the mix", 1.82e9, 1.89e9, "bytes", "mix_16", "rss_bytes", "less"),
        )),
    charts=(
        Chart("bars", "Operations per second", "", "1/s",
              categories=("load", "drained", "gets", "mix"),
              series=(Series("HedgeDB", list(enumerate((3.97e6, 3.59e6, 1.03e6, 1.33e6)))),
                      Series("RocksDB", list(enumerate((1.14e6, 1.13e6, 194e3, 262e3)))))),
        Chart("lines", "Latency of a get", "percentile", "us", better="less", log_y=True,
              categories=("p50", "p90", "p99", "p99.9"),
              series=(Series("HedgeDB QD8", list(enumerate((99, 153.5, 237.5, 331.5)))),
                      Series("HedgeDB", list(enumerate((155, 298, 632, 1025)))),
                      Series("RocksDB", list(enumerate((61, 112, 198, 295)))))),
        Chart("bars", "Entries of ranges per second", "", "entries/s",
              categories=("1 to 100", "512 to 1,024", "114 K to 131 K"),
              series=(Series("HedgeDB", list(enumerate((4.38e6, 19.2e6, 29.5e6)))),
                      Series("RocksDB", list(enumerate((1.32e6, 5.12e6, 23.7e6)))))),
        Chart("bars", "Peak resident memory by phase", "", "bytes", better="less",
              categories=("load", "gets", "ranges", "mix"),
              series=(Series("HedgeDB", list(enumerate((1.53e9, 455e6, 633e6, 1.82e9)))),
                      Series("RocksDB", list(enumerate((1.03e9, 1.30e9, 1.30e9, 1.89e9)))))),
    ),
)

DOCUMENTS = (UPSERT, SCALE, BANK, INSERT, NVME)
