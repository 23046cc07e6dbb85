#!/usr/bin/env python3
"""All checks and tests: `make test` runs it, and so does continuous integration.

    scripts/test.py [STAGE...]

With names of stages, only those; without, all of the gate (docs/reliability.md says why each is
where it is):

    style     layering and style of the tree, and the tests of these checks
    docs      the documentation site (scripts/docs.sh)
    release   everything but what takes minutes, with the shims: unit, model, kill, fault and
              corruption tests, tools, packaging, samples of the documents
    asan      the same with assertions and test points under AddressSanitizer and
              UndefinedBehaviorSanitizer, by the second compiler, which checks the lock annotations;
              without packaging and what tests/volume.txt names
    tsan      the tests labelled `concurrency`, under ThreadSanitizer
    bindings  the bindings of other languages (bindings/*/test.sh), on the library of `release` as
              it is installed, and what the documents tell a new user to type
    crashes   simulated crashes, kills and power cuts: a fixed part of what campaigns run

Others, only when they are named:

    debug     what `asan` runs, and tests/volume.txt, without the sanitizers: for development
    compat, compat-asan
              the tests labelled `compat`, of the shims, in the trees of release and asan, and in
              `compat` those that take minutes (`compat-long`)
    check     `make check`, before a commit: style, layering, the unit tests (label `unit`) and a
              short run against the model, in the tree of asan
    long      the tests labelled `long`
    reliability
              the longer runs of scripts/reliability.sh, fuzz targets included
    fuzz      each fuzz target for HAWTHORN_FUZZ_SECONDS, 10 by default (scripts/fuzz.sh)
    aarch64   the library, the command and their tests, but for the long ones and those that
              tests/aarch64_excluded.txt names, built for aarch64 and run under qemu-user

Every stage runs, and one that cannot has failed. The environment variable HAWTHORN_TEST_JOBS is how
many tests run at once (one more than there are processors: some wait for the disk), and
HAWTHORN_BUILD_JOBS how many compilers.

The end of the output is a table of stages and builds, the tests that took longest, tests that
skipped themselves, and failures; the last line is `N passed, N failed`. A configuration or a build
that fails counts as one failed test. Exits with 1 when anything failed.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
BUILD = REPOSITORY / "build"
MESSAGE_LINES = 12  # of a case that failed
OUTPUT_LINES = 40  # of a program that failed without the failure of a case
LONGEST = 30
GATE = ("style", "docs", "release", "asan", "tsan", "bindings", "crashes")
NAMED = ("check", "debug", "compat", "compat-asan", "long", "reliability", "fuzz", "aarch64")
# The defaults of AddressSanitizer take a third longer: they keep more frames of where memory was
# taken, more of what was freed, and look for uses of a stack frame that was left.
ASAN_OPTIONS = "malloc_context_size=8:quarantine_size_mb=16:detect_stack_use_after_return=0"


@dataclass
class Results:
    """What tests did: counts, and what is worth a line at the end."""

    passed: int = 0
    failures: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    longest: list = field(default_factory=list)  # (seconds, name)

    def add(self, other, prefix):
        self.passed += other.passed
        self.failures += [f"{prefix}: {name}" for name in other.failures]
        self.skipped += [f"{prefix}: {name}" for name in other.skipped]
        self.longest += [(seconds, f"{prefix}: {name}") for seconds, name in other.longest]


def with_lines(name, lines):
    """A failure and what was said of it."""
    return "\n    ".join([name, *lines])


def read_cases(path):
    """What GoogleTest's XML of one program says."""
    results = Results()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.get("status") != "run":
            continue
        name = f"{case.get('classname')}.{case.get('name')}"
        results.longest.append((float(case.get("time", "0")), name))
        if (failure := case.find("failure")) is not None:
            said = (failure.get("message") or "").splitlines()[:MESSAGE_LINES]
            results.failures.append(with_lines(name, said))
        elif (skipped := case.find("skipped")) is not None:
            reason = (skipped.get("message") or skipped.text or "").strip()
            results.skipped.append(f"{name}: {reason.splitlines()[-1] if reason else ''}")
        else:
            results.passed += 1
    return results


def read_tests(folder):
    """What ctest's JUnit file in a folder says, with the cases of the GoogleTest programs there.

    A program that fails without the failure of a case (it crashed, or leaked) is one failure, with
    the end of its output.
    """
    results = Results()
    for test in ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        name, cases = test.get("name"), folder / f"{test.get('name')}.xml"
        failed = test.get("status") not in ("run", "disabled")
        of_test = Results()
        if cases.is_file():
            of_test = read_cases(cases)
        elif not failed:
            of_test = Results(1, longest=[(float(test.get("time", "0")), name)])
        if failed and not of_test.failures:
            output = (test.findtext("system-out") or "").splitlines()[-OUTPUT_LINES:]
            of_test.failures.append(with_lines(f"{name} ({test.get('status')})", output))
        results.passed += of_test.passed
        results.failures += of_test.failures
        results.skipped += of_test.skipped
        results.longest += of_test.longest
    return results


