#!/usr/bin/env python3
"""The command: what it prints, what it answers to mistakes, its exit codes (docs/command.md)."""

import fcntl
import json
import os
import pathlib
import shutil
import subprocess

import command_case
from command_case import (BUSY, CORRUPTION, ERROR, HANG_SECONDS, NOT_FOUND, USAGE, CommandCase,
                          wait_until)

COMMANDS = ("put", "get", "del", "scan", "count", "load", "dump", "stats", "counters",
            "check", "checkpoint", "backup", "backups", "verify", "restore", "explain", "import",
            "export", "compact")
ALL_BYTES = bytes(range(256))


class Help(CommandCase):
    def test_every_command_has_help(self):
        text = self.hawthorn("--help").decode()
        for command in COMMANDS + ("bench",):
            self.assertIn(f"  {command} ", text)
        for command in COMMANDS:
            with self.subTest(command=command):
                text = self.hawthorn(command, "--help").decode()
                self.assertIn("DIR", text)
                self.assertIn("--json", text)
                self.assertIn("Exit codes", text)

    def test_usage_errors(self):
        for arguments in ((), ("fly",), ("put",), ("put", self.db, "key"), ("get", self.db),
                          ("scan", self.db, "--limit", "many"), ("stats", self.db, "--hex"),
                          ("put", self.db, "k", "v", "--durability", "7"),
                          ("put", self.db, "k", "v", "--file", "f"),
                          ("stats", self.db, "--memory", "lots"),
                          ("dump", self.db, "--json"), ("del", self.db),
                          ("scan", self.db, "--prefix", "a", "--from", "b")):
            with self.subTest(arguments=arguments):
                self.hawthorn(*arguments, code=USAGE)
                self.assertNotEqual(self.stderr, "")
        self.assertFalse(self.db.exists())

    def test_malformed_keys(self):
        self.hawthorn("put", self.db, "a\\q", "v", code=USAGE)
        self.assertIn("key: a backslash", self.stderr)
        self.hawthorn("put", self.db, "--hex", "61", "6", code=USAGE)
        self.assertIn("value: an odd number", self.stderr)
        self.hawthorn("scan", self.db, "--prefix", "\\x1", code=USAGE)
        self.assertIn("--prefix: ", self.stderr)


