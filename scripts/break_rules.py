#!/usr/bin/env python3
"""Breaks the rules of docs/attacks.md one after the other, and shows that a test notices.

    scripts/break_rules.py                 all breaks of tests/attacks/breaks.py
    scripts/break_rules.py --rows 16,20    those of these rows
    scripts/break_rules.py --list          only says what there is

Each break is the smallest change that lets go of a rule. It is made in a copy of this checkout
(build/breaks/source, never in the checkout itself), the one test program is built with the preset
`debug`, and the tests that the row names are run: they have to pass before the break and one of
them has to fail with it. What was found goes to build/breaks/results.txt, a line for each break.

Takes about a minute for each break on two cores, and so is no part of `make test`; that the list
still fits the code is checked there (tests/tidy/breaks_test.py).
"""

import argparse
import fcntl
import os
import pathlib
import re
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "attacks"))
from breaks import BREAKS  # noqa: E402

OPTIONS = ("-DHAWTHORN_BUILD_BENCH=OFF", "-DHAWTHORN_BUILD_EXAMPLES=OFF",
           "-DHAWTHORN_BUILD_TOOLS=OFF")
UNCOMPILED = "DOES NOT COMPILE"


def copy_checkout(to):
    """Makes `to` the same as the checkout; what is the same already keeps its time."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=REPOSITORY, check=True, capture_output=True).stdout
    for name in listed.decode().split("\0"):
        source, target = REPOSITORY / name, to / name
        if not name or not source.is_file():
            continue
        content = source.read_bytes()
        if target.is_file() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(source.stat().st_mode)


def run_tests(program, tests, seconds):
    """Runs a test program. None: all passed, and there were some; else what did not."""
    command = [str(program), f"--gtest_filter={tests}", "--gtest_brief=0"]
    try:
        done = subprocess.run(command, cwd=program.parent, capture_output=True, timeout=seconds,
                              check=False, env=os.environ | {"HAWTHORN_SCALE": "4"})
    except subprocess.TimeoutExpired:
        return f"not finished after {seconds} s"
    output = (done.stdout + done.stderr).decode(errors="replace")
    started = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
    failed = re.findall(r"^\[  FAILED  \] ([^\s,]+\.[^\s,]+)", output, re.MULTILINE)
    if failed:
        return ", ".join(dict.fromkeys(failed))
    if done.returncode != 0:
        asserted = re.search(r"assert\w*\W+failed.*|.*[Aa]ssertion.*", output)
        how = "an assertion" if asserted else f"exit code {done.returncode}"
        return f"{started[-1] if started else program.name} ({how})"
    if not started:
        sys.exit(f"{program.name}: no test is called {tests}")
    return None


class Breaker:
    def __init__(self, tree, jobs, seconds):
        self.tree, self.jobs, self.seconds = tree, jobs, seconds
        self.build_folder = tree / "build" / "debug"
        self.sound = set()

    def configure(self):
        copy_checkout(self.tree)
        if not (self.build_folder / "build.ninja").is_file():
            subprocess.run(["cmake", "--preset", "debug", *OPTIONS], cwd=self.tree, check=True)

    def build(self, target):
        """The program, or what the compiler said."""
        done = subprocess.run(["nice", "cmake", "--build", str(self.build_folder), "-j",
                               str(self.jobs), "--target", target],
                              capture_output=True, check=False)
        if done.returncode != 0:
            return None, (done.stdout + done.stderr).decode(errors="replace")[-2000:]
        found = [path for path in self.build_folder.rglob(target) if path.is_file()]
        return found[0], ""

    def check_sound(self, breaks):
        """All tests pass while nothing is broken."""
        for target in dict.fromkeys(item.target for item in breaks):
            program, said = self.build(target)
            if program is None:
                sys.exit(f"{target} cannot be built:\n{said}")
            wanted = dict.fromkeys(item.tests for item in breaks if item.target == target)
            failed = run_tests(program, ":".join(wanted), self.seconds * 10)
            if failed is not None:
                sys.exit(f"{target} fails with nothing broken: {failed}")

    def try_break(self, item):
        """What noticed the break, or None; what does not compile shows nothing."""
        path = self.tree / item.file
        sound = path.read_text(encoding="utf-8")
        found = sound.count(item.old)
        if found != 1:
            sys.exit(f"row {item.row}: {item.file} has {found} times, and not once, what is to be "
                     f"broken:\n{item.old}\nBring tests/attacks/breaks.py up to date.")
        try:
            path.write_text(sound.replace(item.old, item.new), encoding="utf-8")
            program, said = self.build(item.target)
            if program is None:
                print(said, file=sys.stderr)
                return UNCOMPILED
            return run_tests(program, item.tests, self.seconds)
        finally:
            path.write_text(sound, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="numbers of rows, with commas between them")
    parser.add_argument("--tree", type=pathlib.Path, help="the copy (build/breaks/source)",
                        default=REPOSITORY / "build" / "breaks" / "source")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=120, help="tests that take longer have hung")
    parser.add_argument("--list", action="store_true", help="only list the breaks")
    arguments = parser.parse_args()
    rows = set(arguments.rows.split(",")) if arguments.rows else None
    chosen = [item for item in BREAKS if rows is None or str(item.row) in rows]
    if not chosen:
        sys.exit("there is no break of these rows")
    if arguments.list:
        for item in chosen:
            print(f"{item.row:4} {item.file}: {item.what} | {item.tests}")
        return
    tree = arguments.tree.resolve()
    if tree == REPOSITORY or tree in REPOSITORY.parents:
        sys.exit("breaks are made in a copy, not in the checkout itself")
    tree.mkdir(parents=True, exist_ok=True)
    lock = (tree.parent / "lock").open("w", encoding="utf-8")
    fcntl.flock(lock, fcntl.LOCK_EX)  # until the end: one copy can be broken in one way only
    breaker = Breaker(tree, arguments.jobs, arguments.seconds)
    breaker.configure()
    breaker.check_sound(chosen)
    missed = 0
    results = REPOSITORY / "build" / "breaks" / "results.txt"
    results.parent.mkdir(parents=True, exist_ok=True)
    with results.open("a", encoding="utf-8") as log:
        for item in chosen:
            began = time.monotonic()
            caught = breaker.try_break(item)
            missed += caught in (None, UNCOMPILED)
            seconds = time.monotonic() - began
            line = f"{item.row:4} {item.what}: {caught or 'NOT NOTICED'} [{seconds:.0f} s]"
            print(line, flush=True)
            print(line, file=log, flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} breaks were noticed")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
