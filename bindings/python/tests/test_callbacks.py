"""Options by name, and what a database calls: operators, orders, filters, hooks, events, keys."""

from __future__ import annotations

import gc
import sys
import threading
import unittest
import weakref
from typing import Any

from base import DatabaseTest, wait_until

import hawthorn
from hawthorn import Options


class ByName(DatabaseTest):
    def test_names(self) -> None:
        names = Options.names()
        for name in ("memory_budget_bytes", "compression", "devices", "encryption.key", "log"):
            self.assertIn(name, names)
        options = Options({"durability": "async"}, memory_budget_bytes=1 << 25, read_only=False)
        options.set("file_mode", 0o640)
        options.set("space_target", 1.5)
        options.set("merge_operators", ["uint64_add", "append:,"])
        self.assertEqual(options.get("durability"), "async")
        self.assertEqual(options.get("memory_budget_bytes"), str(1 << 25))
        self.assertEqual(int(options.get("file_mode"), 8), 0o640)
        self.assertEqual(float(options.get("space_target")), 1.5)
        self.assertEqual(options.get("merge_operators"), "2")
        with self.assertRaises(hawthorn.NotFoundError):
            options.set("no_such_option", 1)
        with self.assertRaises(hawthorn.InvalidArgumentError):
            options.set("compression", "zip")
        with self.assertRaisesRegex(hawthorn.NotSupportedError, "listener"):
            options.set("listeners", "x")
        with self.assertRaises(TypeError):
            hawthorn.open(self.path, options, read_only=True)

    def test_every_option_has_an_effect_or_an_error(self) -> None:
        """No name is taken and forgotten: what was set is read back."""
        values = {
            "memory_budget_bytes": "33554432", "preallocate_memory": "true", "durability": "none",
            "io_mode": "buffered", "space_target": "1.25", "compression": "zstd",
            "read_only": "true", "create_if_missing": "false", "error_if_exists": "true",
            "lock_timeout_ms": "5", "background_io_bytes_per_second": "1000",
            "scrub_bytes_per_second": "7",
        }  # fmt: skip
        options = Options(values)
        for name, value in values.items():
            got = options.get(name)
            self.assertEqual(float(got) if "." in value else got,
                             float(value) if "." in value else value)  # fmt: skip
        functions = {"key_orders", "key_comparators", "on_expiry", "log", "listeners"}
        for name in functions | {"commit_hooks", "flush_filters"}:
            with self.assertRaises(hawthorn.NotSupportedError):
                options.set(name, "x")

    def test_read_only(self) -> None:
        self.db.tree("t")[b"k"] = b"v"
        self.db.close()
        with hawthorn.open(self.path, read_only=True) as db:
            self.assertEqual(db["t"][b"k"], b"v")
            with self.assertRaises(hawthorn.ReadOnlyError):
                db["t"][b"k"] = b"w"


