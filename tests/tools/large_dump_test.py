#!/usr/bin/env python3
"""load and dump of much data: large values, many entries, memory that stays constant."""

import os
import subprocess
import sys

import command_case
from command_case import HANG_SECONDS, HEAD, CommandCase


class Much(CommandCase):
    def test_large_values(self):
        values = {"exact": os.urandom(1 << 20), "more": os.urandom((1 << 20) + 1),
                  "hashes": b"#" * (3 << 20), "streamed": os.urandom(1 << 20) * 65 + b"end"}
        for key, value in values.items():
            self.hawthorn("put", self.db, key, "--file", self.file("value", value))
        for options in ((), ("--base64",)):
            with self.subTest(options=options):
                other = self.scratch / f"other{len(options)}"
                dump = self.scratch / "dump"
                self.hawthorn("dump", self.db, dump, *options)
                with open(dump, "rb") as lines:
                    headers = [line for line in lines if line.startswith(b"#value")]
                self.assertEqual(len(headers), 3)
                self.hawthorn("load", other, dump)
                for key, value in values.items():
                    self.hawthorn("get", other, key, "--output", self.scratch / "back")
                    self.assertEqual((self.scratch / "back").read_bytes(), value, key)

    def test_nothing_is_lost_of_many_entries_in_a_small_budget(self):
        count = 400_000
        value = os.urandom(128).hex().encode()
        lines = [b"%09d\t%s\n" % (i, value) for i in range(count)]
        end = b"#end entries=%d\n#end-of-dump trees=1\n" % count
        dump = self.file("dump", HEAD + b"#tree name=main\n" + b"".join(lines) + end)
        self.hawthorn("load", self.db, dump, "--memory", "64MB")
        self.assertEqual(self.hawthorn("count", self.db), b"%d\n" % count)
        again = self.hawthorn("dump", self.db, "--memory", "64MB").splitlines(keepends=True)
        self.assertEqual(again[2:-2], lines)


class Memory(CommandCase):
    BUDGET = 64 << 20

    def peak_of(self, *arguments):
        """The peak resident memory of one run of the command, in bytes."""
        # A new process counts its parent's memory until its exec: a small parent stands between.
        measure = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = subprocess.run([sys.executable, "-c", measure, command_case.PROGRAM, *arguments],
                              check=True, capture_output=True, timeout=HANG_SECONDS)
        return int(done.stdout) * 1024

    def test_a_database_above_the_budget_passes_through_in_constant_memory(self):
        dump = self.scratch / "dump"
        value = os.urandom(375_000).hex().encode()
        part = os.urandom(24_000).hex().encode()
        with open(dump, "wb") as file:
            file.write(HEAD + b"#tree name=t\n")
            for i in range(160):
                file.write(b"%06d\t" % i + value + b"\n")
            file.write(b"#value bytes=%d key=z\n" % (48_000 * 2500) + (part + b"\n") * 2500)
            file.write(b"#end entries=161\n#end-of-dump trees=1\n")
        self.assertGreater(dump.stat().st_size, 3 * self.BUDGET)
        budget = f"--memory={self.BUDGET}"
        allowed = self.BUDGET * 1.05 + (32 << 20)  # the command's own code, buffers and lines
        self.assertLess(self.peak_of("load", self.db, dump, budget), allowed)
        self.assertLess(self.peak_of("dump", self.db, self.scratch / "again", budget), allowed)
        self.hawthorn("load", self.scratch / "other", self.scratch / "again")
        self.assertEqual(self.hawthorn("count", self.scratch / "other", "--tree", "t"), b"161\n")


if __name__ == "__main__":
    command_case.main()
