"""Trees: reads, writes, ranges against a model, shapes, snapshots, values by parts."""

from __future__ import annotations

import bisect
import io
import random
import time
import unittest
from array import array

from base import DatabaseTest, wait_until

import hawthorn
from hawthorn import Columns, Durability


class Dicts(DatabaseTest):
    def test_names_of_trees(self) -> None:
        self.db.tree("t")
        snapshot = self.db.snapshot()
        txn = self.db.transaction()
        txn.tree("new")
        for named, names in ((self.db, ["t"]), (snapshot, ["t"]), (txn, ["new", "t"])):
            self.assertIn("t", named)
            self.assertNotIn("x", named)
            self.assertNotIn(5, named)
            self.assertEqual(sorted(named), names)
            with self.assertRaises(KeyError) as missing:
                named["x"]
            self.assertIsInstance(missing.exception, hawthorn.NotFoundError)
            self.assertIn("NotFound: ", str(missing.exception))
        txn.abort()

    def test_options_by_constants(self) -> None:
        for durability in Durability:
            for compression in hawthorn.Compression:
                path = self.place(f"{durability.name}{compression.name}")
                with hawthorn.open(
                    path,
                    memory_budget_bytes="16M",
                    durability=durability,
                    compression=compression,
                ) as db:
                    db.tree("t")[b"k"] = b"v"
        made = hawthorn.Options(durability=Durability.NONE, compression=hawthorn.Compression.LZ4)
        self.assertEqual((made.get("durability"), made.get("compression")), ("none", "lz4"))

    def test_dict(self) -> None:
        tree = self.db.tree("t")
        self.assertFalse(tree)
        tree[b"b"] = b"2"
        tree[bytearray(b"a")] = memoryview(b"1")
        tree[b"empty"] = b""
        self.assertTrue(tree)
        self.assertEqual(tree[b"a"], b"1")
        self.assertEqual(tree[b"empty"], b"")
        self.assertIsNone(tree.get(b"x"))
        self.assertEqual(tree.get(b"x", 5), 5)
        with self.assertRaises(KeyError):
            tree[b"x"]
        self.assertIn(b"a", tree)
        self.assertNotIn(b"x", tree)
        self.assertEqual(len(tree), 3)
        self.assertEqual(list(tree), [b"a", b"b", b"empty"])
        self.assertEqual(list(reversed(tree)), [b"empty", b"b", b"a"])
        self.assertEqual(list(tree.values()), [b"1", b"2", b""])
        self.assertEqual(list(reversed(tree.items()))[2], (b"a", b"1"))
        self.assertIn((b"a", b"1"), tree.items())
        self.assertEqual(dict(tree), {b"a": b"1", b"b": b"2", b"empty": b""})
        del tree[b"b"]
        with self.assertRaises(KeyError):
            del tree[b"b"]
        tree.delete(b"b")  # not there: no error
        self.assertEqual(tree.pop(b"a"), b"1")
        self.assertEqual(tree.pop(b"a", None), None)
        self.assertEqual(tree.setdefault(b"d", b"4"), b"4")
        self.assertEqual(tree.setdefault(b"d", b"5"), b"4")
        self.assertEqual(tree.popitem(), (b"empty", b""))
        tree.update({b"x": b"1"}, y=b"2")
        tree.update([(b"z", b"3")])
        self.assertEqual(list(tree), [b"d", b"x", b"y", b"z"])
        tree.clear()
        self.assertEqual(len(tree), 0)
        with self.assertRaises(KeyError):
            tree.popitem()
        with self.assertRaises(TypeError):
            tree["text"] = b""  # type: ignore[index]

    def test_large_values(self) -> None:
        tree = self.db.tree("t")
        for size in (4095, 4096, 4097, 300_000):
            tree[b"k"] = bytes([size % 251]) * size
            self.assertEqual(tree[b"k"], bytes([size % 251]) * size)
            self.assertIn(b"k", tree)
        with self.db.transaction() as txn:
            self.assertEqual(len(txn[tree][b"k"]), 300_000)

    def test_compare_and_set(self) -> None:
        tree = self.db.tree("t")
        self.assertTrue(tree.insert(b"k", b"1"))
        self.assertFalse(tree.insert(b"k", b"2"))
        self.assertTrue(tree.update_existing(b"k", b"3", durability=Durability.NONE))
        self.assertFalse(tree.update_existing(b"none", b"3"))
        self.assertFalse(tree.replace(b"k", b"1", b"4"))
        self.assertTrue(tree.replace(b"k", b"3", b"4"))
        self.assertTrue(tree.replace(b"new", None, b"5"))
        self.assertFalse(tree.remove_if(b"k", b"3"))
        self.assertTrue(tree.remove_if(b"k", b"4"))
        with self.db.transaction() as txn:
            self.assertTrue(txn[tree].insert(b"t", b"1"))
            self.assertFalse(txn[tree].replace(b"t", b"2", b"1"))
        self.assertEqual(dict(tree), {b"new": b"5", b"t": b"1"})

    def test_views_of_values(self) -> None:
        tree = self.db.tree("t")
        tree[b"k"] = b"value" * 1000
        value = tree.get_view(b"k")
        assert value is not None
        self.assertEqual(len(value), 5000)
        view = value.data
        self.assertTrue(view.readonly)
        with self.assertRaises(BufferError):
            value.close()
        with self.assertRaises(hawthorn.BusyError):
            self.db.close()
        self.assertTrue(self.db.is_open)
        tree[b"k"] = b"other"
        self.assertEqual(bytes(view[:5]), b"value")
        view.release()
        value.close()
        with self.assertRaises(BufferError):
            bytes(value)
        self.assertIsNone(tree.get_view(b"x"))
        in_memory = tree.get_in_memory(b"k")
        assert in_memory is not None
        self.assertEqual(bytes(in_memory), b"other")

    def test_parts(self) -> None:
        tree = self.db.tree("t")
        tree[b"k"] = b"0123456789"
        self.assertEqual(tree.append(b"k", b"ab"), 10)
        tree.write_part(b"k", 1, b"XY")
        tree.resize(b"k", 11)
        self.assertEqual(tree[b"k"], b"0XY3456789a")
        self.assertEqual(tree.size_of(b"k"), 11)
        buffer = bytearray(4)
        self.assertEqual(tree.read_part(b"k", 9, buffer), 2)
        self.assertEqual(bytes(buffer), b"9a\0\0")
        with self.assertRaises(BufferError):
            tree.read_part(b"k", 0, b"read-only")  # type: ignore[arg-type]
        with tree.open(b"k") as file:
            tree[b"k"] = b"changed"
            self.assertEqual(file.read(3), b"0XY")
            self.assertEqual(file.seek(-1, io.SEEK_END), 10)
            self.assertEqual(file.read(), b"a")
        with self.assertRaises(ValueError):
            file.read()
        with self.assertRaises(hawthorn.NotFoundError):
            tree.open(b"none")

    def test_streams(self) -> None:
        tree = self.db.tree("t")
        data = random.Random(1).randbytes(700_000)
        with self.db.transaction() as txn:
            t = txn[tree]
            t.put_stream(b"file", len(data), io.BytesIO(data))
            t.put_stream(b"pieces", len(data), (data[i : i + 999] for i in range(0, 700_000, 999)))
            self.assertEqual(t.append_stream(b"file", 3, [b"abc"]), 700_000)
            t.write_part_stream(b"file", 2, 2, [b"", b"zz"])
        self.assertEqual(tree[b"pieces"], data)
        self.assertEqual(tree[b"file"], data[:2] + b"zz" + data[4:] + b"abc")
        with tree.open(b"file") as file:
            self.assertEqual(io.BufferedReader(file).read(), tree[b"file"])

        class Broken(Exception):
            pass

        def broken():  # type: ignore[no-untyped-def]
            yield b"1"
            raise Broken("as it is")

        with self.assertRaisesRegex(Broken, "as it is"), self.db.transaction() as txn:
            txn[tree].put_stream(b"broken", 10, broken())
        self.assertNotIn(b"broken", tree)
        with self.assertRaises(hawthorn.Error), self.db.transaction() as txn:
            txn[tree].put_stream(b"short", 10, [b"1"])

    def test_multi_get(self) -> None:
        tree = self.db.tree("t")
        model = {b"%04d" % i: b"v" * (i % 7) for i in range(0, 2000, 2)}
        tree.update(model)
        keys = [b"%04d" % random.randrange(2000) for _ in range(3000)]
        self.assertEqual(tree.multi_get(keys), [model.get(key) for key in keys])
        self.assertEqual(tree.multi_get(iter([bytearray(b"0002")])), [b"vv"])
        self.assertEqual(tree.multi_get([]), [])
        with self.assertRaises(TypeError):
            tree.multi_get([b"a", 5])  # type: ignore[list-item]
        columns = Columns(rows=10, key_bytes=1, value_bytes=1)  # too small: it grows
        offsets = array("q", range(0, 4 * len(keys) + 1, 4))
        self.assertIs(tree.multi_get_columns(b"".join(keys), offsets, columns), columns)
        self.assertEqual(columns.rows, 3000)
        for row, key in enumerate(keys):
            self.assertEqual(columns.found[row], key in model)
            self.assertEqual(columns.value(row), model.get(key, b""))
        for bad in (array("q", [0, 5, 4]), array("q", [0, 99]), array("q"), b"123"):
            with self.assertRaises(ValueError):
                tree.multi_get_columns(b"12345", bad)

    def test_batches(self) -> None:
        tree, other = self.db.tree("t"), self.db.tree("u")
        other[b"old"] = b"1"
        with self.db.batch(durability=Durability.ASYNC) as batch:
            batch.put(tree, b"a", b"1")
            batch.put(tree, b"b", b"2")
            batch.delete(tree, b"a")
            batch.delete_range(other)
            self.assertEqual(len(batch), 4)
            self.assertGreater(batch.bytes, 4)
            self.assertNotIn(b"b", tree)
        self.assertEqual(dict(tree), {b"b": b"2"})
        self.assertEqual(len(other), 0)
        with self.assertRaises(RuntimeError), self.db.batch() as batch:
            batch.put(tree, b"c", b"3")
            raise RuntimeError
        self.assertNotIn(b"c", tree)
        with self.assertRaises(hawthorn.ClosedError):
            batch.clear()
        columns = next(tree.range().columns())
        copy = self.db.batch()
        copy.put_columns(other, columns)
        copy.write()
        self.assertEqual(dict(other), {b"b": b"2"})


