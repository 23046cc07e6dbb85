"""What the tests of the command share: running it, in a scratch directory of its own."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

OK, NOT_FOUND, USAGE, CORRUPTION, ERROR, BUSY = range(6)
PROGRAM = None
HEAD = b"#hawthorn-dump version=1 encoding=escaped\n"  # of a dump file


class CommandCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.db = self.scratch / "db"

    def hawthorn(self, *arguments, code=OK, stdin=b"", **options):
        """Runs the command; returns what it printed, as bytes. An error is one of the contract."""
        done = subprocess.run([PROGRAM, *arguments], input=stdin, check=False,
                              stdout=options.pop("stdout", subprocess.PIPE),
                              stderr=subprocess.PIPE, timeout=240, **options)
        said = f"{str(arguments)[:500]}: {done.stderr.decode()[:1000]}"
        self.assertEqual(done.returncode, code, said)
        self.stderr = done.stderr.decode()
        if code in (NOT_FOUND, CORRUPTION, ERROR, BUSY):
            self.assertTrue(self.stderr.startswith("hawthorn: "), self.stderr)
        return done.stdout

    def file(self, name, content):
        path = self.scratch / name
        path.write_bytes(content)
        return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hawthorn", required=True)
    arguments, rest = parser.parse_known_args()
    global PROGRAM
    PROGRAM = arguments.hawthorn
    sys.exit(unittest.main(module="__main__", argv=[sys.argv[0]] + rest))
