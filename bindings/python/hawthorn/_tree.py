"""Trees as dicts: of the newest state, of a transaction, and of a snapshot."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _hawthorn as _c
from ._columns import Columns
from ._cursor import Cursor, Range
from ._types import (
    BytesLike,
    Compression,
    Durability,
    expiry,
    key_bytes,
    name_bytes,
    prefix_end,
    tree_options,
)
from ._values import Source, Value, ValueReader, reader_of

if TYPE_CHECKING:
    from ._database import Database

T = TypeVar("T")
_MISSING = object()


class _Items(ItemsView[bytes, bytes]):
    _mapping: ReadTree

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(self._mapping.range())

    def __reversed__(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(self._mapping.range(reverse=True))


class _Values(ValuesView[bytes]):
    _mapping: ReadTree

    def __iter__(self) -> Iterator[bytes]:
        return self._mapping.range().each_value()

    def __reversed__(self) -> Iterator[bytes]:
        return self._mapping.range(reverse=True).each_value()


class ReadTree(Mapping[bytes, bytes]):
    """An ordered dict from bytes to bytes, for reading. Iteration is in the tree's order.

    What it shows depends on where it is from: `Database.tree` the newest commit with each read,
    `Transaction.tree` what the transaction sees, `Snapshot.tree` the snapshot. An iteration shows
    one moment; in a transaction it reads ahead, and may miss what is written meanwhile.
    Threads: as the database, transaction or snapshot that it is from.
    Errors of all reads: CorruptionError, IoError, ClosedError, ForkedError.
    """

    __slots__ = ("_db", "_snapshot", "_source", "_tree")

    def __init__(
        self, db: Database, source: _c.Handle, tree: _c.Handle, snapshot: _c.Handle | None = None
    ) -> None:
        self._db = db
        self._source = source
        self._tree = tree
        self._snapshot = snapshot

    @property
    def database(self) -> Database:
        """The database that it is of."""
        return self._db

    @property
    def id(self) -> int:
        """Its number, which is never used again for another tree."""
        return _c.tree_id(self._db._handle, self._tree)

    @property
    def options(self) -> dict[str, Any]:
        """What it was made with: order, value_order, multi_value, expires, ttl_ms, subtrees."""
        return _c.tree_options(self._db._handle, self._tree)[0]

    # ---- One key

    def __getitem__(self, key: BytesLike) -> bytes:
        value = _c.get(self._source, self._tree, key, self._snapshot)
        if value is None:
            raise KeyError(bytes(key))
        return value

    @overload
    def get(self, key: BytesLike) -> bytes | None: ...
    @overload
    def get(self, key: BytesLike, default: T) -> bytes | T: ...
    def get(self, key: BytesLike, default: Any = None) -> Any:
        """The value of a key; `default` where there is none. Of a key with several values the
        first one."""
        value = _c.get(self._source, self._tree, key, self._snapshot)
        return default if value is None else value

    def __contains__(self, key: object) -> bool:
        return _c.contains(self._source, self._tree, key, self._snapshot)

    def get_view(self, key: BytesLike) -> Value | None:
        """The value without a copy where it is in memory: an object of which memoryview() shows
        the bytes. It keeps these in place until it is closed or goes."""
        handle = _c.get_value(self._source, self._tree, key, self._snapshot, 0)
        return None if handle is None else Value(handle)

    def size_of(self, key: BytesLike) -> int:
        """The size of a value. Errors: also NotFoundError."""
        return _c.size_of(self._source, self._tree, key, self._snapshot)

    def read_part(self, key: BytesLike, offset: int, buffer: bytearray | memoryview) -> int:
        """Reads a value from the offset on into the buffer; returns how many bytes there were.
        Errors: also NotFoundError."""
        return _c.read_part(self._source, self._tree, key, offset, buffer, self._snapshot)

    def open(self, key: BytesLike) -> ValueReader:
        """A value as a binary file to read, piece by piece, of up to 4 GB. It shows one moment.
        Errors: also NotFoundError."""
        return ValueReader(self, key_bytes(key))

    def _of_one_moment(self) -> ReadTree:
        """What reads by parts use: the newest state becomes a snapshot."""
        return self

    # ---- Many keys

    def multi_get(self, keys: Iterable[BytesLike]) -> list[bytes | None]:
        """The values of many keys, of one moment; much faster than one by one."""
        return _c.multi_get(self._source, self._tree, keys, self._snapshot)

    def multi_get_columns(
        self, key_bytes: Any, key_offsets: Any, into: Columns | None = None
    ) -> Columns:
        """The same of keys in a column, into columns. `key_bytes` and `key_offsets` are buffers:
        the bytes, and numbers of 64 bits, one more than keys. Row i is the answer to key i;
        `Columns.found` says which were found."""
        columns = into if into is not None else Columns()
        columns._answer(self._source, self._tree, key_bytes, key_offsets, self._snapshot)
        return columns

    # ---- Ranges

    def __iter__(self) -> Iterator[bytes]:
        return self.range().each_key()

    def __reversed__(self) -> Iterator[bytes]:
        return self.range(reverse=True).each_key()

    def items(self) -> ItemsView[bytes, bytes]:
        return _Items(self)

    def values(self) -> ValuesView[bytes]:
        return _Values(self)

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def range(
        self,
        low: BytesLike | None = None,
        high: BytesLike | None = None,
        *,
        prefix: BytesLike | None = None,
        reverse: bool = False,
    ) -> Range:
        """The entries from `low` on, below `high`; None: from the first, to the last. Or, in
        trees of bytewise order, those whose keys begin with `prefix`. Iterating gives (key,
        value); `each_key()`, `each_value()`, `columns()`, `count()`, `cursor()` are other ways."""
        if prefix is not None:
            if low is not None or high is not None:
                raise ValueError("prefix excludes low and high")
            low = key_bytes(prefix)
            high = prefix_end(low)
        return Range(self, low, high, reverse)

    def cursor(
        self,
        low: BytesLike | None = None,
        high: BytesLike | None = None,
        *,
        keys_only: bool = False,
    ) -> Cursor:
        """A cursor over the range, which stands nowhere yet. keys_only: values come empty."""
        return Cursor(self, low, high, keys_only)

    def count(self, low: BytesLike = b"", high: BytesLike | None = None) -> int:
        """How many entries the range has, exactly. That of the whole tree is len()."""
        return _c.count(self._source, self._tree, low, high, self._snapshot)

    def values_of(self, key: BytesLike) -> Iterator[bytes]:
        """All values of a key, in the tree's order of values."""
        wanted = key_bytes(key)
        cursor = self.cursor()
        found = cursor.seek(wanted)
        while found and cursor.key == wanted:
            yield cursor.value  # type: ignore[misc]
            found = cursor.next_value()

    # ---- Trees as values

    def subtree(self, key: BytesLike) -> Any:
        """The tree at a key, as one of the same kind. Errors: also NotFoundError,
        InvalidArgumentError where trees have no subtrees."""
        return self._like(_c.subtree(self._source, self._tree, key, self._snapshot))

    def subtrees(self) -> list[bytes]:
        """The keys at which trees hang."""
        rows = _c.list_subtrees(self._source, self._tree, self._snapshot)
        return [row["key"] for row in rows]

    def _like(self, tree: _c.Handle) -> ReadTree:
        return type(self)(self._db, self._source, tree, self._snapshot)

    def __repr__(self) -> str:
        return f"<hawthorn.{type(self).__name__} of {self._db.path!r}>"

    # Dicts are compared entry by entry; trees are what they are.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class WriteTree(ReadTree, MutableMapping[bytes, bytes]):
    """An ordered dict from bytes to bytes. Each call that writes is one commit, or part of the
    transaction that the tree is from; `durability` then has no say.

    Errors of all writes: InvalidArgumentError for sizes, NoSpaceError (nothing was written;
    deletes go on), ReadOnlyError, TimedOutError while a transaction holds the row, ConflictError,
    UnknownOutcomeError (full durability only). Durable: a write is, as `durability` says, when it
    returns.
    """

    __slots__ = ()

    def __setitem__(self, key: BytesLike, value: BytesLike) -> None:
        _c.put(self._source, self._tree, key, value, 0, 0, 0)

    def put(
        self,
        key: BytesLike,
        value: BytesLike,
        *,
        durability: Durability = Durability.DEFAULT,
        expires_at_ms: int | None = None,
        expires_after_ms: int | None = None,
    ) -> None:
        """Writes a value; of a key that may have several, adds one. In trees that are made with
        `expires` the entry ends at a moment since 1970 (0: never), or after a time from now."""
        when = expiry(expires_at_ms, expires_after_ms)
        _c.put(self._source, self._tree, key, value, durability, *when)

    def __delitem__(self, key: BytesLike) -> None:
        self.pop(key)

    def delete(self, key: BytesLike, *, durability: Durability = Durability.DEFAULT) -> None:
        """Deletes a key, with all of its values, and does not look whether it was there: faster
        than `del`, which raises KeyError where it was not."""
        _c.delete(self._source, self._tree, key, durability, 0, 0)

    def delete_value(
        self, key: BytesLike, value: BytesLike, *, durability: Durability = Durability.DEFAULT
    ) -> None:
        """Deletes one of the values of a key that may have several."""
        _c.delete_value(self._source, self._tree, key, value, durability, 0, 0)

    def delete_range(
        self,
        low: BytesLike = b"",
        high: BytesLike | None = None,
        *,
        durability: Durability = Durability.DEFAULT,
    ) -> None:
        """Deletes all keys of the range, in a time that does not depend on how many there are.
        A `high` of None: to the end."""
        _c.delete_range(self._source, self._tree, low, high, durability, 0, 0)

    def clear(self) -> None:
        """Deletes all entries."""
        self.delete_range()

    def merge(
        self, key: BytesLike, operand: BytesLike, *, durability: Durability = Durability.DEFAULT
    ) -> None:
        """Changes a value as the tree's merge operator says, without reading it."""
        _c.merge(self._source, self._tree, key, operand, durability, 0, 0)

    # ---- Compare and set: whether it was written

    def insert(
        self, key: BytesLike, value: BytesLike, *, durability: Durability = Durability.DEFAULT
    ) -> bool:
        """Writes where the key is absent."""
        return _c.insert(self._source, self._tree, key, value, durability, 0, 0)

    def update_existing(
        self, key: BytesLike, value: BytesLike, *, durability: Durability = Durability.DEFAULT
    ) -> bool:
        """Writes where the key is there (`update` is that of dicts)."""
        return _c.update(self._source, self._tree, key, value, durability, 0, 0)

    def replace(
        self,
        key: BytesLike,
        expected: BytesLike | None,
        value: BytesLike,
        *,
        durability: Durability = Durability.DEFAULT,
    ) -> bool:
        """Writes where the key has the expected value; None: where it is absent."""
        return _c.replace(self._source, self._tree, key, expected, value, durability, 0, 0)

    def remove_if(
        self, key: BytesLike, expected: BytesLike, *, durability: Durability = Durability.DEFAULT
    ) -> bool:
        """Deletes where the key has the expected value."""
        return _c.remove_if(self._source, self._tree, key, expected, durability, 0, 0)

    @overload
    def pop(self, key: BytesLike) -> bytes: ...
    @overload
    def pop(self, key: BytesLike, default: T) -> bytes | T: ...
    def pop(self, key: BytesLike, default: Any = _MISSING) -> Any:
        """Deletes a key and returns its value; of several callers one gets it. Where a key has
        several values, the first one goes, and so by `del`; `delete` takes all."""
        while True:
            value = self.get(key)
            if value is None:
                if default is _MISSING:
                    raise KeyError(bytes(key))
                return default
            if self.remove_if(key, value):
                return value

    def popitem(self) -> tuple[bytes, bytes]:
        """Deletes the last entry and returns it."""
        while True:
            cursor = self.cursor()
            if not cursor.last():
                raise KeyError("the tree is empty")
            key, value = cursor.item
            if self.remove_if(key, value):
                return key, value

    def setdefault(self, key: BytesLike, default: BytesLike = b"") -> bytes:
        """The value of a key, which becomes `default` where it is absent."""
        while True:
            if self.insert(key, default):
                return key_bytes(default)
            value = self.get(key)
            if value is not None:
                return value

    # ---- Values by parts, up to 4 GB

    def write_part(
        self,
        key: BytesLike,
        offset: int,
        data: BytesLike,
        *,
        durability: Durability = Durability.DEFAULT,
    ) -> None:
        """Overwrites a part of a value, and lets it grow where it ends."""
        _c.write_part(self._source, self._tree, key, offset, data, durability, 0, 0)

    def append(
        self, key: BytesLike, data: BytesLike, *, durability: Durability = Durability.DEFAULT
    ) -> int:
        """Appends to a value; returns where that begins."""
        return _c.append(self._source, self._tree, key, data, durability, 0, 0)

    def resize(
        self, key: BytesLike, size: int, *, durability: Durability = Durability.DEFAULT
    ) -> None:
        """Cuts a value off, or lets it grow by zeros."""
        _c.resize(self._source, self._tree, key, size, durability, 0, 0)

    # ---- Trees as values

    def create_subtree(
        self,
        key: BytesLike,
        *,
        order: str | None = None,
        value_order: str | None = None,
        multi_value: bool = False,
        expires: bool = False,
        subtrees: bool = False,
        ttl_ms: int = 0,
        durability: Durability = Durability.DEFAULT,
    ) -> Any:
        """Hangs an empty tree at a key that has nothing yet, and returns it."""
        shape = tree_options(order, value_order, multi_value, expires, subtrees, ttl_ms)
        return self._like(_c.create_subtree(self._source, self._tree, key, durability, *shape))

    def attach(
        self, key: BytesLike, name: str, *, durability: Durability = Durability.DEFAULT
    ) -> None:
        """Hangs a tree that has a name at a key."""
        _c.attach(self._source, self._tree, key, name_bytes(name), durability)

    def detach(
        self, key: BytesLike, name: str, *, durability: Durability = Durability.DEFAULT
    ) -> None:
        """Takes a tree off its key, and gives it a name."""
        _c.detach(self._source, self._tree, key, name_bytes(name), durability)

    def move_subtree(
        self,
        key: BytesLike,
        to: ReadTree,
        to_key: BytesLike,
        *,
        durability: Durability = Durability.DEFAULT,
    ) -> None:
        """Hangs a tree at another key, of this or another tree."""
        _c.move_subtree(self._source, self._tree, key, to._tree, to_key, durability)

    def clone_subtree(
        self, key: BytesLike, name: str, *, durability: Durability = Durability.DEFAULT
    ) -> Any:
        """A tree with a name that begins with all that the subtree holds."""
        handle = _c.clone_subtree(self._source, self._tree, key, name_bytes(name), durability)
        return self._like(handle)


