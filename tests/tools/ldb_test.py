#!/usr/bin/env python3
"""hawthorn ldb: against RocksDB's own ldb where that was built, else against what it prints."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import command_case
from command_case import HANG_SECONDS, CommandCase

ROCKSDB_LDB = None
SHIM = None

# Arguments, standard input, and what RocksDB's ldb prints to both; nothing where it fails.
DIALOGUE = (
    (("put", "a1", "b1", "--create_if_missing"), b"", b"OK\n"),
    (("put", "0x6132", "0x6232FF", "--hex"), b"", b"OK\n"),
    (("batchput", "a3", "b3", "a4", "", "a5", "b = 5"), b"", b"OK\n"),
    (("get", "a1"), b"", b"b1\n"),
    (("get", "0x6132", "--hex"), b"", b"0x6232FF\n"),
    (("get", "0x6132", "--key_hex"), b"", b"b2\xff\n"),
    (("get", "a1", "--value_hex"), b"", b"0x6231\n"),
    (("get", "a9"), b"", b"Key not found\n"),
    (("scan",), b"", b"a1 ==> b1\na2 ==> b2\xff\na3 ==> b3\na4 ==> \na5 ==> b = 5\n"),
    (("scan", "--from=a2", "--to=a4"), b"", b"a2 ==> b2\xff\na3 ==> b3\n"),
    (("scan", "--from=0x6134", "--hex"), b"", b"0x6134 ==> 0x\n0x6135 ==> 0x62203D2035\n"),
    (("scan", "--max_keys=2", "--no_value"), b"", b"a1\na2\n"),
    (("scan", "--max_keys=0", "--no_value"), b"", b"a1\n"),
    (("scan", "--max_keys=-1", "--no_value", "--from=a4"), b"", b"a4\na5\n"),
    (("dump", "--max_keys=1"), b"", b"a1 ==> b1\nKeys in range: 1\n"),
    (("dump", "--max_keys=0"), b"", b"Keys in range: 0\n"),
    (("dump", "--from=0x6133", "--to=0x6135", "--hex"), b"",
     b"0x6133 ==> 0x6233\n0x6134 ==> 0x\nKeys in range: 2\n"),
    (("delete", "a1"), b"", b"OK\n"),
    (("delete", "never there"), b"", b"OK\n"),
    (("deleterange", "a2", "a4"), b"", b"OK\n"),
    (("scan", "--no_value"), b"", b"a4\na5\n"),
    (("load",), b"l1 ==> one\nno entry\nl2 ==> x ==> y\nKeys in range: 2\n",
     b"Warning: 1 bad lines ignored.\n"),
    (("get", "l2"), b"", b"x ==> y\n"),
    (("load", "--hex", "--compact"), b"0x6C33 ==> 0x00\n", b""),
    (("compact",), b"", b""),
    (("compact", "--from=a", "--to=b"), b"", b""),
    (("dump", "--hex", "--from=0x6C"), b"",
     b"0x6C31 ==> 0x6F6E65\n0x6C32 ==> 0x78203D3D3E2079\n"
     b"0x6C33 ==> 0x00\nKeys in range: 3\n"),
    (("create_column_family", "other"), b"", b"OK\n"),
    (("put", "o", "p", "--column_family=other"), b"", b"OK\n"),
    (("scan", "--column_family=other"), b"", b"o ==> p\n"),
    (("scan", "--column_family=default", "--max_keys=1"), b"", b"a4 ==> \n"),
    (("checkconsistency",), b"", b"OK\n"),
    (("create_column_family", "gone"), b"", b"OK\n"),
    (("drop_column_family", "gone"), b"", b"OK\n"),
    (("try_load",), b"", None),
    (("get", "a4", "--column_family=gone"), b"", None),
    (("create_column_family", "other"), b"", None),
    (("drop_column_family", "gone"), b"", None),
    (("get",), b"", None),
    (("put", "only"), b"", None),
    (("batchput", "a", "b", "c"), b"", None),
    (("deleterange", "a"), b"", None),
    (("get", "6132", "--hex"), b"", None),
    (("scan", "--max_keys=few"), b"", None),
    (("scan", "--bogus"), b"", None),
    (("get", "a4", "--no_value"), b"", None),
)


def as_of_its_version(dialogue):
    """Before 8.7 scan prints " : ", and before 9.0 get fails where it finds nothing."""
    said = subprocess.run([ROCKSDB_LDB, "--version"], check=True, capture_output=True,
                          timeout=HANG_SECONDS).stdout
    major, minor = map(int, re.search(rb"(\d+)\.(\d+)\.", said).groups())
    for arguments, stdin, printed in dialogue:
        if (major, minor) < (8, 7) and arguments[0] == "scan" and printed is not None:
            printed = printed.replace(b" ==> ", b" : ")
        if major < 9 and printed == b"Key not found\n":
            printed = None
        yield arguments, stdin, printed


class LdbCase(CommandCase):
    def ldb(self, *arguments, stdin=b"", code=0):
        return self.run_ldb((command_case.PROGRAM, "ldb"), self.db, arguments, stdin, code)

    def run_ldb(self, program, directory, arguments, stdin=b"", code=0):
        done = subprocess.run([*program, f"--db={directory}", *arguments], input=stdin, check=False,
                              capture_output=True, timeout=HANG_SECONDS)
        said = f"{program[0]} {arguments}: {done.stderr.decode()}"
        if code == 0:
            self.assertEqual(done.returncode, 0, said)
        else:
            self.assertNotEqual(done.returncode, 0, said)
        self.stderr = done.stderr.decode()
        return done.stdout


class Dialogue(LdbCase):
    def assert_dialogue(self, program, dialogue):
        for arguments, stdin, printed in dialogue:
            with self.subTest(arguments=arguments):
                if printed is None:
                    self.run_ldb(program, self.db, arguments, stdin, code=1)
                    self.assertTrue(self.stderr)
                else:
                    self.assertEqual(self.run_ldb(program, self.db, arguments, stdin), printed)

    def test_hawthorn(self):
        self.assert_dialogue((command_case.PROGRAM, "ldb"), DIALOGUE)
        self.assertEqual(self.ldb("list_column_families"),
                         b"Column families in %s: \n{default, other}\n" % bytes(self.db))

    def test_rocksdb(self):
        if ROCKSDB_LDB is None:
            self.skipTest("built without RocksDB's own library")
        self.assert_dialogue((ROCKSDB_LDB,), as_of_its_version(DIALOGUE))
        self.assertEqual(self.run_ldb((ROCKSDB_LDB,), self.db, ("list_column_families",)),
                         b"Column families in %s: \n{default, other}\n" % bytes(self.db))


class Commands(LdbCase):
    def fill(self):
        self.ldb("batchput", "a", "1", "b", "2", "--create_if_missing")

    def test_multi_get_and_properties(self):
        self.fill()
        self.assertEqual(self.ldb("multi_get", "b", "x", "a"),
                         b"b ==> 2\nKey not found: x\na ==> 1\n")
        self.assertEqual(self.ldb("get_property", "rocksdb.estimate-num-keys"),
                         b"rocksdb.estimate-num-keys: 2\n")
        self.ldb("get_property", "rocksdb.unheard", code=1)
        self.assertTrue(int(self.ldb("approxsize", "--from=a", "--to=z")) >= 0)
        self.ldb("approxsize", "--from=a", code=1)
        self.assertEqual(self.ldb("dump", "--count_only"), b"Keys in range: 2\n")

    def test_copies(self):
        self.fill()
        copy = self.scratch / "copy"
        self.assertEqual(self.ldb("checkpoint", f"--checkpoint_dir={copy}"), b"OK\n")
        self.ldb("checkpoint", f"--checkpoint_dir={copy}", code=1)
        backups = f"--backup_dir={self.scratch / 'backups'}"
        self.assertEqual(self.ldb("backup", backups),
                         b"open db OK\nopen backup engine OK\ncreate new backup OK\n")
        self.ldb("put", "a", "other")
        program = (command_case.PROGRAM, "ldb")
        restored = self.scratch / "restored"
        self.assertEqual(self.run_ldb(program, restored, ("restore", backups)),
                         b"open restore engine OK\nrestore from backup OK\n")
        for directory in (copy, restored):
            self.assertEqual(self.run_ldb(program, directory, ("scan",)), b"a ==> 1\nb ==> 2\n")
        self.ldb("backup", code=1)
        self.ldb("restore", code=1)
        self.ldb("checkpoint", code=1)

    def test_reading_changes_nothing(self):
        self.fill()
        before = {path.name: path.read_bytes() for path in self.db.iterdir()}
        for arguments in (("scan",), ("dump",), ("get", "a"), ("checkconsistency",),
                          ("list_column_families",)):
            self.ldb(*arguments)
        self.assertEqual({path.name: path.read_bytes() for path in self.db.iterdir()}, before)

    def test_families_of_all_kinds_stay_as_they_are(self):
        subprocess.run([SHIM, "write", self.db, "3"], check=True, timeout=HANG_SECONDS)
        printed = subprocess.run([SHIM, "print", self.db], check=True, capture_output=True,
                                 timeout=HANG_SECONDS).stdout
        reverse = self.ldb("scan", "--column_family=reverse", "--key_hex", "--no_value").split()
        self.assertEqual(reverse, sorted(reverse, reverse=True))
        self.assertEqual(self.ldb("scan", "--column_family=reverse", "--key_hex", "--no_value",
                                  f"--from={reverse[5].decode()}", f"--to={reverse[7].decode()}"),
                         b"\n".join(reverse[5:7]) + b"\n")
        self.ldb("put", "a", "b", "--column_family=empty")
        self.ldb("delete", "a", "--column_family=empty")
        self.ldb("compact", "--column_family=compressed")
        self.assertEqual(subprocess.run([SHIM, "print", self.db], check=True, capture_output=True,
                                        timeout=HANG_SECONDS).stdout, printed)
        # Operands that nobody has folded stay, and are not read without their operator.
        self.ldb("scan", "--column_family=counters", code=1)
        self.assertIn("Failed: ", self.stderr)

    def test_other_commands_take_families_with_merge_operators(self):
        subprocess.run([SHIM, "write", self.db, "4"], check=True, timeout=HANG_SECONDS)
        printed = subprocess.run([SHIM, "print", self.db], check=True, capture_output=True,
                                 timeout=HANG_SECONDS).stdout
        self.assertIn(b" 0 errors", self.hawthorn("check", self.db))
        self.hawthorn("backup", self.db, self.scratch / "backups")
        restored = self.scratch / "restored"
        self.hawthorn("restore", self.scratch / "backups", restored)
        for directory in (self.db, restored):
            done = subprocess.run([SHIM, "print", directory], check=True, capture_output=True,
                                  timeout=HANG_SECONDS)
            self.assertEqual(done.stdout, printed)
        # Its operands are not folded here, and are still there for who can.
        self.assertEqual(self.hawthorn("count", self.db, "--tree", "cf/counters"), b"200\n")
        self.hawthorn("get", self.db, "--tree", "cf/counters", "counter 1",
                      code=command_case.CORRUPTION)

    def test_a_comparator_of_a_program(self):
        subprocess.run([SHIM, "foreign", self.db, "comparator"], check=True, timeout=HANG_SECONDS)
        self.assertEqual(self.ldb("put", "a", "b"), b"OK\n")
        self.assertEqual(self.ldb("get", "a"), b"b\n")
        for arguments in (("get", "key"), ("put", "key", "v"), ("scan",)):
            self.ldb(*arguments, "--column_family=comparator", code=1)
            self.assertIn("its comparator is tests.ByLength", self.stderr)
        self.assertIn(b"entries of comparator\n6B6579 76616C7565\n", subprocess.run(
            [SHIM, "print", self.db], check=True, capture_output=True, timeout=HANG_SECONDS).stdout)


class Refusals(LdbCase):
    def test_commands_and_options(self):
        for command, why in (("manifest_dump", "files of RocksDB's"), ("query", "shell"),
                             ("repair", "hawthorn repair"), ("fly", "Unknown command fly")):
            self.ldb(command, code=1)
            self.assertIn(command, self.stderr)
            self.assertIn(why, self.stderr)
        self.ldb("get", "a", "--ttl", code=1)
        self.assertIn("--ttl", self.stderr)
        self.ldb("scan", "--from", code=1)
        self.assertIn("--from needs a value", self.stderr)
        self.ldb("scan", "--hex=perhaps", code=1)
        self.assertFalse(self.db.exists())

    def test_no_database(self):
        for arguments in (("get", "a"), ("put", "a", "b"), ("scan",), ("list_column_families",)):
            self.ldb(*arguments, code=1)
            self.assertIn(str(self.db), self.stderr)
        self.assertFalse(self.db.exists())
        done = subprocess.run([command_case.PROGRAM, "ldb", "scan"], check=False,
                              capture_output=True, timeout=HANG_SECONDS)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"db must be specified", done.stderr)
        self.hawthorn("put", self.db, "k", "v")
        self.ldb("get", "k", code=1)
        self.assertIn("no column families", self.stderr)

    def test_a_database_of_rocksdb(self):
        if ROCKSDB_LDB is None:
            self.skipTest("built without RocksDB's own library")
        self.run_ldb((ROCKSDB_LDB,), self.db, ("put", "a", "b", "--create_if_missing"))
        for arguments in (("get", "a"), ("put", "a", "c", "--create_if_missing")):
            self.ldb(*arguments, code=1)
            self.assertIn("written by RocksDB", self.stderr)
        self.assertEqual(self.run_ldb((ROCKSDB_LDB,), self.db, ("get", "a")), b"b\n")

    def test_help(self):
        done = subprocess.run([command_case.PROGRAM, "ldb", "--help"], check=True,
                              capture_output=True, timeout=HANG_SECONDS)
        for command in (b"  scan ", b"  drop_column_family ", b"  backup "):
            self.assertIn(command, done.stdout)

    def test_no_such_program(self):
        program = self.scratch / "hawthorn"
        shutil.copy(command_case.PROGRAM, program)
        for command, part in ((b"ldb", b"HAWTHORN_BUILD_SHIMS"),
                              (b"import-rocksdb", b"librocksdb-dev"),
                              (b"export-rocksdb", b"librocksdb-dev")):
            done = subprocess.run([program, command], check=False, capture_output=True,
                                  timeout=HANG_SECONDS, env={"PATH": "/nowhere"})
            self.assertEqual(done.returncode, command_case.ERROR)
            self.assertIn(part, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shim", type=pathlib.Path, required=True)
    parser.add_argument("--rocksdb-ldb", type=pathlib.Path)
    programs, rest = parser.parse_known_args()
    SHIM, ROCKSDB_LDB = programs.shim, programs.rocksdb_ldb
    sys.argv[1:] = rest
    command_case.main()
