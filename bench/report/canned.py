"""Results that no machine made, for the tests of the report: three engines, two rounds."""

import dataclasses

import charts
import history
import page
import run
from documents import DOCUMENTS
from figures import Figures, compare
from plan import ITEMS, Job, Plan

ENGINES = {"hawthorn": run.Engine("this engine", "Hawthorn 0.1.0", assertions=False),
           "rocksdb": run.Engine("RocksDB, default options", "RocksDB 1.2.3", assertions=False),
           "lmdb": run.Engine("LMDB, MDB_NOSYNC", "LMDB 0.9", assertions=False),
           "memory": run.Engine("a model")}
MACHINE = {"CPU": "A CPU, 2 seen by this system", "memory": "8 GiB"}


def item(key):
    return next(one for one in ITEMS if one.key == key)


def upsert_run(engine, number, rate, disk, notes=(), status=run.OK, reason=""):
    figures = {("upsert", "ops_per_s"): (rate, "1/s"), ("upsert", "p50_us"): (1e8 / rate, "us"),
               ("upsert", "p99_us"): (3e8 / rate, "us"),
               ("verify", "bytes_on_disk"): (disk, "bytes"),
               ("verify", "rss_bytes"): (disk / 3, "bytes")}
    curve = [{"workload": "upsert", "engine": engine, "round": str(at), "total_keys": str(at * 100),
              "upserts_per_s": str(rate * (1 - at / 50)), "bytes_on_disk": str(disk * at / 10)}
             for at in range(1, 11)]
    if status != run.OK:
        figures, curve = {}, []
    return run.Run("upsert", engine, number, status, reason, 1.5, 0, figures, curve, list(notes))


def upsert_runs(ours=900e3, rocks=300e3):
    """Ours is faster than both and larger than RocksDB."""
    return [
        upsert_run("hawthorn", 0, ours, 55e6, ["hawthorn: Hawthorn 0.1.0; memory budget 256 MB"]),
        upsert_run("rocksdb", 0, rocks, 50e6, ["rocksdb: RocksDB <7> & \"more\""]),
        upsert_run("lmdb", 0, ours / 5, 110e6, ["lmdb: LMDB 0.9"]),
        upsert_run("hawthorn", 1, ours * 1.1, 55e6),
        upsert_run("rocksdb", 1, rocks * 1.2, 50e6),
        upsert_run("lmdb", 1, ours / 4, 110e6),
    ]


def plan_of(engines=("hawthorn", "rocksdb", "lmdb")):
    job = Job(item("upsert"), 100_000, 2, list(engines),
              [("sqlite", "did not fit: too <slow>")])
    return Plan(5, 1.0, [job], [(item("nvme"), "did not fit: 3 s are its part")])


def with_assertions(*names):
    """The engines, of which these were built with assertions."""
    return {name: dataclasses.replace(one, assertions=name in names)
            for name, one in ENGINES.items()}


def content(runs=None, entries=(), minutes=5, plan=None, engines=None):
    runs = upsert_runs() if runs is None else runs
    plan = plan or plan_of()
    engines = engines or ENGINES
    figures = Figures(runs, [name for name, one in engines.items() if one.assertions])
    compared = {job.item.key: compare(figures, job.item) for job in plan.jobs}
    rows = [one for found in compared.values() for one in found]
    entry = history.record("2026-01-02 03:04 UTC", "abc", "m1", minutes, 1.0, plan.jobs, rows)
    changes = history.changes(list(entries), entry)
    made = charts.Charts(figures, plan.jobs)
    return page.Content(
        date="2026-01-02 03:04 UTC", commit="abc<def>", minutes=minutes, seconds=100,
        machine=MACHINE, engines=engines, not_built=["mdbx: mdbx.h not found"],
        settings=run.settings_of(runs), plan=plan, documents=DOCUMENTS, compared=compared,
        charts={document.key: made.of(document.key) for document in DOCUMENTS}, runs=runs,
        changes=changes, regressions=history.regressions(changes), earlier=list(entries),
        files={"figures.csv": run.raw_csv(runs), "curves.csv": run.curves_csv(runs)})


def entry_of(runs, machine_id="m1", plan=None):
    plan = plan or plan_of()
    figures = Figures(runs)
    rows = [one for job in plan.jobs for one in compare(figures, job.item)]
    return history.record("2026-01-01 00:00 UTC", "old", machine_id, 5, 1.0, plan.jobs, rows)
