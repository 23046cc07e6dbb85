#!/usr/bin/env python3
"""Runs of hawthorn-bench, of which a script takes the place: turns, failures, time, and the whole
program from the plan to the files."""

import os
import re
import stat
import sys
import tempfile
import textwrap
import unittest

import canned
import history
import report
import run
from plan import Job, Plan, make_plan

# Answers as hawthorn-bench does. What FAKE_engine says is done: fail, die, full, hang, nothing.
FAKE = """\
    #!/usr/bin/env python3
    import json, os, sys, time
    words = sys.argv[1:]
    def option(name):
        return words[words.index(name) + 1]
    if words[0] == "engines":
        checked = os.environ.get("FAKE_ASSERTIONS", "").split(",")
        engines = [{"engine": name, "summary": "an engine", "version": name + " 1.0",
                    "origin": "here", "compiler": None, "flags": "-O3",
                    "assertions": None if name == "memory" else name in checked}
                   for name in ("hawthorn", "rocksdb", "lmdb", "memory")]
        json.dump({"engines": engines, "missing": ["mdbx: mdbx.h not found"]},
                  open(option("--json"), "w"))
        sys.exit(0)
    engine = option("--engines")
    os.makedirs(option("--db-path"), exist_ok=True)
    open(os.path.join(option("--db-path"), "data"), "w").close()
    with open(os.environ["FAKE_LOG"], "a") as log:
        log.write(words[0] + " " + engine + "\\n")
    what = os.environ.get("FAKE_" + engine, "")
    print(words[0].capitalize() + ": some parameters.")
    print(words[0] + ", run 1:")
    print("  " + engine + ": " + engine + " 1.0; settings")
    if what == "hang":
        time.sleep(600)
    if what == "die":
        print("hawthorn-bench: no space", file=sys.stderr)
        sys.exit(3)
    if what == "fail":
        print("  FAIL: key 7 has a wrong <value>")
        sys.exit(1)
    if what == "full":
        print("  FULL: the map is full")
    rows = [{"workload": words[0], "engine": engine, "phase": phase, "metric": metric,
             "value": value, "unit": unit, "repeat": 0} for phase, metric, value, unit in (
            ("upsert", "ops_per_s", 1000.0, "1/s"), ("write", "tx_per_s", 50.0, "1/s"),
            ("insert", "ops_per_s", 70.0, "1/s"), ("load", "ops_per_s", 30.0, "1/s"),
            ("verify", "bytes_on_disk", 4096.0, "bytes"))]
    if what == "nothing":
        rows = []
    json.dump(rows, open(option("--json"), "w"))
    with open(option("--csv"), "w") as csv:
        csv.write("workload,engine,round,total_keys,upserts_per_s,bytes_on_disk,repeat\\n")
        csv.write("upsert,%s,1,100,900,4096,0\\nupsert,%s,2,200,800,4096,0\\n" % (engine, engine))
"""


class Fake(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = os.path.join(self.folder, "hawthorn-bench")
        text = textwrap.dedent(FAKE).replace("/usr/bin/env python3", sys.executable + " -IS", 1)
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.program, stat.S_IRWXU)
        self.log = os.path.join(self.folder, "log")
        self.set("FAKE_LOG", self.log)
        self.lines = []

    def set(self, name, value):
        os.environ[name] = value
        self.addCleanup(os.environ.pop, name, None)

    def calls(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]


