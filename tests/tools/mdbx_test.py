#!/usr/bin/env python3
"""hawthorn mdbx-dump and mdbx-load: against the text that is expected, and where they are installed
against LMDB's mdb_dump and mdb_load, and libmdbx's mdbx_dump and mdbx_load."""

import argparse
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys

import command_case
from command_case import (BUSY, CORRUPTION, ERROR, HANG_SECONDS, NOT_FOUND, OK, USAGE,
                          CommandCase, wait_until)

MDBX_TOOLS = None

EVERY_BYTE = bytes(range(256))
SAME_FLAG = {"duplicates": "dupsort", "dupfix": "dupfixed"}


class Table:
    """A table, and its entries in the order that it gives them."""

    def __init__(self, name, flags, entries):
        self.name, self.flags = name, frozenset(flags.split())
        self.entries = sorted(entries, key=self.order)

    def order(self, entry):
        key, value = entry
        for flag, number in (("integerkey", 0), ("integerdup", 1)):
            if flag in self.flags:
                key, value = (entry[i] if i != number else entry[i][::-1] for i in range(2))
                entry = key, value
        key, value = entry
        return (key[::-1] if "reversekey" in self.flags else key,
                value[::-1] if "reversedup" in self.flags else value)

    def __eq__(self, other):
        return (self.name, self.flags, self.entries) == (other.name, other.flags, other.entries)

    def __repr__(self):
        return f"{self.name} {sorted(self.flags)} {self.entries[:3]}... {len(self.entries)}"


def shapes():
    """Of all that LMDB takes, too: keys from 1 to 511 bytes."""
    source = random.Random(2026)
    words = sorted({source.randbytes(source.randint(1, 12)) for _ in range(300)})
    small = words[:40]
    u32 = [struct.pack("=I", source.getrandbits(32)) for _ in range(60)]
    u64 = [struct.pack("=Q", source.getrandbits(64)) for _ in range(60)]
    pairs = [(word, value) for word in small for value in words[40:60]]
    fixed = [(word, number) for word in small for number in u64[:9]]
    return [
        Table(None, "", [(b"\xff" + word, word) for word in words]),
        Table(b"both numbers", "dupsort dupfixed integerkey integerdup",
              [(key, value) for key in u32[:30] for value in u32[30:]]),
        Table(b"bytes", "", [(b"\\", b"\\\\"), (b"all", EVERY_BYTE), (b"e", b""),
                             (EVERY_BYTE, b"\0"), (b" a", b" "), (b"k" * 511, b"v" * 70_000)]),
        Table(b"dup", "dupsort", pairs + [(b"e", b"")]),
        Table(b"dup reverse", "dupsort reversekey reversedup", pairs),
        Table(b"empty", "", []),
        Table(b"empty fixed", "dupsort dupfixed", []),
        Table(b"fixed", "dupsort dupfixed", fixed),
        Table(b"fixed reverse", "dupsort dupfixed reversedup", fixed),
        Table(b"name = with \\ and \xc3\xa4", "", [(b"a", b"b")]),
        Table(b"numbers", "integerkey", [(key, word) for key, word in zip(u64, words)]),
        Table(b"reverse", "reversekey", [(word, word[::-1]) for word in words]),
    ]


def text_of(tables):
    lines = []
    for table in tables:
        lines += [b"VERSION=3", b"format=bytevalue"]
        if table.name is not None:
            lines.append(b"database=" + table.name)
        # LMDB and libmdbx have different names for it, and pass over that of the other.
        flags = table.flags | ({"dupfix"} if "dupfixed" in table.flags else set())
        lines += [b"type=btree"] + [flag.encode() + b"=1" for flag in sorted(flags)]
        lines.append(b"HEADER=END")
        for entry in table.entries:
            lines += [b" " + part.hex().encode() for part in entry]
        lines.append(b"DATA=END")
    return b"\n".join(lines) + b"\n"


def unescape(text):
    return re.sub(rb"\\(\\|[0-9a-f]{2})",
                  lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode()),
                  text)


