#!/usr/bin/env python3
"""The example prints what stands in warehouse.txt, which RocksDB printed; and where RocksDB is
installed, it is compiled with that, too, and prints the same.

Run by ctest, which names the example; --cxx names the compiler.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
arguments = None


class Warehouse(unittest.TestCase):
    def printed_by(self, program):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([program, pathlib.Path(folder) / "db"], text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_ours_prints_what_rocksdb_printed(self):
        self.assertEqual(self.printed_by(arguments.program), (HERE / "warehouse.txt").read_text())

    def test_rocksdb_prints_it(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "warehouse"
            built = subprocess.run(
                [arguments.cxx, "-std=c++17", "-O1", HERE / "warehouse.cc", "-o", program,
                 "-lrocksdb"], check=False, capture_output=True)
            if built.returncode != 0:
                self.skipTest("RocksDB is not installed")
            self.assertEqual(self.printed_by(program), (HERE / "warehouse.txt").read_text())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cxx", default="c++")
    arguments, rest = parser.parse_known_args()
    sys.exit(unittest.main(argv=sys.argv[:1] + rest))
