#!/usr/bin/env python3
"""import and export: CSV and JSON lines, there and back, and what is said of malformed ones."""

import base64
import csv
import io
import json
import os
import random
import re
import subprocess
import sys

import command_case
from command_case import CORRUPTION, NOT_FOUND, USAGE, CommandCase

ALL_BYTES = bytes(range(256))
ENDING = (b"#hawthorn-dump version=2 encoding=escaped\n#tree order=bytewise expires=0 name=main\n"
          b"k\tv\t4102444800000\n#end entries=1\n#end-of-dump trees=1\n")


def hostile_entries(count):
    """Keys and values of bytes that CSV, JSON or a terminal give a meaning."""
    rng = random.Random(5)
    special = b"\",\\\n\r\t {}:'\x00\x7f\xff\xc3\xa9\xed\xa0\x80"

    def some():
        return bytes(rng.choice(special) if rng.random() < 0.8 else rng.randrange(256)
                     for _ in range(rng.randrange(1, 16)))

    entries = {some(): some() for _ in range(count)}
    entries.update({ALL_BYTES: ALL_BYTES * 3, b"empty": b"", b"=1+1": b"-",
                    b"long": b"v" * 200_000})
    return entries


class Tables(CommandCase):
    def load(self, entries, db=None):
        lines = [json.dumps({"key_hex": key.hex(), "value_hex": value.hex()})
                 for key, value in sorted(entries.items())]
        self.hawthorn("import", db or self.db, "--format", "jsonl",
                      stdin=("\n".join(lines) + "\n").encode())

    def dump(self, db):
        return self.hawthorn("dump", db)

    def test_any_bytes_come_back(self):
        self.load(hostile_entries(400))
        dump = self.dump(self.db)
        for name in ("out.csv", "out.jsonl"):
            for number, options in enumerate(((), ("--hex",), ("--base64",))):
                for bulk in ((), ("--bulk",)):
                    with self.subTest(name=name, options=options, bulk=bulk):
                        file = self.scratch / name
                        back = self.scratch / f"{name}.{number}.{len(bulk)}"
                        self.hawthorn("export", self.db, file, *options)
                        self.hawthorn("import", back, file, *bulk)
                        self.assertEqual(self.dump(back), dump)
                        self.hawthorn("check", back)

    def test_other_programs_read_it(self):
        entries = hostile_entries(100)
        self.load(entries)
        text = self.hawthorn("export", self.db, "--format", "csv", "--base64").decode()
        csv.field_size_limit(sys.maxsize)
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[0], ["key_base64", "value_base64"])
        self.assertEqual({base64.b64decode(k): base64.b64decode(v) for k, v in rows[1:]}, entries)
        found = {}
        for line in self.hawthorn("export", self.db, "--format", "jsonl").splitlines():
            entry = json.loads(line)
            key, value = (entry[name].encode() if name in entry
                          else base64.b64decode(entry[name + "_base64"])
                          for name in ("key", "value"))
            found[key] = value
        self.assertEqual(found, entries)

    def test_scan_json_is_imported(self):
        self.load(hostile_entries(50))
        lines = self.hawthorn("scan", self.db, "--json")
        back = self.scratch / "back"
        self.hawthorn("import", back, "--format", "jsonl", stdin=lines)
        self.assertEqual(self.dump(back), self.dump(self.db))

    def test_text_of_other_programs(self):
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(["C:\\new", "7", 'a "quoted"\nvalue'])
        writer.writerow(["plain", "8", "x"])
        self.hawthorn("import", self.db, "--format", "csv", "--columns", "key_text,-,value_text",
                      "--tree", "files", stdin=text.getvalue().encode())
        got = self.hawthorn("get", self.db, "C:\\\\new", "--tree", "files")
        self.assertEqual(got, b'a "quoted"\nvalue')
        self.assertEqual(self.hawthorn("count", self.db, "--tree", "files"), b"2\n")

    def test_ranges_and_figures(self):
        self.load({b"a1": b"1", b"a2": b"2", b"b": b"3"})
        out = self.scratch / "out.csv"
        said = json.loads(self.hawthorn("export", self.db, out, "--prefix", "a", "--json"))
        self.assertEqual(out.read_text(), "key,value\na1,1\na2,2\n")
        self.assertEqual((said["entries"], said["bytes"]), (2, out.stat().st_size))
        said = json.loads(self.hawthorn("import", self.scratch / "back", out, "--json"))
        self.assertEqual((said["entries"], said["bytes"]), (2, out.stat().st_size))

    def test_progress_has_rate_and_time_left(self):
        lines = "".join(f"{number},{'v' * 400}\n" for number in range(300_000))
        file = self.file("many.csv", ("key,value\n" + lines).encode())
        shown = self.on_a_terminal("import", self.db, file, "--progress")
        self.assertRegex(shown, r"imported \S+ MB \(\d+%\), \S+ MB/s, \d:\d\d, \d:\d\d left")
        shown = self.on_a_terminal("export", self.db, self.scratch / "out.csv", "--progress")
        self.assertRegex(shown, r"exported \S+ k?entries \(\d+%\), \S+ \S?entries/s, \d:\d\d")

    def on_a_terminal(self, *arguments):
        """What a terminal is shown; every 0.2 seconds, while a pipe has to wait for a second."""
        ours, theirs = os.openpty()
        process = subprocess.Popen([command_case.PROGRAM, *arguments], stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # it has ended
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return shown.decode()

    def test_malformed_lines_are_named(self):
        for name, text, where in (
                ("bad.csv", b"key,value\na,1\nb,2\\x4\n", ":3:3: value: \\x without"),
                ("bad.csv", b"key,value\na,1\nb,\"2\nc\n", ":3:3: a quote that nothing ends"),
                ("bad.csv", b"key,value\na,1\nb\n", ":3:1: 1 fields, where there are 2 columns"),
                ("bad.csv", b"key;value\n", ":1:1: no column is named"),
                ("bad.csv", b"key,key_hex,value\n", ":1:5: a second column for the same"),
                ("bad.jsonl", b'{"key":"a","value":"1"}\n{"key":"b"}\n',
                 ":2:11: there is no value"),
                ("bad.jsonl", b'{"key":"a","value":"1"}\n{"key":"b","value":"\xff"}\n',
                 ":2:21: no UTF-8")):
            with self.subTest(text=text):
                file = self.file(name, text)
                header = where.startswith(":1:")
                for bulk in ((), ("--bulk",)):
                    db = self.scratch / f"db{len(list(self.scratch.iterdir()))}"
                    said = self.hawthorn("import", db, file, "--json", *bulk,
                                         code=USAGE if header else CORRUPTION)
                    self.assertIn(f"{name}{where}", self.stderr)
                    self.assertEqual(json.loads(said)["error"]["code"],
                                     "InvalidArgument" if header else "Corruption")
                    good = 0 if bulk or header else 1
                    self.assertIn(f"; {good} entries before it were imported", self.stderr)
                    self.assertEqual(self.hawthorn("count", db), f"{good}\n".encode())

    def test_entries_that_end(self):
        line = b'{"key":"k","value":"v","expires_at":4102444800000}\n'
        self.hawthorn("import", self.db, "--format", "jsonl", stdin=line, code=USAGE)
        self.assertIn("standard input:1:1: an entry that ends", self.stderr)
        # A tree whose entries end is made by a dump of one.
        self.hawthorn("load", self.scratch / "ends", stdin=ENDING)
        for name in ("out.csv", "out.jsonl"):
            file = self.scratch / name
            self.hawthorn("export", self.scratch / "ends", file)
            self.assertIn(b"4102444800000", file.read_bytes())
            self.hawthorn("del", self.scratch / "ends", "k")
            self.hawthorn("import", self.scratch / "ends", file)
            dump = self.dump(self.scratch / "ends")
            self.assertEqual(re.sub(rb" xxh3=[0-9a-f]{16}", b"", dump), ENDING)

    def test_mistakes(self):
        file = self.file("a.csv", b"key,value\na,1\n")
        other = self.file("a.txt", b"key,value\na,1\n")
        self.hawthorn("import", self.db, other, code=USAGE)
        self.assertIn("--format csv or --format jsonl", self.stderr)
        self.hawthorn("import", self.db, other, "--format", "xml", code=USAGE)
        self.hawthorn("import", self.db, self.scratch / "none.csv", code=NOT_FOUND)
        self.hawthorn("import", self.db, file, "--columns", "key,worth", code=USAGE)
        self.hawthorn("import", self.db, self.file("a.jsonl", b""), "--columns", "key,value",
                      code=USAGE)
        self.hawthorn("export", self.scratch / "no", "--format", "csv", code=NOT_FOUND)
        self.hawthorn("import", self.db, file)
        self.hawthorn("export", self.db, "--format", "csv", "--json", code=USAGE)
        self.hawthorn("export", self.db, self.scratch / "no" / "a.csv", code=NOT_FOUND)
        self.hawthorn("export", self.db, "--format", "csv", "--tree", "none", code=NOT_FOUND)

    def test_limits(self):
        key = "k" * 65_536
        self.hawthorn("import", self.db, "--format", "csv", stdin=f"key,value\n{key},v\n".encode(),
                      code=USAGE)
        self.assertIn(":2:1: a key of 65536 bytes; the limit is 65535", self.stderr)


if __name__ == "__main__":
    command_case.main()
