#!/usr/bin/env python3
"""SQLite's own TCL tests, with its B-tree and with ours.

    tcl.py --engine "LIBRARIES" [--update] [NAME...]

Takes Debian 12's source package of SQLite 3.40.1 (by apt-get, as fetch.sh does), builds its
testfixture twice in build/sqlite-tests, and runs each file of the set `veryquick` with both, as an
ordinary user where this one is root: some of the tests do not work for root. Then each file's cases
and the ones that failed are compared with tcl.tsv, where each file that differs has a reason. Exits
with 1 where a file is worse than tcl.tsv says; --update writes what there is now.

LIBRARIES is what testfixture is linked with: the objects of the shim but for SQLite's, the engine's
archive, and flags. NAME: files whose names contain it alone.

    tcl.py --engine "build/release/shims/sqlite/CMakeFiles/hawthorn_sqlite_objects.dir/Unity/*.o
        build/release/src/libhawthorn.a -lhwy -llz4 -lzstd -lcrypto -luring"

Needs tcl-dev, a C and a C++ compiler. Not a part of the tests: it takes an hour.
"""

import argparse
import concurrent.futures
import glob
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import prepare  # noqa: E402

ROOT = HERE.parents[2]
WORK = ROOT / "build" / "sqlite-tests"
TABLE = HERE / "tcl.tsv"
SECONDS = 100  # for a file
NOBODY = 65534
EXCLUDED = ("*malloc* *ioerr* *fault* *bigfile* *_err* *fts5corrupt* *fts5big* *fts5aj*")


def run(command, **options):
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, **options)


def source_tree():
    """The unpacked source, configured, with its amalgamation made."""
    out = WORK / "source" / "sqlite3-3.40.1"
    if not (out / "sqlite3.c").exists():
        shutil.rmtree(WORK / "source", ignore_errors=True)
        run([HERE.parent / "fetch.sh", "debian", WORK / "amalgamation", WORK / "source"])
    return out


def link_command(tree):
    """Sources and flags of testfixture, as its Makefile has them."""
    lines = run(["make", "-n", "testfixture"], cwd=tree, capture_output=True, text=True).stdout
    link = re.search(r"--mode=link(.*)", lines.replace("\\\n", " ")).group(1).replace('""', "")
    words = link.split()
    sources = [w for w in words if w.endswith(".c") and os.path.basename(w) != "sqlite3.c"]
    flags = [w for w in words if w.startswith(("-D", "-I"))]
    libraries = [w for w in words if w.startswith(("-l", "-L"))]
    return sources, flags, libraries


def patched_headers(tree):
    """A copy of the sources whose structures are those of the prepared amalgamation."""
    copy = WORK / "tree"
    if not copy.exists():
        shutil.copytree(tree, copy, symlinks=True)
    for name in ("btreeInt.h", "pager.c"):
        text = (tree / "src" / name).read_text()
        (copy / "src" / name).write_text(prepare.with_members(text, required=False))
    return copy


def compile_all(commands):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: run(command), commands))


def build(engine):
    tree = source_tree()
    sources, flags, libraries = link_command(tree)
    copy = patched_headers(tree)
    objects = WORK / "objects"
    objects.mkdir(exist_ok=True)
    compiler = ["cc", "-O2", "-g", "-w", "-DSQLITE_ENABLE_OFFSET_SQL_FUNC"]
    flags = [flag.replace(str(tree), str(copy)) for flag in flags]
    commands, made = [], []
    for source in sources:
        here = source.replace(str(tree), str(copy))
        if not os.path.isabs(here):
            here = str(copy / here)
        out = objects / (here.replace("/", "_") + ".o")
        made.append(str(out))
        if not out.exists():
            commands.append([*compiler, *flags, f"-I{copy}", "-c", here, "-o", str(out)])
    prepared = WORK / "prepared"
    run([sys.executable, "-B", HERE.parent / "prepare.py", tree, prepared])
    for name, source in (("stock", tree / "sqlite3.c"), ("ours", prepared / "sqlite3.c")):
        commands.append([*compiler, *flags, f"-I{copy}", f"-I{HERE.parent / 'src'}", "-c",
                         str(source), "-o", str(objects / f"{name}.o")])
    compile_all(commands)
    for name, more in (("stock", []), ("ours", engine)):
        run(["c++", "-o", str(WORK / f"testfixture-{name}"), *made, str(objects / f"{name}.o"),
             *more, *libraries, "-lz", "-ldl", "-lm", "-lpthread"])
    return tree


