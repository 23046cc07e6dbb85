"""Change feeds, replicas, and followers in other processes."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _hawthorn as _c
from . import _options
from ._options import Options
from ._types import Durability, Path, name_bytes, path_bytes

if TYPE_CHECKING:
    from ._database import Database


class ChangeType(enum.IntEnum):
    """What a change does; in words what it has beside its tree."""

    PUT = 1  #: key, value, expires_at_ms
    DELETE = 2  #: key
    DELETE_VALUE = 3  #: key, value
    MERGE = 4  #: key, value: an operand
    DELETE_RANGE = 5  #: key, and high (None: to the end of the tree)
    CREATE_TREE = 6
    DROP_TREE = 7
    RENAME_TREE = 8  #: other_name: the new one
    CLONE_TREE = 9  #: other_name: what it begins as a copy of


class Change(NamedTuple):
    """A change of a commit. A value that is `streamed` is empty here: Feed.read_value has it."""

    type: ChangeType
    tree_id: int
    tree: str
    key: bytes | None
    value: bytes | None
    high: bytes | None
    other_name: str | None
    expires_at_ms: int
    value_bytes: int
    streamed: bool


class Commit(NamedTuple):
    """A commit of a feed: its timestamp, and that of the one before (0: none)."""

    timestamp: int
    previous: int


def _name(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "surrogateescape")


class Feed:
    """What was committed, in order, as it comes. Threads: one at a time.

    for commit in feed.commits(timeout_ms=0):
        for change in feed.changes():
            ...
        feed.acknowledge(commit.timestamp)
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: _c.Handle) -> None:
        self._handle = handle

    @property
    def position(self) -> int:
        """Up to where it was acknowledged."""
        return _c.feed_state(self._handle)[0]

    @property
    def source_id(self) -> str:
        """The id of the database."""
        return _c.feed_state(self._handle)[1]

    def next(self, timeout_ms: int = 0) -> Commit | None:
        """Goes to the next commit; None when none came within the time. Errors: TooOldError;
        NotSupportedError for a bulk load, behind feed_at alone."""
        found = _c.feed_next(self._handle, timeout_ms)
        return None if found is None else Commit(*found)

    def commits(self, timeout_ms: int = 0) -> Iterator[Commit]:
        """Commits until none comes within the time."""
        while (commit := self.next(timeout_ms)) is not None:
            yield commit

    def changes(self) -> Iterator[Change]:
        """The changes of the commit on which it stands, those that were not asked for yet."""
        while (found := _c.feed_change(self._handle)) is not None:
            kind, tree_id, tree, key, value, high, other, expires, size, streamed = found
            if kind <= ChangeType.DELETE_RANGE:
                key = key or b""
            if kind in (ChangeType.PUT, ChangeType.DELETE_VALUE, ChangeType.MERGE):
                value = value or b""
            yield Change(
                ChangeType(kind),
                tree_id,
                _name(tree) or "",
                key,
                value,
                high,
                _name(other),
                expires,
                size,
                bool(streamed),
            )

    def change_tree(self) -> dict[str, Any]:
        """The tree of the last change as it was then: id, name, order and what else it has."""
        return _c.feed_change_tree(self._handle)[0]

    def read_value(self, offset: int, buffer: bytearray | memoryview) -> int:
        """Reads a part of the value of the last change, which is streamed; returns how many
        bytes there were."""
        return _c.feed_read_value(self._handle, offset, buffer)

    def encode(self) -> Iterator[bytes]:
        """In place of changes(): the commit as pieces, for Replica.apply_pieces elsewhere."""
        while (piece := _c.feed_encode(self._handle)) is not None:
            yield piece

    def acknowledge(self, timestamp: int) -> None:
        """Commits up to this timestamp are not needed any more, durably. Errors:
        InvalidArgumentError for one that was not delivered, and of feeds without a name."""
        _c.feed_acknowledge(self._handle, timestamp)

    def close(self) -> None:
        """Frees it; it may be opened again."""
        _c.close(self._handle)

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Replica:
    """Keeps its database equal to another one. Threads: one at a time."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _c.Handle) -> None:
        self._handle = handle

    def copy(self, source: Database) -> None:
        """The first copy, after the feed was made."""
        _c.replica_copy(self._handle, source._handle)

    def begin_at(self, source_id: str, timestamp: int) -> None:
        """In its place, where the program has brought a copy here by other means."""
        _c.replica_begin_at(self._handle, name_bytes(source_id), timestamp)

    @property
    def position(self) -> int:
        """It holds all commits of the source up to here; 0: no copy yet."""
        return _c.replica_state(self._handle)[0]

    @property
    def source_id(self) -> str:
        """The id of the source; empty: no copy yet."""
        return _c.replica_state(self._handle)[1]

    def apply(self, feed: Feed, durability: Durability = Durability.DEFAULT) -> None:
        """Applies the commit on which the feed stands, or passes over it where it is there
        already. Errors: InvalidArgumentError where there is none, for one of another source, or
        behind a gap; those of writes."""
        _c.replica_apply(self._handle, feed._handle, durability)

    def apply_pieces(
        self, pieces: Iterable[bytes], durability: Durability = Durability.DEFAULT
    ) -> None:
        """The same from the pieces of Feed.encode. Errors: also CorruptionError; what the
        iterable raises, EOFError where it ends too early."""
        rest = iter(pieces)

        def take() -> bytes:
            piece = next(rest, None)
            if piece is None:
                raise EOFError("the pieces of the commit have ended")
            return piece

        _c.replica_apply_pieces(self._handle, take, durability)

    def close(self) -> None:
        """Frees it."""
        _c.close(self._handle)

    def __enter__(self) -> Replica:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Follower:
    """Reads a database beside the process that writes it. Of the options these count: memory
    budget, io_mode, merge operators, orders, encryption, log. Threads: any number. Errors:
    NotFoundError; BusyError when 128 views are there; NotSupportedError; those of open."""

    __slots__ = ("_handle", "_path")

    def __init__(
        self, path: Path, options: Options | Mapping[str, Any] | None = None, /, **named: Any
    ) -> None:
        self._handle = _c.follower(path_bytes(path), _options.make(options, named))
        self._path = path

    def refresh(self) -> None:
        """When it returns, views show at least all that was committed before the call."""
        _c.follower_refresh(self._handle, False)

    def rebuild(self) -> None:
        """The same by a new view in any case."""
        _c.follower_refresh(self._handle, True)

    def view(self) -> Database:
        """The newest view: a database for all that reads. Snapshots of it stay as they are; itself
        it may go on with a refresh."""
        return self._view(False)

    def latest(self) -> Database:
        """A refresh, and the view then."""
        return self._view(True)

    def _view(self, refresh: bool) -> Database:
        from ._database import Database

        return Database(_c.follower_view(self._handle, refresh), self._path)

    def close(self) -> None:
        """Frees it; views stay."""
        _c.close(self._handle)

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
