#!/usr/bin/env python3
"""shell: commands from standard input, and from a terminal with history and completion."""

import os
import pathlib
import select
import subprocess
import termios
import time

import command_case
from command_case import BUSY, HANG_SECONDS, NOT_FOUND, USAGE, CommandCase


class Script(CommandCase):
    def shell(self, text, *options, **how):
        return self.hawthorn("shell", self.db, *options, stdin=text.encode(), **how).decode()

    def test_entries(self):
        said = self.shell('put ada 1815\nput "a b" "two\\nlines"\nget ada\nget "a b"\nscan\n'
                          'count a\nscan ad\ndel ada "a b"\ncount\n\nquit\nget ada\n')
        self.assertEqual(said, "1815\ntwo\\nlines\na b\ttwo\\nlines\nada\t1815\n2\nada\t1815\n0\n")
        self.assertEqual(self.hawthorn("count", self.db), b"0\n")

    def test_any_bytes(self):
        key = "".join(f"\\x{byte:02x}" for byte in range(256))
        said = self.shell(f"put {key} v\nscan\n")
        self.assertEqual(self.shell(f"get {said.split(chr(9))[0].replace(' ', chr(92) + 'x20')}\n"
                                    .replace('"', '\\"')), "v\n")

    def test_trees_and_limits(self):
        text = "tree other\n" + "".join(f"put k{number:03} v\n" for number in range(120))
        said = self.shell(text + "scan\nscan k 2\ntrees\ntree main\n")
        lines = said.splitlines()
        self.assertEqual(lines[99:104], ["k099\tv", "...", "k000\tv", "k001\tv", "..."])
        self.assertEqual(lines[104:], ["other"])

    def test_transactions(self):
        said = self.shell("put a 1\nbegin\nput a 2\nput b 2\nget a\ncount\nabort\nget a\n"
                          "begin\nput a 3\ncommit\nget a\nbegin\nput a 4\n")
        self.assertEqual(said, "2\n2\n1\n3\n")
        self.assertEqual(self.hawthorn("get", self.db, "a"), b"3")

    def test_a_script_ends_where_it_goes_wrong(self):
        for line, code in (("get none", NOT_FOUND), ("fly", USAGE), ("put a", USAGE),
                           ('put "a', USAGE), ("put a\\q b", USAGE), ("commit", USAGE),
                           ("begin\nbegin", USAGE), ("scan a many", USAGE)):
            with self.subTest(line=line):
                self.shell(f"put a 1\n{line}\nput a 2\n", code=code)
                self.assertEqual(self.hawthorn("get", self.db, "a"), b"1")

    def test_read_only(self):
        self.shell("get a\n", "--read-only", code=NOT_FOUND)
        self.assertFalse(self.db.exists())
        self.shell("put a 1\n")
        self.assertEqual(self.shell("get a\n", "--read-only"), "1\n")
        self.shell("put a 2\n", "--read-only", code=command_case.ERROR)
        self.assertIn("ReadOnly", self.stderr)

    def test_busy(self):
        process = subprocess.Popen([command_case.PROGRAM, "shell", self.db],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(b"put a 1\nget a\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"1\n")
        self.shell("get a\n", code=BUSY)
        self.assertEqual(self.shell("get a\n", "--read-only"), "1\n")
        process.communicate()
        self.assertEqual(process.returncode, 0)


class Terminal(CommandCase):
    def setUp(self):
        super().setUp()
        self.start()

    def start(self):
        self.ours, theirs = os.openpty()
        self.process = subprocess.Popen(
            [command_case.PROGRAM, "shell", self.db], stdin=theirs, stdout=theirs, stderr=theirs,
            env={**os.environ, "HOME": str(self.scratch), "TERM": "xterm"}, start_new_session=True)
        os.close(theirs)
        self.shown = b""
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.expect("main> ")

    def expect(self, text):
        """Waits until it is shown, behind all that was expected before."""
        end = time.monotonic() + HANG_SECONDS
        while text.encode() not in self.shown:
            self.assertLess(time.monotonic(), end, self.shown)
            if select.select([self.ours], [], [], 0.2)[0]:
                self.shown += os.read(self.ours, 4096)
        self.shown = self.shown.split(text.encode(), 1)[1]

    def type(self, text):
        os.write(self.ours, text.encode())

    def press(self, keys):
        """Keys that the editor is to see, and not the terminal as long as it takes whole lines."""
        end = time.monotonic() + HANG_SECONDS
        while termios.tcgetattr(self.ours)[3] & termios.ICANON:
            self.assertLess(time.monotonic(), end, "nobody edits lines")
            time.sleep(0.01)
        self.type(keys)

    def stop(self):
        self.type("quit\n")
        self.assertEqual(self.process.wait(timeout=HANG_SECONDS), 0)
        os.close(self.ours)

    def test_mistakes_are_told_and_it_goes_on(self):
        self.type("put some value\n")
        self.expect("main> ")
        self.type("get none\n")
        self.expect("NotFound: no key none")
        self.expect("main> ")
        self.type("begin\n")
        self.expect("main*> ")
        self.type("put a from-the-terminal\n")
        self.expect("main*> ")
        self.type("commit\n")
        self.expect("main> ")
        self.type("tree other\n")
        self.expect("other> ")
        self.stop()
        self.assertEqual(self.hawthorn("get", self.db, "a"), b"from-the-terminal")

    def test_history_and_completion(self):
        if b"libedit" not in pathlib.Path(command_case.PROGRAM).read_bytes():
            self.skipTest("it was built without libedit")
        self.type("put completed-key value-of-it\n")
        self.type("get completed-key\n")
        self.expect("\nvalue-of-it\r\n")
        self.expect("main> ")
        self.press("\x1b[A")  # the line before
        self.expect("get completed-key")
        self.press("\x15ge\tcomp\t\n")  # takes it away again
        self.expect("\nvalue-of-it\r\n")
        self.stop()
        history = pathlib.Path(self.scratch / ".hawthorn_history").read_text(encoding="utf-8")
        self.assertIn("completed-key", history)
        self.start()
        self.press("\x1b[A\x1b[A\n")  # before quit: the get
        self.expect("\nvalue-of-it\r\n")
        self.stop()


if __name__ == "__main__":
    command_case.main()
