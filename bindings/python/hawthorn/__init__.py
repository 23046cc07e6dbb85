"""Hawthorn, an embedded, ordered, transactional key-value engine.

    import hawthorn

    with hawthorn.open("example.db") as db:
        users = db.tree("users")
        users[b"ada"] = b"1815"  # durable when it returns
        for key, value in users.range(prefix=b"a"):
            print(key, value)

Keys and values are bytes. A tree is an ordered dict; Database, Transaction and Snapshot say what it
shows. Calls release the GIL. All errors are of the class Error; a missing key is none.
"""

from __future__ import annotations

from . import _hawthorn as _c
from ._columns import Columns
from ._copies import Repository, restore_backup, verify_backup
from ._cursor import Cursor, Range
from ._database import Database, Snapshot, destroy, open, read_counters, repair
from ._errors import (
    BusyError,
    ClosedError,
    ConflictError,
    CorruptionError,
    DeadlockError,
    Error,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    IoError,
    NoSpaceError,
    NotFoundError,
    NotInMemoryError,
    NotSupportedError,
    OutOfMemoryError,
    PermissionDeniedError,
    ReadOnlyError,
    TimedOutError,
    TooOldError,
    UnknownOutcomeError,
)
from ._feed import Change, ChangeType, Commit, Feed, Follower, Replica
from ._options import Options, generate_key
from ._reader import AsyncReader
from ._transaction import Batch, Savepoint, Transaction
from ._tree import Ingest, ReadTree, Tree, TxnTree, WriteTree
from ._types import BytesLike, Compression, Durability, Isolation, Mode, RowLock
from ._values import Value, ValueReader

#: The version of the library.
__version__ = _c.version()
#: The newest version of databases that it opens.
FORMAT_VERSION = _c.format_version()
#: Sizes in bytes: key_bytes, value_bytes (in one call), stream_value_bytes, tree_name_bytes,
#: memory_budget_bytes_min.
LIMITS = _c.limits()

__all__ = [
    "FORMAT_VERSION",
    "LIMITS",
    "AsyncReader",
    "Batch",
    "BusyError",
    "BytesLike",
    "Change",
    "ChangeType",
    "ClosedError",
    "Columns",
    "Commit",
    "Compression",
    "ConflictError",
    "CorruptionError",
    "Cursor",
    "Database",
    "DeadlockError",
    "Durability",
    "Error",
    "Feed",
    "Follower",
    "ForkedError",
    "Ingest",
    "InternalError",
    "InvalidArgumentError",
    "IoError",
    "Isolation",
    "Mode",
    "NoSpaceError",
    "NotFoundError",
    "NotInMemoryError",
    "NotSupportedError",
    "Options",
    "OutOfMemoryError",
    "PermissionDeniedError",
    "Range",
    "ReadOnlyError",
    "ReadTree",
    "Replica",
    "Repository",
    "RowLock",
    "Savepoint",
    "Snapshot",
    "TimedOutError",
    "TooOldError",
    "Transaction",
    "Tree",
    "TxnTree",
    "UnknownOutcomeError",
    "Value",
    "ValueReader",
    "WriteTree",
    "destroy",
    "generate_key",
    "open",
    "read_counters",
    "repair",
    "restore_backup",
    "verify_backup",
]
