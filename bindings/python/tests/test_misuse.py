"""What must be an error and never a crash: closed things, other threads, forks, the end."""

from __future__ import annotations

import copy
import errno
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
from typing import Any

from base import HANG_SECONDS, DatabaseTest, wait_until

import hawthorn
from hawthorn import Columns


class Closed(DatabaseTest):
    def test_all_that_was_made(self) -> None:
        tree = self.db.tree("t")
        tree[b"a"] = b"1"
        txn = self.db.transaction()
        snapshot = self.db.snapshot()
        batch = self.db.batch()
        cursor = tree.cursor()
        cursor.first()
        value = tree.get_view(b"a")
        reader = self.db.async_reader()
        ingest = self.db.tree("i").ingest()
        self.db.create_feed("f")
        feed = self.db.feed("f")
        walk = iter(tree.range())
        view = snapshot[tree]
        txn_tree = txn[tree]
        nested = txn.nested()
        self.db.close()
        self.db.close()
        self.assertFalse(self.db.is_open)
        uses: list[Any] = [
            lambda: tree[b"a"],
            lambda: tree.put(b"a", b"2"),
            lambda: list(tree),
            lambda: tree.multi_get([b"a"]),
            lambda: tree.id,
            lambda: view[b"a"],
            lambda: snapshot.timestamp,
            lambda: txn_tree[b"a"],
            lambda: txn.commit(),
            lambda: nested.commit(),
            lambda: batch.put(tree, b"a", b"1"),
            lambda: batch.write(),
            lambda: cursor.next(),
            lambda: cursor.key,
            lambda: reader.pending,
            lambda: ingest.add(b"a", b"1"),
            lambda: feed.next(),
            lambda: list(walk),
            lambda: self.db.tree("t"),
            lambda: self.db.stats(),
            lambda: self.db.transaction(),
        ]
        for use in uses:
            with self.assertRaises(hawthorn.ClosedError):
                use()
        assert value is not None
        with self.assertRaises(BufferError):
            bytes(value)
        for thing in (txn, snapshot, batch, cursor, value, reader, ingest, feed):
            if hasattr(thing, "close"):
                thing.close()
        self.assertFalse(txn.is_open)

    def test_objects_that_were_closed(self) -> None:
        tree = self.db.tree("t")
        cursor = tree.cursor()
        cursor.close()
        cursor.close()
        with self.assertRaises(hawthorn.ClosedError):
            cursor.first()
        with self.db.snapshot() as snapshot:
            txn = self.db.transaction(snapshot=snapshot)
        self.assertIsNone(txn[tree].get(b"a"))  # the transaction keeps the moment
        with self.assertRaises(hawthorn.ClosedError):
            self.db.transaction(snapshot=snapshot)

    def test_closed_within_a_transaction(self) -> None:
        """A block whose transaction went with the database does not seem to have committed."""
        tree = self.db.tree("t")
        with self.assertRaises(hawthorn.ClosedError), self.db.transaction() as txn:
            txn[tree][b"a"] = b"1"
            self.db.close()
        self.assertEqual(len(self.open_again()["t"]), 0)
        with self.assertRaises(KeyError), self.db.transaction():
            self.db.close()
            raise KeyError  # stays what it is

    def test_garbage_in_any_order(self) -> None:
        for order in range(6):
            db = hawthorn.open(self.place(f"db{order}"), memory_budget_bytes="16M")
            tree = db.tree("t")
            tree.update((b"%d" % i, b"x") for i in range(100))
            txn = db.transaction()
            cursor = txn[tree].cursor()
            cursor.first()
            walk = iter(tree.range())
            next(walk)
            things = [db, tree, txn, cursor, walk, db.snapshot()]
            del db, tree, txn, cursor, walk
            things = things[order:] + things[:order]
            while things:
                things.pop()
                gc.collect()
            with hawthorn.open(self.place(f"db{order}")) as again:  # so nothing holds it
                self.assertEqual(len(again["t"]), 100)

    def test_other_database(self) -> None:
        other = hawthorn.open(self.place("other"), memory_budget_bytes="16M")
        self.addCleanup(other.close)
        ours, theirs = self.db.tree("t"), other.tree("t")
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.transaction()[theirs]
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.batch().put(theirs, b"a", b"1")
        with self.assertRaises(hawthorn.InvalidArgumentError):
            other.snapshot()[ours][b"a"]
        with self.assertRaises(hawthorn.InvalidArgumentError):
            ours.move_subtree(b"a", theirs, b"b")

    def test_wrong_arguments(self) -> None:
        tree = self.db.tree("t")
        for wrong in ("text", 5, None):
            with self.assertRaises(TypeError):
                tree[wrong] = b""  # type: ignore[index]
        with self.assertRaises(hawthorn.InvalidArgumentError):
            tree[b"k" * 65536] = b""
        with self.assertRaises(ValueError):  # the same by Python's name
            tree[b"k" * 65536] = b""
        with self.assertRaises(OverflowError):
            tree.resize(b"a", -1)
        with self.assertRaises(hawthorn.InvalidArgumentError):
            tree.put(b"a", b"", durability=77)  # type: ignore[arg-type]
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.transaction(9)  # type: ignore[arg-type]
        with self.assertRaises(ValueError):
            hawthorn.open("a\0b")
        with self.assertRaises(hawthorn.NotFoundError):
            hawthorn.open(self.place("none"), create_if_missing=False)
        with self.assertRaises(hawthorn.BusyError):
            hawthorn.open(self.path)
        # bytes() would take each of them for something else, or for a copy of its own.
        no_keys: list[Any] = [5, [1, 2], "text", object()]
        for key in no_keys:
            calls: list[Any] = [
                lambda key=key: tree.range(key),
                lambda key=key: tree.range(b"", key),
                lambda key=key: tree.range(prefix=key),
                lambda key=key: list(tree.values_of(key)),
                lambda key=key: tree.open(key),
                lambda key=key: tree.cursor(key),
                lambda key=key: tree.count(key),
                lambda key=key: tree[key],
                lambda key=key: key in tree,
                lambda key=key: tree.setdefault(b"new", key),
                lambda key=key: tree.pop(key),
            ]
            for call in calls:
                with self.assertRaises(TypeError):
                    call()
        self.assertEqual(list(tree), [])
        with self.assertRaises(TypeError):
            type(self.db._handle)()
        for thing in (self.db, tree, self.db.transaction()):
            with self.assertRaises(TypeError):
                pickle.dumps(thing)
        self.assertIsNone(copy.copy(tree).get(b"a"))  # another object for the same tree
        with self.assertRaises(ValueError):
            Columns(rows=0)


