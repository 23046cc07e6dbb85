"""What tests share: a database of their own in a directory that goes with the test."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from typing import Any, ClassVar

import hawthorn


# No wait lasts as long, but where something hangs: no test says how long anything takes.
HANG_SECONDS = 240


def wait_until(done: Callable[[], object]) -> bool:
    """Looks again and again until it is so; False: it hangs."""
    end = time.monotonic() + HANG_SECONDS
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


class DatabaseTest(unittest.TestCase):
    """`self.db` is open; `self.open_again` closes and opens it."""

    options: ClassVar[dict[str, Any]] = {"memory_budget_bytes": "32M"}

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="hawthorn-python-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.path = os.path.join(directory.name, "db")
        self.db = hawthorn.open(self.path, **self.options)
        self.addCleanup(lambda: self.db.close())

    def place(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def open_again(self, options: Any = None) -> hawthorn.Database:
        self.db.close()
        self.db = (
            hawthorn.open(self.path, options)
            if options
            else hawthorn.open(self.path, **self.options)
        )
        return self.db

    def child(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        """A process of its own that runs a program of Python."""
        command = [sys.executable, "-c", program, *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
