#!/usr/bin/env python3
"""import-sqlite and export-sqlite: files that Python's own SQLite has written, and back to such."""

import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import unittest

import command_case
from command_case import BUSY, CORRUPTION, ERROR, HANG_SECONDS, NOT_FOUND, USAGE, CommandCase

SCHEMA = """
PRAGMA user_version = 12; PRAGMA application_id = 34;
CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT COLLATE NOCASE, b,
  g AS (a || 'x'), h AS (id + 1) STORED UNIQUE);
CREATE INDEX t_a ON t(a DESC, b);
CREATE INDEX t_part ON t(length(b)) WHERE b IS NOT NULL;
CREATE TABLE w(k TEXT COLLATE RTRIM, v, PRIMARY KEY(k DESC, v)) WITHOUT ROWID;
CREATE TABLE "odd ""name' 100% \u00e4?"("a b" UNIQUE, [select]);
CREATE TABLE strict(i INTEGER PRIMARY KEY, r REAL, x ANY) STRICT;
CREATE VIEW v AS SELECT * FROM t;
CREATE TRIGGER tr AFTER DELETE ON t BEGIN DELETE FROM w; END;
CREATE VIRTUAL TABLE f USING fts5(x);
CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
"""


def write(path, rows=500, encoding="UTF-8", mode="DELETE", seed=1):
    """A database with something of everything; the connection, which is open."""
    source = random.Random(seed)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA encoding = '{encoding}'")
    db.execute(f"PRAGMA journal_mode = {mode}")
    db.executescript(SCHEMA)
    values = [None, 0, -1, 1 << 62, 1.5, -0.0, 1e300, "", "text", "\u20ac\U0001f600", b"", b"\0\1"]
    db.executemany("INSERT INTO t(a, b) VALUES(?, ?)", (
        (f"Name{source.randrange(50)}", source.choice(values) if source.random() < 0.7
         else source.randbytes(source.randrange(3000))) for _ in range(rows)))
    db.execute("INSERT INTO w SELECT a || id, b FROM t WHERE b IS NOT NULL")
    db.executemany("INSERT INTO \"odd \"\"name' 100% \u00e4?\" VALUES(?, ?)",
                   [("k", bytes(200_000)), (2.0, "x" * 100_000), (None, None)])
    db.executemany("INSERT INTO strict VALUES(?, ?, ?)",
                   [(-(1 << 63), 1, 1), (0, 0.0, "1"), ((1 << 63) - 1, 3, b"1")])
    db.execute("INSERT INTO f SELECT a || ' word' FROM t")
    db.execute("INSERT INTO r SELECT id, id, id + 1.5 FROM t WHERE id % 7 = 0")
    db.execute("ANALYZE")
    db.execute("DELETE FROM t WHERE id % 10 = 3")
    db.commit()
    return db


