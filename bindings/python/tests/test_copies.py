"""Checkpoints, backups, bulk loading, feeds, replicas, followers, figures, checks, repairs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import unittest
from typing import Any

from base import HANG_SECONDS, DatabaseTest

import hawthorn
from hawthorn import ChangeType, Columns, Durability, Repository


class Broken(Exception):
    pass


class Copies(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.tree = self.db.tree("t")
        self.model = {b"%05d" % i: b"v" * 200 for i in range(20_000)}
        batch = self.db.batch()
        for key, value in self.model.items():
            batch.put(self.tree, key, value)
        batch.write()

    def holds_all(self, path: str) -> None:
        with hawthorn.open(path, memory_budget_bytes="16M") as db:
            self.assertEqual(dict(db["t"]), self.model)

    def test_checkpoint(self) -> None:
        told: list[int] = []
        self.db.checkpoint(self.place("copy"), progress=told.append, copy_blocks=True)
        self.holds_all(self.place("copy"))
        self.assertGreater(len(told), 1)
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.checkpoint(self.place("copy"))

        def stop(bytes: int) -> None:
            raise Broken("enough")

        with self.assertRaisesRegex(Broken, "enough"):
            self.db.checkpoint(self.place("second"), progress=stop, copy_blocks=True)

    def test_repository(self) -> None:
        self.db.drain()  # so that the second one finds the files of the first
        with Repository(self.place("backups")) as repository:
            first = self.db.backup(repository)
            self.tree[b"new"] = b"1"
            second = self.db.backup(repository)
            self.assertLess(second["bytes_stored"], first["bytes_stored"])
            self.assertEqual(
                [row["id"] for row in repository.backups()], [first["id"], second["id"]]
            )
            repository.verify(first["id"])
            repository.restore(first["id"], self.place("restored"))
            self.holds_all(self.place("restored"))
            repository.remove(first["id"])
            with self.assertRaises(hawthorn.NotFoundError):
                repository.verify(first["id"])
            repository.restore(second["id"], self.place("again"))
            self.model[b"new"] = b"1"
            self.holds_all(self.place("again"))
        with self.assertRaises(hawthorn.ClosedError):
            repository.backups()

    def test_stream(self) -> None:
        file = io.BytesIO()
        info = self.db.backup_to(file)
        pieces: list[bytes] = []
        self.db.backup_to(pieces.append)
        self.assertGreater(len(pieces), 1)
        self.assertGreater(info["bytes"], 4_000_000)
        self.assertEqual(file.getvalue()[:16], pieces[0][:16])
        file.seek(0)
        self.assertEqual(hawthorn.verify_backup(file)["bytes"], info["bytes"])
        file.seek(0)
        hawthorn.restore_backup(file, self.place("a"))
        self.holds_all(self.place("a"))
        hawthorn.restore_backup(pieces, self.place("b"))
        self.holds_all(self.place("b"))
        damaged = bytearray(file.getvalue())
        damaged[len(damaged) // 2] ^= 1
        with self.assertRaises(hawthorn.CorruptionError):
            hawthorn.verify_backup(io.BytesIO(damaged))

        def broken(piece: bytes) -> None:
            raise Broken("full")

        with self.assertRaisesRegex(Broken, "full"):
            self.db.backup_to(broken)

    def test_ingest(self) -> None:
        tree = self.db.tree("bulk")
        with tree.ingest() as load:
            for i in range(1000):
                load.add(b"%05d" % i, b"x")
            load.add_stream(b"9", 6, [b"abc", b"def"])
        self.assertEqual(load.stats["entries"], 1001)
        self.assertEqual(len(tree), 1001)
        self.assertEqual(tree[b"9"], b"abcdef")
        copy = self.db.tree("copy")
        with copy.ingest(unsorted=True, durability=Durability.NONE) as load:
            for columns in self.tree.range().columns(Columns(rows=777)):
                load.add_columns(columns)
        self.assertEqual(dict(copy), self.model)
        load = self.db.tree("sorted").ingest()
        load.add(b"b", b"1")
        with self.assertRaises(hawthorn.InvalidArgumentError):
            load.add(b"a", b"1")
        with self.assertRaises(hawthorn.InvalidArgumentError):
            load.finish()
        load.close()
        with self.assertRaises(Broken), self.db.tree("none").ingest() as load:
            load.add(b"a", b"1")
            raise Broken
        self.assertEqual(len(self.db["none"]), 0)

    def test_check_and_repair(self) -> None:
        self.db.drain()  # all of it is in "t" itself
        told: list[Any] = []
        report = self.db.check(threads=2, progress=lambda *numbers: told.append(numbers))
        self.assertTrue(report["ok"])
        self.assertEqual(report["items"], [])
        self.assertGreater(len(told), 0)

        def broken(done: int, containers: int) -> None:
            raise Broken("progress")

        with self.assertRaisesRegex(Broken, "progress"):
            self.db.check(progress=broken)
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.check(threads=1000)
        with self.assertRaises(hawthorn.BusyError):
            hawthorn.repair(self.path, self.place("repaired"))
        self.db.close()
        # Damage of a data file is found, named, and repaired around.
        data = max(
            (os.path.join(self.path, name) for name in os.listdir(self.path) if "data" in name),
            key=os.path.getsize,
        )
        with open(data, "rb") as file:
            content = file.read()
        place = -1
        while True:
            place = content.find(b"v" * 200, place + 1)
            self.assertGreater(place, 0)
            with open(data, "r+b") as file:
                file.seek(place)
                file.write(b"damage")
            self.db = hawthorn.open(self.path)
            report = self.db.check()
            if not report["ok"]:
                break
            # What was merged since lies there still, and nobody needs it.
            self.db.close()
            place += 64 << 10
        self.assertIn("t", {item["tree_name"] for item in report["items"]})
        with self.assertRaises(hawthorn.CorruptionError):
            list(self.db["t"].range())
        self.db.close()
        repaired = hawthorn.repair(self.path, self.place("repaired"))
        self.assertGreater(len(repaired["losses"]), 0)
        with hawthorn.open(self.place("repaired")) as db:
            self.assertGreater(len(db["t"]), 0)
            self.assertLess(len(db["t"]), len(self.model))

    def test_figures(self) -> None:
        stats = self.db.stats()
        self.assertGreaterEqual(stats["commits"], 1)
        self.assertEqual([row["name"] for row in stats["trees"]], ["t"])
        self.assertEqual(self.db.stat("commits"), self.db.stats()["commits"])
        with self.assertRaises(hawthorn.NotFoundError):
            self.db.stat("no such figure")
        self.assertEqual(len(self.db.id), 32)
        self.db.sync()
        self.db.flush()
        self.db.compact()
        self.db.drain()
        self.db.warm_up()
        self.db.set_memory_budget(64 << 20)
        self.assertEqual(self.db.stats()["memory_budget_bytes"], 64 << 20)
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.set_memory_budget(1)
        self.db.set_background_io_limit(1 << 30)
        counters = hawthorn.read_counters(self.path)
        self.assertEqual(counters["pid"], os.getpid())
        self.assertTrue(counters["alive"])
        self.assertGreater(len(counters["entries"]), 10)
        with self.assertRaises(hawthorn.NotFoundError):
            hawthorn.read_counters(self.place("none"))

    def test_destroy(self) -> None:
        with self.assertRaises(hawthorn.BusyError):
            hawthorn.destroy(self.path)
        self.db.close()
        hawthorn.destroy(self.path)
        with self.assertRaises(hawthorn.NotFoundError):
            hawthorn.destroy(self.path)


class Feeds(DatabaseTest):
    def test_changes(self) -> None:
        self.db.create_feed("f")
        tree = self.db.tree("t")
        tree[b"a"] = b"1"
        with self.db.batch() as batch:
            batch.delete(tree, b"a")
            batch.delete_range(tree, b"x")
            batch.put(tree, b"b", b"2")
        self.db.rename_tree("t", "u")
        with self.db.feed("f") as feed:
            self.assertEqual(feed.source_id, self.db.id)
            seen = []
            for commit in feed.commits():
                seen += list(feed.changes())
                last = commit
            kinds = [change.type for change in seen]
            self.assertEqual(kinds[:2], [ChangeType.CREATE_TREE, ChangeType.PUT])
            self.assertEqual(kinds[-1], ChangeType.RENAME_TREE)
            self.assertEqual((seen[-1].tree, seen[-1].other_name), ("t", "u"))
            put = seen[1]
            self.assertEqual((put.tree, put.key, put.value), ("t", b"a", b"1"))
            self.assertIn(ChangeType.DELETE, kinds)
            feed.acknowledge(last.timestamp)
            self.assertEqual(feed.position, last.timestamp)
            self.assertIsNone(feed.next(timeout_ms=1))
            with self.assertRaises(hawthorn.BusyError):
                self.db.feed("f")
            big = bytes(range(256)) * 400_000
            with self.db.transaction() as txn:
                txn["u"].put_stream(b"big", len(big), io.BytesIO(big))
            commit_ = feed.next(HANG_SECONDS * 1000)
            assert commit_ is not None
            change = next(feed.changes())
            self.assertEqual(change.value_bytes, len(big))
            self.assertEqual((change.streamed, change.value), (True, b""))
            buffer = bytearray(1000)
            self.assertEqual(feed.read_value(256, buffer), 1000)
            self.assertEqual(buffer, big[256:1256])
            self.assertEqual(feed.change_tree()["name"], "u")
        self.assertEqual(self.db.feeds()[0]["position"], last.timestamp)
        with self.db.feed_at(last.timestamp) as feed:
            self.assertIsNotNone(feed.next())
        self.db.drop_feed("f")
        with self.assertRaises(hawthorn.NotFoundError):
            self.db.feed("f")

    def test_replica(self) -> None:
        tree = self.db.tree("t")
        tree[b"a"] = b"1"
        self.db.create_feed("f")
        with hawthorn.open(self.place("target"), memory_budget_bytes="16M") as target:
            with target.replica() as replica, self.db.feed("f") as feed:
                self.assertEqual((replica.position, replica.source_id), (0, ""))
                replica.copy(self.db)
                self.assertEqual(replica.source_id, self.db.id)
                tree[b"b"] = b"2"
                for commit in feed.commits():
                    replica.apply(feed, Durability.NONE)
                    self.assertEqual(replica.position, commit.timestamp)
                tree[b"c"] = b"3"
                for commit in feed.commits():
                    pieces = list(feed.encode())
                    with self.assertRaises(EOFError):
                        replica.apply_pieces([])
                    replica.apply_pieces(pieces)
                    feed.acknowledge(commit.timestamp)
                with self.assertRaises(Broken):
                    replica.apply_pieces(broken_pieces())
            self.assertEqual(dict(target["t"]), {b"a": b"1", b"b": b"2", b"c": b"3"})

    def test_follower(self) -> None:
        tree = self.db.tree("t")
        tree[b"a"] = b"1"
        program = (
            "import sys, hawthorn\n"
            "with hawthorn.Follower(sys.argv[1], memory_budget_bytes='16M') as follower:\n"
            "    old = follower.view()\n"
            "    print(len(old['t']), flush=True)\n"
            "    sys.stdin.readline()\n"
            "    moment = old.snapshot()\n"
            "    new = follower.latest()\n"
            "    print(len(moment['t']), len(new['t']), flush=True)\n"
            "    follower.rebuild()\n"
            "    try: new['t'][b'x'] = b''\n"
            "    except hawthorn.ReadOnlyError: print('read-only')\n"
            "    old.close(); old.close()\n"
            "    try: old['t']\n"
            "    except hawthorn.ClosedError: print('closed')\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program, self.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), "1\n")
        tree[b"b"] = b"2"
        out, _ = process.communicate("\n", timeout=HANG_SECONDS)
        self.assertEqual(out.splitlines(), ["1 2", "read-only", "closed"])
        self.assertEqual(process.returncode, 0)


def broken_pieces():  # type: ignore[no-untyped-def]
    raise Broken
    yield b""


if __name__ == "__main__":
    unittest.main()