class Ranges(DatabaseTest):
    def test_a_value_that_no_walk_shows(self) -> None:
        """One over 64 MB ends each with an error, and is not shown as empty."""
        tree = self.db.tree("t")
        tree[b"a"] = b"1"
        tree.resize(b"z", (64 << 20) + 1)

        def step_by_step() -> None:
            cursor = tree.cursor()
            more = cursor.first()
            while more:
                self.assertEqual(cursor.item, (b"a", b"1"))
                more = cursor.next()

        with self.db.transaction() as txn:
            ways = [
                lambda: list(tree.range()),
                lambda: list(tree.range(reverse=True)),
                lambda: list(tree.values()),
                lambda: list(tree.items()),
                lambda: list(tree.range().columns()),
                lambda: list(tree.range(reverse=True).columns()),
                lambda: list(txn[tree].range()),
                step_by_step,
                tree.popitem,
            ]
            for way in ways:
                with self.assertRaisesRegex(hawthorn.NotSupportedError, '"z"'):
                    way()
        self.assertEqual(list(tree), [b"a", b"z"])
        self.assertEqual(list(reversed(tree)), [b"z", b"a"])
        self.assertEqual(tree.size_of(b"z"), (64 << 20) + 1)

    def test_against_a_model(self) -> None:
        """Random operations, and ranges with random bounds in both directions."""
        seed = random.randrange(1 << 30)
        rng = random.Random(seed)
        tree = self.db.tree("t")
        model: dict[bytes, bytes] = {}

        def key() -> bytes:
            return rng.randbytes(rng.randrange(1, 4))

        with self.subTest(seed=seed):
            for step in range(4000):
                what = rng.random()
                if what < 0.6:
                    k, v = key(), rng.randbytes(rng.randrange(20))
                    tree.put(k, v, durability=Durability.NONE)
                    model[k] = v
                elif what < 0.8 and model:
                    k = rng.choice(list(model)) if rng.random() < 0.5 else key()
                    tree.delete(k, durability=Durability.NONE)
                    model.pop(k, None)
                elif what < 0.81:
                    low, high = sorted((key(), key()))
                    tree.delete_range(low, high, durability=Durability.NONE)
                    for k in [k for k in model if low <= k < high]:
                        del model[k]
                elif what < 0.812:
                    self.db.flush()
                if step % 100 == 0:
                    self.compare(rng, tree, model)
            self.compare(rng, tree, model)
            with self.db.transaction() as txn:
                self.compare(rng, txn[tree], model)
            with self.db.snapshot() as snapshot:
                tree.clear()
                self.compare(rng, snapshot[tree], model)

    def compare(
        self, rng: random.Random, tree: hawthorn.ReadTree, model: dict[bytes, bytes]
    ) -> None:
        keys = sorted(model)
        low = rng.choice([None, rng.randbytes(2)])
        high = rng.choice([None, rng.randbytes(2)])
        begin = 0 if low is None else bisect.bisect_left(keys, low)
        end = len(keys) if high is None else bisect.bisect_left(keys, high)
        expected = [(k, model[k]) for k in keys[begin:end]]
        ahead = tree.range(low, high)
        self.assertEqual(list(ahead), expected)
        self.assertEqual(list(ahead.each_key()), [k for k, _ in expected])
        self.assertEqual(list(ahead.each_value()), [v for _, v in expected])
        self.assertEqual(list(reversed(ahead)), expected[::-1])
        self.assertEqual(list(tree.range(low, high, reverse=True)), expected[::-1])
        self.assertEqual(ahead.count(), len(expected))
        self.assertEqual(ahead.first(), expected[0] if expected else None)
        small = Columns(rows=rng.randrange(1, 50), key_bytes=rng.randrange(40), value_bytes=5)
        self.assertEqual([e for c in ahead.columns(small) for e in c], expected)
        self.assertEqual([e for c in reversed_columns(tree, low, high) for e in c], expected[::-1])
        self.assertEqual(len(tree), len(model))
        prefix = rng.randbytes(1)
        with_prefix = [(k, model[k]) for k in keys if k.startswith(prefix)]
        self.assertEqual(list(tree.range(prefix=prefix)), with_prefix)
        cursor = tree.cursor(low, high)
        for _ in range(10):
            wanted = rng.randbytes(2)
            place = bisect.bisect_left([k for k, _ in expected], wanted)
            self.assertEqual(cursor.seek(wanted), place < len(expected))
            if place < len(expected):
                self.assertEqual(cursor.item, expected[place])
                step = rng.randrange(-5, 6)
                there = 0 <= place + step < len(expected)
                self.assertEqual(cursor.skip(step), there)
                if there:
                    self.assertEqual(cursor.key, expected[place + step][0])
                    self.assertEqual(cursor.next(), place + step + 1 < len(expected))
            else:
                self.assertIsNone(cursor.key)
            place = bisect.bisect_right([k for k, _ in expected], wanted)
            self.assertEqual(cursor.seek_for_prev(wanted), place > 0)
            if place > 0:
                self.assertEqual(cursor.item, expected[place - 1])
                self.assertEqual(cursor.prev(), place > 1)

    def test_prefix_of_ff(self) -> None:
        tree = self.db.tree("t")
        for k in (b"a", b"a\xff", b"a\xff\xff", b"b", b"\xff", b"\xff\xff"):
            tree[k] = b""
        self.assertEqual(list(tree.range(prefix=b"a\xff").each_key()), [b"a\xff", b"a\xff\xff"])
        self.assertEqual(list(tree.range(prefix=b"\xff").each_key()), [b"\xff", b"\xff\xff"])
        with self.assertRaises(ValueError):
            tree.range(b"a", prefix=b"a")

    def test_cursor_lists_and_random(self) -> None:
        tree = self.db.tree("t")
        tree.update((b"%05d" % i, b"x" * 100) for i in range(3000))
        cursor = tree.cursor()
        self.assertEqual(cursor.next_list(), [])  # it stands nowhere
        cursor.first()
        ahead: list[tuple[bytes, bytes]] = []
        while part := cursor.next_list():
            ahead += part
        self.assertEqual(ahead, list(tree.items()))
        cursor.last()
        back: list[tuple[bytes, bytes]] = []
        while part := cursor.prev_list():
            back += part
        self.assertEqual(back[::-1], ahead)
        seen = set()
        for _ in range(50):
            self.assertTrue(cursor.seek_random(random.getrandbits(64)))
            seen.add(cursor.key)
        self.assertGreater(len(seen), 20)
        keys_only = tree.cursor(keys_only=True)
        self.assertTrue(keys_only.first())
        self.assertEqual(keys_only.item, (b"00000", b""))
        entries, size = tree.estimate()
        self.assertGreater(entries, 1000)
        self.assertGreaterEqual(size, 0)
        explained = tree.explain(b"00001")
        self.assertEqual(explained["found"], True)

    def test_large_entries_in_lists(self) -> None:
        tree = self.db.tree("t")
        model = {b"%02d" % i: bytes([i]) * (400_000 if i % 5 == 0 else 10) for i in range(20)}
        tree.update(model)
        self.assertEqual(dict(tree.range()), model)
        self.assertEqual(list(tree.range(reverse=True)), sorted(model.items(), reverse=True))