def dump(path):
    """All that SQLite says is in a file, values with their types."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    said = [db.execute(f"PRAGMA {name}").fetchall() for name in (
        "integrity_check", "user_version", "application_id", "encoding")]
    said.append(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")
                .fetchall())
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
                              " ORDER BY name").fetchall():
        quoted = '"' + name.replace('"', '""') + '"'
        said.append([name, [repr(row) for row in db.execute(f"SELECT * FROM {quoted}")]])
    db.close()
    return said


class MoveCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.source = self.scratch / "source.db"
        self.target = self.scratch / "target.db"
        self.partial = self.scratch / "target.db.partial"
        self.back = self.scratch / "back.db"

    def assert_nothing_made(self):
        self.assertEqual([name for name in os.listdir(self.scratch) if "target" in name], [])

    def there_and_back(self, *options):
        said = self.hawthorn("import-sqlite", self.source, self.target, *options)
        self.assertTrue(self.target.read_bytes().startswith(b"Hawthorn database for SQLite\n"))
        self.hawthorn("export-sqlite", self.target, self.back, *options)
        self.assertEqual(dump(self.back), dump(self.source))
        return said


class ThereAndBack(MoveCase):
    def test_everything(self):
        for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
            for mode in ("DELETE", "WAL"):
                with self.subTest(encoding=encoding, mode=mode):
                    for path in self.scratch.iterdir():
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                    write(self.source, encoding=encoding, mode=mode).close()
                    before = self.source.read_bytes()
                    said = self.there_and_back()
                    self.assertEqual(self.source.read_bytes(), before)
                    self.assertIn(b"each row and each index entry was compared, and both databases "
                                  b"were checked", said)
                    self.assertIn(b" 0 errors", self.hawthorn("check", next(
                        path for path in self.scratch.glob("target.db-*"))))

    def test_the_figures(self):
        write(self.source).close()
        answer = json.loads(self.hawthorn("import-sqlite", self.source, self.target, "--json",
                                          "--progress"))
        db = sqlite3.connect(self.source)
        tables = [name for (name,) in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")]
        indexes = db.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'index'").fetchone()
        rows = sum(db.execute('SELECT count(*) FROM "' + name.replace('"', '""') + '"')
                   .fetchone()[0] for name in tables)
        db.close()
        self.assertEqual((answer["tables"], answer["indexes"], answer["rows"]),
                         (len(tables), indexes[0], rows))
        self.assertGreater(answer["index_entries"], rows / 10)
        self.assertGreater(answer["bytes"], 300_000)
        self.assertTrue(answer["checked"])

    def test_names_of_files(self):
        self.source = self.scratch / "a b%41?#\u00e4.db"
        self.target = self.scratch / "file:x'y.db"
        self.back = self.scratch / "back&\"z.db"
        db = sqlite3.connect(str(self.source))
        db.execute("CREATE TABLE t(a)")
        db.execute("INSERT INTO t VALUES(1)")
        db.commit()
        db.close()
        self.hawthorn("import-sqlite", self.source, self.target.name, cwd=self.scratch)
        self.hawthorn("export-sqlite", "./" + self.target.name, self.back.name, cwd=self.scratch)
        db = sqlite3.connect(str(self.back))
        self.assertEqual(db.execute("SELECT a FROM t").fetchall(), [(1,)])
        db.close()

    def test_what_is_in_the_log_alone(self):
        db = write(self.source, mode="WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("INSERT INTO t(a) VALUES('in the log')")
        db.commit()
        self.assertTrue(os.path.getsize(str(self.source) + "-wal") > 0)
        # Beside a program that has it open, and has written what nobody sees yet.
        db.execute("DELETE FROM t")
        self.hawthorn("import-sqlite", self.source, self.target)
        db.rollback()
        self.hawthorn("export-sqlite", self.target, self.back)
        self.assertEqual(dump(self.back), dump(self.source))
        db.close()

    def test_index_entries_that_are_longer_than_a_key(self):
        db = write(self.source, rows=5)
        db.execute("CREATE TABLE long(a UNIQUE)")
        db.executemany("INSERT INTO long VALUES(?)",
                       [(bytes(size),) for size in (65_000, 70_000, 100_000)])
        db.execute("INSERT INTO long VALUES(?)", ("x" * 100_000,))
        db.commit()
        db.close()
        self.there_and_back()

    def test_a_budget_that_is_smaller_than_the_data(self):
        db = write(self.source, rows=200)
        db.execute("CREATE TABLE large(a, b)")
        db.execute("CREATE INDEX large_a ON large(a)")
        source = random.Random(3)
        db.executemany("INSERT INTO large VALUES(?, ?)",
                       ((source.randbytes(30), source.randbytes(1000)) for _ in range(60_000)))
        db.execute("INSERT INTO large VALUES('huge', zeroblob(70000000))")
        db.commit()
        db.close()
        self.there_and_back("--memory", "16MB")

    def test_a_programs_own_functions(self):
        db = write(self.source, rows=20)
        db.create_function("mine", 1, lambda value: str(value)[::-1], deterministic=True)
        db.execute("CREATE TABLE special(a, b AS (mine(a)))")
        db.execute("CREATE INDEX special_a ON special(mine(a))")
        db.execute("INSERT INTO special VALUES('abc'), ('xyz')")
        db.commit()
        db.close()
        said = self.hawthorn("import-sqlite", self.source, self.target)
        self.assertIn("unknown function: mine()", self.stderr)
        self.assertNotIn(b"were checked", said)
        self.hawthorn("export-sqlite", self.target, self.back)
        db = sqlite3.connect(self.back)
        db.create_function("mine", 1, lambda value: str(value)[::-1], deterministic=True)
        self.assertEqual(db.execute("SELECT a FROM special WHERE mine(a) = 'cba'").fetchall(),
                         [("abc",)])
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        db.close()


class Refused(MoveCase):
    def test_what_is_no_source(self):
        for command in ("import-sqlite", "export-sqlite"):
            self.hawthorn(command, self.scratch / "none", self.target, code=NOT_FOUND)
            text = self.file("text", b"some other file that is long enough to be one")
            self.hawthorn(command, text, self.target, code=NOT_FOUND)
            self.assertIn("no database of", self.stderr)
            self.hawthorn(command, self.file("empty", b""), self.target, code=NOT_FOUND)
            self.hawthorn(command, self.scratch, self.target, code=NOT_FOUND)
        write(self.source, rows=5).close()
        self.hawthorn("export-sqlite", self.source, self.target, code=NOT_FOUND)
        self.hawthorn("import-sqlite", self.source, self.back)
        self.hawthorn("import-sqlite", self.back, self.target, code=NOT_FOUND)
        self.assert_nothing_made()

    def test_a_target_that_is_there(self):
        write(self.source, rows=5).close()
        self.target.write_bytes(b"")
        self.hawthorn("import-sqlite", self.source, self.target, code=USAGE)
        self.assertIn("is there already", self.stderr)
        self.assertEqual(self.target.read_bytes(), b"")
        self.target.unlink()
        self.partial.mkdir()
        self.hawthorn("import-sqlite", self.source, self.target, code=USAGE)
        self.assertIn("was interrupted", self.stderr)
        self.partial.rmdir()
        self.hawthorn("import-sqlite", self.source, self.scratch / "no" / "target", code=NOT_FOUND)
        self.hawthorn("import-sqlite", self.source, code=USAGE)
        self.assert_nothing_made()

    def test_a_source_that_somebody_writes(self):
        db = write(self.source, rows=5)
        db.execute("BEGIN EXCLUSIVE")
        self.hawthorn("import-sqlite", self.source, self.target, code=BUSY)
        self.assert_nothing_made()
        db.close()

    def test_a_damaged_source(self):
        write(self.source, rows=2000).close()
        damaged = bytearray(self.source.read_bytes())
        for page in range(4, len(damaged) // 4096, 3):
            damaged[page * 4096:page * 4096 + 200] = bytes(range(200))
        self.source.write_bytes(damaged)
        self.hawthorn("import-sqlite", self.source, self.target, code=CORRUPTION)
        self.assert_nothing_made()

    def test_an_index_that_does_not_fit_its_table(self):
        db = write(self.source, rows=50)
        db.execute("CREATE INDEX wrong ON t(b)")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET sql = 'CREATE INDEX wrong ON t(a)' "
                   "WHERE name = 'wrong'")
        db.commit()
        db.close()
        self.hawthorn("import-sqlite", self.source, self.target, code=CORRUPTION)
        self.assertIn("wrong", self.stderr)
        self.assert_nothing_made()

    def test_errors_as_json(self):
        said = self.hawthorn("import-sqlite", self.scratch / "none", self.target, "--json",
                             code=NOT_FOUND)
        self.assertEqual(json.loads(said)["error"]["code"], "NotFound")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_directory_that_cannot_be_written(self):
        write(self.source, rows=5).close()
        closed = self.scratch / "closed"
        closed.mkdir(mode=0o500)
        self.hawthorn("import-sqlite", self.source, closed / "target.db", code=ERROR)


class Kill(MoveCase):
    """Whenever a run dies, its target is not there, or whole."""

    def kill_runs(self, command, source, read_back):
        chance = random.Random(7)
        arguments = [command_case.PROGRAM, command, source, self.target]
        interrupted = 0
        for run in range(8):
            with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as work:
                while not self.partial.exists() and work.poll() is None:
                    pass
                for _ in range(chance.randrange(40000) if run else 0):
                    self.partial.exists()
                work.kill()
            if self.target.exists():
                read_back()
                self.target.unlink()
            else:
                interrupted += self.partial.exists()
            shutil.rmtree(self.partial, ignore_errors=True)
        self.assertGreater(interrupted, 0)
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, timeout=HANG_SECONDS)
        read_back()

    def test_import(self):
        write(self.source, rows=3000).close()
        expected = dump(self.source)

        def read_back():
            self.back.unlink(missing_ok=True)
            self.hawthorn("export-sqlite", self.target, self.back)
            self.assertEqual(dump(self.back), expected)
        self.kill_runs("import-sqlite", self.source, read_back)

    def test_export(self):
        write(self.source, rows=3000).close()
        ours = self.scratch / "ours.db"
        self.hawthorn("import-sqlite", self.source, ours)
        expected = dump(self.source)
        self.kill_runs("export-sqlite", ours,
                       lambda: self.assertEqual(dump(self.target), expected))


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    command_case.main()
