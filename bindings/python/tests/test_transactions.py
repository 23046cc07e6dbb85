"""Transactions: modes, isolation, conflicts, savepoints, two phases; kills of a process."""

from __future__ import annotations

import os
import signal
import threading
import time
import unittest

from base import HANG_SECONDS, DatabaseTest

import hawthorn
from hawthorn import Durability, Isolation, Mode, RowLock


class Transactions(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.tree = self.db.tree("t")

    def test_commit_and_abort(self) -> None:
        with self.db.transaction() as txn:
            tree = txn[self.tree]
            tree[b"a"] = b"1"
            self.assertEqual(dict(tree), {b"a": b"1"})
            self.assertEqual(len(tree), 1)
            self.assertNotIn(b"a", self.tree)
            self.assertTrue(txn.is_open)
        self.assertFalse(txn.is_open)
        self.assertEqual(self.tree[b"a"], b"1")
        with self.assertRaises(ZeroDivisionError), self.db.transaction() as txn:
            txn[self.tree][b"a"] = b"2"
            raise ZeroDivisionError
        self.assertEqual(self.tree[b"a"], b"1")
        txn = self.db.transaction(durability=Durability.NONE)
        del txn[self.tree][b"a"]
        txn.abort()
        txn.abort()
        with self.assertRaises(hawthorn.InvalidArgumentError):
            txn.commit()
        with self.db.transaction() as txn:
            txn[self.tree][b"b"] = b"1"
            txn.commit(Durability.FULL)  # the end of the block finds it ended
        self.assertIn(b"b", self.tree)
        txn = self.db.transaction()
        txn[self.tree][b"gone"] = b"1"
        del txn  # aborted
        self.assertNotIn(b"gone", self.tree)

    def test_conflicts(self) -> None:
        first, second = self.db.transaction(), self.db.transaction()
        first[self.tree][b"k"] = b"1"
        second[self.tree][b"k"] = b"2"
        first.commit()
        with self.assertRaises(hawthorn.ConflictError) as caught:
            second.commit()
        self.assertEqual(caught.exception.code, 8)
        self.assertEqual(caught.exception.name, "Conflict")
        self.assertTrue(caught.exception.retryable)
        self.assertTrue(str(caught.exception).startswith("Conflict: "))
        self.assertEqual(self.tree[b"k"], b"1")
        # The end of a block raises it, too.
        with self.assertRaises(hawthorn.ConflictError), self.db.transaction() as txn:
            self.assertEqual(txn[self.tree].get_for_update(b"k"), b"1")
            self.tree[b"k"] = b"3"
            txn[self.tree][b"k"] = b"4"

    def test_isolation(self) -> None:
        self.tree[b"k"] = b"1"
        snapshot = self.db.transaction()
        committed = self.db.transaction(isolation=Isolation.READ_COMMITTED)
        serial = self.db.transaction(isolation=Isolation.SERIALIZABLE)
        for txn in (snapshot, committed, serial):
            self.assertEqual(txn[self.tree][b"k"], b"1")
        self.tree[b"k"] = b"2"
        self.assertEqual(snapshot[self.tree][b"k"], b"1")
        self.assertEqual(committed[self.tree][b"k"], b"2")
        serial[self.tree][b"other"] = b""
        with self.assertRaises(hawthorn.ConflictError):
            serial.commit()
        snapshot[self.tree][b"third"] = b""
        snapshot.commit()
        moment = self.db.snapshot()
        self.tree[b"k"] = b"3"
        with self.db.transaction(read_only=True, snapshot=moment) as txn:
            self.assertEqual(txn[self.tree][b"k"], b"2")
            with self.assertRaises(hawthorn.Error):
                txn[self.tree][b"k"] = b"4"

    def test_locks(self) -> None:
        holder = self.db.transaction(Mode.PESSIMISTIC)
        holder.lock(self.tree, b"k", RowLock.EXCLUSIVE)
        other = self.db.transaction(Mode.PESSIMISTIC, lock_timeout_ms=0)
        with self.assertRaises(hawthorn.TimedOutError):
            other[self.tree][b"k"] = b"1"
        with self.assertRaises(hawthorn.TimedOutError):
            other.lock(self.tree, b"k", RowLock.SHARED, timeout_ms=1)
        other[self.tree][b"else"] = b"1"
        other.commit()
        holder.abort()
        a, b = (self.db.transaction(Mode.PESSIMISTIC, lock_timeout_ms=HANG_SECONDS * 1000) for _ in range(2))
        a.lock(self.tree, b"1")
        b.lock(self.tree, b"2")
        results: list[str] = []

        def cross(txn: hawthorn.Transaction, key: bytes) -> None:
            try:
                txn.lock(self.tree, key)
                results.append("locked")
            except hawthorn.DeadlockError:
                results.append("deadlock")
            txn.abort()

        threads = [threading.Thread(target=cross, args=p) for p in ((a, b"2"), (b, b"1"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(results), ["deadlock", "locked"])

    def test_exclusive(self) -> None:
        with self.db.transaction(Mode.EXCLUSIVE) as txn:
            txn[self.tree][b"k"] = b"1"
            with self.assertRaises(hawthorn.InvalidArgumentError):
                self.db.transaction(Mode.EXCLUSIVE)  # it would wait for itself
            begun: list[float] = []

            def begin() -> None:
                with self.db.transaction(Mode.EXCLUSIVE) as second:
                    begun.append(time.monotonic())
                    self.assertEqual(second[self.tree][b"k"], b"1")

            thread = threading.Thread(target=begin)
            thread.start()
            time.sleep(0.05)  # this thread goes on while the other one waits in the library
            self.assertEqual(begun, [])
            ended = time.monotonic()
        thread.join()
        self.assertGreater(begun[0], ended)
        holder = self.db.transaction(Mode.PESSIMISTIC)
        holder.lock(self.tree, b"k")
        with self.assertRaises(hawthorn.TimedOutError):
            self.db.transaction(Mode.EXCLUSIVE, lock_timeout_ms=20)

    def test_run(self) -> None:
        """Threads that add to one counter: each addition counts once."""
        self.tree[b"n"] = b"0"
        tries = [0]

        def add(txn: hawthorn.Transaction) -> int:
            tries[0] += 1
            tree = txn[self.tree]
            number = int(tree.get_for_update(b"n") or b"") + 1
            tree[b"n"] = b"%d" % number
            return number

        def many() -> None:
            for _ in range(50):
                self.db.run(add, durability=Durability.NONE)

        threads = [threading.Thread(target=many) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.tree[b"n"], b"200")
        self.assertGreaterEqual(tries[0], 200)

        def always(txn: hawthorn.Transaction) -> None:
            txn[self.tree][b"n"] = b"1"
            self.tree[b"n"] = b"2"

        with self.assertRaises(hawthorn.ConflictError):
            self.db.run(always, attempts=3)
        with self.assertRaises(KeyError):
            self.db.run(lambda txn: txn[self.tree][b"absent"])
        with self.assertRaises(ValueError):
            self.db.run(add, attempts=0)

    def test_savepoints_and_nested(self) -> None:
        with self.db.transaction() as txn:
            tree = txn[self.tree]
            tree[b"a"] = b"1"
            point = txn.savepoint()
            tree[b"b"] = b"1"
            later = txn.savepoint()
            txn.rollback_to(point)
            self.assertNotIn(b"b", tree)
            with self.assertRaises(hawthorn.InvalidArgumentError):
                txn.rollback_to(later)
            txn.release(point)
            with self.assertRaises(RuntimeError), txn.nested() as inner:
                inner[self.tree][b"c"] = b"1"
                with self.assertRaises(hawthorn.InvalidArgumentError):
                    tree[b"x"] = b""  # the nested one is open
                raise RuntimeError
            with txn.nested() as inner:
                inner[self.tree][b"d"] = b"1"
        self.assertEqual(list(self.tree), [b"a", b"d"])

    def test_trees(self) -> None:
        with self.db.transaction() as txn:
            new = txn.tree("new", multi_value=True)
            new.put(b"k", b"1")
            new.put(b"k", b"2")
            self.assertNotIn("new", self.db.trees())
            self.assertIn("new", txn.trees())
            txn.rename_tree("t", "u")
            txn.clone_tree("u", "copy")[b"x"] = b"y"
        self.assertEqual(sorted(self.db.trees()), ["copy", "new", "u"])
        self.assertEqual(list(self.db["new"].values_of(b"k")), [b"1", b"2"])
        self.assertEqual(dict(self.db["copy"]), {b"x": b"y"})
        with self.db.transaction() as txn:
            txn.drop_tree("copy")
            with self.assertRaises(hawthorn.NotFoundError):
                txn["copy"]
        self.assertNotIn("copy", self.db.trees())

    def test_prepared(self) -> None:
        with self.db.transaction() as txn:
            txn[self.tree][b"a"] = b"1"
            txn.prepare("first")
        self.assertNotIn(b"a", self.tree)
        with self.db.transaction() as txn:
            txn[self.tree][b"b"] = b"1"
            txn.prepare("second")
        self.assertEqual({row["id"] for row in self.db.prepared()}, {"first", "second"})
        del txn
        db = self.open_again()
        self.assertEqual(len(db.prepared()), 2)
        db.commit_prepared("first")
        db.rollback_prepared("second")
        self.assertEqual(dict(db["t"]), {b"a": b"1"})
        with self.assertRaises(hawthorn.NotFoundError):
            db.commit_prepared("first")

    def test_walks(self) -> None:
        self.tree.update((b"%03d" % i, b"") for i in range(100))
        txn = self.db.transaction()
        tree = txn[self.tree]
        tree[b"0005"] = b"own"
        cursor = tree.cursor()
        self.assertTrue(cursor.seek(b"0005"))
        self.assertEqual(cursor.value, b"own")
        tree[b"0006"] = b"later"
        self.assertTrue(cursor.next())
        self.assertEqual(cursor.key, b"0006")
        walk = iter(tree.range())
        next(walk)
        txn.abort()
        with self.assertRaises(hawthorn.InvalidArgumentError):
            cursor.next()
        with self.assertRaises(hawthorn.InvalidArgumentError):
            list(walk)
        with self.assertRaises(hawthorn.InvalidArgumentError):
            tree[b"a"]


KILLED = """
import sys, hawthorn
from hawthorn import Durability
with hawthorn.open(sys.argv[1]) as db:
    tree, other = db.tree("t"), db.tree("u")
    for i in range(1_000_000):
        durability = (Durability.NONE, Durability.ASYNC, Durability.FULL)[i % 3]
        with db.transaction(durability=durability) as txn:
            txn[tree][b"%08d" % i] = b"v%d" % i
            txn[other][b"last"] = b"%d" % i
        print(i, flush=True)
"""


class Kills(DatabaseTest):
    def test_kill(self) -> None:
        """What a process was told to be committed is there after a kill -9, and nothing by half."""
        self.db.close()
        acknowledged = -1
        process = self.child(KILLED, self.path)
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged >= 500:
                os.kill(process.pid, signal.SIGKILL)
                break
        for line in process.stdout:  # what was said before it died
            if line.endswith("\n"):
                acknowledged = int(line)
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(process.wait(), -signal.SIGKILL)
        db = self.open_again()
        tree = db["t"]
        last = int(db["u"][b"last"])
        self.assertGreaterEqual(acknowledged, 500)
        self.assertIn(last, (acknowledged, acknowledged + 1))
        expected = [(b"%08d" % i, b"v%d" % i) for i in range(last + 1)]
        self.assertEqual(list(tree.items()), expected)
        self.assertTrue(db.check()["ok"])


if __name__ == "__main__":
    unittest.main()
