#!/usr/bin/env python3
"""Runs the example, compiled against each header, and compares what it prints."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

EXPECTED = """Le Guin:
  90 The Dispossessed
Lem:
  7 The Cyberiad
  512 Solaris
3 books, 3 loans
"""


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


class Catalogue(unittest.TestCase):
    PROGRAMS = ()

    def test_prints_the_same_over_each_library(self):
        self.assertTrue(self.PROGRAMS)
        for program in self.PROGRAMS:
            with tempfile.TemporaryDirectory() as directory:
                path = pathlib.Path(directory) / "catalogue"
                ran = run(program, path)
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, EXPECTED, ""))
                self.assertFalse(path.exists())

    def test_says_what_is_wrong(self):
        for program in self.PROGRAMS:
            self.assertEqual(run(program).returncode, 2)
            with tempfile.NamedTemporaryFile() as file:
                ran = run(program, file.name)
                self.assertEqual(ran.returncode, 1)
                self.assertIn(file.name, ran.stderr)


if __name__ == "__main__":
    Catalogue.PROGRAMS = tuple(sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