def tables_of(text):
    """In the order of their names; keeps the order of entries."""
    tables = []
    lines = iter(text.split(b"\n"))
    for line in lines:
        if not line:
            continue
        assert line == b"VERSION=3", line
        header = {}
        for line in lines:
            name, value = line.split(b"=", 1)
            if name == b"HEADER":
                break
            header[name.decode()] = value
        decode = unescape if header["format"] == b"print" else lambda t: bytes.fromhex(t.decode())
        flags = {SAME_FLAG.get(name, name) for name, value in header.items()
                 if value == b"1" and re.match("dup|integer|reverse", name)}
        table = Table(header.get("database"), " ".join(flags), [])
        for line in lines:
            if line == b"DATA=END":
                break
            table.entries.append((decode(line[1:]), decode(next(lines)[1:])))
        tables.append(table)
    return sorted(tables, key=lambda table: table.name or b"")


class MdbxCase(CommandCase):
    def load(self, text, *options, directory=None, code=OK):
        return self.hawthorn("mdbx-load", directory or self.db, *options, stdin=text, code=code)

    def dump(self, *options, directory=None, code=OK):
        return self.hawthorn("mdbx-dump", directory or self.db, *options, code=code)

    def assert_holds(self, tables, directory=None):
        for options in ((), ("-p",)):
            self.assertEqual(tables_of(self.dump("-a", *options, directory=directory)), tables)


class RoundTrips(MdbxCase):
    def test_every_shape(self):
        for printable in ((), ("-p",)):
            with self.subTest(printable=printable):
                first, second = (self.scratch / f"{name}{len(printable)}" for name in "ab")
                self.load(text_of(shapes()), directory=first)
                self.assertEqual(self.stderr, "")
                self.assert_holds(shapes(), first)
                text = self.dump("-a", *printable, directory=first)
                self.load(text, directory=second)
                self.assertEqual(self.stderr, "")
                self.assertEqual(self.dump("-a", *printable, directory=second), text)
                # What is in order can be appended, also to what is there.
                third = self.scratch / f"c{len(printable)}"
                self.load(text, "-a", directory=third)
                self.assertEqual(self.dump("-a", *printable, directory=third), text)

    def test_what_only_this_takes(self):
        tables = [Table(None, "", [(b"", b""), (b"k" * 60_000, b"v" * (1 << 20))]),
                  Table(b"dup", "dupsort",
                        [(b"", b""), (b"", b"a"), (b"k" * 16_000, b"v" * 32_000)])]
        self.load(text_of(tables))
        self.assert_holds(tables)

    def test_more_entries_than_a_transaction_has(self):
        source = random.Random(7)
        table = Table(b"many", "", {source.randbytes(8): source.randbytes(20)
                                    for _ in range(35_000)}.items())
        source.shuffle(unordered := list(table.entries))
        text = text_of([Table(b"many", "", [])])
        data = b"".join(b" %s\n %s\n" % (key.hex().encode(), value.hex().encode())
                        for key, value in unordered)
        printed = self.load(text.replace(b"DATA=END\n", data + b"DATA=END\n"))
        self.assertEqual(printed, b"1 table, 35000 entries\n")
        self.assert_holds([table])

    def test_one_table(self):
        self.load(text_of(shapes()))
        for table in shapes():
            options = () if table.name is None else ("-s", table.name)
            # Of the main table: without the others' names, which -a is for.
            self.assertEqual(tables_of(self.dump(*options)), [table])
            self.assertEqual("11 tables with names" in self.stderr, table.name is None)
        self.dump("-q")
        self.assertEqual(self.stderr, "")
        self.assertEqual(self.dump("-l"), b"".join(table.name + b"\n" for table in shapes()[1:]))
        file = self.scratch / "dup.txt"
        self.assertEqual(self.dump("-s", "dup", "-f", file), b"")
        self.load(b"", "-s", "other", "-f", file)
        self.load(b"", "-n", "-f", file)
        other = self.scratch / "other"
        self.load(b"", "-s", "other", "-f", file, directory=other)
        dup = shapes()[3]
        self.assert_holds([Table(b"other", "dupsort", dup.entries)], other)

    def test_sequence_and_canary(self):
        text = text_of([Table(b"t", "", [])]).replace(
            b"type=btree\n", b"type=btree\nsequence=41\ncanary=v7,x1,y2,z18446744073709551615\n")
        self.load(text)
        printed = self.dump("-a")
        self.assertIn(b"\nsequence=41\n", printed)
        self.assertRegex(printed, rb"\ncanary=v\d+,x1,y2,z18446744073709551615\n")
        self.load(text.replace(b"=41", b"=40"))
        self.assertIn(b"\nsequence=41\n", self.dump("-a"))

    def test_flags_that_lmdb_keeps_without_a_meaning(self):
        self.load(text_of([Table(b"t", "dupfixed integerkey reversekey", [])]))
        self.assertIn("passed over: integerkey, dupfixed", self.stderr)
        self.load(text_of([Table(b"u", "dupsort integerdup", [])]), "-q")
        self.assertEqual(self.stderr, "")
        self.assert_holds([Table(b"t", "reversekey", []),
                           Table(b"u", "dupsort dupfixed integerdup", [])])

    def test_the_short_form_of_libmdbx(self):
        self.load(b"VERSION=3\ndatabase=d\ndupsort=1\nHEADER=END\n 61\n 31\n  32\n  33\nDATA=END\n")
        self.assert_holds([Table(b"d", "dupsort", [(b"a", value) for value in (b"1", b"2", b"3")])])


