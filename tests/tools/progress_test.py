#!/usr/bin/env python3
"""Progress on a terminal: that it comes after two seconds, with numbers that are true, and goes."""

import json
import os
import pty
import re
import signal
import subprocess
import threading
import time

import command_case
from command_case import HANG_SECONDS, USAGE, CommandCase

UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
AMOUNT = r"([0-9.]+) ([kMG]?)(B|entries|containers)"
LINE = re.compile(rf"^([a-z ]+) {AMOUNT}( \(\d+%\))?, {AMOUNT}/s, (\d+):(\d\d)"
                  r"(, (\d+):(\d\d) left)?$")


class Look:
    """One line of it."""

    def __init__(self, text):
        match = LINE.match(text)
        if match is None:
            raise AssertionError(f"no line of progress: {text!r}")
        groups = match.groups()
        self.verb = groups[0]
        self.done = float(groups[1]) * UNITS[groups[2]]
        self.unit = groups[3]
        self.percent = int(groups[4].strip(" (%)")) if groups[4] else None
        self.rate = float(groups[5]) * UNITS[groups[6]]
        self.seconds = int(groups[8]) * 60 + int(groups[9])
        self.left = int(groups[11]) * 60 + int(groups[12]) if groups[10] else None


class Progress(CommandCase):
    def fill(self, entries=3000, value_bytes=4000):
        """Values that nothing compresses, and no page shares."""
        lines = "".join(f"{number:06},{os.urandom(value_bytes // 2).hex()}\n"
                        for number in range(entries))
        self.hawthorn("import", self.db, "--format", "csv", "--quiet",
                      stdin=("key,value\n" + lines).encode())

    def on_terminal(self, *arguments, stdin=None, read_slowly=False, stopped_at=None,
                    first_after=1.9):
        """Runs the command with standard error on a terminal; what it showed there, in looks.
        `read_slowly`: what it prints is read slowly until there were two. `stopped_at`: after so
        many seconds it has to wait for more than two; self.was_late tells that it had ended."""
        ours, its = pty.openpty()
        begin = time.monotonic()
        process = subprocess.Popen([command_case.PROGRAM, *map(str, arguments)], stdin=stdin,
                                   stdout=subprocess.PIPE, stderr=its)
        os.close(its)
        self.out = b""
        text = b""
        if stopped_at is not None:
            time.sleep(stopped_at)
            self.was_late = process.poll() is not None
            process.send_signal(signal.SIGSTOP)
            time.sleep(2.1)
            process.send_signal(signal.SIGCONT)

        def take_output():
            while part := os.read(process.stdout.fileno(), 1 << 16):
                self.out += part
                if read_slowly and text.count(b"\r") < 3:
                    time.sleep(0.05)

        reader = threading.Thread(target=take_output)
        reader.start()
        first = None
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # nobody has the other end any more
                break
            if not part:
                break
            first = first or time.monotonic()
            text += part
        reader.join()
        os.close(ours)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=HANG_SECONDS), 0, text)
        if not text:
            return []
        self.assertGreater(first - begin, first_after)
        # Each line is written over the one before, and the last one is wiped away.
        self.assertTrue(text.endswith(b"\r\x1b[K"), text)
        shown = [part for part in text.decode().split("\r") if part != "\x1b[K"]
        self.assertTrue(all(part.endswith("\x1b[K") for part in shown if part), text)
        return [Look(part.removesuffix("\x1b[K")) for part in shown if part]

    def check_looks(self, looks, verb, unit, total=None, rate=None):
        self.assertTrue(looks)
        self.assertEqual({look.verb for look in looks}, {verb})
        self.assertEqual({look.unit for look in looks}, {unit})
        self.assertEqual(looks, sorted(looks, key=lambda look: look.done))
        self.assertGreater(looks[-1].done, 0)
        for look in looks:
            self.assertGreaterEqual(look.seconds, 2)
            # The time that is shown has no fractions.
            self.assertLess(look.rate * look.seconds, look.done * 1.02 + 1)
            self.assertGreater(look.rate * (look.seconds + 1), look.done * 0.98 - 1)
            if total is None:
                self.assertIsNone(look.percent)
                self.assertIsNone(look.left)
                continue
            self.assertLess(look.done, total * 1.02)
            self.assertAlmostEqual(look.percent, min(100, look.done / total * 100), delta=2)
            if look.left is not None and look.rate > 0:
                self.assertAlmostEqual(look.left, (total - look.done) / look.rate, delta=1.1)
        if rate is not None:  # that it does not go beyond; how near it comes is up to the machine
            self.assertLess(looks[-1].rate, rate * 1.35)

    def check_short(self, looks):
        """Of what is done in a moment, and shows nothing then. On a machine that is so busy that it
        takes more than two seconds all the same, it is right to show that."""
        for look in looks:
            self.assertGreaterEqual(look.seconds, 2)

    def data_bytes(self):
        """What a full copy has to copy of a database that was closed."""
        stats = self.hawthorn("stats", self.db).decode()
        return int(re.search(r"disk_bytes_reachable +(\d+)", stats).group(1))

    def test_copies(self):
        self.fill()
        total = self.data_bytes()
        pace = ("--bytes-per-second", "4MB")
        copy, repository = self.scratch / "copy", self.scratch / "repository"
        self.check_looks(self.on_terminal("checkpoint", self.db, copy, "--full", *pace),
                         "copied", "B", total, 4e6)
        self.check_looks(self.on_terminal("backup", self.db, repository, *pace),
                         "copied", "B", total, 4e6)
        # How much is not in an earlier backup nobody knows beforehand.
        self.fill()
        looks = self.on_terminal("backup", self.db, repository, *pace)
        self.check_looks(looks, "copied", "B", None, 4e6)
        backups = json.loads(self.hawthorn("backups", repository, "--json"))["backups"]
        self.check_looks(self.on_terminal("restore", repository, self.scratch / "restored", *pace),
                         "restored", "B", backups[-1]["bytes"], 4e6)
        self.check_short(self.on_terminal("verify", repository))

    def test_streams(self):
        self.fill()
        looks = self.on_terminal("backup", self.db, "-", "--bytes-per-second", "4MB")
        self.check_looks(looks, "copied", "B", self.data_bytes(), 4e6)
        stream = self.file("stream", self.out)
        with stream.open("rb") as file:
            looks = self.on_terminal("restore", "-", self.scratch / "restored",
                                     "--bytes-per-second", "4MB", stdin=file)
        self.check_looks(looks, "restored", "B", len(self.out) or stream.stat().st_size)

    def slowly(self, content, seconds):
        """The reading end of a pipe into which it comes in so many seconds."""
        ours, its = os.pipe()
        step = len(content) // 50 + 1

        def write():
            with os.fdopen(its, "wb") as file:
                for begin in range(0, len(content), step):
                    file.write(content[begin:begin + step])
                    file.flush()
                    time.sleep(seconds / 50)

        writer = threading.Thread(target=write)
        writer.start()
        self.addCleanup(writer.join)
        return os.fdopen(ours, "rb")

    def test_what_comes_slowly(self):
        self.fill()
        stream = self.hawthorn("backup", self.db, "-")
        with self.slowly(stream, 4) as pipe:
            looks = self.on_terminal("verify", "-", stdin=pipe)
        self.check_looks(looks, "verified", "B", None, len(stream) / 4)
        dump = self.hawthorn("dump", self.db)
        with self.slowly(dump, 4) as pipe:
            looks = self.on_terminal("load", self.scratch / "loaded", stdin=pipe)
        self.check_looks(looks, "loaded", "B", None, len(dump) / 4)

    def test_bulk(self):
        """What is sorted at the end; too fast here for two seconds, so it is asked for."""
        lines = "".join(f"{number * 7919 % 400009:06},v\n" for number in range(400009))
        file = self.file("t.csv", ("key,value\n" + lines).encode())
        looks = self.on_terminal("import", self.db, file, "--bulk", "--progress", first_after=0.15)
        self.assertLessEqual({look.verb for look in looks}, {"imported", "sorted", "flushed"})
        for look in looks:
            self.assertIsNotNone(look.percent)
            self.assertEqual(look.unit, "entries" if look.verb == "sorted" else "B")
            if look.verb == "sorted":
                self.assertAlmostEqual(look.percent, look.done / 400009 * 100, delta=1)
        self.assertEqual(self.hawthorn("count", self.db), b"400009\n")

    def test_open(self):
        """The log of a process that has died, replayed by one that is stopped in the middle."""
        lines = "".join(f"{number:06},{os.urandom(2000).hex()}\n" for number in range(50000))
        with subprocess.Popen(
            [command_case.PROGRAM, "import", self.db, "--format", "csv", "--memory", "1GB", "-"],
            stdin=subprocess.PIPE) as writer:
            writer.stdin.write(("key,value\n" + lines).encode())
            writer.stdin.flush()
            writer.kill()
        # When it replays depends on the machine: later where it was stopped before that, earlier
        # where it had ended.
        early, late, looks = 0.0, None, []
        for _ in range(60):
            stopped_at = (early + late) / 2 if late else early * 2 + 0.02
            looks = self.on_terminal("get", self.db, "000001", "--memory", "1GB",
                                     stopped_at=stopped_at)
            self.assertEqual(len(self.out), 4000)
            if looks:
                break
            early, late = (early, stopped_at) if self.was_late else (stopped_at, late)
            if late and late - early < 0.002:  # the machine has changed its speed
                early, late = early / 2, None
        self.assertTrue(looks)
        self.assertEqual({look.verb for look in looks}, {"replayed"})
        self.assertEqual({look.unit for look in looks}, {"B"})
        self.assertTrue(all(look.percent is not None for look in looks))

    def test_compact(self):
        for step in (1, 25):
            lines = "".join(f"{number:05},{os.urandom(1000).hex()}\n"
                            for number in range(0, 8000, step))
            self.hawthorn("import", self.db, "--format", "csv",
                          stdin=("key,value\n" + lines).encode())
        looks = self.on_terminal("compact", self.db, "--bytes-per-second", "5MB")
        self.assertEqual({look.verb for look in looks}, {"rewritten"})
        self.assertEqual({look.unit for look in looks}, {"containers"})
        self.assertEqual(looks, sorted(looks, key=lambda look: look.done))
        self.assertTrue(all(look.percent is not None for look in looks))
        self.assertGreaterEqual(looks[-1].done, looks[0].done)
        self.assertTrue(any(look.left is not None for look in looks), vars(looks[0]))

    def test_what_is_read_slowly(self):
        self.fill(6000, 2000)
        self.check_looks(self.on_terminal("scan", self.db, read_slowly=True),
                         "printed", "entries", 6000)
        self.assertEqual(self.out.count(b"\n"), 6000)
        self.check_looks(self.on_terminal("dump", self.db, read_slowly=True),
                         "dumped", "entries", 6000)
        self.check_looks(self.on_terminal("export", self.db, "--format", "csv", read_slowly=True),
                         "exported", "entries", 6000)
        value = os.urandom(20 << 20)
        self.hawthorn("put", self.db, "large", "--file", self.file("value", value))
        self.check_looks(self.on_terminal("get", self.db, "large", read_slowly=True),
                         "read", "B", len(value))
        self.assertEqual(self.out, value)

    def test_check(self):
        self.fill()
        looks = self.on_terminal("check", self.db, "--rate", "4MB")
        self.assertEqual({look.verb for look in looks}, {"checked"})
        self.assertEqual({look.unit for look in looks}, {"containers"})

    def test_nothing_where_nobody_wants_it(self):
        self.fill()
        pace = ("--bytes-per-second", "4MB")
        self.assertEqual(self.on_terminal("checkpoint", self.db, self.scratch / "a", "--quiet",
                                          "--full", *pace), [])
        # On no terminal, nothing; but where it is asked for, a line a second.
        self.hawthorn("checkpoint", self.db, self.scratch / "b", "--full", *pace)
        self.assertEqual(self.stderr, "")
        self.hawthorn("checkpoint", self.db, self.scratch / "c", "--full", "--progress", *pace)
        looks = [Look(line) for line in self.stderr.splitlines()]
        self.assertTrue(looks)
        self.check_short(self.on_terminal("count", self.db))
        self.check_short(self.on_terminal("compact", self.db))
        self.hawthorn("count", self.db, "--quiet", "--progress", code=USAGE)


if __name__ == "__main__":
    command_case.main()