class Threads(DatabaseTest):
    def test_one_object_in_two_threads(self) -> None:
        """A second call while one waits is refused, and closing meanwhile, too."""
        tree = self.db.tree("t")
        holder = self.db.transaction(hawthorn.Mode.PESSIMISTIC)
        holder.lock(tree, b"k")
        waiter = self.db.transaction(hawthorn.Mode.PESSIMISTIC, lock_timeout_ms=600_000)
        cursor = waiter[tree].cursor()
        outcome: list[Any] = []

        def wait() -> None:
            while not outcome:
                try:
                    waiter.lock(tree, b"k")
                    outcome.append("locked")
                except hawthorn.InvalidArgumentError:
                    pass  # the other thread was just looking

        def waits() -> bool:
            try:
                waiter[tree].get(b"a")
                return False
            except hawthorn.InvalidArgumentError:
                return True

        thread = threading.Thread(target=wait)
        thread.start()
        self.assertTrue(wait_until(waits))  # without the GIL
        for use in (lambda: waiter[tree][b"a"], cursor.first, waiter.commit):
            with self.assertRaises(hawthorn.InvalidArgumentError):
                use()
        with self.assertRaises(hawthorn.BusyError):
            self.db.close()
        with self.assertRaises(hawthorn.BusyError):
            cursor.close()
        del cursor  # freed when the call has ended
        gc.collect()
        tree[b"else"] = b"1"  # other objects work
        self.assertEqual(outcome, [])
        holder.abort()
        thread.join()
        self.assertEqual(outcome, ["locked"])
        waiter.abort()

    def test_many_threads(self) -> None:
        """Readers, writers, walkers and a close at any moment: errors, and nothing else."""
        tree = self.db.tree("t")
        tree.update((b"%04d" % i, b"x" * 50) for i in range(1000))
        errors: list[BaseException] = []
        stop = threading.Event()
        shared = tree.cursor()

        def guard(work: Any, place: int) -> None:
            while not stop.is_set():
                rounds[place] += 1
                try:
                    work()
                except (hawthorn.ClosedError, hawthorn.InvalidArgumentError):
                    pass
                except BaseException as error:  # noqa: BLE001
                    errors.append(error)
                    return

        columns = Columns()
        works = [
            lambda: tree.put(b"0500", b"y", durability=hawthorn.Durability.NONE),
            lambda: list(tree.range(b"0100", b"0900")),
            lambda: tree.multi_get([b"%04d" % i for i in range(0, 1000, 7)]),
            lambda: (shared.first(), shared.next(), shared.key),
            lambda: (shared.seek(b"0400"), shared.next_list()),
            lambda: [c.rows for c in tree.range().columns(columns)],
            lambda: self.db.transaction()[tree].get_for_update(b"0001"),
        ]
        rounds = [0] * len(works)
        threads = [threading.Thread(target=guard, args=p) for p in zip(works, range(len(works)))]
        for thread in threads:
            thread.start()
        self.assertTrue(wait_until(lambda: min(rounds) >= 20 or errors))
        closed = False
        for _ in range(1000):
            try:
                self.db.close()
                closed = True
                break
            except hawthorn.BusyError:
                time.sleep(0.0001)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        if not closed:
            self.db.close()
        self.assertEqual(len(self.open_again()["t"]), 1000)

    def test_gil_is_released(self) -> None:
        """A thread that waits in the library does not stop others."""
        tree = self.db.tree("t")
        holder = self.db.transaction(hawthorn.Mode.PESSIMISTIC)
        holder.lock(tree, b"k")
        outcome: list[str] = []

        def wait() -> None:
            txn = self.db.transaction(hawthorn.Mode.PESSIMISTIC, lock_timeout_ms=600_000)
            txn.lock(tree, b"k")
            outcome.append("locked")
            txn.abort()

        thread = threading.Thread(target=wait)
        thread.start()
        for _ in range(20):  # as long as it is held
            time.sleep(0.005)
        self.assertEqual(outcome, [])
        holder.abort()
        thread.join()
        self.assertEqual(outcome, ["locked"])


