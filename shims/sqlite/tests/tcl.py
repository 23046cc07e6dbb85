#!/usr/bin/env python3
"""SQLite's own TCL tests, with its B-tree and with ours.

    tcl.py [--engine "LIBRARIES"] [--listed] [--update] [--jobs N] [--seconds N] [PATTERN...]

Takes Debian 12's source package of SQLite 3.40.1 (by apt-get, as fetch.sh does), builds its
testfixture twice in build/sqlite-tests, and runs each file of the set `veryquick` with both, as an
ordinary user where this one is root: some of the tests do not work for root. What a file did stays
in build/sqlite-tests/results; with SQLite's B-tree it is run once. Then the cases that do not pass
are compared with tcl.tsv, where each has a reason (tcl_table.py). Exits with 1 where one has none,
or passes now; --update writes what there is now, the new ones as `unsorted`.

LIBRARIES is what testfixture is linked with: the objects of the shim but for SQLite's, the engine's
archive, and flags. Without it nothing is run: what is stored is compared. --listed: the files of
tcl.tsv alone. PATTERN: files of such names alone.

    tcl.py --engine "build/release/shims/sqlite/CMakeFiles/hawthorn_sqlite_objects.dir/Unity/*.o
        build/release/src/libhawthorn.a -lhwy -llz4 -lzstd -lcrypto -luring"

Needs tcl-dev, a C and a C++ compiler. Not a part of the tests: it takes an hour, less where TMPDIR
is in memory.
"""

import argparse
import concurrent.futures
import fnmatch
import glob
import json
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
import tcl_table  # noqa: E402

ROOT = HERE.parents[2]
WORK = ROOT / "build" / "sqlite-tests"
SECONDS = 200  # for a file
NOBODY = 65534
# What `configure --enable-all` puts in.
FEATURES = [f"-DSQLITE_ENABLE_{name}" for name in
            ("FTS4", "FTS5", "GEOPOLY", "RTREE", "SESSION", "PREUPDATE_HOOK")]
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


# Changes of the harness. A file goes on behind a command that fails outside of its cases; and what
# is done once with other processes and once in this one is done in this one alone where ONE_PROCESS
# is set.
HARNESS = [
    ("tester.tcl", "slave_test_script [list source $zFile]",
     "slave_test_script [list source_by_command $zFile]"),
    ("tester.tcl", "load_testfixture_extensions tinterp\n", r"""load_testfixture_extensions tinterp
  interp eval tinterp {
    proc source_by_command {file} {
      set channel [open $file]
      set text [read $channel]
      close $channel
      uplevel #0 [list info script $file]
      set command ""
      foreach line [split $text "\n"] {
        append command $line "\n"
        if {![info complete $command]} continue
        set code [catch {uplevel #0 $command} message options]
        if {$code==2} return
        if {$code==1} {
          puts "\nOutside of a case: $message"
          puts [dict get $options -errorinfo]
        }
        set command ""
      }
    }
  }
"""),
    ("lock_common.tcl", "if {[info exists ::G(valgrind)]} { db close ; continue }",
     "if {[info exists ::env(ONE_PROCESS)]} continue"),
]


def patched_copy(tree):
    """A copy of the sources: structures are those of the prepared amalgamation, and the harness is
    changed."""
    copy = WORK / "tree"
    if not copy.exists():
        shutil.copytree(tree, copy, symlinks=True)
    for name in ("btreeInt.h", "sqliteInt.h"):
        header = copy / "src" / name
        text = prepare.with_members((tree / "src" / name).read_text(), required=False)
        if header.read_text() != text:
            header.write_text(text)
            shutil.rmtree(WORK / "objects", ignore_errors=True)
    for name in {name for name, _, _ in HARNESS}:
        text = (tree / "test" / name).read_text()
        for of, old, new in HARNESS:
            if of == name:
                if text.count(old) != 1:
                    raise SystemExit(f"tcl.py: {name} has no {old}")
                text = text.replace(old, new)
        (copy / "test" / name).write_text(text)
    return copy


def compile_all(commands):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: run(command), commands))


