"""The command with encrypted databases: where keys come from, and changing them."""

import os

import command_case
from command_case import CORRUPTION, NOT_FOUND, USAGE, CommandCase

KEY = b"0123456789abcdef" * 4
OTHER = b"fedcba9876543210" * 4


class Encryption(CommandCase):
    def setUp(self):
        super().setUp()
        self.key = self.file("key", KEY + b"\n")
        self.other = self.file("other", OTHER)

    def make(self):
        self.hawthorn("put", self.db, "--key-file", self.key, "--key-id", "2025", "a key",
                      "TEXT-of-a-value")

    def test_keys_come_from_files_variables_and_descriptors(self):
        self.make()
        for path in self.db.iterdir():
            self.assertNotIn(b"TEXT-of", path.read_bytes(), path)
        self.assertEqual(self.hawthorn("get", self.db, "--key-file", self.key, "a key"),
                         b"TEXT-of-a-value")
        environment = dict(os.environ, THE_KEY=KEY.decode())
        self.assertEqual(
            self.hawthorn("get", self.db, "--key-env", "THE_KEY", "a key", env=environment),
            b"TEXT-of-a-value")
        reader, writer = os.pipe()
        os.write(writer, bytes.fromhex(KEY.decode()))
        os.close(writer)
        self.addCleanup(os.close, reader)
        self.assertEqual(
            self.hawthorn("get", self.db, "--key-fd", str(reader), "a key", pass_fds=[reader]),
            b"TEXT-of-a-value")
        self.hawthorn("check", self.db, "--key-file", self.key)

    def test_what_is_no_key(self):
        self.make()
        self.hawthorn("get", self.db, "a key", code=USAGE)
        self.assertIn("is encrypted", self.stderr)
        self.hawthorn("get", self.db, "--key-file", self.other, "a key", code=USAGE)
        self.assertIn('wrong key: what was given as key "2025"', self.stderr)
        self.assertNotIn(OTHER.decode(), self.stderr)
        self.hawthorn("get", self.db, "--key-file", self.scratch / "none", "a key", code=NOT_FOUND)
        self.hawthorn("get", self.db, "--key-env", "NO_SUCH_VARIABLE", "a key", code=NOT_FOUND)
        short = self.file("short", b"SECRET-text")
        self.hawthorn("get", self.db, "--key-file", short, "a key", code=USAGE)
        self.assertNotIn("SECRET", self.stderr)
        self.hawthorn("get", self.db, "--key-file", self.key, "--key-env", "X", "a key", code=USAGE)
        self.hawthorn("put", self.scratch / "plain", "k", "v")
        self.hawthorn("get", self.scratch / "plain", "--key-file", self.key, "k", code=USAGE)
        self.assertIn("is not encrypted", self.stderr)

    def test_another_key_takes_over(self):
        self.make()
        self.hawthorn("rotate-key", self.db, "--key-file", self.key, "--new-key-id", "2026",
                      code=USAGE)
        said = self.hawthorn("rotate-key", self.db, "--key-file", self.key, "--new-key-file",
                             self.other, "--new-key-id", "2026", "--json")
        self.assertEqual(said, b'{"key_id":"2026","data_keys":1,"data_key":1}\n')
        self.hawthorn("get", self.db, "--key-file", self.key, "a key", code=USAGE)
        said = self.hawthorn("rotate-data-key", self.db, "--key-file", self.other)
        self.assertEqual(said, b'key "2026", data key 2 of 2\n')
        self.hawthorn("put", self.db, "--key-file", self.other, "b", "more")
        self.assertEqual(self.hawthorn("count", self.db, "--key-file", self.other), b"2\n")
        self.hawthorn("rotate-key", self.db, "--key-file", self.other, "--new-key-file", self.key,
                      "--new-key-id", "2026", code=USAGE)

    def test_copies_open_with_the_key_and_prove_themselves_to_it(self):
        self.make()
        by_key = ["--key-file", self.key]
        copy, repo, restored = (self.scratch / name for name in ("copy", "repo", "restored"))
        self.hawthorn("checkpoint", self.db, copy, *by_key)
        self.hawthorn("checkpoint", self.db, self.scratch / "none", code=USAGE)
        self.assertIn(b"encrypted", self.hawthorn("backup", self.db, repo, *by_key))
        stream = self.hawthorn("backup", self.db, "-", *by_key)
        for path in [*copy.iterdir(), *repo.iterdir()]:
            self.assertNotIn(b"TEXT-of", path.read_bytes(), path)
        self.assertNotIn(b"TEXT-of", stream)
        for key in ([], by_key):
            self.hawthorn("verify", repo, *key)
            self.hawthorn("verify", "-", *key, stdin=stream)
            self.hawthorn("restore", repo, restored.with_name("restored%d" % len(key)), *key)
        self.hawthorn("restore", "-", restored, *by_key, stdin=stream)
        for path in (copy, restored, restored.with_name("restored0")):
            self.assertEqual(self.hawthorn("get", path, *by_key, "a key"), b"TEXT-of-a-value")
            self.hawthorn("get", path, "a key", code=USAGE)
        self.hawthorn("verify", repo, "--key-file", self.other, code=USAGE)
        self.assertIn("wrong key", self.stderr)
        self.hawthorn("restore", repo, self.scratch / "not", "--key-file", self.other, code=USAGE)
        self.assertFalse((self.scratch / "not").exists())
        plain = self.scratch / "plain"
        self.hawthorn("put", plain, "k", "v")
        self.hawthorn("backup", plain, repo)
        self.hawthorn("verify", repo, *by_key)
        self.hawthorn("verify", repo, "--id", "2", *by_key, code=USAGE)
        self.assertIn("not encrypted", self.stderr)
        self.assertIn(b'"encrypted":false', self.hawthorn("backups", repo, "--json"))

    def test_repair(self):
        self.make()
        (self.db / "superblock").unlink()
        target = self.scratch / "fixed"
        self.hawthorn("repair", self.db, target, code=USAGE)
        self.assertIn("is encrypted", self.stderr)
        self.hawthorn("repair", self.db, target, "--key-file", self.other, code=USAGE)
        self.assertIn("wrong key", self.stderr)
        self.assertFalse(target.exists())
        self.hawthorn("repair", self.db, target, "--key-file", self.key, code=CORRUPTION)
        self.assertEqual(self.hawthorn("count", target, "--key-file", self.key), b"1\n")
        self.hawthorn("get", target, "a key", code=USAGE)
        (self.db / "keys").unlink()
        again = self.scratch / "again"
        self.hawthorn("repair", self.db, again, "--key-file", self.key, code=CORRUPTION)
        self.assertIn("file of its keys is missing", self.stderr)
        self.assertFalse(again.exists())


if __name__ == "__main__":
    command_case.main()
