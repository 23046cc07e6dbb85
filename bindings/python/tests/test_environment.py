"""What the environment takes away while a database works, and gives back.

A process of its own (this file, run as a program) writes, reads, walks, flushes, opens a second
database and forks, while it is short of something. What was acknowledged has to be there, a
transaction is there whole or not at all, each error names the cause, and behind the shortage all
works again without a new open.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest
from collections.abc import Callable, Iterator

from base import HANG_SECONDS, wait_until

import hawthorn

SKIPPED = 77
THREADS = 3
SLOTS = 6
PARTS = 3
ROUNDS = 24  # of each thread before, in and behind the shortage


class Slot:
    """What its thread wrote last, and what may be there in its place."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self.unknown: set[int] = set()


class Shortage:
    """Nothing is short; derived classes take something."""

    #: An error of the system's that has to be in the words of errors.
    error = 0
    #: Whether a run without an error would show nothing.
    must_refuse = False
    #: Whether it may fail a write of the log, behind which a database goes on when opened anew.
    may_end = False

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.path = "db"

    def prepare(self) -> None:
        """Before the database is opened."""

    def take(self) -> None: ...

    def give_back(self) -> None: ...

    def names_cause(self, error: Exception) -> bool:
        return isinstance(error, hawthorn.Error) and os.strerror(self.error) in str(error)


class Limited(Shortage):
    """By a limit of the process."""

    limit = 0

    def amount(self) -> int:
        raise NotImplementedError

    def take(self) -> None:
        self.before = resource.getrlimit(self.limit)
        resource.setrlimit(self.limit, (self.amount(), self.before[1]))

    def give_back(self) -> None:
        resource.setrlimit(self.limit, self.before)


class Descriptors(Limited):
    error = errno.EMFILE
    must_refuse = True
    limit = resource.RLIMIT_NOFILE

    def amount(self) -> int:
        free = os.dup(2)
        os.close(free)
        return free


class FileSize(Limited):
    error = errno.EFBIG
    must_refuse = True
    may_end = True
    limit = resource.RLIMIT_FSIZE

    def amount(self) -> int:
        return 64 << 10


class Memory(Limited):
    error = errno.ENOMEM
    limit = resource.RLIMIT_AS

    def amount(self) -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize() + (2 << 20)

    def names_cause(self, error: Exception) -> bool:
        return isinstance(error, MemoryError) or super().names_cause(error)


class Threads(Limited):
    error = errno.EAGAIN
    limit = resource.RLIMIT_NPROC

    def prepare(self) -> None:
        # Root has no limit; and the limit counts all processes of a user.
        user = 2_000_000_000 + os.getpid()
        try:
            os.chown(".", user, user)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError:
            sys.exit(SKIPPED)
        if not os.access(self.directory, os.R_OK | os.W_OK | os.X_OK):
            sys.exit(SKIPPED)

    def amount(self) -> int:
        return 0

    def names_cause(self, error: Exception) -> bool:
        # That of a fork is Python's own.
        is_fork = isinstance(error, OSError) and error.errno == errno.EAGAIN
        return is_fork or super().names_cause(error)


class Chdir(Shortage):
    def take(self) -> None:
        os.chdir("/")

    def give_back(self) -> None:
        os.chdir(self.directory)


class Rename(Shortage):
    def take(self) -> None:
        os.rename(f"{self.directory}/db", f"{self.directory}/moved")

    def give_back(self) -> None:
        os.rename(f"{self.directory}/moved", f"{self.directory}/db")


SHORTAGES = {kind.__name__: kind for kind in
             (Shortage, Descriptors, FileSize, Memory, Threads, Chdir, Rename)}


