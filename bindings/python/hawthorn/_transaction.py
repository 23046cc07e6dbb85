"""Transactions and batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _hawthorn as _c
from ._columns import Columns
from ._tree import ReadTree, TxnTree
from ._types import BytesLike, Durability, RowLock, expiry, name_bytes, tree_options

if TYPE_CHECKING:
    from ._database import Database


class Savepoint(NamedTuple):
    """A moment of a transaction to roll back to."""

    low: int
    high: int


class Transaction:
    """Reads and writes that are committed together. As a context manager it commits at the end of
    the block, and aborts where an exception leaves it. One that goes without having ended is
    aborted, unless it is prepared.

    Errors of all: InvalidArgumentError when it has ended, is prepared, has an open nested one, or
    is used by two threads at a time. Threads: one at a time, for all that belongs to it.
    Durable: what commit is told; nothing of an unfinished one survives, unless it is prepared.
    """

    __slots__ = ("_db", "_durability", "_handle", "_prepared")

    def __init__(self, db: Database, handle: _c.Handle, durability: Durability) -> None:
        self._db = db
        self._handle = handle
        self._durability = durability
        self._prepared = False

    # ---- Trees

    def __getitem__(self, tree: ReadTree | str) -> TxnTree:
        """A tree as the transaction sees it: of a Tree, or the one with a name. Errors:
        NotFoundError."""
        if isinstance(tree, str):
            return self._of(_c.find_tree(self._handle, name_bytes(tree), None))
        if tree._db is not self._db:
            _c.tree_id(self._db._handle, tree._tree)  # says what is wrong
        return self._of(tree._tree)

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
    ) -> TxnTree:
        """Opens a tree, making it when missing: others see it when this one has committed."""
        shape = tree_options(order, value_order, multi_value, expires, subtrees, ttl_ms)
        return self._of(_c.tree(self._handle, name_bytes(name), *shape))

    def _of(self, tree: _c.Handle) -> TxnTree:
        return TxnTree(self._db, self._handle, tree)

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
        """Removes a tree and all below it. Errors: NotFoundError, BusyError."""
        _c.drop_tree(self._handle, name_bytes(name))

    def rename_tree(self, name: str, to: str) -> None:
        """Errors: NotFoundError; InvalidArgumentError for a name that is taken."""
        _c.rename_tree(self._handle, name_bytes(name), name_bytes(to))

    def clone_tree(self, name: str, to: str) -> TxnTree:
        """A tree that begins with all that another one holds. Errors: NotFoundError,
        InvalidArgumentError for a name that is taken, NotSupportedError."""
        return self._of(_c.clone_tree(self._handle, name_bytes(name), name_bytes(to), 0))

    # ---- Its end

    @property
    def is_open(self) -> bool:
        """Whether neither commit nor abort has ended it."""
        return _c.is_open(self._handle) and _c.txn_is_open(self._handle)

    def commit(self, durability: Durability | None = None) -> None:
        """Commits; None: as it was begun. It has ended in every case, but a prepared one with
        NoSpaceError, ReadOnlyError and IoError. Errors: ConflictError: nothing was written;
        UnknownOutcomeError when the sync failed."""
        _c.commit(self._handle, self._durability if durability is None else durability)

    def abort(self) -> None:
        """Ends it; nothing of it remains. One that has ended is left alone."""
        _c.abort(self._handle)

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if self._prepared:
            return
        if kind is None:
            if _c.txn_is_open(self._handle):  # else it was ended in the block
                self.commit()
        elif _c.is_open(self._handle):
            self.abort()

    # ---- Parts of it

    def nested(self) -> Transaction:
        """One inside of this one, which can be used again when that has ended. Its commit leaves
        its writes to this one, its abort undoes them."""
        return Transaction(self._db, _c.begin_nested(self._handle), self._durability)

    def savepoint(self) -> Savepoint:
        """This moment, to roll back to."""
        return Savepoint(*_c.savepoint(self._handle))

    def rollback_to(self, savepoint: Savepoint) -> None:
        """Undoes all writes and locks since; the savepoint stays, later ones are gone. Errors:
        InvalidArgumentError for one that is gone."""
        _c.rollback_to(self._handle, *savepoint)

    def release(self, savepoint: Savepoint) -> None:
        """Forgets it, and later ones; what was written stays."""
        _c.release(self._handle, *savepoint)

    def lock(
        self,
        tree: ReadTree,
        key: BytesLike,
        lock: RowLock = RowLock.EXCLUSIVE,
        timeout_ms: int | None = None,
    ) -> None:
        """Locks a row, there or not, until it ends; pessimistic ones only. timeout_ms of None: as
        the transaction's options say; 0: not at all. Errors: also TimedOutError, DeadlockError,
        ConflictError."""
        _c.lock(self._handle, tree._tree, key, lock, timeout_ms)

    def prepare(self, id: str) -> None:
        """Makes what was written durable under this id (1 to 200 bytes): it stays prepared, over
        restarts, until it is committed or aborted, here or by Database.commit_prepared. Errors:
        ConflictError, TimedOutError, DeadlockError, NotSupportedError: it is open as before;
        NoSpaceError, ReadOnlyError, IoError: only abort is left; UnknownOutcomeError."""
        _c.prepare(self._handle, name_bytes(id))
        self._prepared = True


class Batch:
    """A list of writes that become one commit. As a context manager it writes at the end of the
    block, unless an exception leaves it. Threads: one at a time.

    What cannot be added, write tells, and writes nothing. Errors: InvalidArgumentError for trees
    of another database."""

    __slots__ = ("_db", "_durability", "_handle")

    def __init__(self, db: Database, durability: Durability) -> None:
        self._db = db
        self._handle = _c.batch(db._handle)
        self._durability = durability

    def put(
        self,
        tree: ReadTree,
        key: BytesLike,
        value: BytesLike,
        *,
        expires_at_ms: int | None = None,
        expires_after_ms: int | None = None,
    ) -> None:
        """As Tree.put."""
        when = expiry(expires_at_ms, expires_after_ms)
        _c.batch_put(self._handle, tree._tree, key, value, 0, *when)

    def put_columns(self, tree: ReadTree, columns: Columns) -> None:
        """Puts of all entries of the columns."""
        _c.batch_put_columns(
            self._handle,
            tree._tree,
            columns.rows,
            columns.keys,
            columns.key_offsets,
            columns.values,
            columns.value_offsets,
        )

    def delete(self, tree: ReadTree, key: BytesLike) -> None:
        """As Tree.delete."""
        _c.batch_change(self._handle, 0, tree._tree, key, None)

    def delete_value(self, tree: ReadTree, key: BytesLike, value: BytesLike) -> None:
        """As Tree.delete_value."""
        _c.batch_change(self._handle, 1, tree._tree, key, value)

    def delete_range(
        self, tree: ReadTree, low: BytesLike = b"", high: BytesLike | None = None
    ) -> None:
        """As Tree.delete_range."""
        _c.batch_change(self._handle, 2, tree._tree, low, high)

    def merge(self, tree: ReadTree, key: BytesLike, operand: BytesLike) -> None:
        """As Tree.merge."""
        _c.batch_change(self._handle, 3, tree._tree, key, operand)

    def __len__(self) -> int:
        """The number of operations."""
        return _c.batch_size(self._handle)[0]

    def __bool__(self) -> bool:
        return True

    @property
    def bytes(self) -> int:
        """What the operations take in the log."""
        return _c.batch_size(self._handle)[1]

    def clear(self) -> None:
        """Forgets all operations; keeps the memory."""
        _c.batch_clear(self._handle)

    def write(self, durability: Durability | None = None) -> None:
        """Commits all operations at one moment; the batch stays as it is. None: as it was made.
        Errors: as those of WriteTree."""
        chosen = self._durability if durability is None else durability
        _c.batch_write(self._db._handle, self._handle, chosen)

    def close(self) -> None:
        """Frees it."""
        _c.close(self._handle)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        try:
            if kind is None:
                self.write()
        finally:
            self.close()
