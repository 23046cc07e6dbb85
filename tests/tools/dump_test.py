#!/usr/bin/env python3
"""load and dump: round trips and malformed files (docs/dump-format.md)."""

import json
import os
import pathlib
import random
import re
import select
import stat
import subprocess

import command_case
from command_case import CORRUPTION, ERROR, HEAD, NOT_FOUND, USAGE, CommandCase

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "dump-format.md"


def escaped(data):
    return b"".join(b"\\x%02x" % byte for byte in data)


class RoundTrip(CommandCase):
    def dump_of(self, trees):
        parts = [HEAD]
        for name, entries in trees.items():
            parts.append(b"#tree name=%s\n" % name)
            parts += [escaped(key) + b"\t" + escaped(value) + b"\n" for key, value in entries]
            parts.append(b"#end entries=%d\n" % len(entries))
        parts.append(b"#end-of-dump trees=%d\n" % len(trees))
        return b"".join(parts)

    def test_all_trees(self):
        chance = random.Random(5)
        trees = {name: sorted({chance.randbytes(chance.randrange(40)): chance.randbytes(
            chance.randrange(300)) for _ in range(2000)}.items())
            for name in (b"one", b"two trees", b"three")}
        trees[b"empty"] = []
        answer = self.hawthorn("load", self.db, "--json", stdin=self.dump_of(trees))
        self.assertEqual(json.loads(answer)["entries"], sum(map(len, trees.values())))
        self.assertEqual(json.loads(answer)["trees"], 4)
        first = self.hawthorn("dump", self.db)
        for options in ((), ("--base64",)):
            with self.subTest(options=options):
                other = self.scratch / f"other{len(options)}"
                dump = self.scratch / f"dump{len(options)}"
                answer = self.hawthorn("dump", self.db, dump, "--json", *options)
                self.assertEqual(json.loads(answer)["bytes"], dump.stat().st_size)
                self.hawthorn("load", other, dump)
                self.assertEqual(self.hawthorn("dump", other), first)
                self.assertIn(b" 0 errors", self.hawthorn("check", other))
        self.assertEqual(self.hawthorn("count", self.db, "--tree", "two trees"),
                         b"%d\n" % len(trees[b"two trees"]))

    def test_chosen_trees_and_another_name(self):
        self.hawthorn("load", self.db,
                      stdin=self.dump_of({b"a": [(b"k", b"1")], b"b": [(b"k", b"2")]}))
        dump = self.hawthorn("dump", self.db, "--tree", "b")
        self.assertIn(b"#tree name=b\nk\t2\n", dump)
        self.assertNotIn(b"name=a", dump)
        self.hawthorn("load", self.db, "--tree", "c", stdin=dump)
        self.assertEqual(self.hawthorn("get", self.db, "k", "--tree", "c"), b"2")
        every = self.hawthorn("dump", self.db)
        self.hawthorn("load", self.db, "--tree", "c", code=USAGE, stdin=every)
        self.hawthorn("dump", self.db, self.scratch / "no", "--tree", "z", code=NOT_FOUND)
        self.assertFalse((self.scratch / "no").exists())

    def test_in_bulk(self):
        chance = random.Random(6)
        entries = sorted({chance.randbytes(chance.randrange(1, 30)): chance.randbytes(
            chance.randrange(300)) for _ in range(5000)}.items())
        entries[10] = (entries[10][0], chance.randbytes(3_000_000))
        self.hawthorn("load", self.db, stdin=self.dump_of({b"one": entries, b"two": []}))
        first = self.hawthorn("dump", self.db)
        for option in ("--sorted", "--bulk"):
            with self.subTest(option=option):
                other = self.scratch / option
                answer = self.hawthorn("load", other, option, "--json", stdin=first)
                self.assertEqual(json.loads(answer)["entries"], len(entries))
                self.assertEqual(self.hawthorn("dump", other), first)
                self.hawthorn("load", other, option, stdin=first)  # over what is there
                self.assertEqual(self.hawthorn("dump", other), first)
                self.assertIn(b" 0 errors", self.hawthorn("check", other))
        other = self.scratch / "any order"
        entries[11] = (entries[11][0], b"the last one")
        text = self.dump_of({b"one": [(entries[11][0], b"")] + entries[::-1]})
        self.hawthorn("load", other, "--bulk", stdin=text)
        self.assertEqual(self.hawthorn("count", other, "--tree", "one"), b"%d\n" % len(entries))
        self.assertEqual(self.hawthorn("get", other, "--hex", entries[11][0].hex(), "--tree",
                                       "one"), b"the last one".hex().encode() + b"\n")
        self.hawthorn("load", other, "--bulk", "--sorted", code=USAGE, stdin=text)

    def test_compressed(self):
        entries = [(b"key %06d" % i, b"a value that is much like the others " * 8)
                   for i in range(20000)]
        self.hawthorn("load", self.db, stdin=self.dump_of({b"t": entries}))
        text = self.hawthorn("dump", self.db)
        for codec in ("none", "lz4", "zstd"):
            for bulk in ((), ("--sorted",)):
                with self.subTest(codec=codec, bulk=bulk):
                    db = self.scratch / (codec + "".join(bulk))
                    self.hawthorn("load", db, "--compression", codec, *bulk, stdin=text)
                    self.assertEqual(self.hawthorn("dump", db), text)
                    stats = json.loads(self.hawthorn("stats", db, "--json"))["trees"][0]
                    self.assertEqual(stats["compression"], codec)
                    size = stats["bytes_index"] + stats["bytes_values"]
                    self.assertEqual(size < stats["bytes_uncompressed"] / 4, codec != "none")
                    self.assertIn(b" 0 errors", self.hawthorn("check", db))
        self.hawthorn("load", self.db, "--compression", "gzip", code=USAGE, stdin=text)

    def test_in_bulk_a_tree_is_whole_or_not_at_all(self):
        good = self.dump_of({b"a": [(b"k", b"1")]}).replace(b"#end-of-dump trees=1\n", b"")
        bad = good + b"#tree name=b\ny\t1\nx\t2\n#end entries=2\n#end-of-dump trees=2\n"
        path = self.file("bad.dump", bad)
        self.hawthorn("load", self.db, "--sorted", path, code=USAGE)
        self.assertIn(f'{path}:7: an ingest of sorted entries got the key "x" after "y"',
                      self.stderr)
        self.assertEqual(self.hawthorn("count", self.db, "--tree", "a"), b"1\n")
        self.assertEqual(self.hawthorn("count", self.db, "--tree", "b"), b"0\n")
        self.hawthorn("load", self.db, "--bulk", path)
        self.assertEqual(self.hawthorn("count", self.db, "--tree", "b"), b"2\n")

    def test_the_example_of_the_document(self):
        example = re.search(r"```text\n(#hawthorn-dump.*?)```", DOCUMENT.read_text(), re.DOTALL)
        text = example.group(1).encode()
        self.hawthorn("load", self.db, stdin=text)
        self.assertEqual(self.hawthorn("dump", self.db), text)

    def test_trees_with_options(self):
        plain = (b"#hawthorn-dump version=2 encoding=escaped\n"
                 b"#tree order=bytewise values=reverse name=a b\n"
                 b"k\t2\nk\t1\nk2\t\n#end entries=3\n"
                 b"#tree order=reverse name=b\ny\t1\nx\t2\n#end entries=2\n"
                 b"#tree name=c\n#end entries=0\n#end-of-dump trees=3\n")
        ends = (b"#hawthorn-dump version=2 encoding=escaped\n"
                b"#tree order=bytewise expires=5000 name=e\n"
                b"a\t1\t0\nb\t\t99999999999999\n#value bytes=1048577 expires=99999999999999 key=c\n"
                + (b"x" * 49152 + b"\n") * 21 + b"x" * 16385 + b"\n"
                + b"#end entries=3\n#end-of-dump trees=1\n")
        self.hawthorn("load", self.scratch / "ends", stdin=ends)
        dump = self.hawthorn("dump", self.scratch / "ends")
        self.assertEqual(re.sub(rb" xxh3=[0-9a-f]{16}", b"", dump), ends)
        self.hawthorn("load", self.scratch / "ends", "--bulk", stdin=ends, code=ERROR)
        over = ends.replace(b"a\t1\t0", b"a\t1\t1")
        self.hawthorn("load", self.scratch / "over", stdin=over)
        self.assertEqual(self.hawthorn("count", self.scratch / "over", "--tree", "e"), b"2\n")
        self.hawthorn("load", self.db, stdin=ends.replace(b"a\t1\t0", b"a\t1"), code=CORRUPTION)
        for bulk in ((), ("--sorted",)):
            db = self.scratch / ("options" + "".join(bulk))
            self.hawthorn("load", db, *bulk, stdin=plain)
            dump = self.hawthorn("dump", db)
            self.assertEqual(re.sub(rb" xxh3=[0-9a-f]{16}", b"", dump), plain)
            again = self.scratch / ("again" + "".join(bulk))
            self.hawthorn("load", again, *bulk, stdin=dump)
            self.assertEqual(self.hawthorn("dump", again), dump)
            self.assertIn(b" 0 errors", self.hawthorn("check", db))
            other = plain.replace(b"order=reverse", b"order=from_end")
            self.hawthorn("load", db, stdin=other, code=USAGE)
            self.assertIn('tree "b" has the order "reverse"', self.stderr)
        # Older programs read what they can.
        plain_tree = self.hawthorn("dump", self.scratch / "options", "--tree", "c")
        self.assertTrue(plain_tree.startswith(b"#hawthorn-dump version=1 encoding=escaped\n"))
        unknown = plain.replace(b"order=reverse", b"order=nobody's")
        self.hawthorn("load", self.db, stdin=unknown, code=USAGE)

    def test_trees_that_hang_in_trees(self):
        text = (b"#hawthorn-dump version=3 encoding=escaped\n"
                b"#tree order=bytewise subtrees=1 name=a\n"
                b"empty\t\nplain\tvalue\n#end entries=2\n"
                b"#subtree in=1 order=uint32 subtrees=1 key=\\x00 in a\n"
                b"\\x01\\x00\\x00\\x00\tone\n#end entries=1\n"
                b"#subtree in=1 key=\n#end entries=0\n"
                b"#subtree in=2 order=bytewise values=reverse key=\\x02\\x00\\x00\\x00\n"
                b"k\t2\nk\t1\n#end entries=2\n"
                b"#tree name=b\nk\tv\n#end entries=1\n"
                b"#end-of-dump trees=5\n")
        # As a dump orders them: by key.
        ordered = text.replace(b"#subtree in=1 key=\n#end entries=0\n", b"")
        at = ordered.index(b"#subtree")
        ordered = ordered[:at] + b"#subtree in=1 key=\n#end entries=0\n" + ordered[at:]
        ordered = ordered.replace(b"in=2", b"in=3")
        self.hawthorn("load", self.db, stdin=text)
        for _ in range(2):
            dump = self.hawthorn("dump", self.db)
            self.assertEqual(re.sub(rb" xxh3=[0-9a-f]{16}", b"", dump), ordered)
            self.hawthorn("load", self.db, stdin=dump)
        stats = json.loads(self.hawthorn("stats", self.db, "--json"))
        self.assertEqual([tree["subtrees"] for tree in stats["trees"]], [2, 0])
        self.assertEqual((stats["subtrees"], stats["trees_unreachable"]), (3, 0))
        self.assertIn(b" 0 errors", self.hawthorn("check", self.db))
        self.assertEqual(json.loads(self.hawthorn("check", self.db, "--json"))["subtrees"], 3)
        # One tree, with what hangs in it, by another name.
        one = self.hawthorn("dump", self.db, "--tree", "a")
        self.hawthorn("load", self.scratch / "one", "--tree", "z", stdin=one)
        self.assertEqual(self.hawthorn("dump", self.scratch / "one"),
                         one.replace(b"name=a", b"name=z"))
        self.assertTrue(self.hawthorn("dump", self.db, "--tree", "b")
                        .startswith(b"#hawthorn-dump version=1 "))
        # What is in the way.
        other = text.replace(b"values=reverse", b"values=from_end")
        self.hawthorn("load", self.db, stdin=other, code=USAGE)
        self.assertIn("other options", self.stderr)
        self.hawthorn("load", self.db, "--bulk", stdin=text, code=ERROR)
        lost = text.replace(b"in=2", b"in=3")
        self.hawthorn("load", self.scratch / "lost", stdin=lost, code=CORRUPTION)
        self.assertIn(":11: it hangs in a tree that holds none", self.stderr)

    def test_progress_goes_to_standard_error(self):
        text = HEAD + b"#tree name=t\n" + b"".join(b"%09d\tv\n" % i for i in range(300_000))
        text += b"#end entries=300000\n#end-of-dump trees=1\n"
        path = self.file("dump", text)
        self.hawthorn("load", self.db, path)
        self.assertEqual(self.stderr, "")
        # A line comes with what is loaded after a second: a little at a time until there is one.
        with subprocess.Popen([command_case.PROGRAM, "load", self.scratch / "slow", "--progress"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as load:
            at = 0
            while at < len(text) and not select.select([load.stderr], [], [], 0.02)[0]:
                load.stdin.write(text[at:at + 2_000])
                load.stdin.flush()
                at += 2_000
            line = load.stderr.readline()
            out, _ = load.communicate(text[at:])
        self.assertEqual((load.returncode, out), (0, b""))
        self.assertRegex(line.decode(), r"loaded [0-9.]+ .?B, [0-9.]+ .?B/s, \d+:\d\d\n")


class Malformed(CommandCase):
    def load_fails(self, text, message, code=CORRUPTION):
        path = self.file("bad.dump", text)
        self.hawthorn("load", self.db, path, code=code)
        self.assertIn(f"{path}:{message}", self.stderr)

    def test_file_and_line_are_named(self):
        tree = HEAD + b"#tree name=t\n"
        self.load_fails(b"", "0: no dump file")
        self.load_fails(b"PK\x03\x04\n", "1: no dump file")
        self.load_fails(tree + b"a\tb\nc d\n", "4: no tab")
        self.load_fails(tree + b"a\t\\xzz\n", "3: \\x without two hexadecimal digits at byte 1")
        self.load_fails(tree + b"a\tb\n", "3: the file ends inside a tree")
        self.load_fails(tree + b"a\tb\n#end entries=2\n", "4: tree t has 1 entries")
        self.load_fails(tree + b"#end entries=0\n", "3: the file ends without")
        self.load_fails(b"#hawthorn-dump version=9 encoding=escaped\n", "1: format version 9",
                        ERROR)
        self.load_fails(tree + b"k" * 65536 + b"\tv\n", "3: a key of 65536 bytes", USAGE)
        self.load_fails(HEAD + b"#tree name=" + b"n" * 256 + b"\n", "2: ", USAGE)

    def test_standard_input_is_named_too(self):
        self.hawthorn("load", self.db, stdin=b"hello\n", code=CORRUPTION)
        self.assertIn("standard input:1: ", self.stderr)

    def test_a_dump_that_was_cut_off_or_changed(self):
        for i in range(30):
            self.hawthorn("put", self.scratch / "source", f"key{i}", "value" * i,
                          "--durability", "none")
        dump = self.hawthorn("dump", self.scratch / "source")
        for size in range(0, len(dump) - 1, 97):
            self.load_fails(dump[:size], "", CORRUPTION)
        changed = dump.replace(b"valuevalue", b"valueValue", 1)
        self.load_fails(changed, "33: tree main has the checksum")

    def test_no_such_file(self):
        self.hawthorn("load", self.db, self.scratch / "absent", code=NOT_FOUND)
        self.assertIn("absent", self.stderr)
        self.assertFalse(self.db.exists())

    def test_a_dump_to_a_full_device(self):
        self.hawthorn("put", self.db, "k", "v")
        with open("/dev/full", "wb") as full:
            self.hawthorn("dump", self.db, code=ERROR, stdout=full)


class Places(CommandCase):
    """What is no regular file stays what it is, and gets the bytes. The devices are the test's own:
    those of the machine would be gone where this fails."""

    def setUp(self):
        super().setUp()
        self.hawthorn("put", self.db, "k", "v")
        self.commands = (("dump",), ("export", "--format", "csv"))

    def test_devices_and_pipes(self):
        for command, *options in self.commands:
            with self.subTest(command=command):
                expected = self.hawthorn(command, self.db, *options)
                if os.geteuid() == 0:
                    null, full = (self.scratch / f"{name}-{command}" for name in ("null", "full"))
                    os.mknod(null, stat.S_IFCHR | 0o600, os.makedev(1, 3))
                    os.mknod(full, stat.S_IFCHR | 0o600, os.makedev(1, 7))
                    self.hawthorn(command, self.db, null, *options)
                    self.assertTrue(null.is_char_device())
                    self.hawthorn(command, self.db, full, *options, code=ERROR)
                    self.assertIn(f"{full}: No space left", self.stderr)
                    self.assertTrue(full.is_char_device())
                pipe = self.scratch / f"pipe-{command}"
                os.mkfifo(pipe)
                with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
                    self.hawthorn(command, self.db, pipe, *options)
                    self.assertEqual(reader.stdout.read(), expected)
                self.assertTrue(pipe.is_fifo())
                own = self.scratch / f"stdout-{command}"
                own.symlink_to("/proc/self/fd/1")
                self.assertEqual(self.hawthorn(command, self.db, own, *options), expected)

    def test_symbolic_links(self):
        for command, *options in self.commands:
            with self.subTest(command=command):
                expected = self.hawthorn(command, self.db, *options)
                folder = self.scratch / f"folder-{command}"
                folder.mkdir()
                for content in (b"before", None):  # and one that leads nowhere yet
                    target, link = folder / f"target{content}", self.scratch / f"{command}{content}"
                    link.symlink_to(target)
                    if content is not None:
                        target.write_bytes(content)
                    self.hawthorn(command, self.db, link, *options)
                    self.assertTrue(link.is_symlink())
                    self.assertEqual(target.read_bytes(), expected)
                names = {path.name for path in folder.iterdir()}
                self.assertEqual(names, {"targetb'before'", "targetNone"})

    def test_directories(self):
        for command, *options in self.commands:
            self.hawthorn(command, self.db, self.scratch, *options, code=ERROR)
            self.assertIn("directory", self.stderr)


if __name__ == "__main__":
    command_case.main()
