#!/usr/bin/env python3
"""The C API: a C program that calls it, and the functions that the shared library exports.

Run by ctest, which names the program and the library.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM, LIBRARY = sys.argv[1:3]


class CApi(unittest.TestCase):
    def check(self, command):
        done = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check([PROGRAM, folder])

    def test_headers_are_what_the_table_says(self):
        self.check([sys.executable, "-B", HERE.parent / "c_api.py", "--check"])

    def test_the_library_exports_what_the_table_says(self):
        self.check([sys.executable, "-B", HERE.parent / "c_api.py", "--symbols", LIBRARY])


if __name__ == "__main__":
    sys.exit(unittest.main(argv=sys.argv[:1]))
