#!/usr/bin/env python3
"""Tests of tcl_table.py, and of the table that is there."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import tcl_table  # noqa: E402

REASONS = "design\texcluded\tnot here\nfault\tfails\tnot yet\n"


def ended(**cases):
    """A run: of each case how often it was run and failed; names with _ for a dot."""
    return "ended", {name.replace("_", "."): list(counts) for name, counts in cases.items()}


class Cases(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name)
        (self.path / "tcl_reasons.tsv").write_text(REASONS)

    def table(self, *lines):
        (self.path / "tcl.tsv").write_text("".join(line + "\n" for line in lines))
        return tcl_table.Table(self.path)

    def report(self, table, judged):
        with contextlib.redirect_stdout(io.StringIO()):
            return tcl_table.report(table, judged)

    def judged(self, table, stock, ours):
        return {"a.test": tcl_table.judge(table, "a.test", stock, ours)}

    def test_a_failure_without_a_reason_is_wrong(self):
        stock, ours = ended(a_1=(1, 0), a_2=(1, 0)), ended(a_1=(1, 0), a_2=(1, 1))
        for lines, code in (((), 1), (("a.test\tfault\ta.2",), 0), (("a.test\tdesign\ta.2",), 0)):
            table = self.table(*lines)
            self.assertEqual(self.report(table, self.judged(table, stock, ours)), code, lines)

    def test_a_listed_failure_that_passes_is_wrong(self):
        stock = ended(a_1=(1, 0), a_2=(1, 0))
        table = self.table("a.test\tfault\ta.*")
        judged = self.judged(table, stock, ended(a_1=(1, 0), a_2=(1, 1)))
        self.assertEqual(self.report(table, judged), 1)
        table = self.table("a.test\tdesign\ta.*")
        judged = self.judged(table, stock, ended(a_1=(1, 0), a_2=(1, 1)))
        self.assertEqual(self.report(table, judged), 0)
        self.assertEqual(judged["a.test"].excluded, {"design": 1})

    def test_cases_that_are_not_run_do_not_pass(self):
        stock = ended(a_1=(2, 0), a_2=(1, 0))
        table = self.table()
        verdict = tcl_table.judge(table, "a.test", stock, ("stopped", {"a.1": [1, 0]}))
        self.assertEqual(verdict.not_passed, {"a.1": 1, "a.2": 1})
        verdict = tcl_table.judge(table, "a.test", stock, ended(a_1=(2, 0), a_9=(1, 0)))
        self.assertEqual(verdict.not_passed, {}, "as many, by other names")

    def test_what_fails_with_sqlite_too_counts_for_nothing(self):
        table = self.table()
        verdict = tcl_table.judge(table, "a.test", ended(a_1=(1, 1)), ended(a_1=(1, 1)))
        self.assertEqual((verdict.stock, verdict.stock_failed, verdict.not_passed), (1, 1, {}))

    def test_update_keeps_reasons(self):
        stock = ended(a_1_1=(1, 0), a_1_2=(1, 0), a_2_1=(1, 0), a_2_2=(1, 0), b=(1, 0))
        ours = ended(a_1_1=(1, 1), a_1_2=(1, 1), a_2_1=(1, 1), a_2_2=(1, 0), b=(1, 0))
        table = self.table("a.test\tfault\tb a.1.1 a.1.2")
        table.update(self.judged(table, stock, ours))
        self.assertEqual((self.path / "tcl.tsv").read_text().splitlines()[1:],
                         ["a.test\tfault\ta.1.1 a.1.2", "a.test\tunsorted\ta.2.1"])

    def test_patterns(self):
        self.assertEqual(tcl_table.patterns_of({"a-1.1", "a-1.2", "a-2"}, {"a-3", "a-10.1"}),
                         ["a-1.*", "a-2"])
        self.assertEqual(tcl_table.patterns_of({"a-1", "a-1.2"}, {"a-2"}), ["a-1", "a-1.2"])


class TheTable(unittest.TestCase):
    def test_every_reason_is_known_and_used(self):
        table = tcl_table.Table(HERE)
        used = {key for patterns in table.patterns.values() for _, key in patterns}
        self.assertEqual(used, set(table.reasons))
        for name, patterns in table.patterns.items():
            self.assertTrue(name.endswith(".test"), name)
            if table.whole(name):
                self.assertEqual(len(patterns), 1, name)
                self.assertTrue(table.excludes(table.whole(name)), name)


if __name__ == "__main__":
    unittest.main()
