"""Types, documentation, and arrays of NumPy without a copy."""

from __future__ import annotations

import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from base import DatabaseTest

import hawthorn

PROGRAM = """
import hawthorn

with hawthorn.open("db", memory_budget_bytes="64M") as db:
    tree = db.tree("t")
    tree[b"k"] = b"v"
    value: bytes | None = tree.get(b"k")
    number: int = db.run(lambda txn: len(txn[tree]))
    for key, value in tree.range(b"a", b"b"):
        length: int = len(key) + len(value)
    async def get() -> bytes | None:
        async with db.async_reader() as reader:
            return await reader.get(tree, b"k")
"""
WRONG = """
import hawthorn

with hawthorn.open("db") as db:
    tree = db.tree("t")
    tree["k"] = b"v"
    tree.put(b"k", 5)
    n: str = len(tree)
    db.snapshot()[tree].put(b"k", b"v")
"""


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class Types(unittest.TestCase):
    cache: str

    @classmethod
    def setUpClass(cls) -> None:
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.cache = directory.name

    def mypy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.cache, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.cache, check=False)

    def test_package(self) -> None:
        done = self.mypy("-p", "hawthorn")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_programs(self) -> None:
        done = self.mypy("-c", PROGRAM)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.mypy("-c", WRONG)
        for line in (6, 7, 8, 9):
            self.assertIn(f"<string>:{line}: error", done.stdout)

    def test_example_and_bench(self) -> None:
        here = os.path.dirname(os.path.abspath(__file__))
        for name in ("examples/job_queue.py", "bench/bench.py"):
            done = self.mypy(os.path.join(here, "..", name))
            self.assertEqual(done.returncode, 0, done.stdout)


class Documentation(unittest.TestCase):
    def test_every_public_name_is_documented(self) -> None:
        self.assertTrue(hawthorn.__doc__)
        for name in hawthorn.__all__:
            thing: Any = getattr(hawthorn, name)
            if inspect.isclass(thing) and thing.__module__.startswith("hawthorn"):
                self.assertTrue(thing.__doc__, name)
                for member_name, member in vars(thing).items():
                    plain = getattr(member, "__func__", getattr(member, "fget", member))
                    if not member_name.startswith("_") and inspect.isfunction(plain):
                        self.assertTrue(inspect.getdoc(getattr(thing, member_name)), member_name)
                        self.assertIn("return", plain.__annotations__, f"{name}.{member_name}")
            elif inspect.isfunction(thing):
                self.assertTrue(thing.__doc__, name)

    def test_py_typed(self) -> None:
        directory = os.path.dirname(hawthorn.__file__)
        for name in ("py.typed", "_hawthorn.pyi"):
            self.assertTrue(os.path.exists(os.path.join(directory, name)))

    def test_versions(self) -> None:
        self.assertRegex(hawthorn.__version__, r"^\d+\.\d+\.\d+$")
        self.assertEqual(hawthorn.LIMITS["key_bytes"], 65535)
        self.assertGreaterEqual(hawthorn.FORMAT_VERSION, 1)

    def test_stub_has_every_function(self) -> None:
        from hawthorn import _hawthorn

        directory = os.path.dirname(hawthorn.__file__)
        with open(os.path.join(directory, "_hawthorn.pyi"), encoding="utf-8") as file:
            stub = {line.split("(")[0][4:] for line in file if line.startswith("def ")}
        functions = {name for name in dir(_hawthorn) if not name.startswith("_")} - {"Handle"}
        self.assertEqual(stub, functions)

    def test_readme(self) -> None:
        """The first program of README.md does what it says."""
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "README.md"), encoding="utf-8") as file:
            text = file.read()
        program = text.split("```python\n")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(
                [sys.executable, "-c", program], cwd=directory, capture_output=True, check=False
            )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, b"b'ada' b'1815'\nb'grace' b'1906'\n")


@unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
class Arrays(DatabaseTest):
    def test_columns_are_arrays(self) -> None:
        import numpy as np

        tree = self.db.tree("t")
        tree.update((i.to_bytes(8, "big"), (i * i).to_bytes(8, "little")) for i in range(1000))
        (columns,) = tree.range().columns()
        keys = np.frombuffer(columns.keys, dtype=">u8")
        squares = np.frombuffer(columns.values, dtype="<u8")
        offsets = np.frombuffer(columns.value_offsets, dtype=np.int64)
        self.assertTrue((squares == keys.astype(np.uint64) ** 2).all())
        self.assertTrue((offsets == np.arange(1001) * 8).all())
        self.assertTrue(np.shares_memory(squares, np.frombuffer(columns.values, dtype="<u8")))
        # Keys from arrays: one call, answers as arrays.
        wanted = np.array([5, 7, 5000, 900], dtype=">u8")
        key_offsets = np.arange(5, dtype=np.int64) * 8
        answers = tree.multi_get_columns(wanted, key_offsets)
        self.assertEqual(np.frombuffer(answers.found, dtype=np.uint8).tolist(), [1, 1, 0, 1])
        values = np.frombuffer(answers.values, dtype="<u8")
        self.assertEqual(values.tolist(), [25, 49, 810_000])
        value = tree.get_view((3).to_bytes(8, "big"))
        assert value is not None
        array = np.frombuffer(value.data, dtype="<u8")
        self.assertEqual(array[0], 9)
        with self.assertRaises(hawthorn.BusyError):
            self.db.close()
        del array


if __name__ == "__main__":
    unittest.main()
