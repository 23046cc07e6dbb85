"""Runs hawthorn-bench, one engine at a time, round after round, and keeps what it said.

The engines of an item take turns, and who is first changes from round to round. A run that fails
is kept as failed, with the reason that hawthorn-bench gave; so is one that was stopped because the
time was over.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

OK = "ok"
FULL = "full"  # the engine's map or disk ran full: figures of what it took in
FAILED = "failed"
NO_TIME = "no time"


@dataclass
class Run:
    item: str
    engine: str
    round: int
    status: str = OK
    reason: str = ""
    seconds: float = 0.0
    order: int = 0
    figures: dict = field(default_factory=dict)  # (phase, metric) -> (value, unit)
    curve: list = field(default_factory=list)  # rows of --csv, as dicts of text
    notes: list = field(default_factory=list)
    command: list = field(default_factory=list)

    def has_figures(self):
        return self.status in (OK, FULL)


@dataclass(frozen=True)
class Engine:
    """An engine of hawthorn-bench, and how its library was built; None: that is not known."""

    summary: str
    version: str = None
    origin: str = None
    compiler: str = None
    flags: str = None
    assertions: bool = None

    def build(self):
        told = [text for text in (self.version, self.origin, self.compiler, self.flags) if text]
        known = {None: "assertions not known", True: "assertions on", False: "assertions off"}
        return "; ".join(told + [known[self.assertions]])


def list_engines(program):
    """The engines of this build by name, and those that it lacks with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "engines.json")
        subprocess.run([program, "engines", "--json", path], capture_output=True, check=True,
                       timeout=60)
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    found = {one["engine"]: Engine(*(one[name] for name in (
        "summary", "version", "origin", "compiler", "flags", "assertions")))
        for one in told["engines"]}
    return found, told["missing"]