def reversed_columns(tree, low, high):  # type: ignore[no-untyped-def]
    return tree.range(low, high, reverse=True).columns()


class Shapes(DatabaseTest):
    def test_orders(self) -> None:
        tree = self.db.tree("down", order="reverse")
        for i in (1, 3, 2):
            tree[b"%d" % i] = b""
        self.assertEqual(list(tree), [b"3", b"2", b"1"])
        self.assertEqual(tree.options["order"], "reverse")
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.tree("down", order="bytewise", multi_value=True)
        with self.assertRaises(hawthorn.InvalidArgumentError):
            self.db.tree("x", order="nobody knows it")

    def test_several_values(self) -> None:
        tree = self.db.tree("multi", multi_value=True)
        for value in (b"2", b"1", b"3"):
            tree.put(b"k", value)
        tree.put(b"l", b"9")
        self.assertEqual(list(tree.values_of(b"k")), [b"1", b"2", b"3"])
        self.assertEqual(list(tree.values_of(b"none")), [])
        self.assertEqual(len(tree), 4)
        cursor = tree.cursor()
        self.assertTrue(cursor.seek_value(b"k", b"2"))
        self.assertEqual(cursor.count_values(), 3)
        self.assertTrue(cursor.next_value() and not cursor.next_value())
        self.assertEqual(cursor.value, b"3")
        self.assertTrue(cursor.first_value() and cursor.last_value() and cursor.prev_value())
        self.assertEqual(cursor.value, b"2")
        self.assertTrue(cursor.next_key() and cursor.prev_key())
        self.assertEqual(cursor.item, (b"k", b"3"))
        tree.delete_value(b"k", b"2")
        self.assertEqual(list(tree.values_of(b"k")), [b"1", b"3"])
        tree.put(b"k", b"5")
        self.assertEqual(tree.pop(b"k"), b"1")
        self.assertEqual(list(tree.values_of(b"k")), [b"3", b"5"])
        tree.delete(b"k")
        self.assertEqual(list(tree), [b"l"])

    def test_expiry(self) -> None:
        tree = self.db.tree("expires", expires=True)
        now = int(time.time() * 1000)
        tree.put(b"never", b"", expires_at_ms=0)
        tree.put(b"later", b"", expires_at_ms=now + 10_000_000)
        tree.put(b"soon", b"", expires_after_ms=1)
        self.assertTrue(wait_until(lambda: b"soon" not in tree))
        self.assertEqual(list(tree), [b"later", b"never"])
        self.assertEqual(tree.expires_at(b"later"), now + 10_000_000)
        self.assertEqual(tree.expires_at(b"never"), 0)
        with self.db.snapshot() as snapshot:
            self.assertGreaterEqual(snapshot.now_ms, now)
        cursor = tree.cursor()
        cursor.first()
        self.assertEqual(cursor.expires_at, now + 10_000_000)
        with self.assertRaises(ValueError):
            tree.put(b"k", b"", expires_at_ms=1, expires_after_ms=1)

    def test_subtrees(self) -> None:
        tree = self.db.tree("dirs", subtrees=True)
        home = tree.create_subtree(b"home")
        home[b"a"] = b"1"
        self.assertEqual(tree.subtree(b"home")[b"a"], b"1")
        self.assertEqual(tree.subtrees(), [b"home"])
        cursor = tree.cursor()
        self.assertTrue(cursor.first() and cursor.is_subtree)
        tree.move_subtree(b"home", tree, b"house")
        self.assertEqual(tree.clone_subtree(b"house", "copy")[b"a"], b"1")
        tree.detach(b"house", "alone")
        self.assertEqual(self.db["alone"][b"a"], b"1")
        tree.attach(b"again", "alone")
        self.assertEqual(sorted(self.db.trees()), ["copy", "dirs"])
        with self.db.transaction() as txn:
            inner = txn[tree].create_subtree(b"new")
            inner[b"x"] = b"y"
        self.assertEqual(dict(tree.subtree(b"new")), {b"x": b"y"})
        with self.assertRaises(hawthorn.NotFoundError):
            tree.subtree(b"none")

    def test_names(self) -> None:
        tree = self.db.tree("one")
        tree[b"k"] = b"v"
        self.db.rename_tree("one", "zwei ü")
        copy = self.db.clone_tree("zwei ü", "copy")
        copy[b"k"] = b"w"
        self.assertEqual(tree[b"k"], b"v")
        self.assertEqual(sorted(self.db.trees()), ["copy", "zwei ü"])
        self.db.drop_tree("copy")
        with self.assertRaises(hawthorn.NotFoundError):
            self.db["copy"]
        tree.set_compression(hawthorn.Compression.ZSTD)
        self.assertNotEqual(tree.id, self.db.tree("other").id)

    def test_snapshots(self) -> None:
        tree = self.db.tree("t")
        tree[b"k"] = b"1"
        snapshot = self.db.snapshot()
        self.db.create_snapshot("named")
        tree[b"k"] = b"2"
        self.db.tree("later")
        self.assertEqual(snapshot[tree][b"k"], b"1")
        self.assertEqual(snapshot["t"].multi_get([b"k"]), [b"1"])
        self.assertEqual(snapshot.trees(), ["t"])
        self.assertTrue(tree.changed_since(b"k", snapshot))
        self.assertFalse(tree.changed_since(b"x", snapshot))
        self.assertGreater(snapshot.timestamp, 0)
        with self.assertRaises(TypeError):
            snapshot[tree][b"k"] = b""  # type: ignore[index]
        view = snapshot[tree]
        snapshot.close()
        with self.assertRaises(hawthorn.ClosedError):
            view[b"k"]
        self.open_again()
        self.assertEqual([row["name"] for row in self.db.snapshots()], ["named"])
        with self.db.snapshot("named") as named:
            self.assertEqual(dict(named["t"]), {b"k": b"1"})
        self.db.drop_snapshot("named")
        with self.assertRaises(hawthorn.NotFoundError):
            self.db.snapshot("named")


if __name__ == "__main__":
    unittest.main()
