#!/usr/bin/env python3
"""import-rocksdb and export-rocksdb: between RocksDB's own library and hawthorn-rocksdb."""

import argparse
import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys

import command_case
from command_case import BUSY, CORRUPTION, ERROR, HANG_SECONDS, NOT_FOUND, USAGE, CommandCase

ROCKSDB = None
SHIM = None
COUNTERS = ("--merge-operator", "counters=uint64add", "--merge-operator",
            "reverse counters=uint64add", "--merge-operator", "counters of entities=uint64add")


def entries_program(program, *arguments):
    """Runs rocksdb_entries (tests/tools/rocksdb_entries.cc) over one of the two libraries."""
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE,
                          timeout=HANG_SECONDS).stdout


def contents(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in directory.iterdir()}


class MigrateCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.source = self.scratch / "source"
        self.target = self.scratch / "target"
        self.partial = self.scratch / "target.partial"

    def write(self, program=None, seed=1):
        entries_program(program or ROCKSDB, "write", self.source, str(seed))
        return entries_program(program or ROCKSDB, "print", self.source)

    def assert_nothing_made(self):
        self.assertFalse(self.target.exists())
        self.assertFalse(self.partial.exists())


class Import(MigrateCase):
    def test_all_families_and_entries(self):
        for seed in (1, 2):
            with self.subTest(seed=seed):
                for directory in (self.source, self.target):
                    shutil.rmtree(directory, ignore_errors=True)
                printed = self.write(seed=seed)
                before = contents(self.source)
                said = self.hawthorn("import-rocksdb", self.source, self.target, "--verify")
                self.assertEqual(contents(self.source), before)
                self.assertIn(b"imported 9 column families", said)
                self.assertIn(b"each entry was compared", said)
                self.assertEqual(entries_program(SHIM, "print", self.target), printed)
                self.assertIn(b" 0 errors", self.hawthorn("check", self.target))

    def test_json_and_counts(self):
        printed = self.write()
        answer = json.loads(self.hawthorn("import-rocksdb", self.source, self.target, "--json",
                                          "--progress"))
        self.assertEqual(len(answer["families"]), 9)
        entries = sum(b" " in line for line in printed.split(b"entries of default\n")[1].split(
            b"\n") if not line.startswith(b"entries of"))
        self.assertEqual(answer["entries"], entries)
        self.assertFalse(answer["verified"])
        self.assertEqual({family["name"] for family in answer["families"]
                          if family["entries"] == 0}, {"empty"})

    def test_what_was_imported_is_written_to(self):
        self.write()
        self.hawthorn("import-rocksdb", self.source, self.target)
        ldb = ("ldb", f"--db={self.target}")
        self.hawthorn(*ldb, "create_column_family", "new")
        self.hawthorn(*ldb, "put", "key", "value", "--column_family=new")
        families = self.hawthorn(*ldb, "list_column_families")
        self.assertIn(b"reverse counters", families)
        self.assertIn(b", new}", families)

    def test_a_budget_that_is_smaller_than_the_data(self):
        entries_program(ROCKSDB, "load", self.source, "60000")
        self.hawthorn("import-rocksdb", self.source, self.target, "--verify", "--memory", "16MB")
        self.assertEqual(entries_program(SHIM, "print", self.target),
                         entries_program(ROCKSDB, "print", self.source))

    def test_a_merge_operator_and_a_comparator_of_a_program(self):
        for what, name in (("merge operator", "tests.LastOperand"),
                           ("comparator", "tests.ByLength")):
            with self.subTest(what=what):
                shutil.rmtree(self.source, ignore_errors=True)
                entries_program(ROCKSDB, "foreign", self.source, what)
                self.hawthorn("import-rocksdb", self.source, self.target, code=ERROR)
                self.assertIn(f"column family {what}: its {what} is {name}", self.stderr)
                self.assert_nothing_made()

    def test_values_and_keys_over_the_limits(self):
        entries_program(ROCKSDB, "large", self.source, "key")
        self.hawthorn("import-rocksdb", self.source, self.target, code=USAGE)
        self.assertIn("column family default: key \"kkk", self.stderr)
        self.assert_nothing_made()
        shutil.rmtree(self.source)
        entries_program(ROCKSDB, "large", self.source, "value")
        self.hawthorn("import-rocksdb", self.source, self.target, code=USAGE)
        self.assertIn("column family default: key \"large\": a value of ", self.stderr)
        self.assert_nothing_made()

    def test_a_source_that_somebody_has_open(self):
        self.write()
        with subprocess.Popen([ROCKSDB, "hold", self.source], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as holder:
            self.assertEqual(holder.stdout.readline(), b"open\n")
            self.hawthorn("import-rocksdb", self.source, self.target, code=BUSY)
            holder.stdin.close()
        self.assert_nothing_made()

    def test_a_damaged_source(self):
        self.write()
        table = max(self.source.glob("*.sst"), key=lambda path: path.stat().st_size)
        damaged = bytearray(table.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        table.write_bytes(damaged)
        self.hawthorn("import-rocksdb", self.source, self.target, code=CORRUPTION)
        self.assertIn(str(self.source), self.stderr)
        self.assertIn("column family default", self.stderr)
        self.assert_nothing_made()

    def test_what_is_no_source_and_no_target(self):
        self.hawthorn("import-rocksdb", self.scratch / "none", self.target, code=NOT_FOUND)
        self.hawthorn("put", self.db, "k", "v")
        self.hawthorn("import-rocksdb", self.db, self.target, code=NOT_FOUND)
        self.assertIn("no database of RocksDB", self.stderr)
        self.write()
        self.hawthorn("import-rocksdb", self.source, self.db, code=USAGE)
        self.partial.mkdir()
        self.hawthorn("import-rocksdb", self.source, self.target, code=USAGE)
        self.assertIn("was interrupted", self.stderr)
        self.assertEqual(self.hawthorn("get", self.db, "k"), b"v")

    def test_a_log_elsewhere(self):
        printed = self.write()
        logs = self.scratch / "logs"
        logs.mkdir()
        for log in self.source.glob("*.log"):
            log.rename(logs / log.name)
        self.hawthorn("import-rocksdb", self.source, self.target, "--wal-dir", logs)
        self.assertEqual(entries_program(SHIM, "print", self.target), printed)


class Export(MigrateCase):
    def test_there_and_back(self):
        printed = self.write()
        self.hawthorn("import-rocksdb", self.source, self.target)
        back = self.scratch / "back"
        said = self.hawthorn("export-rocksdb", self.target, back, "--verify")
        self.assertIn(b"exported 9 column families", said)
        self.assertEqual(entries_program(ROCKSDB, "print", back), printed)
        again = self.scratch / "again"
        self.hawthorn("import-rocksdb", back, again, "--verify")
        self.assertEqual(entries_program(SHIM, "print", again), printed)

    def test_what_a_program_has_written(self):
        printed = self.write(SHIM)
        before = contents(self.source)
        self.hawthorn("export-rocksdb", self.source, self.target, *COUNTERS, "--verify")
        self.assertEqual(contents(self.source), before)
        self.assertEqual(entries_program(ROCKSDB, "print", self.target), printed)
        options = max(self.target.glob("OPTIONS-*")).read_text()
        self.assertEqual(options.count("merge_operator=UInt64AddOperator")
                         + options.count("merge_operator={id=UInt64AddOperator"), 3)

    def test_merge_operators_have_to_be_said(self):
        self.write(SHIM)
        self.hawthorn("export-rocksdb", self.source, self.target, code=ERROR)
        self.assertIn("column family counters: it has a merge operator", self.stderr)
        self.hawthorn("export-rocksdb", self.source, self.target, *COUNTERS, "--merge-operator",
                      "nobody=uint64add", code=NOT_FOUND)
        self.assertIn("no column family nobody", self.stderr)
        self.hawthorn("export-rocksdb", self.source, self.target, "--merge-operator",
                      "counters=unheard", code=ERROR)
        self.assertIn("does not come with the merge operator unheard", self.stderr)
        self.hawthorn("export-rocksdb", self.source, self.target, "--merge-operator", "counters",
                      code=USAGE)
        self.assert_nothing_made()

    def test_a_comparator_of_a_program(self):
        entries_program(SHIM, "foreign", self.source, "comparator")
        self.hawthorn("export-rocksdb", self.source, self.target, code=ERROR)
        self.assertIn("column family comparator: its comparator is tests.ByLength", self.stderr)
        self.assert_nothing_made()

    def test_trees(self):
        self.hawthorn("put", self.db, "a", "1", "--tree", "one")
        self.hawthorn("put", self.db, "b", "", "--tree", "two")
        self.hawthorn("export-rocksdb", self.db, self.target, code=USAGE)
        self.assertIn("--tree exports trees", self.stderr)
        self.hawthorn("export-rocksdb", self.db, self.target, "--tree", "no", code=NOT_FOUND)
        self.assert_nothing_made()
        self.hawthorn("export-rocksdb", self.db, self.target, "--tree", "one", "--tree", "two",
                      "--verify")
        printed = entries_program(ROCKSDB, "print", self.target)
        self.assertTrue(printed.endswith(b"entries of default\nentries of one\n61 31\n"
                                         b"entries of two\n62 \n"), printed)

    def test_no_source(self):
        self.hawthorn("export-rocksdb", self.scratch / "none", self.target, code=NOT_FOUND)
        self.assert_nothing_made()


class Kill(MigrateCase):
    """Whenever a run dies, its target is not there, or whole."""

    def kill_runs(self, command, print_program, printed):
        chance = random.Random(7)
        arguments = [command_case.PROGRAM, command, self.source, self.target]
        interrupted = 0
        for run in range(8):
            with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as work:
                while not self.partial.exists() and work.poll() is None:
                    pass
                # As many looks at the directory, which grows meanwhile; none in the first run.
                for _ in range(chance.randrange(20000) if run else 0):
                    self.partial.exists()
                work.kill()
            if self.target.exists():
                self.assertFalse(self.partial.exists())
                self.assertEqual(entries_program(print_program, "print", self.target), printed)
                shutil.rmtree(self.target)
            else:
                interrupted += self.partial.exists()
                shutil.rmtree(self.partial, ignore_errors=True)
        self.assertGreater(interrupted, 0)
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, timeout=HANG_SECONDS)
        self.assertEqual(entries_program(print_program, "print", self.target), printed)

    def test_import(self):
        entries_program(ROCKSDB, "load", self.source, "20000")
        self.kill_runs("import-rocksdb", SHIM, entries_program(ROCKSDB, "print", self.source))

    def test_export(self):
        entries_program(SHIM, "load", self.source, "20000")
        self.kill_runs("export-rocksdb", ROCKSDB, entries_program(SHIM, "print", self.source))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocksdb", type=pathlib.Path, required=True)
    parser.add_argument("--shim", type=pathlib.Path, required=True)
    programs, rest = parser.parse_known_args()
    ROCKSDB, SHIM = programs.rocksdb, programs.shim
    sys.argv[1:] = rest
    command_case.main()