class Processes(DatabaseTest):
    def test_fork(self) -> None:
        tree = self.db.tree("t")
        tree[b"a"] = b"1"
        txn = self.db.transaction()
        txn[tree][b"b"] = b"1"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                tree[b"a"] = b"2"
            except hawthorn.ForkedError:
                status = 0
            del txn
            gc.collect()
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        txn.commit()
        self.assertEqual(dict(tree), {b"a": b"1", b"b": b"1"})

    def test_missing_permissions(self) -> None:
        self.db.close()
        os.chmod(self.path, 0)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if os.geteuid() == 0:
                    os.setuid(65534)  # root may do everything
                hawthorn.open(self.path)
            except PermissionError as error:
                right = isinstance(error, hawthorn.PermissionDeniedError) and error.code == 18
                right = right and error.errno == errno.EACCES and self.path in str(error)
                status = 0 if right and str(error).startswith("PermissionDenied: ") else 2
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        os.chmod(self.path, 0o700)
        self.db = hawthorn.open(self.path)

    def run_to_its_end(self, program: str) -> str:
        self.db.close()
        command = [sys.executable, "-c", program, self.path]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=HANG_SECONDS, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.db = hawthorn.open(self.path)
        return done.stdout

    def test_end_of_the_interpreter(self) -> None:
        """Open databases, callbacks and threads of the library do not outlive it."""
        self.run_to_its_end(
            "import sys, threading, time, hawthorn\n"
            "options = hawthorn.Options(memory_budget_bytes='16M')\n"
            "told = []\n"
            "options.add_listener(lambda event, fields: told.append(event))\n"
            "options.on_log(lambda level, message: told.append(message))\n"
            "db = hawthorn.open(sys.argv[1], options)\n"
            "tree = db.tree('t')\n"
            "for i in range(20000):\n"
            "    tree.put(b'%d' % i, b'x' * 500, durability=hawthorn.Durability.NONE)\n"
            "walk = iter(tree.range())\n"
            "next(walk)\n"
            "txn = db.transaction()\n"
            "txn[tree][b'lost'] = b''\n"
        )
        self.assertEqual(len(self.db["t"]), 20000)

    def test_end_with_a_thread_inside(self) -> None:
        self.run_to_its_end(
            "import sys, threading, time, hawthorn\n"
            "db = hawthorn.open(sys.argv[1])\n"
            "tree = db.tree('t')\n"
            "def forever():\n"
            "    while True:\n"
            "        try:\n"
            "            tree.put(b'k', b'v', durability=hawthorn.Durability.NONE)\n"
            "            list(tree)\n"
            "        except hawthorn.ClosedError:\n"
            "            return\n"
            "for _ in range(3): threading.Thread(target=forever, daemon=True).start()\n"
            "while b'k' not in tree: time.sleep(0.01)\n"
        )
        self.assertEqual(self.db["t"][b"k"], b"v")

    def test_exit_in_a_forked_child(self) -> None:
        out = self.run_to_its_end(
            "import os, sys, hawthorn\n"
            "db = hawthorn.open(sys.argv[1])\n"
            "tree = db.tree('t')\n"
            "tree[b'k'] = b'v'\n"
            "child = os.fork()\n"
            "if child == 0: sys.exit(7)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)\n"
            "tree[b'l'] = b'w'\n"
        )
        self.assertEqual(out, "7\n")
        self.assertEqual(len(self.db["t"]), 2)


if __name__ == "__main__":
    unittest.main()