def files_of(tree):
    """The files of `veryquick`, as permutations.test names them."""
    script = r"""
        proc set_test_counter {args} {}
        proc run_tests args {}
        set testdir %s/test
        set text [read [open $testdir/permutations.test]]
        set from [string first "proc test_set" $text]
        set to [string first "# Start of tests" $text]
        eval [string range $text $from $to]
        foreach file [test_set $allquicktests -exclude %s] {puts [file tail $file]}
    """ % (tree, EXCLUDED)
    return sorted(subprocess.run(["tclsh"], input=script, check=True, capture_output=True,
                                 text=True).stdout.split())


def run_file(tree, fixture, name):
    """(cases, those that failed, how it ended) of one file."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        command = [str(fixture), f"{tree}/test/permutations.test", "veryquick", name]
        if os.getuid() == 0:
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                       *command]
        try:
            ended = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   timeout=SECONDS, env=dict(os.environ, HOME=directory))
            text, how = ended.stdout, "ended"
            if ended.returncode < 0:
                how = f"signal {-ended.returncode}"
        except subprocess.TimeoutExpired as late:
            text, how = late.stdout or b"", "late"
        text = text.decode("latin1")
    total = re.search(r"(\d+) errors out of (\d+) tests", text)
    if total:
        return int(total.group(2)), int(total.group(1)), how
    return len(re.findall(r"^\S+\.\.\.", text, re.MULTILINE)), None, \
        how if how != "ended" else "stopped"


def read_table():
    rows = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            name, cases, ours, failed, how, reason = line.split("\t")
            known = None if failed == "-" else int(failed)
            rows[name] = (int(cases), int(ours), known, how, reason)
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--engine", required=True)
    arguments.add_argument("--update", action="store_true")
    arguments.add_argument("names", nargs="*")
    asked = arguments.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    engine = [found for word in shlex.split(asked.engine)
              for found in (sorted(map(os.path.abspath, glob.glob(word))) or [word])]
    tree = build(engine)
    known = read_table() if TABLE.exists() else {}
    names = [name for name in files_of(tree)
             if not asked.names or any(part in name for part in asked.names)]
    worse, found = [], {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        stock = pool.map(lambda n: run_file(tree, WORK / "testfixture-stock", n), names)
        ours = pool.map(lambda n: run_file(tree, WORK / "testfixture-ours", n), names)
        for name, (cases, _, _), (run_here, failed, how) in zip(names, stock, ours):
            before = known.get(name)
            found[name] = (cases, run_here, failed, how, before[4] if before else "")
            if before is None and failed == 0 and run_here == cases:
                continue
            if before is None or (failed is None) > (before[2] is None) or \
                    (failed or 0) > (before[2] or 0) or run_here < before[1]:
                worse.append(f"{name}: {run_here} of {cases} cases, {failed} failed, {how}")
    total = sum(row[0] for row in found.values())
    failed = sum(row[2] or 0 for row in found.values())
    print(f"{len(found)} files, {total} cases with SQLite's B-tree, "
          f"{sum(row[1] for row in found.values())} with ours, of which {failed} failed")
    if asked.update:
        known.update(found)
        lines = ["# file, cases with SQLite's B-tree, with ours, of these failed (- it did not get",
                 "# to the end), how it ended, reason; files that are the same with both are left",
                 "# out"]
        for name, row in sorted(known.items()):
            if row[2] == 0 and row[1] == row[0]:
                continue
            lines.append("\t".join([name, str(row[0]), str(row[1]),
                                    "-" if row[2] is None else str(row[2]), row[3], row[4]]))
        TABLE.write_text("\n".join(lines) + "\n")
    for line in worse:
        print("worse:", line)
    sys.exit(1 if worse and not asked.update else 0)


if __name__ == "__main__":
    main()