class Tree(WriteTree):
    """A tree of the newest state: each read shows what is committed, each write is a commit.
    Threads: any number at a time. Lifetime: the database's; it is never closed."""

    __slots__ = ()

    def _of_one_moment(self) -> ReadTree:
        snapshot = _c.snapshot(self._source, None)
        return ReadTree(self._db, self._source, self._tree, snapshot)

    def update(self, other: Any = (), /, **entries: BytesLike) -> None:
        """Puts many entries in one commit: all or none. Of a dict, or pairs."""
        batch = self._db.batch()
        pairs = other.items() if hasattr(other, "items") else other
        for key, value in pairs:
            batch.put(self, key, value)
        for name, value in entries.items():
            batch.put(self, name.encode(), value)
        if len(batch):
            batch.write()

    def get_in_memory(self, key: BytesLike) -> Value | None:
        """As get_view, but never from disk. Errors: also NotInMemoryError."""
        handle = _c.get_value(self._source, self._tree, key, self._snapshot, 1)
        return None if handle is None else Value(handle)

    def changed_since(self, key: BytesLike, snapshot: Any) -> bool:
        """Whether anybody has committed to the key since the snapshot."""
        return _c.changed_since(self._source, self._tree, key, snapshot._handle)

    def expires_at(self, key: BytesLike) -> int:
        """When an entry ends, in milliseconds since 1970; 0: never. Errors: also
        NotFoundError."""
        return _c.expires_at(self._source, self._tree, key, None)

    def estimate(self, low: BytesLike = b"", high: BytesLike | None = None) -> tuple[int, int]:
        """About how many entries the range has, and bytes on disk, without a look there."""
        return _c.estimate(self._source, self._tree, low, high)

    def explain(self, key: BytesLike) -> dict[str, Any]:
        """Where a key is, and what a get of it reads from disk."""
        return _c.explain(self._source, self._tree, key, None)[0]

    def set_compression(self, compression: Compression) -> None:
        """Of what is written from now on. Durable when it returns."""
        _c.set_compression(self._source, self._tree, compression)

    def set_merge_operator(self, name: str) -> None:
        """Gives it the merge operator of the options with this name, for good. Durable when it
        returns. Errors: InvalidArgumentError where there is none, or it has another one."""
        _c.set_merge_operator(self._source, self._tree, name_bytes(name))

    def ingest(
        self,
        *,
        unsorted: bool = False,
        durability: Durability = Durability.DEFAULT,
        sort_memory_bytes: int = 0,
    ) -> Ingest:
        """Bulk loading: many entries straight into the data files, in one commit."""
        return Ingest(_c.ingest(self._source, self._tree, unsorted, durability, sort_memory_bytes))