class Runs(Fake):
    def run_rounds(self, rounds=1, engines=("hawthorn", "rocksdb", "lmdb"), clock=lambda: 0.0):
        job = Job(canned.item("upsert"), 20_000, rounds, list(engines))
        runner = run.Runner(self.program, os.path.join(self.folder, "data"), 600.0,
                            log=self.lines.append, clock=clock)
        return runner.run_plan(Plan(1, 1.0, [job]))

    def test_figures_curves_and_settings_are_read(self):
        runs = self.run_rounds()
        self.assertEqual([one.status for one in runs], [run.OK] * 3)
        self.assertEqual(runs[0].figures[("upsert", "ops_per_s")], (1000.0, "1/s"))
        self.assertEqual([run.curve_point(row, at) for at, row in enumerate(runs[0].curve)],
                         [(100, 900), (200, 800)])
        self.assertEqual(run.settings_of(runs)["lmdb"], ["lmdb 1.0; settings"])

    def test_engines_take_turns_and_the_first_changes(self):
        self.run_rounds(rounds=3)
        self.assertEqual([line.split()[1] for line in self.calls()],
                         ["hawthorn", "rocksdb", "lmdb", "rocksdb", "lmdb", "hawthorn",
                          "lmdb", "hawthorn", "rocksdb"])

    def test_a_wrong_answer_is_kept_as_a_failed_run(self):
        self.set("FAKE_rocksdb", "fail")
        runs = self.run_rounds(rounds=2)
        failed = [one for one in runs if one.status == run.FAILED]
        self.assertEqual([(one.engine, one.round) for one in failed],
                         [("rocksdb", 0), ("rocksdb", 1)])
        self.assertEqual(failed[0].reason, "key 7 has a wrong <value>")
        self.assertEqual(failed[0].figures, {})
        self.assertEqual(len(runs), 6, "the others go on")

    def test_a_death_has_its_last_words(self):
        self.set("FAKE_lmdb", "die")
        dead = self.run_rounds()[2]
        self.assertEqual((dead.status, dead.reason), (run.FAILED, "hawthorn-bench: no space"))

    def test_no_figures_are_a_failure(self):
        self.set("FAKE_lmdb", "nothing")
        self.assertEqual(self.run_rounds()[2].reason, "it gave no figures")

    def test_a_program_that_is_gone_is_a_failure_of_each_run(self):
        program, self.program = self.program, self.program + ".gone"
        with self.assertRaises(OSError):
            self.run_rounds()
        self.program = program

    def test_what_ran_full_keeps_its_figures(self):
        self.set("FAKE_lmdb", "full")
        full = self.run_rounds()[2]
        self.assertEqual((full.status, full.reason), (run.FULL, "the map is full"))
        self.assertTrue(full.has_figures() and full.figures)

    def test_the_deadline_stops_an_engine_and_says_what_was_not_run(self):
        self.set("FAKE_rocksdb", "hang")
        execute = run.execute
        self.addCleanup(setattr, run, "execute", execute)
        now = 0.0

        def hastened(command, seconds):
            """Of what hangs two seconds are enough; then all the time has passed."""
            nonlocal now
            if command[command.index("--engines") + 1] != "rocksdb":
                return execute(command, 600)
            done = execute(command, 2)
            now = 601.0
            return done

        run.execute = hastened
        runs = self.run_rounds(rounds=2, clock=lambda: now)
        self.assertEqual(runs[1].status, run.NO_TIME)
        self.assertIn("stopped after", runs[1].reason)
        self.assertEqual(len(runs), 6)
        for one in runs[2:]:
            self.assertEqual(one.status, run.NO_TIME)
            self.assertIn("not run", one.reason)

    def test_an_interruption_keeps_what_there_is(self):
        execute = run.execute
        self.addCleanup(setattr, run, "execute", execute)

        def interrupted(command, seconds):
            if command[command.index("--engines") + 1] == "rocksdb":
                raise KeyboardInterrupt
            return execute(command, seconds)

        run.execute = interrupted
        runs = self.run_rounds(rounds=2)
        self.assertEqual([one.status for one in runs], [run.OK] + [run.NO_TIME] * 5)
        self.assertEqual(runs[1].reason, "interrupted")

    def test_nothing_is_left_of_a_run_and_nothing_of_it_is_taken_for_the_next(self):
        self.run_rounds(engines=["hawthorn"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "data", "db")))
        self.set("FAKE_lmdb", "fail")
        self.assertEqual(self.run_rounds(engines=["hawthorn", "lmdb"])[1].figures, {})

    def test_raw_csv_has_failed_runs(self):
        self.set("FAKE_rocksdb", "fail")
        text = run.raw_csv(self.run_rounds())
        self.assertIn('upsert,rocksdb,1,2,failed,,,,"key 7 has a wrong <value>"', text)
        self.assertIn("upsert,hawthorn,1,1,ok,upsert,ops_per_s,1000,1/s", text)


