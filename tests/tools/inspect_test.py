#!/usr/bin/env python3
"""explain, stats --watch and compact: what the command tells of a database, and does for it."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import command_case
from command_case import BUSY, HANG_SECONDS, NOT_FOUND, USAGE, CommandCase, Writer, wait_until


class Explain(CommandCase):
    def explain(self, key, *options, db=None, **how):
        return json.loads(self.hawthorn("explain", db or self.db, key, "--json", *options,
                                        **how).splitlines()[0])

    def test_places(self):
        value = self.file("value", b"v" * 3000)
        large = self.file("large", b"l" * 200_000)
        self.hawthorn("put", self.db, "small", "1815")
        self.hawthorn("put", self.db, "apart", "--file", value)
        self.hawthorn("put", self.db, "large", "--file", large)
        for key, kind, size in (("small", "inline", 4), ("apart", "separated", 3000),
                                ("large", "large", 200_000)):
            with self.subTest(key=key):
                told = self.explain(key)
                self.assertEqual((told["place"], told["kind"]), ("run", kind))
                self.assertEqual((told["found"], told["value_bytes"]), (True, size))
                self.assertEqual(told["resident"], "nothing")
                self.assertGreaterEqual(told["now"]["reads"], 1)
                self.assertEqual(told["now"], told["cold"])
                self.assertEqual(told["index"]["file"], "data.0")
                self.assertEqual("extent" in told, kind != "inline")
                if "extent" in told:
                    self.assertLess(told["extent"]["offset"],
                                    (self.db / told["extent"]["file"]).stat().st_size)
        text = self.hawthorn("explain", self.db, "apart").decode()
        self.assertRegex(text, r"container +\d+, from \"\" to the end, 3 entries on disk")
        self.assertRegex(text, r"value +3000 bytes, apart from its key, in data\.0 at \d+")
        self.assertRegex(text, r"get cold +\d reads, \S+ kB")

    def test_missing_and_deleted_keys(self):
        self.hawthorn("put", self.db, "a", "1")
        told = self.explain("b", code=NOT_FOUND)
        self.assertEqual((told["found"], told["place"], told["kind"]), (False, "nowhere", "none"))
        self.assertIn("no key b in tree main", self.stderr)
        self.assertIn("\"b\" in tree main: not found",
                      self.hawthorn("explain", self.db, "b", code=NOT_FOUND).decode())
        self.hawthorn("explain", self.db, "a", "--tree", "none", code=NOT_FOUND)
        self.hawthorn("explain", self.db, "a\\q", code=USAGE)
        self.hawthorn("explain", self.db, code=USAGE)

    def test_what_another_process_has_not_flushed(self):
        with Writer(self) as writer:
            writer.write("k", "value")
            told = self.explain("k")
            self.assertEqual((told["place"], told["kind"]), ("memory", "inline"))
            self.assertEqual(told["now"], {"reads": 0, "bytes": 0})
            self.assertEqual(told["versions_unflushed"], 1)

    def test_keys_of_bytes(self):
        self.hawthorn("put", self.db, "\\xff\\n", "v")
        self.assertEqual(self.explain("ff0a", "--hex")["key_base64"], "/wo=")


class Watch(CommandCase):
    def test_totals_and_rates_of_another_process(self):
        with Writer(self) as writer:
            watch = subprocess.Popen([command_case.PROGRAM, "stats", self.db, "--watch=0.3",
                                      "--json"], stdout=subprocess.PIPE)
            first = json.loads(watch.stdout.readline())
            for number in range(10):
                writer.write("k", str(number))
            looks = [first]
            # Until it has seen them: figures are of each second.
            while looks[-1]["counters"]["commits"] < first["counters"]["commits"] + 10:
                looks.append(json.loads(watch.stdout.readline()))
            writer.close()
            looks += [json.loads(line) for line in watch.stdout]  # ends with that process
            watch.stdout.close()
        self.assertEqual(watch.wait(timeout=HANG_SECONDS), 0)
        self.assertEqual({look["pid"] for look in looks}, {first["pid"]})
        rates = [look["rates"]["commits"] for look in looks if look["rates"]]
        self.assertTrue(any(rate > 0 for rate in rates), rates)

    def test_text(self):
        with Writer(self):
            text = self.hawthorn("stats", self.db, "--watch=0.1", "--times", "2").decode()
        pages = text.split(f"{self.db}, process ")
        self.assertEqual(len(pages), 3)
        for page in pages[1:]:
            self.assertRegex(page, r"total +in a second\n")
            self.assertRegex(page, r"\n  commits +\d+")

    def test_top(self):
        with Writer(self) as writer:
            writer.write("k", "1")
            pages = self.hawthorn("top", self.db, "--every", "0.1", "--times", "2").decode()
        self.assertEqual(pages.count(f"{self.db}  process {writer.process.pid}, open for "), 2)
        self.assertRegex(pages, r"\n  commits +\S+/s +\S+/s ")
        self.assertRegex(pages, r"\n  memory +\S+ .B +of .*#")

    def test_top_on_a_terminal(self):
        with Writer(self):
            ours, its = pty.openpty()
            top = subprocess.Popen([command_case.PROGRAM, "top", self.db, "--every", "0.1"],
                                   stdin=its, stdout=its)
            os.close(its)
            text = b""
            while b"followers" not in text:
                text += os.read(ours, 4096)
            os.write(ours, b"q")
            while b"\x1b[?1049l" not in text:
                text += os.read(ours, 4096)
            self.assertEqual(top.wait(timeout=HANG_SECONDS), 0)
            os.close(ours)
        self.assertTrue(text.startswith(b"\x1b[?1049h"))

    def test_top_on_a_small_terminal(self):
        with Writer(self):
            ours, its = pty.openpty()
            fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 8, 40, 0, 0))
            top = subprocess.Popen([command_case.PROGRAM, "top", self.db, "--every", "0.1",
                                    "--times", "2"], stdin=its, stdout=its)
            os.close(its)
            text = b""
            try:
                while part := os.read(ours, 4096):
                    text += part
            except OSError:  # it has ended
                pass
            self.assertEqual(top.wait(timeout=HANG_SECONDS), 0)
            os.close(ours)
        pages = text.decode().split("\x1b[H")[1:]
        self.assertEqual(len(pages), 2)
        for page in pages:
            lines = page.split("\x1b[J")[0].split("\n")
            self.assertEqual(len(lines), 8, page)
            self.assertTrue(lines[-1].startswith("  commits"), page)

    def test_metrics(self):
        with Writer(self) as writer:
            writer.write("k", "1")
            lines = self.hawthorn("metrics", self.db).decode().splitlines()
            file = self.scratch / "hawthorn.prom"
            again = subprocess.Popen([command_case.PROGRAM, "metrics", self.db, "--output", file,
                                      "--every", "0.1"])
            wait_until(file.exists)
            self.assertIn(f'hawthorn_up{{database="{self.db}"}} 1\n', file.read_text())
            writer.close()
            wait_until(lambda: "hawthorn_commits_total" not in file.read_text())
            again.terminate()
            again.wait()
        self.assertIn(f'hawthorn_up{{database="{self.db}"}} 0\n', file.read_text())
        samples = [line for line in lines if not line.startswith("#")]
        for line in samples:
            self.assertRegex(line, r'^hawthorn_[a-z_]+\{database="[^"]*"\} [0-9.]+$')
        names = [line.split("{")[0] for line in samples]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({"hawthorn_commits_total", "hawthorn_log_sync_seconds_total",
                              "hawthorn_memory_used_bytes", "hawthorn_disk_reads_total",
                              "hawthorn_disk_read_seconds_total", "hawthorn_commit_waits_total",
                              "hawthorn_commit_wait_seconds_total",
                              "hawthorn_flush_seconds_total",
                              "hawthorn_manifest_batch_seconds_total"}, set(names))
        types = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE")}
        self.assertEqual(set(types), set(names))
        self.assertEqual({types[name] for name in names if name.endswith("_total")}, {"counter"})

    def test_mistakes(self):
        self.hawthorn("top", self.db, code=NOT_FOUND)
        self.hawthorn("metrics", self.db, code=NOT_FOUND)
        self.hawthorn("metrics", self.db, "--every", "1", code=USAGE)
        self.hawthorn("metrics", self.db, "--output", self.scratch / "f", "--every", "0",
                      code=USAGE)
        self.hawthorn("top", self.db, "--every", "never", code=USAGE)
        self.hawthorn("top", self.db, "--json", code=USAGE)
        self.hawthorn("stats", self.db, "--watch", code=NOT_FOUND)
        self.hawthorn("put", self.db, "a", "1")
        self.hawthorn("stats", self.db, "--watch", code=NOT_FOUND)
        self.assertIn("no process has it open", self.stderr)
        for seconds in ("0", "-1", "soon", "nan", "1e9", "1x"):
            self.hawthorn("stats", self.db, f"--watch={seconds}", code=USAGE)
            self.assertIn("seconds between", self.stderr)
        self.hawthorn("stats", self.db, "--times", "3", code=USAGE)
        self.assertIn("commits", self.hawthorn("stats", self.db).decode())


class Compact(CommandCase):
    def test_garbage_goes(self):
        for step in (1, 25):  # so few are overwritten that no flush rewrites the rest
            lines = "".join(f"{number:05},{str(step) * 2000}\n"
                            for number in range(0, 10_000, step))
            self.hawthorn("import", self.db, "--format", "csv",
                          stdin=("key,value\n" + lines).encode())
        before = self.hawthorn("dump", self.db)
        said = json.loads(self.hawthorn("compact", self.db, "--json"))
        self.assertLess(said["bytes_after"], said["bytes_before"])
        self.assertGreater(said["garbage_before"], 0)
        self.assertEqual(said["garbage_after"], 0)
        self.assertGreater(said["bytes_written"], 0)
        self.assertEqual(self.hawthorn("dump", self.db), before)
        self.hawthorn("check", self.db)
        again = json.loads(self.hawthorn("compact", self.db, "--json"))
        self.assertEqual(again["bytes_written"], 0)
        text = self.hawthorn("compact", self.db, "--bytes-per-second", "100MB").decode()
        self.assertTrue(re.fullmatch(r"\S+ MB with \S+ B of garbage before, \S+ MB with \S+ B "
                                     r"after; \S+ B written in 0:0\d\n", text), text)

    def test_mistakes(self):
        self.hawthorn("compact", self.db, code=NOT_FOUND)
        with Writer(self):
            self.hawthorn("compact", self.db, code=BUSY)


if __name__ == "__main__":
    command_case.main()
