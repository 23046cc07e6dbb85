"""Which runs a time budget allows: every item's size, engines and rounds.

The plan follows from its arguments alone, in coarse steps, so that runs with the same budget on
the same machine have the same sizes and can be compared. Costs are seconds for a million units
(transfers, keys, records) on a machine of two cores; `slowness` scales them. Where they are too
low the runner leaves out what no longer fits, and the page says so.
"""

from dataclasses import dataclass, field

OURS = "hawthorn"
# Not compared: variants of this engine, and the model that tests the driver.
NOT_PEERS = ("memory", "hawthorn-lz4", "hawthorn-zstd", "hawthorn-encrypted", "hawthorn-rocksdb",
             "hawthorn-mdbx", "hawthorn-sqlite")
# What does not run every workload.
WORKLOADS_OF = {"tupldb": ("upsert", "insert", "bank"),
                "hedgedb": ("upsert", "scale", "insert", "nvme")}
MB = 1_000_000  # as hawthorn-bench reads 256M
PRETOUCH_SECONDS_PER_GB = 1.5
# An engine that would make the others' runs this many times smaller is left out.
SHRINK_MAX = 5
# Settings that come from one document's comparison are run for that document alone.
OF_ONE_DOCUMENT = {"rocksdb-level": "insert", "rocksdb-universal": "nvme",
                   "rocksdb-universal-get": "nvme"}