class Life:
    """A database and the threads that use it."""

    def __init__(self, shortage: Shortage) -> None:
        self.shortage = shortage
        self.is_short = False
        self.ends = False
        self.refused = 0
        self.wrong: list[str] = []
        self.rounds = [0] * THREADS
        self.versions = [0] * THREADS
        self.slots = [[Slot() for _ in range(SLOTS)] for _ in range(THREADS)]
        self.open()

    def open(self) -> None:
        self.db = hawthorn.open(self.shortage.path, memory_budget_bytes="16M")
        self.tree = self.db.tree("t")

    def fail(self, what: str) -> None:
        self.wrong.append(what)
        self.ends = True

    def judge(self, error: Exception, what: str, may_be_short: bool) -> None:
        self.refused += 1
        if not may_be_short:
            self.fail(f"{what}, when nothing is short: {error!r}\n{traceback.format_exc()}")
        elif not self.shortage.names_cause(error):
            self.fail(f"{what}: the error does not name the cause: {error!r}")

    @staticmethod
    def key(thread: int, slot: int, part: int) -> bytes:
        return b"%d/%02d/%d" % (thread, slot, part)

    @staticmethod
    def value(thread: int, version: int) -> bytes:
        size = 1000 + version * 7919 % 30_000
        return b"%d/%d" % (thread, version) + bytes([version % 251]) * size

    def write(self, thread: int) -> None:
        self.versions[thread] += 1
        version = self.versions[thread]
        number = version % SLOTS
        slot = self.slots[thread][number]
        slot.unknown.add(version)
        with self.db.transaction() as txn:
            tree = txn[self.tree]
            for part in range(PARTS):
                tree[self.key(thread, number, part)] = self.value(thread, version)
        slot.acknowledged = version
        slot.unknown = set()

    def write_and_note(self, thread: int) -> None:
        try:
            self.write(thread)
        except Exception as error:
            version = self.versions[thread]
            # Python's own MemoryError may come behind the commit.
            known = isinstance(error, hawthorn.Error) and not isinstance(
                error, hawthorn.UnknownOutcomeError)
            if known:
                self.slots[thread][version % SLOTS].unknown.discard(version)
            raise

    def check_slot(self, thread: int, number: int) -> None:
        slot = self.slots[thread][number]
        found = [self.tree.get(self.key(thread, number, part)) for part in range(PARTS)]
        allowed = [slot.acknowledged, *slot.unknown]
        for version in allowed:
            value = self.value(thread, version) if version else None
            if found == [value] * PARTS:
                return
        starts = [value and value[:20] for value in found]
        self.fail(f"slot {thread}/{number} has {starts}, and not one of {allowed}")

    def walk(self, thread: int) -> None:
        keys = list(self.tree.range(prefix=b"%d/" % thread).each_key())
        if keys != sorted(keys) or len(keys) % PARTS != 0:
            self.fail(f"a walk of {thread} finds {keys}")

    def small_life(self, path: str) -> None:
        with hawthorn.open(path, memory_budget_bytes="16M") as other:
            tree = other.tree("t")
            tree[b"key"] = b"value"
            if tree[b"key"] != b"value":
                self.fail(f"{path} has another value")

    def fork(self) -> None:
        was_short = self.is_short
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with contextlib.suppress(hawthorn.ForkedError):
                    self.tree.get(b"key")
                    os._exit(2)
                self.db.close()
                self.small_life(f"{self.shortage.directory}/child")
                code = 0
            except Exception as error:
                code = 0 if was_short and self.shortage.names_cause(error) else 3
                if code != 0:
                    traceback.print_exc()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0:
            self.fail(f"a child of fork has ended with {code}")

    def round(self, thread: int, number: int) -> None:
        steps: list[tuple[str, Callable[[], object]]] = [
            ("a write", lambda: self.write_and_note(thread)),
            ("a get", lambda: self.check_slot(thread, number % SLOTS))]
        if number % 4 == 1:
            steps.append(("a walk", lambda: self.walk(thread)))
        if number % 6 == thread:
            steps.append(("a flush", self.db.flush))
        if thread == 1 and number % 5 == 0:
            path = f"{self.shortage.directory}/second"
            steps.append(("a second database", lambda: self.small_life(path)))
        if thread == 2 and number % 8 == 0:
            steps.append(("a fork", self.fork))
        for what, step in steps:
            was_short = self.is_short
            try:
                step()
            except Exception as error:
                self.judge(error, what, was_short or self.is_short)

    def work(self, thread: int) -> None:
        while not self.ends:
            with contextlib.suppress(MemoryError):  # between the steps
                self.round(thread, self.rounds[thread])
            self.rounds[thread] += 1

    def wait_for_rounds(self) -> None:
        """Until each thread has done its number of them."""
        ends = [before + ROUNDS for before in self.rounds]
        if not wait_until(lambda: self.ends or all(
                now >= end for now, end in zip(self.rounds, ends, strict=True))):
            self.fail("a thread hangs")

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """All threads are at work."""
        threads = [threading.Thread(target=self.work, args=(thread,)) for thread in range(THREADS)]
        for thread in threads:
            thread.start()
        yield
        self.ends = True
        for thread in threads:
            thread.join()
        self.ends = bool(self.wrong)

    def check_all(self) -> None:
        for thread in range(THREADS):
            for number in range(SLOTS):
                self.check_slot(thread, number)
            self.walk(thread)
        report = self.db.check()
        if not report["ok"]:
            self.fail(f"check: {report}")

    def give_back(self) -> None:
        self.shortage.give_back()
        self.is_short = False

    def run(self) -> None:
        with self.working():
            self.wait_for_rounds()
            self.is_short = True
            self.shortage.take()
            self.wait_for_rounds()
            if not self.shortage.may_end:
                self.give_back()
        if self.shortage.may_end:
            self.give_back()
            with contextlib.suppress(hawthorn.Error):
                self.db.close()
            self.open()
        with self.working():
            self.wait_for_rounds()
        if self.shortage.must_refuse and self.refused == 0:
            self.fail("nothing was refused")
        self.check_all()
        self.db.close()
        self.open()
        self.check_all()
        self.db.close()


def main(name: str, directory: str) -> int:
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    os.chdir(directory)
    shortage = SHORTAGES[name](directory)
    shortage.prepare()
    life = Life(shortage)
    life.run()
    print(f"{sum(life.versions)} writes, {life.refused} refused")
    for what in life.wrong:
        print(what)
    return 1 if life.wrong else 0


class Environment(unittest.TestCase):
    def live_with(self, name: str) -> None:
        directory = tempfile.mkdtemp(prefix="hawthorn-python-")
        self.addCleanup(shutil.rmtree, directory)
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", __file__, name, directory],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == SKIPPED:
            self.skipTest("another user, of whom the directory would be: only root can be one")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_nothing_is_short(self) -> None:
        self.live_with("Shortage")

    def test_descriptors(self) -> None:
        self.live_with("Descriptors")

    def test_sizes_of_files(self) -> None:
        self.live_with("FileSize")

    def test_memory(self) -> None:
        self.live_with("Memory")

    def test_threads(self) -> None:
        self.live_with("Threads")

    def test_the_working_directory_changes(self) -> None:
        self.live_with("Chdir")

    def test_the_directory_gets_another_name(self) -> None:
        self.live_with("Rename")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