class Options(MdbxCase):
    def test_no_overwrite(self):
        before = [Table(b"d", "dupsort", [(b"a", b"1")]), Table(b"t", "", [(b"a", b"1")])]
        more = [Table(b"d", "dupsort", [(b"a", b"1"), (b"a", b"2")]),
                Table(b"t", "", [(b"a", b"2"), (b"b", b"2")])]
        self.load(text_of(before))
        self.assertEqual(self.load(text_of(more), "-N"),
                         b"2 tables, 2 entries, 2 passed over that were there\n")
        self.assert_holds([more[0], Table(b"t", "", [(b"a", b"1"), (b"b", b"2")])])
        self.assertEqual(self.load(text_of(more), "-q"), b"")
        self.assert_holds(more)

    def test_plain_lines(self):
        self.load(b"a\n 1\\0a\\\\\nlast\n\n", "-T", "-s", "t")
        self.assert_holds([Table(b"t", "", [(b"a", b" 1\n\\"), (b"last", b"")])])
        # Into a table with flags, without a word of them.
        self.load(text_of([Table(b"d", "dupsort", [(b"a", b"1")])]))
        self.load(b"a\n2", "-T", "-s", "d")
        self.assertEqual(tables_of(self.dump("-s", "d"))[0].entries, [(b"a", b"1"), (b"a", b"2")])

    def test_append(self):
        self.load(b"a\n1\nb\n2\n", "-T", "-a")
        self.load(b"c\n3\nb\n4\n", "-T", "-a", code=USAGE)
        self.assertIn("standard input:4: the main table: not behind what is there", self.stderr)
        self.assert_holds([Table(None, "", [(b"a", b"1"), (b"b", b"2")])])
        dup = text_of([Table(b"d", "dupsort", [(b"a", b"1"), (b"a", b"2")])])
        self.load(dup, "-a")
        self.load(dup, "-a", code=USAGE)
        self.assertIn("standard input:8: the table d: not behind", self.stderr)

    def test_the_command_line(self):
        for arguments in (("-a", "-l"), ("-a", "-s", "t"), ("-l", "-s", "t"), ("-x",), ("more",)):
            self.dump(*arguments, code=USAGE)
        self.hawthorn("mdbx-load", code=USAGE)
        for command in ("mdbx-dump", "mdbx-load"):
            self.assertIn(b"DIR", self.hawthorn(command, "--help"))
            self.assertIn(command.encode(), self.hawthorn("--help"))
        self.assertFalse(self.db.exists())

    def test_no_such_program(self):
        program = self.scratch / "hawthorn"
        shutil.copy(command_case.PROGRAM, program)
        done = subprocess.run([program, "mdbx-dump"], check=False, capture_output=True,
                              timeout=HANG_SECONDS, env={"PATH": "/nowhere"})
        self.assertEqual(done.returncode, ERROR)
        self.assertIn(b"HAWTHORN_BUILD_SHIMS", done.stderr)