class Whole(Fake):
    def report(self, *more, minutes="0.2"):
        out = os.path.join(self.folder, "out")
        code = report.main(["--bench", self.program, "--out", out, "--minutes", minutes, *more],
                           log=self.lines.append)
        return code, out

    def test_a_report(self):
        code, out = self.report()
        self.assertEqual(code, 0, self.lines)
        for name in ("index.html", "figures.csv", "curves.csv", "history.jsonl"):
            self.assertTrue(os.path.getsize(os.path.join(out, name)) > 0, name)
        self.assertFalse(os.path.exists(os.path.join(out, "data")))
        self.assertTrue(self.lines[-1].endswith("index.html"))
        self.assertNotIn("upsert memory", self.calls()[1:], "the model is no peer")

    def test_a_second_report_compares_with_the_first(self):
        self.report()
        code, out = self.report()
        entries, broken = history.load(os.path.join(out, "history.jsonl"))
        self.assertEqual((code, len(entries), broken), (0, 2, 0))
        self.assertEqual(entries[0]["machine"], entries[1]["machine"])

    def test_a_peer_that_fails_is_told_of_at_the_end(self):
        self.set("FAKE_rocksdb", "fail")
        code, out = self.report()
        self.assertEqual(code, 0)
        self.assertTrue(any(line.startswith("failed: rocksdb, upsert, round 1: key 7")
                            for line in self.lines))
        with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r'id="failed".*rocksdb.*wrong &lt;value&gt;')

    def test_a_peer_with_assertions_runs_and_is_not_compared(self):
        self.set("FAKE_ASSERTIONS", "rocksdb")
        code, out = self.report()
        self.assertEqual(code, 0, self.lines)
        self.assertIn("upsert rocksdb", self.calls())
        entries, _ = history.load(os.path.join(out, "history.jsonl"))
        self.assertTrue(entries[0]["rows"])
        for row in entries[0]["rows"].values():
            self.assertEqual(list(row["peers"]), ["lmdb"])
        with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
            self.assertRegex(file.read(),
                             r'id="assertions".*rocksdb 1\.0; here; -O3; assertions on')

    def test_ours_that_fails_ends_with_1(self):
        self.set("FAKE_hawthorn", "fail")
        code, out = self.report()
        self.assertEqual(code, 1)
        self.assertTrue(os.path.exists(os.path.join(out, "index.html")), "the page says so")
        self.assertFalse(os.path.exists(os.path.join(out, "history.jsonl")), "no rows to keep")

    def test_engines_are_chosen(self):
        code, _ = self.report("--engines", "lmdb")
        self.assertEqual(code, 0)
        self.assertEqual({line.split()[1] for line in self.calls()[1:]}, {"hawthorn", "lmdb"})

    def test_an_engine_that_this_build_lacks(self):
        self.assertEqual(self.report("--engines", "mdbx")[0], 2)

    def test_no_program(self):
        self.program += ".gone"
        self.assertEqual(self.report()[0], 2)

    def test_the_plan_alone_runs_nothing(self):
        code, out = self.report("--plan", minutes="20")
        self.assertEqual(code, 0)
        self.assertFalse(os.path.exists(os.path.join(out, "index.html")))
        self.assertTrue(any(re.match(r" +upsert +[\d,]+ keys, rounds: 3", line)
                            for line in self.lines))

    def test_commands_are_those_of_the_plan(self):
        for job in make_plan(20, ["hawthorn", "rocksdb", "lmdb"]).jobs:
            self.assertEqual(job.arguments()[0], job.item.workload)
            self.assertIn("--pretouch", job.arguments())


if __name__ == "__main__":
    sys.exit(unittest.main())