def read_lines(text):
    """What a script says of its parts, a line for each: `passed PART` or `FAILED PART`.

    `skipped PART`, where a language is not on the machine, is a failure: every part runs.
    """
    results = Results()
    for line in text.splitlines():
        word, _, part = line.partition(" ")
        if word == "passed":
            results.passed += 1
        elif word == "FAILED":
            results.failures.append(part)
        elif word == "skipped":
            results.failures.append(f"{part} (did not run)")
    return results


def budget(text, minutes):
    """What .ci/budget.tsv allows, and what is left of it after so many minutes."""
    rows = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"][1:]
    now = sum(float(row[0]) for row in rows if row[1] == "yes")
    later = sum(float(row[0]) for row in rows)
    return (f"Budget: {now:.0f} minutes, {later:.0f} with all that is to come; "
            f"{minutes:.1f} used, {now - minutes:.1f} left")


class Run:
    def __init__(self):
        self.began = time.monotonic()
        processors = os.cpu_count() or 1
        self.results = Results()
        self.rows = []  # (stage, what, seconds)
        self.build_jobs = os.environ.get("HAWTHORN_BUILD_JOBS", str(processors))
        self.test_jobs = os.environ.get("HAWTHORN_TEST_JOBS", str(processors + 1))

    def time(self, stage, what, began):
        self.rows.append((stage, what, time.monotonic() - began))

    def fail(self, what):
        self.results.failures.append(what)

    @staticmethod
    def call(*command, log=None, env=None):
        """Runs a command, which prints; also into the file `log`. Its exit code."""
        environment = os.environ | (env or {})
        if log is None:
            return subprocess.run(command, cwd=REPOSITORY, env=environment, check=False).returncode
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8", errors="replace") as file, subprocess.Popen(
                command, cwd=REPOSITORY, env=environment, text=True, errors="replace",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
                file.write(line)
        return process.returncode

    def scripts(self, stage, *commands):
        """Scripts that say how their parts went, as many at once as tests are."""
        def run(command):
            began = time.monotonic()
            done = subprocess.run(command, cwd=REPOSITORY, text=True, errors="replace", check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print(done.stdout, end="", flush=True)
            results = read_lines(done.stdout)
            if done.returncode != 0 and not results.failures:
                results.failures.append(f"{' '.join(command)} ended with {done.returncode}")
            elif done.returncode == 0 and results.passed == 0:
                results.failures.append(f"{' '.join(command)} ran nothing")
            results.longest.append((time.monotonic() - began, " ".join(command[:4])))
            return results

        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(int(self.test_jobs)) as pool:
            for results in pool.map(run, commands):
                self.results.add(results, stage)
        self.time(stage, "run", began)

    def install(self, *purposes):
        if self.call("scripts/install_deps.sh", *purposes) != 0:
            self.fail(f"installing what {', '.join(purposes)} need")

    def build(self, preset, target="all"):
        began = time.monotonic()
        log = BUILD / preset / "build.log"
        if self.call("cmake", "--preset", preset) != 0:
            self.fail(f"{preset}: configuration")
            return False
        code = self.call("cmake", "--build", "--preset", preset, "-j", self.build_jobs,
                         "--target", target, log=log)
        self.time(preset, "build", began)
        if code != 0:
            self.fail(f"{preset}: build")
        elif "warning:" in log.read_text(encoding="utf-8"):
            self.fail(f"{preset}: warnings of the build")
        return code == 0

    def ctest(self, preset, *arguments, name=None):
        began = time.monotonic()
        tree = BUILD / preset
        folder = tree / "test-results"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        code = self.call("ctest", "--test-dir", str(tree), "-j", self.test_jobs,
                         "--no-tests=error", "--output-on-failure", "--output-junit",
                         str(folder / "ctest.xml"), *arguments, env={"ASAN_OPTIONS": ASAN_OPTIONS})
        self.time(name or preset, "tests", began)
        if not (folder / "ctest.xml").is_file():
            self.fail(f"{preset}: ctest ended with {code} and no results")
            return
        results = read_tests(folder)
        if code != 0 and not results.failures:
            results.failures.append(f"ctest ended with {code}")
        self.results.add(results, name or preset)

    def preset(self, preset, *arguments, target="all", name=None):
        """Builds a preset and runs tests of it."""
        if self.build(preset, target):
            self.ctest(preset, *arguments, name=name)

    def fetch_sqlite(self):
        if self.call("shims/sqlite/fetch.sh", "debian", "build/sqlite") != 0:
            self.fail("SQLite's source, which the shim is built on, could not be fetched")

    # The stages.

    def style(self):
        began = time.monotonic()
        for script in ("layering", "style", "breaks", "gate", "waits"):
            if self.call("python3", "-B", f"tests/tidy/{script}_test.py") == 0:
                self.results.passed += 1
            else:
                self.fail(f"style: tests/tidy/{script}_test.py")
        self.time("style", "run", began)

    def docs(self):
        began = time.monotonic()
        if self.call("scripts/docs.sh") == 0:
            self.results.passed += 1
        else:
            self.fail("docs: scripts/docs.sh")
        self.time("docs", "run", began)

    def fetch_peers(self):
        """LMDB, libmdbx, TidesDB, SQLite, and RocksDB's headers: every adapter is compiled."""
        began = time.monotonic()
        if self.call("scripts/peers.sh", "small") != 0:
            self.fail("release: builds of the engines that benchmarks compare with")
        self.time("release", "builds of peers", began)

    def release(self):
        self.fetch_sqlite()
        self.fetch_peers()
        self.preset("release", "-LE", "^long$",
                    "-E", r"^tidy\.(layering|style|breaks|gate|waits)$")

    def asan(self):
        self.fetch_sqlite()
        self.preset("asan", "-LE", "^(long|package|tidy)$")

    def tsan(self):
        self.preset("tsan", "-L", "^concurrency$", "-LE", "^long$",
                    target="hawthorn_concurrency_tests")

    def bindings(self):
        self.install("bindings")
        prefix = BUILD / "bindings" / "prefix"
        if not self.build("release", "hawthorn_installed"):
            return
        if self.call("cmake", "--install", "build/release", "--component", "hawthorn",
                     "--prefix", str(prefix)) != 0:
            self.fail("bindings: installing the library")
            return
        scripts = sorted(path.relative_to(REPOSITORY)
                         for path in (REPOSITORY / "bindings").glob("*/test.sh"))
        self.scripts("bindings", *([str(script), str(prefix)] for script in scripts),
                     ["python3", "-B", "tests/docs/first_key_test.py", str(prefix)])

    def crashes(self):
        self.scripts("crashes", ["scripts/reliability.sh", "gate"])

    def reliability(self):
        self.scripts("reliability", ["scripts/reliability.sh"])

    def long(self):
        self.preset("release", "-L", "^long$", name="long")

    def compat(self):
        self.fetch_sqlite()
        self.preset("release", "-L", "^compat", target="hawthorn_compat_tests", name="compat")

    def compat_asan(self):
        self.fetch_sqlite()
        self.preset("asan", "-L", "^compat$", target="hawthorn_compat_tests",
                    name="compat-asan")

    def check(self):
        self.style()
        self.preset("asan", "-L", "^unit$", target="hawthorn_unit_tests", name="check")

    def debug(self):
        self.preset("debug", "-LE", "^(long|package|tidy)$")

    def fuzz(self):
        if self.build("fuzz", "hawthorn_fuzzers"):
            self.scripts("fuzz", ["scripts/fuzz.sh"])

    def aarch64(self):
        self.install("cross")
        self.preset("aarch64", "-LE", "^(long|package|tidy)$")

    def summary(self):
        results = self.results
        print(f"\nThe {LONGEST} tests that took longest, in seconds:")
        for seconds, name in sorted(results.longest, reverse=True)[:LONGEST]:
            print(f"{seconds:8.1f}  {name}")
        print("\nStages, in seconds:")
        for stage, what, seconds in self.rows:
            print(f"{seconds:8.0f}  {stage}: {what}")
        took = time.monotonic() - self.began
        print(f"{took:8.0f}  all")
        print(budget((REPOSITORY / ".ci" / "budget.tsv").read_text(encoding="utf-8"), took / 60))
        for name in results.skipped:
            print(f"skipped {name}")
        for name in results.failures:
            print(f"FAILED {name}")
        skipped = f", {len(results.skipped)} skipped" if results.skipped else ""
        print(f"{results.passed} passed, {len(results.failures)} failed{skipped}")


def main():
    stages = sys.argv[1:] or GATE
    unknown = [stage for stage in stages if stage not in GATE + NAMED]
    if unknown:
        sys.exit(f"test.py: there is no stage {', '.join(unknown)}; there are: "
                 f"{', '.join(GATE + NAMED)}")
    run = Run()
    run.install("core", "test", "bench")
    for stage in stages:
        print(f"== {stage}", flush=True)
        getattr(run, stage.replace("-", "_"))()
    run.summary()
    sys.exit(1 if run.results.failures else 0)


if __name__ == "__main__":
    main()