class Entries(CommandCase):
    def test_put_get_del(self):
        self.assertEqual(self.hawthorn("put", self.db, "ada", "1815"), b"")
        self.assertEqual(self.hawthorn("get", self.db, "ada"), b"1815")
        self.hawthorn("put", self.db, "ada", "", "--durability", "none")
        self.assertEqual(self.hawthorn("get", self.db, "ada"), b"")
        self.assertEqual(self.hawthorn("del", self.db, "ada"), b"")
        self.assertEqual(self.hawthorn("get", self.db, "ada", code=NOT_FOUND), b"")
        self.assertIn("no key ada in tree main", self.stderr)

    def test_del_of_a_missing_key_deletes_the_others(self):
        self.hawthorn("put", self.db, "a", "1")
        self.hawthorn("put", self.db, "b", "2")
        done = self.hawthorn("del", self.db, "a", "x", "b", "--json", code=NOT_FOUND)
        self.assertEqual(json.loads(done.splitlines()[0]), {"deleted": 2})
        self.assertEqual(self.hawthorn("count", self.db), b"0\n")

    def test_copies(self):
        copy, repo, back = (self.scratch / name for name in ("copy", "repo", "back"))
        self.hawthorn("put", self.db, "a", "1")
        self.hawthorn("checkpoint", self.db, copy, "--bytes-per-second", "100MB")
        self.hawthorn("checkpoint", self.db, copy, code=USAGE)
        self.assertEqual(self.hawthorn("get", copy, "a"), b"1")
        self.assertEqual(json.loads(self.hawthorn("backup", self.db, repo, "--json"))["id"], 1)
        self.hawthorn("put", self.db, "a", "2")
        self.hawthorn("backup", self.db, repo)
        self.hawthorn("backup", self.db, repo, "--full")
        told = self.hawthorn("verify", repo).decode().splitlines()
        self.assertEqual([line.split("  ")[0] for line in told],
                         [f"verified {one}" for one in (1, 2, 3)])
        self.hawthorn("verify", repo, "--id", "9", code=NOT_FOUND)
        told = json.loads(self.hawthorn("verify", repo, "--id", "2", "--json"))["verified"]
        self.assertEqual([one["id"] for one in told], [2])
        listed = json.loads(self.hawthorn("backups", repo, "--json"))["backups"]
        self.assertEqual([one["id"] for one in listed], [1, 2, 3])
        self.assertFalse(listed[2]["incremental"])
        self.hawthorn("restore", repo, back, "--id", "1")
        self.assertEqual(self.hawthorn("get", back, "a"), b"1")
        self.hawthorn("backups", repo, "--remove", "1", "--remove", "3")
        self.hawthorn("restore", repo, self.scratch / "newest")
        self.assertEqual(self.hawthorn("get", self.scratch / "newest", "a"), b"2")
        self.hawthorn("restore", repo, self.scratch / "other", "--id", "1", code=NOT_FOUND)
        parts = repo / "parts.2"
        content = bytearray(parts.read_bytes())
        content[-1] ^= 1
        parts.write_bytes(content)
        self.hawthorn("verify", repo, code=CORRUPTION)
        self.assertIn("parts.2 at ", self.stderr)
        self.hawthorn("restore", repo, self.scratch / "bad", code=CORRUPTION)
        self.hawthorn("get", self.scratch / "bad", "a", code=CORRUPTION)
        self.assertIn("copy.incomplete", self.stderr)

    def test_a_repository_that_is_not_there(self):
        empty = self.scratch / "empty"
        empty.mkdir()
        for repo in (self.scratch / "no", empty):
            for command in (("verify", repo), ("verify", repo, "--id", "1"), ("backups", repo),
                            ("backups", repo, "--remove", "1"),
                            ("restore", repo, self.scratch / "target")):
                with self.subTest(command=command):
                    self.hawthorn(*command, code=NOT_FOUND)
                    self.assertIn(f"{repo} is no backup repository", self.stderr)
                    self.assertEqual(list(self.scratch.iterdir()), [empty])
            self.assertEqual(list(empty.iterdir()), [])
        self.hawthorn("put", self.db, "a", "1")
        self.hawthorn("backup", self.db, self.scratch / "repo")
        self.hawthorn("backups", self.scratch / "repo", "--remove", "1")
        self.hawthorn("verify", self.scratch / "repo", code=NOT_FOUND)
        self.assertIn("holds no backup", self.stderr)

    def test_streams(self):
        self.hawthorn("put", self.db, "a", "1")
        stream = self.hawthorn("backup", self.db, "-")
        self.assertRegex(self.hawthorn("verify", "-", stdin=stream).decode(), r"^verified 2\d{3}-")
        self.hawthorn("restore", "-", self.scratch / "back", stdin=stream)
        self.assertEqual(self.hawthorn("get", self.scratch / "back", "a"), b"1")
        self.hawthorn("restore", "-", self.scratch / "other", "--id", "1", code=USAGE)
        self.hawthorn("restore", "-", self.scratch / "cut", stdin=stream[:-1], code=CORRUPTION)
        self.assertIn("cut off", self.stderr)
        self.hawthorn("get", self.scratch / "cut", "a", code=CORRUPTION)
        damaged = bytearray(stream)
        damaged[len(stream) // 2] ^= 1
        self.hawthorn("verify", "-", stdin=bytes(damaged), code=CORRUPTION)
        self.hawthorn("restore", "-", self.scratch / "cut", stdin=stream)
        self.assertEqual(self.hawthorn("get", self.scratch / "cut", "a"), b"1")

    def test_copies_of_a_database_in_use(self):
        self.hawthorn("put", self.db, "a", "1")
        with open(self.db / "lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.hawthorn("backup", self.db, self.scratch / "repo", code=BUSY)
            self.hawthorn("backup", self.db, "-", code=BUSY)
            self.hawthorn("checkpoint", self.db, self.scratch / "copy", code=BUSY)
            self.assertFalse((self.scratch / "copy").exists())

    def test_empty_keys_and_keys_like_options(self):
        self.hawthorn("put", self.db, "", "empty")
        self.hawthorn("put", self.db, "--", "-5", "-6")
        self.assertEqual(self.hawthorn("get", self.db, ""), b"empty")
        self.assertEqual(self.hawthorn("get", self.db, "--", "-5"), b"-6")

    def test_any_bytes(self):
        text = "".join(f"\\x{byte:02x}" for byte in ALL_BYTES)
        self.hawthorn("put", self.db, text, text)
        self.assertEqual(self.hawthorn("get", self.db, "--hex", ALL_BYTES.hex()).strip(),
                         ALL_BYTES.hex().encode())
        self.assertEqual(self.hawthorn("get", self.db, text), ALL_BYTES)
        self.hawthorn("put", self.db, "raw", b"\xff\xfe\x01")
        self.assertEqual(self.hawthorn("get", self.db, "raw"), b"\xff\xfe\x01")

    def test_trees_are_apart(self):
        self.hawthorn("put", self.db, "k", "1", "--tree", "one")
        self.hawthorn("put", self.db, "k", "2", "--tree", "two")
        self.assertEqual(self.hawthorn("get", self.db, "k", "--tree", "one"), b"1")
        self.assertEqual(self.hawthorn("get", self.db, "k", "--tree", "two"), b"2")
        self.hawthorn("get", self.db, "k", code=NOT_FOUND)

    def test_values_by_file_and_by_pipe(self):
        value = os.urandom(3_000_001)
        self.hawthorn("put", self.db, "file", "--file", self.file("value", value))
        self.hawthorn("put", self.db, "pipe", "--file", "-", stdin=value)
        self.hawthorn("put", self.db, "nothing", "--file", "-")
        self.assertEqual(self.hawthorn("get", self.db, "file"), value)
        self.assertEqual(self.hawthorn("get", self.db, "nothing"), b"")
        self.hawthorn("get", self.db, "pipe", "--output", self.scratch / "back")
        self.assertEqual((self.scratch / "back").read_bytes(), value)
        self.hawthorn("put", self.db, "k", "--file", self.scratch / "absent", code=NOT_FOUND)
        self.hawthorn("get", self.db, "absent", "--output", self.scratch / "no", code=NOT_FOUND)
        self.assertFalse((self.scratch / "no").exists())
        self.assertFalse((self.scratch / "no.partial").exists())

    def test_values_above_the_limit_of_one_put_are_streamed(self):
        value = os.urandom(1 << 20) * 70
        self.hawthorn("put", self.db, "large", "--file", self.file("value", value))
        self.hawthorn("get", self.db, "large", "--output", self.scratch / "back")
        self.assertEqual((self.scratch / "back").read_bytes(), value)
        self.hawthorn("scan", self.db, code=ERROR)
        self.assertIn("too large", self.stderr)
        self.assertEqual(self.hawthorn("scan", self.db, "--keys-only"), b"large\n")
        self.hawthorn("put", self.db, "large", "--file", "-", stdin=value, code=USAGE)
        self.assertIn("has to come from a file", self.stderr)

    def test_a_key_over_the_limit(self):
        self.hawthorn("put", self.db, "k" * 65536, "v", code=USAGE)
        self.hawthorn("put", self.db, "k" * 65535, "v")

    def test_json(self):
        self.assertEqual(json.loads(self.hawthorn("put", self.db, "k\\n", "\\xff", "--json")),
                         {"written": 1})
        self.assertEqual(json.loads(self.hawthorn("get", self.db, "k\\n", "--json")),
                         {"key": "k\n", "value_base64": "/w=="})
        self.assertEqual(json.loads(self.hawthorn("get", self.db, "6b0a", "--json", "--hex")),
                         {"key_hex": "6b0a", "value_hex": "ff"})
        answer = json.loads(self.hawthorn("get", self.db, "x", "--json", code=NOT_FOUND))
        self.assertEqual(answer["error"]["code"], "NotFound")


class Ranges(CommandCase):
    def setUp(self):
        super().setUp()
        for key in ("a", "b\\xff", "b\\xff\\x01", "b", "c\\t", "\\xff\\xff"):
            self.hawthorn("put", self.db, key, f"v-{key}", "--durability", "none")

    def keys(self, *options):
        lines = self.hawthorn("scan", self.db, "--keys-only", *options).decode().splitlines()
        self.assertEqual(self.hawthorn("count", self.db, *options), b"%d\n" % len(lines))
        return lines

    def test_scan(self):
        self.assertEqual(self.hawthorn("scan", self.db, "--limit", "2"),
                         b"a\tv-a\nb\tv-b\n")
        self.assertEqual(self.hawthorn("scan", self.db, "--from", "c", "--to", "d", "--hex",
                                       code=USAGE), b"")
        self.assertEqual(self.hawthorn("scan", self.db, "--from", "63", "--to", "64", "--hex"),
                         b"6309\t762d6309\n")

    def test_ranges(self):
        every = ["a", "b", "b\\xff", "b\\xff\\x01", "c\\t", "\\xff\\xff"]
        self.assertEqual(self.keys(), every)
        self.assertEqual(self.keys("--from", "b"), every[1:])
        self.assertEqual(self.keys("--to", "b"), every[:1])
        self.assertEqual(self.keys("--from", "b", "--to", "c"), every[1:4])
        self.assertEqual(self.keys("--prefix", "b"), every[1:4])
        self.assertEqual(self.keys("--prefix", "b\\xff"), every[2:4])
        self.assertEqual(self.keys("--prefix", "\\xff"), every[5:])
        self.assertEqual(self.keys("--from", "x", "--to", "y"), [])

    def test_reverse(self):
        forward = self.hawthorn("scan", self.db).splitlines()
        self.assertEqual(self.hawthorn("scan", self.db, "--reverse").splitlines(), forward[::-1])
        self.assertEqual(self.hawthorn("scan", self.db, "--reverse", "--prefix", "b", "--limit",
                                       "1", "--keys-only"), b"b\\xff\\x01\n")

    def test_json(self):
        lines = self.hawthorn("scan", self.db, "--json").splitlines()
        entries = [json.loads(line) for line in lines]
        self.assertEqual(entries[0], {"key": "a", "value": "v-a"})
        self.assertEqual(entries[2], {"key_base64": "Yv8=", "value_base64": "di1i/w=="})
        self.assertEqual(json.loads(self.hawthorn("count", self.db, "--json")), {"count": 6})
        keys = self.hawthorn("scan", self.db, "--json", "--keys-only", "--limit", "1")
        self.assertEqual(json.loads(keys), {"key": "a"})

    def test_a_full_device_is_an_error(self):
        with open("/dev/full", "wb") as full:
            self.hawthorn("scan", self.db, code=ERROR, stdout=full)
        self.assertIn("standard output", self.stderr)


class Care(CommandCase):
    def test_stats(self):
        self.hawthorn("put", self.db, "k", "v", "--tree", "t\xe9")
        self.assertIn("tree t\xe9", self.hawthorn("stats", self.db).decode())
        stats = json.loads(self.hawthorn("stats", self.db, "--json", "--memory", "64MB"))
        self.assertEqual([tree["name"] for tree in stats["trees"]], ["t\xe9"])
        self.assertEqual(stats["trees"][0]["entries_flushed"], 1)
        for name in ("memory_budget_bytes", "disk_bytes_reachable", "commits", "bytes_read"):
            self.assertIsInstance(stats[name], int)
        self.assertEqual(stats["memory_budget_bytes"], 64 << 20)

    def test_counters(self):
        self.skip_without_start_times()
        self.hawthorn("counters", self.db, code=NOT_FOUND)
        self.hawthorn("put", self.db, "k", "v")
        self.assertIn("closed by process", self.hawthorn("counters", self.db).decode())
        # While another process has it open.
        with subprocess.Popen([command_case.PROGRAM, "load", self.db],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as load:
            load.stdin.write(command_case.HEAD + b"#tree name=t\n")
            load.stdin.flush()
            counters = {"pid": 0}
            while counters["pid"] != load.pid:
                self.assertIsNone(load.poll())
                counters = json.loads(self.hawthorn("counters", self.db, "--json"))
            self.assertTrue(counters["alive"])
            self.assertFalse(counters["closed"])
            self.assertEqual(counters["counters"]["memory_budget_bytes"], 256 << 20)
            self.assertIn(f"open in process {load.pid}",
                          self.hawthorn("counters", self.db).decode())
            load.kill()
        self.assertIn("left open by process", self.hawthorn("counters", self.db).decode())

    def test_check(self):
        self.hawthorn("put", self.db, "k", "v")
        self.assertIn(b" 0 errors", self.hawthorn("check", self.db))
        report = json.loads(self.hawthorn("check", self.db, "--json", "--indexes-only"))
        self.assertTrue(report["ok"])
        self.assertEqual((report["entries"], report["errors"]), (1, []))
        self.hawthorn("check", self.db, "--threads", "2", "--rate", "1GB")
        self.hawthorn("check", self.db, "--threads", "0", code=USAGE)

    def test_check_of_damage(self):
        for number in range(2):
            self.hawthorn("put", self.db, f"key {number}", "value " * 800)
        (path,) = self.db.glob("data.0")
        data = bytearray(path.read_bytes())
        # All of what the tree has: its values stand in one extent.
        at = data.find(b"value value")
        self.assertGreater(at, 0)
        data[at] ^= 1
        path.write_bytes(data)
        text = self.hawthorn("check", self.db, code=CORRUPTION).decode()
        self.assertRegex(text, r"error: data\.0 at \d+, 4096 bytes: checksum mismatch .*main.*keys")
        self.assertIn(" 1 errors", text)
        report = json.loads(self.hawthorn("check", self.db, "--json", code=CORRUPTION)
                            .splitlines()[0])
        (item,) = report["items"]
        self.assertFalse(report["ok"])
        self.assertEqual((item["kind"], item["file"], item["offset"]),
                         ("checksum", "data.0", at // 4096 * 4096))
        self.assertEqual((item["tree_name"], item["low_key"]), ("main", ""))

    def test_reading_changes_nothing(self):
        self.hawthorn("put", self.db, "k", "v")
        before = {path: path.read_bytes() for path in self.db.rglob("*") if path.is_file()}
        for command in ("scan", "count", "dump", "stats", "check", "counters"):
            self.hawthorn(command, self.db)
        self.hawthorn("get", self.db, "k")
        after = {path: path.read_bytes() for path in self.db.rglob("*") if path.is_file()}
        self.assertEqual(before, after)

    def test_no_database(self):
        for command in ("scan", "count", "dump", "stats", "check"):
            with self.subTest(command=command):
                self.hawthorn(command, self.db, code=NOT_FOUND)
                self.assertIn(str(self.db), self.stderr)
        self.hawthorn("del", self.db, "k", code=NOT_FOUND)
        self.assertFalse(self.db.exists())

    def test_a_database_of_noise(self):
        self.hawthorn("put", self.db, "k", "v")
        for path in self.db.rglob("*"):
            if path.is_file():
                path.write_bytes(b"\xa5" * max(4096, path.stat().st_size))
        answer = self.hawthorn("get", self.db, "k", "--json", code=CORRUPTION)
        self.assertEqual(json.loads(answer)["error"]["code"], "Corruption")
        self.assertIn(str(self.db), self.stderr)

    def wait_until_open(self, process):
        """Waits until the process holds a lock on a file of the database."""
        files = {path.stat().st_ino for path in self.db.rglob("*")}

        def locked():
            self.assertIsNone(process.poll(), "the holder ended")
            locks = pathlib.Path("/proc/locks").read_text().splitlines()
            return files & {int(line.split()[5].split(":")[2]) for line in locks
                            if line.split()[4] == str(process.pid)}

        self.assertTrue(wait_until(locked), "nobody locks a file")

    def test_a_database_that_another_process_has_open(self):
        self.hawthorn("put", self.db, "k", "v")
        # A load that waits for its input holds the database open.
        with subprocess.Popen([command_case.PROGRAM, "load", self.db], stdin=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as holder:
            self.wait_until_open(holder)
            self.hawthorn("put", self.db, "k", "w", code=BUSY)
            self.assertIn(str(self.db), self.stderr)
            holder.kill()
        self.hawthorn("put", self.db, "k", "w")

    def test_reading_beside_a_process_that_writes(self):
        self.hawthorn("put", self.db, "k", "v")
        with subprocess.Popen([command_case.PROGRAM, "load", self.db], stdin=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as holder:
            self.wait_until_open(holder)
            self.assertEqual(self.hawthorn("get", self.db, "k"), b"v")
            self.assertEqual(self.hawthorn("scan", self.db), b"k\tv\n")
            self.assertEqual(self.hawthorn("count", self.db), b"1\n")
            self.hawthorn("get", self.db, "other", code=NOT_FOUND)
            self.assertTrue(json.loads(self.hawthorn("check", self.db, "--json"))["ok"])
            self.assertIn(b"k\tv\n", self.hawthorn("dump", self.db))
            self.hawthorn("stats", self.db)
            # A version that knows nothing of followers has no such file.
            (self.db / "followers").unlink()
            self.hawthorn("get", self.db, "k", code=BUSY)
            self.assertIn("cannot be followed", self.stderr)
            holder.kill()
        self.assertEqual(self.hawthorn("get", self.db, "k"), b"v")


class Bench(CommandCase):
    def setUp(self):
        super().setUp()
        self.skip_under_emulator("the program is a script, which has no neighbours")

    def test_the_program_beside_it_gets_all_arguments(self):
        program = self.scratch / "hawthorn"
        shutil.copy(command_case.PROGRAM, program)
        neighbour = self.file("hawthorn-bench", b'#!/bin/sh\necho "$@"\nexit 7\n')
        neighbour.chmod(0o755)
        done = subprocess.run([program, "bench", "bank", "--help", "--csv"], check=False,
                              capture_output=True, timeout=HANG_SECONDS)
        self.assertEqual((done.returncode, done.stdout), (7, b"bank --help --csv\n"))

    def test_no_such_program(self):
        program = self.scratch / "hawthorn"
        shutil.copy(command_case.PROGRAM, program)
        done = subprocess.run([program, "bench"], check=False, capture_output=True,
                              timeout=HANG_SECONDS,
                              env={"PATH": str(pathlib.Path("/nowhere"))})
        self.assertEqual(done.returncode, ERROR)
        self.assertIn(b"hawthorn-bench", done.stderr)


if __name__ == "__main__":
    command_case.main()