def can_cap(program, folder):
    """Whether --memory-cap works here: it needs root and the memory controller."""
    command = [program, "upsert", "--engines", "memory", "--rounds", "1", "--items", "100",
               "--memory-cap", "256M", "--pretouch", "0", "--quiet", "--db-path",
               os.path.join(folder, "cap")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return False
    finally:
        shutil.rmtree(os.path.join(folder, "cap"), ignore_errors=True)
    return done.returncode == 0


def read_figures(path):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    return {(row["phase"], row["metric"]): (float(row["value"]), row["unit"]) for row in rows}


def read_curve(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def notes_of(output):
    """The indented lines behind `WORKLOAD, run N:`: settings, what failed, what ran full."""
    notes = []
    inside = False
    for line in output.splitlines():
        if line.endswith(":") and ", run " in line:
            inside = True
        elif not line.startswith("  "):
            inside = False
        elif inside:
            notes.append(line.strip())
    return notes


class Runner:
    """`program` with databases below `folder`, until `deadline` of `clock`."""

    def __init__(self, program, folder, deadline, slowness=1.0, log=print, clock=time.monotonic):
        self.program = program
        self.folder = folder
        self.deadline = deadline
        self.slowness = slowness
        self.log = log
        self.clock = clock
        self.measured = {}  # (item, engine) -> seconds of its last run

    def run_plan(self, plan):
        runs = []
        order = 0
        for number in range(max((job.rounds for job in plan.jobs), default=0)):
            for job in plan.jobs:
                if number >= job.rounds:
                    continue
                turn = number % len(job.engines)
                for engine in job.engines[turn:] + job.engines[:turn]:
                    order += 1
                    run = self.run_one(job, engine, number)
                    run.order = order
                    runs.append(run)
        return runs

    def run_one(self, job, engine, number):
        run = Run(job.item.key, engine, number)
        expected = self.measured.get((job.item.key, engine),
                                     job.seconds_of(engine, self.slowness))
        left = self.deadline - self.clock()
        where = f"{job.item.key}, round {number + 1} of {job.rounds}: {engine}"
        if expected > left:
            run.status = NO_TIME
            run.reason = f"not run: {max(left, 0):.0f} s were left, it takes {expected:.0f}"
            self.log(f"{where}: {run.reason}")
            return run
        # An engine that takes much longer than planned must not take the others' time.
        allowed = min(left, max(20.0, 6 * expected))
        try:
            self._execute(run, job, allowed)
        except KeyboardInterrupt:
            # The page is made of what there is.
            run.status, run.reason, run.figures = NO_TIME, "interrupted", {}
            self.deadline = self.clock()
        self.measured[(job.item.key, engine)] = run.seconds
        self.log(f"{where}: {run.seconds:.1f} s" +
                 ("" if run.status == OK else f", {run.status}: {run.reason}"))
        return run

    def _execute(self, run, job, allowed):
        folder = os.path.join(self.folder, "db")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)
        json_file = os.path.join(self.folder, "run.json")
        csv_file = os.path.join(self.folder, "run.csv")
        for path in (json_file, csv_file):
            if os.path.exists(path):
                os.remove(path)
        run.command = ["hawthorn-bench"] + job.arguments() + ["--engines", run.engine]
        command = [self.program] + run.command[1:] + [
            "--quiet", "--db-path", folder, "--json", json_file, "--csv", csv_file]
        started = self.clock()
        output, errors, code = execute(command, allowed)
        run.seconds = self.clock() - started
        run.notes = notes_of(output)
        shutil.rmtree(folder, ignore_errors=True)
        if code is None:
            run.status = NO_TIME
            run.reason = f"stopped after {allowed:.0f} s"
            return
        failures = [note[len("FAIL: "):] for note in run.notes if note.startswith("FAIL: ")]
        full = [note[len("FULL: "):] for note in run.notes if note.startswith("FULL: ")]
        if code != 0 or failures:
            run.status = FAILED
            last = (errors.strip().splitlines() or [f"ended with {code}"])[-1]
            run.reason = "; ".join(failures) or last
            return
        try:
            run.figures = read_figures(json_file)
        except (OSError, ValueError, KeyError) as error:
            run.status, run.reason = FAILED, f"its figures cannot be read: {error}"
            return
        if not run.figures:
            run.status, run.reason = FAILED, "it gave no figures"
            return
        run.curve = read_curve(csv_file) if job.item.workload != "nvme" else []
        if full:
            run.status, run.reason = FULL, "; ".join(full)


def execute(command, seconds):
    """(output, errors, code); the code is None when it was stopped, with all of its children."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    try:
        output, errors = process.communicate(timeout=seconds)
        return output, errors, process.returncode
    except BaseException as error:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        output, errors = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return output, errors, None
        raise


def settings_of(runs):
    """Engine -> what hawthorn-bench says of its settings, once for each different text."""
    found = {}
    for run in runs:
        for note in run.notes:
            prefix = run.engine + ": "
            if note.startswith(prefix) and note[len(prefix):] not in found.setdefault(
                    run.engine, []):
                found[run.engine].append(note[len(prefix):])
    return found


def raw_csv(runs):
    """Every figure of every run, the failed ones included, as text of CSV."""
    lines = ["item,engine,round,order,status,phase,metric,value,unit"]
    for run in runs:
        head = f"{run.item},{run.engine},{run.round + 1},{run.order},{run.status}"
        if not run.has_figures():
            reason = run.reason.replace('"', "'").replace("\n", " ")
            lines.append(f'{head},,,,"{reason}"')
        lines += [f"{head},{phase},{metric},{value:.10g},{unit}"
                  for (phase, metric), (value, unit) in run.figures.items()]
    return "\n".join(lines) + "\n"


def curves_csv(runs):
    """The lines that --csv gave: rounds, or seconds, of each run."""
    lines = ["item,engine,round,position,operations,per_s,phase,reads_per_s,bytes_on_disk"]
    for run in runs:
        for at, row in enumerate(run.curve):
            done, rate = curve_point(row, at)
            lines.append(f"{run.item},{run.engine},{run.round + 1},{at + 1},{done:.0f},{rate},"
                         f"{row.get('phase', '')},{row.get('reads_per_s', '')},"
                         f"{row.get('bytes_on_disk', '')}")
    return "\n".join(lines) + "\n"


def curve_point(row, at):
    """(keys or seconds so far, rate) of one line of --csv."""
    done = row.get("total_keys") or row.get("total_records") or row.get("round") or at + 1
    rate = next((row[name] for name in ("tx_per_s", "upserts_per_s", "inserts_per_s")
                 if row.get(name)), 0)
    return float(done), float(rate)