def build(engine):
    tree = source_tree()
    sources, flags, libraries = link_command(tree)
    copy = patched_copy(tree)
    objects = WORK / "objects"
    objects.mkdir(exist_ok=True)
    compiler = ["cc", "-O2", "-g", "-w", "-DSQLITE_ENABLE_OFFSET_SQL_FUNC"]
    flags = [flag.replace(str(tree), str(copy)) for flag in flags] + FEATURES
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
    # The test programs know one form of the structures.
    stock = WORK / "sqlite3-stock.c"
    text = prepare.with_members((tree / "sqlite3.c").read_text())
    if not stock.exists() or stock.read_text() != text:
        stock.write_text(text)
    for name, source in (("stock", stock), ("ours", prepared / "sqlite3.c")):
        out = objects / f"{name}.o"
        if name == "ours" or not out.exists() or out.stat().st_mtime < stock.stat().st_mtime:
            commands.append([*compiler, *flags, f"-I{copy}", f"-I{HERE.parent / 'src'}", "-c",
                             str(source), "-o", str(out)])
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


def parse(text):
    """Of what testfixture has written: {case: [how often it was run, how often it failed]}."""
    cases = {}
    starts = list(re.finditer(r"^(\S[^\n]*?)\.\.\.(?=$|\s)", text, re.MULTILINE))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends):
        rest = text[start.end():end]
        if start.group(1).startswith(("!", "Error")) or re.search(r" Omitted$", rest, re.MULTILINE):
            continue
        case = cases.setdefault(start.group(1), [0, 0])
        case[0] += 1
        case[1] += not re.search(r" Ok$", rest, re.MULTILINE)
    for name in re.findall(r"^!Failures on these tests:(.*)$", text, re.MULTILINE):
        for failed in set(name.split()) - set(cases):
            cases[failed] = [1, 1]
    return cases


def run_file(kind, name, seconds):
    """Runs a file with one of the fixtures; what it did is in build/sqlite-tests/results."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        command = [str(WORK / f"testfixture-{kind}"), f"{WORK}/tree/test/permutations.test",
                   "veryquick", name]
        environment = dict(os.environ, HOME=directory)
        if kind == "ours":
            environment["ONE_PROCESS"] = "1"
        if os.getuid() == 0:
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                       *command]
        try:
            ended = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   timeout=seconds, env=environment)
            text = ended.stdout.decode("latin1")
            how = "ended" if re.search(r"\d+ errors out of \d+ tests", text) else "stopped"
            if ended.returncode < 0:
                how = f"signal {-ended.returncode}"
        except subprocess.TimeoutExpired as late:
            text, how = (late.stdout or b"").decode("latin1"), "late"
    out = WORK / "results" / kind
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.out").write_text(text)
    (out / f"{name}.json").write_text(json.dumps({"how": how, "cases": parse(text)}))


def result(kind, name):
    """(how it ended, {case: [run, failed]}), None where it has not been run."""
    path = WORK / "results" / kind / f"{name}.json"
    if not path.exists():
        return None
    stored = json.loads(path.read_text())
    return stored["how"], stored["cases"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--engine")
    arguments.add_argument("--update", action="store_true")
    arguments.add_argument("--listed", action="store_true")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--seconds", type=int, default=SECONDS)
    arguments.add_argument("names", nargs="*")
    asked = arguments.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    table = tcl_table.Table(HERE)
    tree = source_tree()
    every = files_of(tree)
    names = [name for name in every
             if (not asked.names or any(fnmatch.fnmatchcase(name, part) for part in asked.names))
             and (not asked.listed or name in table.files())]
    if asked.engine:
        build([found for word in shlex.split(asked.engine)
               for found in (sorted(map(os.path.abspath, glob.glob(word))) or [word])])
        with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
            runs = [pool.submit(run_file, kind, name, asked.seconds) for name in names
                    for kind in ("stock", "ours")
                    if kind == "ours" or result(kind, name) is None]
            for one in runs:
                one.result()
    judged = {}
    for name in names:
        stock, ours = result("stock", name), result("ours", name)
        if stock is not None and ours is not None:
            judged[name] = tcl_table.judge(table, name, stock, ours)
    if asked.update:
        table.update(judged)
        judged = {name: tcl_table.judge(table, name, result("stock", name), result("ours", name))
                  for name in judged}
    sys.exit(tcl_table.report(table, judged))


if __name__ == "__main__":
    main()
