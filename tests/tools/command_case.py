"""What the tests of the command share: running it, in a scratch directory of its own."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

OK, NOT_FOUND, USAGE, CORRUPTION, ERROR, BUSY = range(6)
PROGRAM = None
# Seconds that no wait lasts but where something hangs: no test says how long anything takes.
HANG_SECONDS = 240
HEAD = b"#hawthorn-dump version=1 encoding=escaped\n"  # of a dump file


def wait_until(look):
    """Looks until it finds something true; returns that, or what was found at last."""
    end = time.monotonic() + HANG_SECONDS
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


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
                              stderr=subprocess.PIPE, timeout=HANG_SECONDS, **options)
        said = f"{str(arguments)[:500]}: {done.stderr.decode()[:1000]}"
        self.assertEqual(done.returncode, code, said)
        self.stderr = done.stderr.decode()
        if code in (NOT_FOUND, CORRUPTION, ERROR, BUSY):
            self.assertTrue(self.stderr.startswith("hawthorn: "), self.stderr)
        return done.stdout

    def skip_under_emulator(self, why):
        """Where the program is a script that starts an emulator (hawthorn_runnable)."""
        if pathlib.Path(PROGRAM).parent.name == "emulated":
            self.skipTest(why)

    def skip_without_start_times(self):
        self.skip_under_emulator("qemu-user tells a process another start than others see")

    def file(self, name, content):
        path = self.scratch / name
        path.write_bytes(content)
        return path


class Writer:
    """A process that has the database open, and writes when it is told to."""

    def __init__(self, case):
        self.case = case

    def __enter__(self):
        self.case.skip_without_start_times()
        self.process = subprocess.Popen(
            [PROGRAM, "load", self.case.db, "--durability", "none"],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process.stdin.write(HEAD)
        self.process.stdin.flush()
        self.await_alive()
        return self

    def await_alive(self):
        def alive():
            done = subprocess.run([PROGRAM, "counters", self.case.db, "--json"],
                                  capture_output=True, check=False)
            return done.returncode == 0 and json.loads(done.stdout)["alive"]

        if not wait_until(alive):
            self.case.fail("nobody has opened the database")

    def write(self, key, value):
        """One tree of one entry, committed when its end is read."""
        self.process.stdin.write(f"#tree name=main\n{key}\t{value}\n#end entries=1\n".encode())
        self.process.stdin.flush()

        def there():
            done = subprocess.run([PROGRAM, "get", self.case.db, key],
                                  capture_output=True, check=False)
            return done.returncode == 0 and done.stdout == value.encode()

        if not wait_until(there):
            self.case.fail("the entry does not come")

    def close(self):
        self.process.communicate()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hawthorn", required=True)
    arguments, rest = parser.parse_known_args()
    global PROGRAM
    PROGRAM = arguments.hawthorn
    sys.exit(unittest.main(module="__main__", argv=[sys.argv[0]] + rest))