class BadInput(MdbxCase):
    def assert_refused(self, text, message, *options, code=CORRUPTION):
        self.load(text, *options, code=code)
        self.assertIn(message, self.stderr)

    def test_text(self):
        head = b"VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n"
        for text, message in (
                (b"", "the file is empty"),
                (head[:35], "3: expected type=btree"),
                (head[:38], "3: the file ends inside a header"),
                (head[:40], "4: expected NAME=VALUE"),
                (head.replace(b"HEADER=END\n", b" 61\n"), "4: expected NAME=VALUE"),
                (head.replace(b"bytevalue", b"hex"), "2: expected format="),
                (head + b" 61\n", "5: the file ends behind a key"),
                (head + b" 61\nDATA=END\n", "6: a key without its value"),
                (head + b" 61\n 62\n", "6: the file ends inside a table"),
                (head + b" 61\n 6x\nDATA=END\n", "6: no two hexadecimal digits at byte 2"),
                (head + b" 611\n 62\nDATA=END\n", "5: no two hexadecimal digits at byte 4"),
                (head + b" 61\n62\nDATA=END\n", "6: expected a value"),
                (head + b"DATA=END\nDATA=END\nDATA\n", "7: expected NAME=VALUE")):
            with self.subTest(text=text):
                self.assert_refused(text, "standard input:" + message
                                    if message[0].isdigit() else message)
        self.assert_refused(b"a\n1\nb\n", "3: the file ends behind a key", "-T")
        self.assert_refused(b"a\n\\1\n", "2: no two hexadecimal digits at byte 2", "-T")
        self.assert_refused(b"VERSION=2\n", "1: VERSION=2", code=ERROR)

    def test_what_comes_before_stays(self):
        good = text_of([Table(b"a", "", [(b"k%05d" % i, b"") for i in range(25_000)])])
        self.assert_refused(good.replace(b" 6b3234393939\n", b" zz\n"),
                            "50004: no two hexadecimal digits at byte 2 of the line; 20000 "
                            "entries, up to line 40005, were loaded")
        self.assertEqual(len(tables_of(self.dump("-s", "a"))[0].entries), 20_000)
        self.load(good)
        self.assertEqual(len(tables_of(self.dump("-s", "a"))[0].entries), 25_000)

    def test_unknown_lines_are_told(self):
        text = text_of([Table(b"t", "", [(b"a", b"b")])])
        self.load(text.replace(b"type", b"re_pad=0x20\nmapsize=9\nmapaddr=0x1\ntype"))
        self.assertEqual(self.stderr,
                         "hawthorn: note: standard input:4: passed over: re_pad=0x20\n")
        self.load(text.replace(b"type", b"re_pad=0x20\ntype"), "-q")
        self.assertEqual(self.stderr, "")

    def test_names_and_keys(self):
        self.load(text_of([Table(None, "", [(b"key", b"1")]), Table(b"name", "", [])]))
        self.assert_refused(text_of([Table(b"key", "", [])]),
                            "5: the table key: a key of the main table", code=USAGE)
        self.assert_refused(text_of([Table(None, "", [(b"name", b"1")])]),
                            "6: the key is the name of a table", code=USAGE)
        self.assertEqual(self.load(text_of([Table(None, "", [(b"name", b"1")])]), "-N"),
                         b"1 table, 0 entries, 1 passed over that were there\n")
        self.dump("-s", "key", code=USAGE)
        self.assertIn("a key of the main table", self.stderr)
        self.dump("-s", "other", code=NOT_FOUND)
        self.assertIn("the table other: not there", self.stderr)
        self.assert_holds([Table(None, "", [(b"key", b"1")]), Table(b"name", "", [])])

    def test_tables_that_do_not_fit(self):
        self.load(text_of([Table(b"t", "dupsort", [(b"a", b"b")])]))
        self.assert_refused(text_of([Table(b"t", "", [])]), "with other flags (dupsort) than",
                            code=USAGE)
        two = text_of([Table(b"t", "dupsort", []), Table(b"u", "", [])])
        self.assert_refused(two, "12: a second table, while -s takes one", "-s", "t", code=USAGE)
        main = self.scratch / "main"
        self.load(text_of([Table(None, "dupsort", [(b"a", b"b")])]), directory=main)
        self.load(text_of([Table(b"t", "", [])]), directory=main, code=USAGE)
        self.assertIn("so it has no names", self.stderr)

    def test_sizes(self):
        for name, flags, key, value in ((None, "", b"k" * 65_536, b""),
                                        (b"d", "dupsort", b"k" * 16_001, b""),
                                        (b"d", "dupsort", b"k", b"v" * 32_001),
                                        (b"n", "integerkey", b"123", b""),
                                        (b"f", "dupsort dupfixed integerdup", b"k", b"12345")):
            text = text_of([Table(name, flags, [])])
            entry = b" %s\n %s\n" % (key.hex().encode(), value.hex().encode())
            line = text.count(b"\n") + 1
            self.assert_refused(text.replace(b"DATA", entry + b"DATA"), f":{line}: the ",
                                code=USAGE)
            self.assertIn("MDBX_BAD_VALSIZE", self.stderr)
        fixed = text_of([Table(b"x", "dupsort dupfixed", [])])
        self.assert_refused(fixed.replace(b"DATA", b" 61\n 6262\n 61\n 63\nDATA"),
                            ":12: the table x: MDBX_BAD_VALSIZE", code=USAGE)

    def test_no_database(self):
        self.dump(code=NOT_FOUND)
        self.load(b"", "-f", self.scratch / "missing", code=NOT_FOUND)
        self.assertFalse(self.db.exists())
        self.hawthorn("put", self.db, "k", "v")
        self.dump(code=CORRUPTION)
        self.assertIn(str(self.db), self.stderr)

    def test_a_database_of_the_originals(self):
        for name, program in (("data.mdb", "mdb_dump"), ("mdbx.dat", "mdbx_dump")):
            directory = self.scratch / name[:3]
            directory.mkdir()
            (directory / name).write_bytes(b"")
            for command in ("mdbx-dump", "mdbx-load"):
                self.hawthorn(command, directory, code=ERROR)
                self.assertIn(f"{directory}: written by", self.stderr)
                self.assertIn(f"`{program} -a`", self.stderr)
            self.assertEqual(list(directory.iterdir()), [directory / name])

    def test_other_commands_take_tables_of_every_shape(self):
        self.load(text_of(shapes()))
        self.assertIn(b" 0 errors", self.hawthorn("check", self.db))
        self.hawthorn("backup", self.db, self.scratch / "backups")
        restored = self.scratch / "restored"
        self.hawthorn("restore", self.scratch / "backups", restored)
        self.assert_holds(shapes(), restored)
        dumped = self.scratch / "loaded"
        self.hawthorn("load", dumped, stdin=self.hawthorn("dump", self.db))
        self.assert_holds(shapes(), dumped)