@dataclass(frozen=True)
class Item:
    """One subcommand of hawthorn-bench with the shape of a document.

    `ratio` is keys and values by memory in the document, where it outgrew memory; 0 where not.
    """

    key: str
    document: str
    workload: str
    title: str
    unit: str
    document_size: int
    smallest: int
    weight: float
    core: tuple
    costs: dict
    other_cost: float
    start_seconds: float
    ratio: float = 0.0
    parameter: int = 0
    unit_bytes: int = 0

    def cost(self, engine):
        return self.costs.get(engine, self.other_cost)

    def raw_bytes(self, size):
        return size * self.unit_bytes

    def options(self, size):
        """The subcommand and the options that make its shape."""
        if self.workload == "bank":
            return ["bank", "--num-accounts", str(max(1000, size // 10)), "--num-transactions",
                    str(size), "--batch-size", str(self.parameter), "--seed", "12345"]
        if self.workload == "upsert":
            return ["upsert", "--rounds", "20", "--items", str(size // 20), "--batch", "100",
                    "--value-size", "256", "--mode", "upsert-rand"]
        if self.workload == "scale":
            return ["scale", "--rounds", "20", "--items", str(size // 20), "--batch", "1024",
                    "--value-size", "256", "--readers", "12"]
        if self.workload == "insert":
            return ["insert", "--records", str(size), "--record-size", str(self.parameter),
                    "--batch", "1", "--threads", "16"]
        return ["nvme", "--records", str(size), "--key-size", "24", "--value-size", "100",
                "--threads", "12", "--depths", "1,8,16", "--gets", str(max(1000, size // 2)),
                "--seconds", str(nvme_seconds(size))]


def nvme_seconds(size):
    """Seconds of each of the nine phases behind the load, at most."""
    return max(1, min(10, size // 500_000))


@dataclass
class Job:
    item: Item
    size: int
    rounds: int
    engines: list
    left_out: list = field(default_factory=list)  # (engine, why)
    memory_bytes: int = 256 * MB
    cap_bytes: int = 0
    pretouch_bytes: int = 0
    seconds: float = 0.0

    def seconds_of(self, engine, slowness):
        return run_seconds(self.item, engine, self.size, slowness, self.pretouch_bytes)

    def arguments(self):
        memory = (["--memory-cap", _megabytes(self.cap_bytes)] if self.cap_bytes
                  else ["--memory", _megabytes(self.memory_bytes)])
        return (self.item.options(self.size) + memory +
                ["--pretouch", _megabytes(self.pretouch_bytes)])

    def memory_of_shape(self):
        """Keys and values by memory: what the document's ratio is to be held against."""
        return self.item.raw_bytes(self.size) / (self.cap_bytes or self.memory_bytes)


@dataclass
class Plan:
    minutes: float
    slowness: float
    jobs: list = field(default_factory=list)
    not_run: list = field(default_factory=list)  # (item, why)

    @property
    def seconds(self):
        return sum(job.seconds for job in self.jobs)


def _megabytes(count):
    return f"{count // MB}M" if count else "0"


BANK_COSTS = {"hawthorn": 9, "rocksdb": 60, "rocksdb-tuned": 45, "lmdb": 10, "lmdb-writemap": 6,
              "mdbx": 25, "mdbx-writemap": 12, "sqlite": 37, "leveldb": 30, "wiredtiger": 30,
              "tidesdb": 30}
ROCKS_PROFILES = ("rocksdb", "rocksdb-tuned", "rocksdb-level", "rocksdb-universal",
                  "rocksdb-universal-get")


def _bank(batch, weight, smallest, factors):
    costs = {engine: cost * factors.get(engine, 1) for engine, cost in BANK_COSTS.items()}
    title = f"{batch:,} transfers a commit" if batch > 1 else "1 transfer a commit"
    return Item(f"bank-{batch}", "bank", "bank", title, "transfers",
                10_000_000, smallest, weight, (OURS, "rocksdb", "lmdb", "mdbx"), costs, 60, 0.4,
                parameter=batch, unit_bytes=46)


def _costs(base, rocks):
    return dict(base, **dict.fromkeys(ROCKS_PROFILES, rocks))


def _insert(record, size):
    costs = _costs({"hawthorn": 3.5, "lmdb": 11, "lmdb-writemap": 8, "sqlite": 30, "leveldb": 10,
                    "wiredtiger": 75}, 21)
    return Item(f"insert-{record}", "insert", "insert", f"records of {record} bytes", "records",
                size, 20_000, 0.5, (OURS, "rocksdb-level", "tupldb", "lmdb"), costs, 30, 0.4,
                ratio=16, parameter=record, unit_bytes=record)


ITEMS = (
    Item("upsert", "upsert", "upsert", "upserts, 100 a commit", "keys", 200_000_000, 20_000, 1.5,
         (OURS, "rocksdb", "lmdb", "mdbx"),
         _costs({"hawthorn": 2, "lmdb": 8, "lmdb-writemap": 5, "sqlite": 18, "leveldb": 10,
                 "wiredtiger": 15, "mdbx": 14}, 11), 20, 0.3, unit_bytes=264),
    Item("scale", "scale", "scale", "inserts beside 12 readers", "keys", 419_000_000, 20_000, 1.5,
         (OURS, "rocksdb", "tidesdb"),
         _costs({"hawthorn": 11, "lmdb": 70, "lmdb-writemap": 50, "sqlite": 200, "leveldb": 50,
                 "wiredtiger": 100}, 52), 60, 0.4, ratio=110.6 / 128, unit_bytes=264),
    _bank(1, 0.9, 20_000, {"rocksdb": 1.2, "lmdb": 2.5, "sqlite": 2.2, "mdbx": 2}),
    _bank(100, 1.2, 20_000, {}),
    _bank(10_000, 0.7, 50_000, {"wiredtiger": 2}),
    _bank(100_000, 0.7, 500_000, {"wiredtiger": 2}),
    _bank(1_000_000, 0.5, 5_000_000, {"wiredtiger": 2}),
    _insert(128, 2_000_000_000),
    _insert(256, 1_000_000_000),
    _insert(512, 500_000_000),
    Item("nvme", "nvme", "nvme", "24 + 100 bytes, 12 threads", "records", 100_000_000, 20_000, 1.8,
         (OURS, "rocksdb-universal", "rocksdb-universal-get", "hedgedb"),
         _costs({"hawthorn": 8, "lmdb": 20, "lmdb-writemap": 15, "sqlite": 120, "leveldb": 25,
                 "wiredtiger": 80}, 25), 60, 0.8, ratio=12.4 / 32, unit_bytes=124),
)


def ladder(item):
    """Sizes of 1, 2 and 5 times powers of ten, so that runs of about one budget compare."""
    sizes = []
    power = 1
    while power <= item.document_size:
        sizes += [power * part for part in (1, 2, 5)]
        power *= 10
    sizes = [size for size in sizes if item.smallest <= size < item.document_size]
    return sizes + [item.document_size]


def run_seconds(item, engine, size, slowness, pretouch_bytes=0):
    seconds = item.start_seconds + size / 1e6 * item.cost(engine)
    if item.workload == "nvme":
        seconds += 9 * min(nvme_seconds(size), size / 1e6 * 10)
    return seconds * slowness + pretouch_bytes / 1e9 * PRETOUCH_SECONDS_PER_GB


def memory_for(item, size, available_bytes, can_cap):
    """(memory, cap): a power of two megabytes for each run; a cap where the data can outgrow it."""
    raw = item.raw_bytes(size)
    most = max(256 * MB, available_bytes // 4)
    if item.ratio and can_cap and raw >= item.ratio * 256 * MB:
        cap = 256 * MB
        while cap * 2 * item.ratio <= raw and cap * 2 <= most:
            cap *= 2
        return 0, cap
    memory = 256 * MB
    while memory < 2 * raw and memory * 2 <= min(most, 2 * 1024 * MB):
        memory *= 2
    return memory, 0


def _job(item, size, rounds, engines, slowness, minutes, available_bytes, can_cap):
    memory, cap = memory_for(item, size, available_bytes, can_cap)
    job = Job(item, size, rounds, list(engines), memory_bytes=memory, cap_bytes=cap)
    # Touching memory costs more than a short run takes.
    job.pretouch_bytes = 0 if minutes < 5 else (cap or memory)
    job.seconds = rounds * sum(job.seconds_of(engine, slowness) for engine in engines)
    return job


def _largest(item, rounds, engines, share, make):
    """The largest job of these engines that fits, or None."""
    best = None
    for size in ladder(item):
        job = make(item, size, rounds, engines)
        if job.seconds > share:
            break
        best = job
    return best


def _plan_item(item, installed, share, rounds_wanted, make):
    installed = [engine for engine in installed
                 if OF_ONE_DOCUMENT.get(engine, item.document) == item.document
                 and item.workload in WORKLOADS_OF.get(engine, (item.workload,))]
    core = [engine for engine in item.core if engine in installed]
    if len(core) < 2:
        core = core + [engine for engine in installed if engine not in core][:1]
    for rounds in range(rounds_wanted, 0, -1):
        basis = _largest(item, rounds, core, share, make)
        if basis is None:
            continue
        engines = core + [engine for engine in installed if engine not in core]
        left_out = []
        while True:
            job = _largest(item, rounds, engines, share, make)
            others = [engine for engine in engines if engine not in core]
            if not others or (job is not None and job.size * SHRINK_MAX >= basis.size):
                break
            slow = max(others, key=item.cost)
            engines = [engine for engine in engines if engine != slow]
            left_out.append((slow, f"did not fit: with it all others would have run less than "
                                   f"{basis.size // SHRINK_MAX:,} {item.unit}, or nothing"))
        if job is not None:
            job.left_out = left_out
            return job, None
    return None, (f"did not fit: {share:.0f} s are its part of the budget, and "
                  f"{item.smallest:,} {item.unit} take longer")


def make_plan(minutes, installed, slowness=1.0, available_bytes=8 << 30, can_cap=False,
              items=ITEMS):
    """`installed`: the engines that hawthorn-bench has, without those that are not compared."""
    installed = [engine for engine in installed if engine not in NOT_PEERS]
    plan = Plan(minutes, slowness)
    rounds = 5 if minutes >= 60 else 3
    # A tenth stays for what takes longer than its estimate, and for the page.
    usable = minutes * 60 * 0.9

    def make(item, size, count, engines):
        return _job(item, size, count, engines, slowness, minutes, available_bytes, can_cap)

    waiting = sorted(items, key=lambda item: (item.weight / make(item, item.smallest, 1,
                                                                 [OURS]).seconds))
    jobs = {}
    for at, item in enumerate(waiting):
        # What an item leaves over, or does not run, is for those behind it.
        weights = sum(other.weight for other in waiting[at:])
        share = max(0.0, usable - sum(job.seconds for job in jobs.values())) * item.weight / weights
        job, why = _plan_item(item, installed, share, rounds, make)
        if job is None:
            plan.not_run.append((item, why))
        else:
            jobs[item.key] = job
    plan.jobs = [jobs[item.key] for item in items if item.key in jobs]
    return plan
