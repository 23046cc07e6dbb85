"""A database: opening, trees, transactions, snapshots, maintenance, figures."""

from __future__ import annotations

import atexit
import os
import random
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from . import _hawthorn as _c
from . import _options
from ._copies import Progress, Repository, write_of
from ._errors import Error
from ._feed import Feed, Replica
from ._options import Options
from ._reader import AsyncReader
from ._transaction import Batch, Transaction
from ._tree import ReadTree, Tree
from ._types import (
    Durability,
    Isolation,
    Mode,
    Path,
    name_bytes,
    path_bytes,
    tree_options,
)

T = TypeVar("T")
_SYNC, _FLUSH, _COMPACT, _DRAIN, _WARM_UP, _ROTATE_DATA_KEY = range(6)
_STATS, _ENCRYPTION, _SNAPSHOTS, _PREPARED, _FEEDS = range(5)
_opened: weakref.WeakSet[Database] = weakref.WeakSet()


class Snapshot:
    """A fixed view of all trees at one commit. Blocks nobody; keeps old versions while it is
    held. Threads: any number. Lifetime: until close, or the last reference has gone."""

    __slots__ = ("_db", "_handle")

    def __init__(self, db: Database, handle: _c.Handle) -> None:
        self._db = db
        self._handle = handle

    def __getitem__(self, tree: ReadTree | str) -> ReadTree:
        """A tree as it was then: of a Tree, or the one with a name. Errors: NotFoundError."""
        if isinstance(tree, str):
            found = _c.find_tree(self._db._handle, name_bytes(tree), self._handle)
            return ReadTree(self._db, self._db._handle, found, self._handle)
        return ReadTree(self._db, self._db._handle, tree._tree, self._handle)

    def __contains__(self, name: object) -> bool:
        """Whether there is a tree with this name."""
        return name in self.trees()

    def __iter__(self) -> Iterator[str]:
        """The names of all trees."""
        return iter(self.trees())

    def trees(self) -> list[str]:
        """The names of all trees."""
        return [row["name"] for row in _c.list_trees(self._db._handle, self._handle)]

    @property
    def timestamp(self) -> int:
        """The timestamp of the commit that it shows."""
        return _c.snapshot_times(self._db._handle, self._handle)[0]

    @property
    def now_ms(self) -> int:
        """Entries that end up to here, in milliseconds since 1970, have ended for it."""
        return _c.snapshot_times(self._db._handle, self._handle)[1]

    def close(self) -> None:
        """Frees it. Errors: BusyError while another thread reads by it."""
        _c.close(self._handle)

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Database:
    """An open database; `hawthorn.open` makes it. As a context manager it is closed at the end.

    Threads: any number at a time, trees and snapshots too. Calls release the GIL.
    Errors, where a method names none of its own: CorruptionError, IoError, ClosedError,
    ForkedError, InvalidArgumentError.
    """

    def __init__(self, handle: _c.Handle, path: Path) -> None:
        self._handle = handle
        #: The directory, as it was given.
        self.path = path
        _opened.add(self)

    def close(self) -> None:
        """Flushes everything and closes. What was made from it is closed first: transactions are
        aborted, cursors and queues end. All that is asked afterwards raises ClosedError. Errors:
        BusyError while other threads use it, or views of values are held: then it stays open.
        With others it is closed, and the next open has from the log what was not flushed. In a
        child of fork nothing happens to the database, which is its parent's."""
        _c.close(self._handle)
        _opened.discard(self)

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return _c.is_open(self._handle)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<hawthorn.Database {self.path!r}>"

    @property
    def id(self) -> str:
        """What the database has been known by since it was made: 32 hexadecimal digits."""
        return _c.database_id(self._handle)

    # ---- Trees

    def tree(
        self,
        name: str,
        *,
        order: str | None = None,
        value_order: str | None = None,
        multi_value: bool = False,
        expires: bool = False,
        subtrees: bool = False,
        ttl_ms: int = 0,
    ) -> Tree:
        """Opens a tree, making it when missing, which is durable then. Without options: as it is,
        or an ordinary one. order: of keys ("bytewise", "reverse" and others of key_order.h, or
        those of the options); value_order: of the values of a key; multi_value: a key may have
        several; expires: entries may end; ttl_ms: when, unless their put says otherwise;
        subtrees: values may be trees. Errors: InvalidArgumentError where there is one with other
        options, or for an order that nobody knows; ReadOnlyError; NoSpaceError."""
        shape = tree_options(order, value_order, multi_value, expires, subtrees, ttl_ms)
        return Tree(self, self._handle, _c.tree(self._handle, name_bytes(name), *shape))

    def __getitem__(self, name: str) -> Tree:
        """A tree that is there. Errors: NotFoundError."""
        return Tree(self, self._handle, _c.find_tree(self._handle, name_bytes(name), None))

    def __contains__(self, name: object) -> bool:
        """Whether there is a tree with this name."""
        return name in self.trees()

    def __iter__(self) -> Iterator[str]:
        """The names of all trees."""
        return iter(self.trees())

    def trees(self) -> list[str]:
        """The names of all trees."""
        return [row["name"] for row in _c.list_trees(self._handle, None)]

    def drop_tree(self, name: str) -> None:
        """Removes a tree and all below it. Durable when it returns. Errors: NotFoundError;
        BusyError while a prepared transaction uses it."""
        _c.drop_tree(self._handle, name_bytes(name))

    def rename_tree(self, name: str, to: str) -> None:
        """Durable when it returns. Errors: NotFoundError; InvalidArgumentError for a name that is
        taken."""
        _c.rename_tree(self._handle, name_bytes(name), name_bytes(to))

    def clone_tree(
        self, name: str, to: str, *, durability: Durability = Durability.DEFAULT
    ) -> Tree:
        """A tree that begins with all that another one holds, without a look at it. Errors:
        NotFoundError; InvalidArgumentError for a name that is taken; NotSupportedError."""
        cloned = _c.clone_tree(self._handle, name_bytes(name), name_bytes(to), durability)
        return Tree(self, self._handle, cloned)

    # ---- Transactions and batches

    def transaction(
        self,
        mode: Mode = Mode.OPTIMISTIC,
        isolation: Isolation = Isolation.SNAPSHOT,
        *,
        durability: Durability = Durability.DEFAULT,
        read_only: bool = False,
        lock_timeout_ms: int | None = None,
        snapshot: Snapshot | None = None,
    ) -> Transaction:
        """Begins a transaction. durability: of its commit; lock_timeout_ms: how long a write or
        lock waits for a row (0: not at all; None: as the database's options say); snapshot: the
        moment that it reads. Errors: ReadOnlyError; BusyError; TimedOutError of exclusive
        ones."""
        reads = None if snapshot is None else snapshot._handle
        handle = _c.begin(self._handle, mode, isolation, read_only, lock_timeout_ms, reads)
        return Transaction(self, handle, durability)

    def run(
        self,
        work: Callable[[Transaction], T],
        mode: Mode = Mode.OPTIMISTIC,
        isolation: Isolation = Isolation.SNAPSHOT,
        *,
        durability: Durability = Durability.DEFAULT,
        lock_timeout_ms: int | None = None,
        attempts: int = 100,
    ) -> T:
        """Calls work(transaction) and commits, again after a conflict or deadlock, up to so many
        times, with pauses that grow; returns what `work` has returned. It must do nothing else
        that cannot be done twice. Other exceptions abort, and leave."""
        for attempt in range(attempts):
            transaction = self.transaction(
                mode, isolation, durability=durability, lock_timeout_ms=lock_timeout_ms
            )
            try:
                with transaction:
                    return work(transaction)
            except Error as error:
                if not error.retryable or attempt + 1 >= attempts:
                    raise
            time.sleep(random.random() * min(0.0002 * 2**attempt, 0.05))
        raise ValueError("attempts must be 1 or more")

    def batch(self, *, durability: Durability = Durability.DEFAULT) -> Batch:
        """A list of writes that become one commit."""
        return Batch(self, durability)

    def prepared(self) -> list[dict[str, Any]]:
        """Transactions that are prepared: id, operations, timestamp, prepared_at_us."""
        return _c.list_of(self._handle, _PREPARED)

    def commit_prepared(self, id: str, durability: Durability = Durability.DEFAULT) -> None:
        """Commits a transaction that was prepared. Errors: NotFoundError; NoSpaceError,
        ReadOnlyError, IoError: it stays prepared."""
        _c.commit_prepared(self._handle, name_bytes(id), durability)

    def rollback_prepared(self, id: str) -> None:
        """Ends one; nothing of it remains. Durable when it returns. Errors: NotFoundError."""
        _c.rollback_prepared(self._handle, name_bytes(id))

    # ---- Snapshots

    def snapshot(self, name: str | None = None) -> Snapshot:
        """All trees at the newest commit, or at a snapshot with a name. Errors: NotFoundError."""
        encoded = None if name is None else name_bytes(name)
        return Snapshot(self, _c.snapshot(self._handle, encoded))

    def create_snapshot(self, name: str) -> None:
        """Keeps this moment under a name, over restarts, until it is dropped. Durable when it
        returns. Errors: InvalidArgumentError for a name that is taken; NoSpaceError;
        ReadOnlyError."""
        _c.create_snapshot(self._handle, name_bytes(name))

    def drop_snapshot(self, name: str) -> None:
        """Durable when it returns. Errors: NotFoundError."""
        _c.drop_snapshot(self._handle, name_bytes(name))

    def snapshots(self) -> list[dict[str, Any]]:
        """Those with names: name, timestamp, created_us."""
        return _c.list_of(self._handle, _SNAPSHOTS)

    # ---- Reads that do not wait

    def async_reader(self, depth: int = 16) -> AsyncReader:
        """Gets for asyncio: many on their way to the disk at once (1 to 4096), of one thread."""
        return AsyncReader(_c.queue(self._handle, depth))

    # ---- The database as a whole

    def sync(self) -> None:
        """Makes every commit so far durable as FULL would. Errors: also ReadOnlyError."""
        _c.maintain(self._handle, _SYNC)

    def flush(self) -> None:
        """Writes all unflushed data to its containers. Durable. Errors: also ReadOnlyError."""
        _c.maintain(self._handle, _FLUSH)

    def compact(self) -> None:
        """Flushes, shows all entries to the flush filters, and rewrites what carries garbage."""
        _c.maintain(self._handle, _COMPACT)

    def drain(self) -> None:
        """Waits until background work has nothing left to do."""
        _c.maintain(self._handle, _DRAIN)

    def warm_up(self) -> None:
        """Reads the indexes of all trees into memory."""
        _c.maintain(self._handle, _WARM_UP)

    def set_memory_budget(self, bytes: int) -> None:
        """Errors: InvalidArgumentError below the minimum; OutOfMemoryError."""
        _c.set_memory_budget(self._handle, bytes)

    def set_background_io_limit(self, bytes_per_second: int) -> None:
        """0: no limit."""
        _c.set_background_io_limit(self._handle, bytes_per_second)

    def encryption(self) -> dict[str, Any]:
        """encrypted, key_id, generation, data_keys, data_key."""
        return _c.list_of(self._handle, _ENCRYPTION)[0]

    def rotate_key(self, key_id: str) -> None:
        """The key with this id opens the database from now on. Durable when it returns."""
        _c.rotate_key(self._handle, name_bytes(key_id))

    def rotate_data_key(self) -> None:
        """A new data key for what is written from now on. Errors: NotSupportedError beyond 64."""
        _c.maintain(self._handle, _ROTATE_DATA_KEY)

    def stats(self) -> dict[str, Any]:
        """All figures of this moment, by their names in stats.h; `trees`, `feeds`,
        `named_snapshots` and `followers` are lists."""
        return _c.list_of(self._handle, _STATS)[0]

    def stat(self, name: str) -> int:
        """One figure, such as "commits". Errors: NotFoundError."""
        return _c.stat(self._handle, name_bytes(name))

    def check(
        self,
        *,
        skip_values: bool = False,
        skip_files: bool = False,
        threads: int = 1,
        bytes_per_second: int = 0,
        errors_max: int = 0,
        progress: Callable[[int, int], Any] | None = None,
    ) -> dict[str, Any]:
        """Reads all that is on disk and verifies it, while the database is in use. Damage is no
        error of the call: the report has `ok`, and `items` says what was found. progress(done,
        all) counts containers. errors_max: that are told, 0: 1000."""
        return _c.check(
            self._handle, skip_values, skip_files, threads, bytes_per_second, errors_max, progress
        )[0]

    # ---- Copies. Errors of all: ReadOnlyError, BusyError, NoSpaceError, InvalidArgumentError for
    # a directory with other contents; what `progress` and sinks raise, which ends the copy.

    def checkpoint(
        self,
        directory: Path,
        *,
        bytes_per_second: int = 0,
        progress: Progress | None = None,
        copy_blocks: bool = False,
    ) -> None:
        """Makes a database of its own in a directory that is missing or empty. Durable.
        copy_blocks: also where the file system could share them."""
        target = path_bytes(directory)
        _c.checkpoint(self._handle, target, bytes_per_second, progress, copy_blocks, None)

    def backup(
        self,
        repository: Repository,
        *,
        bytes_per_second: int = 0,
        progress: Progress | None = None,
        full: bool = False,
    ) -> dict[str, Any]:
        """Adds a backup to a repository: only what it has not yet, unless it is to be full.
        Returns id, created_us, bytes, bytes_stored, bytes_read, incremental, encrypted."""
        store = repository._handle
        return _c.backup(self._handle, store, bytes_per_second, progress, full, None)[0]

    def backup_to(
        self, sink: Any, *, bytes_per_second: int = 0, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Writes a backup to a binary file, or gives it to a function, 1 MB or so at a time."""
        write = write_of(sink)
        return _c.backup_to(self._handle, write, bytes_per_second, progress, False, None)[0]

    # ---- What others read of it

    def create_feed(self, name: str, log_bytes_max: int | None = None) -> None:
        """Makes a change feed behind the present moment, durably. log_bytes_max: how much log may
        be kept for it; 0: no limit, None: 4 GB. Errors: InvalidArgumentError for a name that is
        taken; NotSupportedError beside trees that may hang in trees."""
        _c.create_feed(self._handle, name_bytes(name), log_bytes_max)

    def drop_feed(self, name: str) -> None:
        """Errors: NotFoundError; BusyError for one that is open."""
        _c.drop_feed(self._handle, name_bytes(name))

    def feeds(self) -> list[dict[str, Any]]:
        """name, position, created_us, log_bytes_max, log_bytes, lost, open."""
        return _c.list_of(self._handle, _FEEDS)

    def feed(self, name: str) -> Feed:
        """Reads a feed from its position on. Errors: NotFoundError; BusyError; TooOldError where
        it is lost."""
        return Feed(_c.feed(self._handle, name_bytes(name), 0))

    def feed_at(self, timestamp: int) -> Feed:
        """Reads behind any timestamp, for which nothing is kept. Errors: TooOldError."""
        return Feed(_c.feed(self._handle, None, timestamp))

    def replica(self) -> Replica:
        """What keeps this database equal to another one: it is a replica already, or holds no
        tree."""
        return Replica(_c.replica(self._handle))


def open(
    path: Path, options: Options | Mapping[str, Any] | None = None, /, **named: Any
) -> Database:
    """Opens the database in the directory, and creates or recovers it as needed. Options are an
    Options object, or their names: `open("db", memory_budget_bytes="512M", compression="lz4")`.
    Errors: NotFoundError; BusyError when another process has it open; NotSupportedError for a
    newer format; CorruptionError; PermissionDeniedError; ReadOnlyError for a read-only medium;
    InvalidArgumentError for options out of range."""
    return Database(_c.open(path_bytes(path), _options.make(options, named)), path)


def destroy(path: Path, options: Options | None = None) -> None:
    """Removes the files of a database. Errors: NotFoundError; BusyError; CorruptionError while a
    copy is being made there."""
    _c.destroy(path_bytes(path), _options.make(options, {}))


def read_counters(directory: Path) -> dict[str, Any]:
    """Figures of a database that any process has open, or had: pid, alive and others, and
    `entries` with name, value, grows. Errors: NotFoundError; CorruptionError;
    NotSupportedError."""
    return _c.read_counters(path_bytes(directory))[0]


def repair(
    source: Path,
    target: Path,
    options: Options | None = None,
    *,
    ignore_manifest: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> dict[str, Any]:
    """Makes a new database at `target`, which must not exist, of what is readable of the one at
    `source`. The report has `ok`, `trees` and `losses`. ignore_manifest: looks for containers in
    the data files. Errors: InvalidArgumentError where the target exists; NotFoundError;
    BusyError when it is open; CorruptionError where its file of keys is lost; NoSpaceError."""
    chosen = _options.make(options, {})
    return _c.repair(path_bytes(source), path_bytes(target), chosen, ignore_manifest, progress)[0]


_process = os.getpid()


@atexit.register
def _close_all() -> None:
    """Threads of the library must not call Python any more when the interpreter ends."""
    for db in list(_opened) if os.getpid() == _process else ():
        try:
            db.close()
        except Error:
            pass  # nothing that was committed is lost; callbacks are silent from now on
    _c.shut_down()