class Interrupted(MdbxCase):
    def start(self):
        """A load that has committed some, and goes on as long as its input does."""
        load = subprocess.Popen([command_case.PROGRAM, "mdbx-load", self.db, "-T"],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        self.addCleanup(load.stderr.close)
        self.addCleanup(load.kill)
        for i in range(60_000):
            load.stdin.write(b"%06d\nvalue\n" % i)
        load.stdin.flush()
        return load

    def entries(self):
        done = None

        def there():
            nonlocal done
            done = subprocess.run([command_case.PROGRAM, "mdbx-dump", self.db], check=False,
                                  capture_output=True, timeout=HANG_SECONDS)
            return done.returncode == OK and b" 30" in done.stdout

        self.assertTrue(wait_until(there), done.stderr.decode())
        return len(tables_of(done.stdout)[0].entries)

    def test_beside_it(self):
        load = self.start()
        self.assertEqual(self.entries() % 10_000, 0)
        self.load(b"", "-T", code=BUSY)
        load.stdin.close()
        self.assertEqual(load.stderr.read(), b"")
        self.assertEqual(load.wait(60), OK)
        self.assertEqual(self.entries(), 60_000)

    def test_by_a_signal(self):
        load = self.start()
        self.entries()
        load.send_signal(signal.SIGTERM)
        try:
            load.stdin.write(b"key\nvalue\n" * 10)
            load.stdin.close()
        except BrokenPipeError:
            pass
        said = load.stderr.read().decode()
        self.assertEqual(load.wait(60), ERROR)
        told = re.search(r"interrupted by a signal; (\d+) entries, up to line (\d+), were", said)
        self.assertTrue(told, said)
        self.assertEqual(int(told[2]), 2 * int(told[1]))
        self.assertEqual(self.entries(), int(told[1]))

    def test_by_a_kill(self):
        load = self.start()
        self.entries()
        load.kill()
        load.wait(60)
        load.stdin.close()
        # What the process has committed, the system still has.
        self.assertEqual(self.entries() % 10_000, 0)
        self.assertIn(b" 0 errors", self.hawthorn("check", self.db))


class Originals(MdbxCase):
    """There and back, through the original's own programs."""

    def there_and_back(self, dump, load, tables):
        ours, theirs = self.scratch / "ours", self.scratch / "theirs"
        main, *named = tables
        self.run_original(*load, self.empty(theirs), stdin=text_of(tables))
        text = self.run_original(*dump, "-a", theirs)
        self.assertEqual(tables_of(text), named)
        self.load(text, directory=ours)
        self.assertEqual(self.stderr, "")
        self.assert_holds(named, ours)
        # With names in it, -a does not give the main table, which alone has the names, too.
        self.load(self.run_original(*dump, theirs), "-N", directory=ours)
        self.assert_holds(tables, ours)
        for options in ((), ("-p",)):
            text = self.dump("-a", *options, directory=ours)
            self.run_original(*load, self.empty(theirs), stdin=text)
            self.assertEqual(tables_of(self.run_original(*dump, "-a", theirs)), named)
            names = {table.name for table in named}
            there = tables_of(self.run_original(*dump, theirs))[0]
            self.assertEqual([entry for entry in there.entries if entry[0] not in names],
                             main.entries)

    def main_tables(self, dump, load):
        """A main table of each shape, alone in its database, and printed."""
        for number, table in enumerate(shapes()):
            # mdb_dump of 0.9.24 does not escape a backslash where it prints, and libmdbx takes a
            # leading space for its short form.
            entries = [entry for entry in table.entries
                       if not any(b"\\" in part or part.startswith(b" ") for part in entry)]
            table = Table(None, " ".join(table.flags), entries)
            ours, theirs = self.scratch / f"ours{number}", self.scratch / "theirs"
            self.run_original(*load, self.empty(theirs), stdin=text_of([table]))
            self.load(self.run_original(*dump, "-p", theirs), directory=ours)
            self.assert_holds([table], ours)
            text = self.dump("-p", directory=ours)
            self.run_original(*load, self.empty(theirs), stdin=text)
            self.assertEqual(tables_of(self.run_original(*dump, theirs)), [table])

    @staticmethod
    def empty(directory):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        return directory

    def run_original(self, *arguments, stdin=b""):
        done = subprocess.run(arguments, input=stdin, check=False, capture_output=True,
                              timeout=HANG_SECONDS)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def lmdb(self):
        dump, load = shutil.which("mdb_dump"), shutil.which("mdb_load")
        if dump is None or load is None:
            self.skipTest("mdb_dump and mdb_load are not installed (Debian: lmdb-utils)")
        return (dump,), (load,)

    def libmdbx(self):
        dump, load = (shutil.which(name, path=MDBX_TOOLS) for name in ("mdbx_dump", "mdbx_load"))
        if dump is None or load is None:
            self.skipTest("mdbx_dump and mdbx_load are not in PATH, nor in MDBX_TOOLS_DIR of CMake")
        return (dump, "-q"), (load, "-q")

    def test_lmdb(self):
        self.there_and_back(*self.lmdb(), shapes())

    def test_main_table_of_lmdb(self):
        self.main_tables(*self.lmdb())

    def test_libmdbx(self):
        self.there_and_back(*self.libmdbx(), shapes())

    def test_main_table_of_libmdbx(self):
        self.main_tables(*self.libmdbx())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mdbx-tools", type=pathlib.Path)
    tools, rest = parser.parse_known_args()
    MDBX_TOOLS = tools.mdbx_tools
    sys.argv[1:] = rest
    command_case.main()
