"""What is ended from outside: waits by signals, and threads by the end of the interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from base import HANG_SECONDS, DatabaseTest

import hawthorn
from hawthorn import Mode

#: Longer than any wait here, but where it hears of no signal: then it fails by its time limit.
LIMIT_MS = 60_000


class Interrupted(Exception):
    """What the handler of the signal raises."""


class Signals(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.tree = self.db.tree("t")

    @contextmanager
    def holding(self, mode: Mode) -> Iterator[None]:
        """Another thread has a transaction open that has written the row."""
        held, let_go = threading.Event(), threading.Event()

        def hold() -> None:
            with self.db.transaction(mode) as txn:
                txn[self.tree][b"row"] = b"held"
                held.set()
                let_go.wait(HANG_SECONDS)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(HANG_SECONDS)
        try:
            yield
        finally:
            let_go.set()
            holder.join()

    def interrupts(self, wait: Callable[[], Any]) -> None:
        """Signals come until one has interrupted the wait: their handler raises when it runs at
        the same place for the second time, which is a call that lasts."""
        places: list[Any] = [None]
        done = threading.Event()

        def on_signal(number: int, frame: Any) -> None:
            place = (frame, frame.f_lasti)
            if place == places[-1]:
                done.set()
                raise Interrupted
            places.append(place)

        def send() -> None:
            while not done.wait(0.001):
                os.kill(os.getpid(), signal.SIGUSR1)

        before = signal.signal(signal.SIGUSR1, on_signal)
        sender = threading.Thread(target=send)
        sender.start()
        try:
            with self.assertRaises(Interrupted):
                wait()
        finally:
            done.set()
            sender.join()
            signal.signal(signal.SIGUSR1, before)

    def begin(self, mode: Mode) -> hawthorn.Transaction:
        return self.db.transaction(mode, lock_timeout_ms=LIMIT_MS)

    def put_in(self, mode: Mode) -> None:
        with self.begin(mode) as txn:
            txn[self.tree][b"mine"] = b"?"
            txn[self.tree][b"row"] = b"mine"

    def test_of_a_row(self) -> None:
        with self.holding(Mode.PESSIMISTIC):
            self.interrupts(lambda: self.put_in(Mode.PESSIMISTIC))
            self.interrupts(lambda: self.begin(Mode.EXCLUSIVE))
            with self.begin(Mode.PESSIMISTIC) as txn:
                row = txn[self.tree]
                self.interrupts(lambda: row.get_for_update(b"row"))
        self.assertEqual(dict(self.tree), {b"row": b"held"})
        self.put_in(Mode.PESSIMISTIC)
        self.put_in(Mode.EXCLUSIVE)

    def test_of_an_exclusive_transaction(self) -> None:
        with self.holding(Mode.EXCLUSIVE):
            self.interrupts(lambda: self.begin(Mode.EXCLUSIVE))
            self.interrupts(lambda: self.put_in(Mode.PESSIMISTIC))
            self.interrupts(lambda: self.tree.put(b"plain", b"?"))  # this one has no limit
        self.assertEqual(dict(self.tree), {b"row": b"held"})
        self.put_in(Mode.EXCLUSIVE)

    def test_of_a_feed(self) -> None:
        self.db.create_feed("f")
        feed = self.db.feed("f")
        self.interrupts(lambda: feed.next(LIMIT_MS))
        self.tree[b"k"] = b"v"
        self.assertIsNotNone(feed.next(LIMIT_MS))

    def test_handlers_that_only_look(self) -> None:
        """They run during the wait, which goes on; they may use the database."""
        seen = threading.Event()
        places: list[Any] = [None]

        def on_signal(number: int, frame: Any) -> None:
            place = (frame, frame.f_lasti)
            if place == places[-1] and self.tree.get(b"row") is None:
                seen.set()
            places.append(place)

        before = signal.signal(signal.SIGUSR1, on_signal)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        got: list[bytes | None] = []

        def hold(held: threading.Event) -> None:
            with self.db.transaction(Mode.PESSIMISTIC) as txn:
                txn[self.tree][b"row"] = b"held"
                held.set()
                while not seen.wait(0.001):
                    os.kill(os.getpid(), signal.SIGUSR1)

        held = threading.Event()
        holder = threading.Thread(target=hold, args=(held,))
        with self.begin(Mode.PESSIMISTIC) as txn:
            row = txn[self.tree]
            holder.start()
            held.wait(HANG_SECONDS)
            try:
                got.append(row.get_for_update(b"row"))
            except hawthorn.ConflictError:
                got.append(None)  # it reads the moment before
        holder.join()
        self.assertEqual(len(got), 1)


PROGRAM = """
import sys, threading, hawthorn
kind = sys.argv[2]
options = hawthorn.Options(memory_budget_bytes='16M', durability='none')
called = threading.Event()
def told(result):
    def function(*arguments):
        called.set()
        return result(*arguments)
    return function
if kind == 'merge':
    options.add_merge_operator('it', told(lambda k, e, all: (e or b'')[:50] + b''.join(all)))
if kind == 'filter': options.set_flush_filter('t', told(lambda k, v: True))
if kind == 'hook': options.add_commit_hook(told(lambda *a: None), told(lambda *a: None))
if kind == 'listener': options.add_listener(told(lambda event, fields: None))
if kind == 'order': options.add_key_order('it', told(lambda k: k + b'x'), told(lambda s: s[:-1]))
if kind == 'comparator': options.add_key_comparator('it', told(lambda a, b: (a > b) - (a < b)))
if kind == 'log': options.on_log(told(lambda level, message: None))
db = hawthorn.open(sys.argv[1], options)
tree = db.tree('t', order='it' if kind in ('order', 'comparator') else None)
if kind == 'merge': tree.set_merge_operator('it')
def forever(work):
    while True: work()
def write():
    if kind == 'merge': tree.merge(b'k', b'a')
    else: tree.put(b'k', b'a')
    tree.get(b'k')
def work():
    if kind == 'stream':
        with db.transaction() as txn: txn[tree].put_stream(b's', 100, [b'x'] * 100)
    if kind == 'source':  # one that gives nothing for ever
        def none():
            called.set()
            threading.Event().wait()
            yield b''
        with db.transaction() as txn: txn[tree].put_stream(b's', 100, none())
    if kind == 'backup': db.backup_to(told(lambda piece: None), progress=lambda done: None)
    if kind == 'check': db.check(progress=told(lambda done, all: None))
    if kind in ('filter', 'log', 'listener'): db.flush(); db.compact()
    if kind in ('plain', 'stream'): called.set()
for _ in range(3): threading.Thread(target=forever, args=(write,), daemon=True).start()
threading.Thread(target=forever, args=(work,), daemon=True).start()
if kind != 'log': called.wait()
"""

KINDS = ("plain", "merge", "filter", "hook", "listener", "order", "comparator", "log", "stream",
         "source", "backup", "check")  # fmt: skip


class EndOfTheInterpreter(DatabaseTest):
    """Daemon threads are in calls, of which the library calls functions of Python."""

    def test_with_daemon_threads(self) -> None:
        for kind in KINDS:
            with self.subTest(kind):
                command = [sys.executable, "-c", PROGRAM, self.place(kind), kind]
                ended = subprocess.run(
                    command, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
                )
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
