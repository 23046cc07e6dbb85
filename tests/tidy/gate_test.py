#!/usr/bin/env python3
"""scripts/test.py: what it makes of the results of ctest, GoogleTest and scripts."""

import importlib.util
import pathlib
import tempfile
import unittest

from source_tree import REPOSITORY

SPEC = importlib.util.spec_from_file_location("gate", REPOSITORY / "scripts" / "test.py")
gate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gate)

CTEST = """<testsuite tests="5">
<testcase name="engine_test" time="2" status="run"/>
<testcase name="crashed_test" time="1" status="fail"><failure message=""/>
  <system-out>begins
segmentation fault</system-out></testcase>
<testcase name="leaks_test" time="1" status="fail"><failure message=""/></testcase>
<testcase name="tools.web" time="7.5" status="run"/>
<testcase name="gone" time="0" status="notrun"><skipped message="not found"/></testcase>
</testsuite>"""
ENGINE = """<testsuites><testsuite name="Db">
<testcase name="opens" classname="Db" status="run" result="completed" time="0.5"/>
<testcase name="closes" classname="Db" status="run" result="completed" time="1.5">
  <failure message="no"/><failure message="no again"/></testcase>
<testcase name="devices" classname="Db" status="run" result="skipped" time="0">
  <skipped message="file.cc:1&#10;no loop devices"/></testcase>
<testcase name="left_out" classname="Db" status="notrun" result="suppressed" time="0"/>
</testsuite></testsuites>"""
LEAKS = """<testsuites><testsuite name="Leaks">
<testcase name="passes" classname="Leaks" status="run" result="completed" time="0.1"/>
</testsuite></testsuites>"""


class Gate(unittest.TestCase):
    def read(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, text in (("ctest", CTEST), ("engine_test", ENGINE), ("leaks_test", LEAKS)):
                (folder / f"{file}.xml").write_text(text, encoding="utf-8")
            return gate.read_tests(folder)

    def test_cases_count_and_not_programs(self):
        results = self.read()
        self.assertEqual(results.passed, 3)  # opens, passes, tools.web
        self.assertEqual(results.skipped, ["Db.devices: no loop devices"])
        self.assertIn((1.5, "Db.closes"), results.longest)
        self.assertIn((7.5, "tools.web"), results.longest)

    def test_a_program_that_fails_beside_its_cases_is_a_failure(self):
        self.assertEqual(self.read().failures, [
            "Db.closes\n    no", "crashed_test (fail)\n    begins\n    segmentation fault",
            "leaks_test (fail)", "gone (notrun)"])

    def test_a_part_of_a_script_that_did_not_run_has_failed(self):
        results = gate.read_lines("passed go: tests\nFAILED go: bench\nskipped java\nother\n")
        self.assertEqual(results.passed, 1)
        self.assertEqual(results.failures, ["go: bench", "java (did not run)"])

    def test_every_stage_is_described_and_there(self):
        for stage in gate.GATE + gate.NAMED:
            self.assertTrue(callable(getattr(gate.Run, stage.replace("-", "_"))), stage)
            self.assertRegex(gate.__doc__, rf"(?m)^    {stage}[ ,]?|^    \w+, {stage}$")

    def test_the_budget_grows_with_what_is_added(self):
        text = "# minutes\nminutes\tadded\tfor\n45\tyes\tall\n4\tno\tmore\n"
        self.assertEqual(gate.budget(text, 40.5),
                         "Budget: 45 minutes, 49 with all that is to come; 40.5 used, 4.5 left")
        self.assertIn("45 minutes",
                      gate.budget((REPOSITORY / ".ci" / "budget.tsv").read_text("utf-8"), 0))


if __name__ == "__main__":
    unittest.main()