class Callbacks(DatabaseTest):
    def test_merge_operators(self) -> None:
        calls = []

        def longest(key: bytes, existing: bytes | None, operands: list[bytes]) -> bytes | None:
            calls.append(existing)
            if b"bad" in operands:
                return None
            return max([*operands, existing or b""], key=len)

        def combine(key: bytes, left: bytes, right: bytes) -> bytes:
            return max(left, right, key=len)

        options = Options(merge_operators=["uint64_add"])
        options.add_merge_operator("longest", longest, combine)
        db = self.open_again(options)
        tree, sums = db.tree("t"), db.tree("sums")
        tree.set_merge_operator("longest")
        sums.set_merge_operator("uint64_add")
        for word in (b"a", b"ccc", b"bb"):
            tree.merge(b"k", word)
            sums.merge(b"n", (2).to_bytes(8, "little"))
        self.assertEqual(tree[b"k"], b"ccc")
        self.assertIn(None, calls)
        self.assertEqual(int.from_bytes(sums[b"n"], "little"), 6)
        with db.transaction() as txn, db.batch() as batch:
            txn[tree].merge(b"k", b"dddd")
            batch.merge(sums, b"n", (1).to_bytes(8, "little"))
        self.assertEqual(tree[b"k"], b"dddd")
        self.assertEqual(int.from_bytes(sums[b"n"], "little"), 7)
        db.flush()
        self.assertEqual(tree[b"k"], b"dddd")
        with self.assertRaises(hawthorn.InvalidArgumentError):
            tree.set_merge_operator("nobody")

    def test_key_orders(self) -> None:
        def compare(a: bytes, b: bytes) -> int:
            return (a.lower() > b.lower()) - (a.lower() < b.lower())

        options = Options()
        options.add_key_order("backwards", lambda k: k[::-1], lambda s: s[::-1])
        options.add_key_comparator("caseless", compare)
        db = self.open_again(options)
        backwards, caseless = db.tree("b", order="backwards"), db.tree("c", order="caseless")
        for word in (b"az", b"by", b"CX"):
            backwards[word] = b""
            caseless[word] = b""
        self.assertEqual(list(backwards), [b"CX", b"by", b"az"])
        self.assertEqual(list(caseless), [b"az", b"by", b"CX"])
        self.assertIn(b"cx", caseless)
        self.assertEqual(list(caseless.range(b"BZ").each_key()), [b"CX"])

    def test_flush_filters(self) -> None:
        def kept(key: bytes, value: bytes) -> bool | bytes:
            if key == b"wrong":
                raise LookupError("it stays")
            return {b"drop": False, b"change": b"new"}.get(key, True)

        options = Options()
        options.set_flush_filter("t", kept)
        db = self.open_again(options)
        tree = db.tree("t")
        tree.update({b"drop": b"1", b"change": b"1", b"stay": b"1", b"wrong": b"1"})
        unraisable: list[Any] = []
        hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
        try:
            db.compact()
            db.drain()
        finally:
            sys.unraisablehook = hook
        self.assertEqual(dict(tree), {b"change": b"new", b"stay": b"1", b"wrong": b"1"})
        self.assertIs(unraisable[0].exc_type, LookupError)

    def test_commit_hooks(self) -> None:
        told: list[Any] = []

        def before(operations: int, durability: int) -> None:
            if operations == 3:
                raise hawthorn.NoSpaceError(6, "three are too many")
            if operations == 4:
                raise RuntimeError("four are worse")

        options = Options()
        options.add_commit_hook(before, lambda *outcome: told.append(outcome))
        options.add_commit_hook(before=lambda *_: None)
        options.add_commit_hook(after=lambda *_: None)
        with self.assertRaises(TypeError):
            options.add_commit_hook()
        db = self.open_again(options)
        tree = db.tree("t")
        told.clear()
        tree[b"a"] = b"1"
        operations, _, timestamp, code = told[-1]
        self.assertEqual((operations, code), (1, 0))
        self.assertGreater(timestamp, 0)
        with self.assertRaisesRegex(hawthorn.NoSpaceError, "three are too many"):
            tree.update((b"%d" % i, b"") for i in range(3))
        with self.assertRaisesRegex(hawthorn.InternalError, "four are worse"):
            tree.update((b"%d" % i, b"") for i in range(4))
        self.assertEqual(list(tree), [b"a"])

    def test_events_and_log(self) -> None:
        events: list[tuple[str, dict[str, Any]]] = []
        opened = threading.Event()

        def listener(event: str, fields: dict[str, Any]) -> None:
            events.append((event, fields))
            if event == "flush_completed":
                opened.set()

        options = Options()
        options.add_listener(listener)
        options.on_log(lambda level, message: None)
        db = self.open_again(options)
        db.tree("t")[b"a"] = b"1"
        db.flush()
        self.assertTrue(opened.wait(10))
        db.close()
        names = [name for name, _ in events]
        self.assertIn("opened", names)
        self.assertIn("tree_changed", names)
        self.assertIn("closed", names)
        with self.assertRaises(TypeError):
            options.on_log("no function")  # type: ignore[arg-type]

    def test_expiry_is_told(self) -> None:
        told: list[Any] = []
        options = Options()
        options.on_expiry(lambda *entry: told.append(entry))
        db = self.open_again(options)
        tree = db.tree("t", expires=True)
        tree.put(b"k", b"v", expires_after_ms=1)
        wait_until(lambda: told)
        self.assertEqual(told, [(b"t", b"k", b"v")])

    def test_callbacks_that_use_the_database(self) -> None:
        """From threads of the library, while this one waits in it."""
        seen: list[Any] = []
        holder: list[hawthorn.Database] = []

        def listener(event: str, fields: dict[str, Any]) -> None:
            if event == "flush_completed" and holder:
                database = holder.pop()  # for the first of them alone
                seen.append(database["t"].get(b"a"))
                try:
                    database.close()
                except hawthorn.BusyError as error:
                    seen.append(error)

        options = Options()
        options.add_listener(listener)
        db = self.open_again(options)
        db.tree("t")[b"a"] = b"1"
        holder.append(db)
        snapshot = db.snapshot()
        view = db["t"].get_view(b"a")
        assert view is not None
        held = view.data  # so it cannot close
        db.flush()
        wait_until(lambda: len(seen) >= 2)
        held.release()
        self.assertEqual(seen[0], b"1")
        self.assertIsInstance(seen[1], hawthorn.BusyError)
        snapshot.close()

    def test_functions_go_with_the_database(self) -> None:
        class Listener:
            def __call__(self, event: str, fields: dict[str, Any]) -> None:
                pass

        listener = Listener()
        gone = weakref.ref(listener)
        options = Options()
        options.add_listener(listener)
        db = self.open_again(options)
        del listener, options
        gc.collect()
        self.assertIsNotNone(gone())
        db.close()
        gc.collect()
        self.assertIsNone(gone())


class Encryption(DatabaseTest):
    def test_keys(self) -> None:
        keys = {"one": hawthorn.generate_key(), "two": hawthorn.generate_key()}
        path = self.place("encrypted")
        options = Options()
        options.set_encryption(keys.__getitem__, "one")
        with hawthorn.open(path, options) as db:
            db.tree("t")[b"k"] = b"secret"
            self.assertEqual(db.encryption()["key_id"], "one")
            db.rotate_key("two")
            db.rotate_data_key()
            self.assertEqual(db.encryption()["key_id"], "two")
        with self.assertRaises(hawthorn.Error):
            hawthorn.open(path)
        wrong = Options()
        wrong.set_encryption(lambda key_id: b"short")
        with self.assertRaisesRegex(hawthorn.InvalidArgumentError, "32 bytes"):
            hawthorn.open(path, wrong)
        unknown = Options()
        unknown.set_encryption({}.__getitem__)
        with self.assertRaisesRegex(hawthorn.Error, "two"):
            hawthorn.open(path, unknown)
        by_name = Options({"encryption.key": keys["two"].hex()})
        with hawthorn.open(path, by_name) as db:
            self.assertEqual(db["t"][b"k"], b"secret")
        self.assertFalse(self.db.encryption()["encrypted"])


if __name__ == "__main__":
    unittest.main()
