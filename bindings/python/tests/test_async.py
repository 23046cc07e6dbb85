"""Gets that do not wait, by asyncio."""

from __future__ import annotations

import asyncio
import unittest

from base import DatabaseTest, wait_until

import hawthorn


class Async(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.tree = self.db.tree("t")
        with self.db.batch() as batch:
            for i in range(5000):
                batch.put(self.tree, b"%05d" % i, b"%d" % i * 100)

    def test_gets(self) -> None:
        async def run() -> None:
            async with self.db.async_reader(depth=8) as reader:
                self.assertEqual(await reader.get(self.tree, b"00007"), b"7" * 100)
                self.assertIsNone(await reader.get(self.tree, b"none"))
                keys = [b"%05d" % (i * 7919 % 6000) for i in range(3000)]
                expected = self.tree.multi_get(keys)
                self.assertEqual(await reader.multi_get(self.tree, keys), expected)
                self.assertEqual(reader.pending, 0)

        asyncio.run(run())

    def test_gets_from_disk(self) -> None:
        """More than the budget holds, read after it was opened again."""
        with self.db.tree("large").ingest() as load:
            for i in range(60_000):
                load.add(b"%06d" % i, b"%d" % i * 150)
        db = self.open_again()
        tree = db["large"]

        async def run() -> int:
            turns = 0

            async def count_turns() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            counter = asyncio.ensure_future(count_turns())
            async with db.async_reader() as reader:
                keys = [b"%06d" % (i * 7919 % 60_000) for i in range(2000)]
                got = await reader.multi_get(tree, keys)
            counter.cancel()
            self.assertEqual(got, tree.multi_get(keys))
            return turns

        # On a slow machine all may be there before the loop has had its first turn.
        self.assertTrue(wait_until(lambda: asyncio.run(run()) > 1))

    def test_snapshots_and_cancelling(self) -> None:
        async def run() -> None:
            reader = self.db.async_reader()
            with self.db.snapshot() as snapshot:
                self.tree[b"00001"] = b"new"
                self.assertEqual(await reader.get(snapshot[self.tree], b"00001"), b"1" * 100)
            self.assertEqual(await reader.get(self.tree, b"00001"), b"new")
            cancelled = reader.get(self.tree, b"00002")
            cancelled.cancel()
            self.assertEqual(await reader.get(self.tree, b"00003"), b"3" * 100)
            with self.assertRaises(ValueError):
                reader.get(self.db.transaction()[self.tree], b"00001")
            left = reader.get(self.tree, b"00004")
            reader.close()
            with self.assertRaises(hawthorn.ClosedError):
                await left
            with self.assertRaises(hawthorn.ClosedError):
                reader.get(self.tree, b"00004")
            left = (other := self.db.async_reader()).get(self.tree, b"00004")
            self.db.close()  # below the reader
            with self.assertRaises(hawthorn.ClosedError):
                await left
            other.close()

        asyncio.run(run())
        with self.assertRaises(ValueError):
            hawthorn.open(self.path).async_reader(depth=5000)

    def test_one_loop(self) -> None:
        reader = self.db.async_reader()

        async def get() -> bytes | None:
            return await reader.get(self.tree, b"00001")

        self.assertEqual(asyncio.run(get()), b"1" * 100)
        with self.assertRaises(RuntimeError):
            asyncio.run(get())


if __name__ == "__main__":
    unittest.main()