class TxnTree(WriteTree):
    """A tree as a transaction sees it, its own writes included. Threads: one at a time, for all
    that belongs to the transaction. Lifetime: the transaction's, InvalidArgumentError behind."""

    __slots__ = ()

    def get_for_update(self, key: BytesLike) -> bytes | None:
        """Reads a key that is to be written: nobody else writes it before this one ends, or its
        commit conflicts."""
        handle = _c.get_value(self._source, self._tree, key, None, 2)
        return None if handle is None else bytes(handle)

    def put_stream(self, key: BytesLike, size: int, source: Source) -> None:
        """Puts a value of up to 4 GB, of a binary file, or of an iterable of bytes, which must
        give `size` bytes."""
        _c.stream(self._source, 0, self._tree, key, 0, size, reader_of(source))

    def write_part_stream(self, key: BytesLike, offset: int, size: int, source: Source) -> None:
        """write_part of such a source."""
        _c.stream(self._source, 1, self._tree, key, offset, size, reader_of(source))

    def append_stream(self, key: BytesLike, size: int, source: Source) -> int:
        """append of such a source."""
        return _c.stream(self._source, 2, self._tree, key, 0, size, reader_of(source))


class Ingest:
    """A bulk load: `add` entries, in key order unless it is unsorted; `finish` commits. As a
    context manager it does so at the end, and gives it up where an exception leaves. The first
    error is final. Threads: one at a time."""

    __slots__ = ("_finished", "_handle", "stats")

    def __init__(self, handle: _c.Handle) -> None:
        self._handle = handle
        self._finished = False
        #: Behind finish: entries, entries_attached, entries_logged, containers, bytes_written.
        self.stats: dict[str, Any] = {}

    def add(self, key: BytesLike, value: BytesLike) -> None:
        """Adds an entry. Errors: InvalidArgumentError for a key out of order."""
        _c.ingest_add(self._handle, key, value)

    def add_columns(self, columns: Columns) -> None:
        """Adds all entries of the columns."""
        _c.ingest_add_columns(
            self._handle,
            columns.rows,
            columns.keys,
            columns.key_offsets,
            columns.values,
            columns.value_offsets,
        )

    def add_stream(self, key: BytesLike, size: int, source: Source) -> None:
        """Adds an entry whose value comes from a binary file or an iterable of bytes."""
        _c.ingest_add_stream(self._handle, key, size, reader_of(source))

    def finish(self) -> dict[str, Any]:
        """Commits, and returns the figures. Durable as it was begun. Errors: also TimedOutError,
        UnknownOutcomeError."""
        self.stats = _c.ingest_finish(self._handle)[0]
        self._finished = True
        return self.stats

    def close(self) -> None:
        """Gives it up, where it is not finished."""
        _c.close(self._handle)

    def __enter__(self) -> Ingest:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        try:
            if kind is None and not self._finished:
                self.finish()
        finally:
            self.close()
