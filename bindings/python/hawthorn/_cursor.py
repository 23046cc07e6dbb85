"""Ordered walks: ranges to iterate over, and cursors to move about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _hawthorn as _c
from ._columns import Columns
from ._types import BytesLike, key_bytes

if TYPE_CHECKING:
    from ._tree import ReadTree

_KEYS, _VALUES, _ITEMS = 0, 1, 2
_FIRST, _LAST, _NEXT, _PREV = 0, 1, 2, 3
_NEXT_KEY, _PREV_KEY, _NEXT_VALUE, _PREV_VALUE, _FIRST_VALUE, _LAST_VALUE = 4, 5, 6, 7, 8, 9


class Range:
    """Entries between two keys, in one direction: iterating gives (key, value). It may be iterated
    over again, and each time shows what is there then. Threads: as its tree."""

    __slots__ = ("_high", "_low", "_reverse", "_tree")

    def __init__(
        self, tree: ReadTree, low: BytesLike | None, high: BytesLike | None, reverse: bool
    ) -> None:
        self._tree = tree
        self._low = None if low is None else key_bytes(low)
        self._high = None if high is None else key_bytes(high)
        self._reverse = reverse

    def _open(self, keys_only: bool) -> _c.Handle | None:
        """A cursor on the first entry; None where there is none."""
        tree = self._tree
        cursor = _c.cursor(
            tree._source, tree._tree, self._low, self._high, keys_only, tree._snapshot
        )
        return cursor if _c.cursor_move(cursor, _LAST if self._reverse else _FIRST) else None

    def _walk(self, what: int) -> Iterator[Any]:
        cursor = self._open(what == _KEYS)
        while cursor is not None:
            entries = _c.cursor_list(cursor, what, self._reverse)
            if not entries:
                return
            yield from entries

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return self._walk(_ITEMS)

    def each_key(self) -> Iterator[bytes]:
        """The keys alone: values are not read."""
        return self._walk(_KEYS)

    def each_value(self) -> Iterator[bytes]:
        """The values alone."""
        return self._walk(_VALUES)

    def __reversed__(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(Range(self._tree, self._low, self._high, not self._reverse))

    def columns(self, into: Columns | None = None, *, keys_only: bool = False) -> Iterator[Columns]:
        """Columns of many entries each, as many as they have room for. With `into` it is these,
        filled again each time; else each has memory of its own."""
        cursor = self._open(keys_only)
        while cursor is not None:
            columns = into if into is not None else Columns()
            if columns._fill(cursor, self._reverse) == 0:
                return
            yield columns

    def count(self) -> int:
        """How many entries there are, exactly."""
        return self._tree.count(self._low or b"", self._high)

    def first(self) -> tuple[bytes, bytes] | None:
        """The first entry in its direction, or None."""
        return next(iter(self), None)

    def cursor(self) -> Cursor:
        """A cursor over the range."""
        return Cursor(self._tree, self._low, self._high, False)


class Cursor:
    """A place in a tree. Moves return whether it stands on an entry then; the ends of the range
    are no error. One of a transaction sees that one's writes, also later ones, and raises
    InvalidArgumentError once it has ended. An open cursor never blocks writers, but keeps old
    versions: close it, or let it go. Threads: one at a time."""

    __slots__ = ("_handle", "_tree")

    def __init__(
        self, tree: ReadTree, low: BytesLike | None, high: BytesLike | None, keys_only: bool
    ) -> None:
        self._tree = tree
        self._handle = _c.cursor(tree._source, tree._tree, low, high, keys_only, tree._snapshot)

    # ---- Moves

    def first(self) -> bool:
        """To the first entry."""
        return _c.cursor_move(self._handle, _FIRST)

    def last(self) -> bool:
        """To the last entry."""
        return _c.cursor_move(self._handle, _LAST)

    def next(self) -> bool:
        """To the next entry."""
        return _c.cursor_move(self._handle, _NEXT)

    def prev(self) -> bool:
        """To the entry before."""
        return _c.cursor_move(self._handle, _PREV)

    def seek(self, key: BytesLike) -> bool:
        """To the first entry that is not before the key."""
        return _c.cursor_seek(self._handle, key, False)

    def seek_for_prev(self, key: BytesLike) -> bool:
        """To the last entry that is not behind the key."""
        return _c.cursor_seek(self._handle, key, True)

    def skip(self, count: int) -> bool:
        """As so many calls of next, or of prev for a negative number, in much less time."""
        return _c.cursor_skip(self._handle, count)

    def seek_random(self, random: int) -> bool:
        """To an entry, each about as likely as others where `random` (64 bits) is."""
        return _c.cursor_seek_random(self._handle, random)

    # ---- Moves where keys have several values

    def next_key(self) -> bool:
        """To the first value of the next key."""
        return _c.cursor_move(self._handle, _NEXT_KEY)

    def prev_key(self) -> bool:
        """To the last value of the key before."""
        return _c.cursor_move(self._handle, _PREV_KEY)

    def next_value(self) -> bool:
        """To the next value of this key; False, and it stays, where there is none."""
        return _c.cursor_move(self._handle, _NEXT_VALUE)

    def prev_value(self) -> bool:
        """To the value before, of this key."""
        return _c.cursor_move(self._handle, _PREV_VALUE)

    def first_value(self) -> bool:
        """To the first value of this key."""
        return _c.cursor_move(self._handle, _FIRST_VALUE)

    def last_value(self) -> bool:
        """To the last value of this key."""
        return _c.cursor_move(self._handle, _LAST_VALUE)

    def seek_value(self, key: BytesLike, value: BytesLike) -> bool:
        """To the first value of the key that is not before `value`. Errors: NotSupportedError in
        trees of one value to a key."""
        return _c.cursor_seek_value(self._handle, key, value)

    def count_values(self) -> int:
        """How many values this key has."""
        return _c.cursor_count_values(self._handle)

    # ---- Where it stands

    @property
    def key(self) -> bytes | None:
        """The key; None where it stands on no entry."""
        return _c.cursor_entry(self._handle, 0)

    @property
    def value(self) -> bytes | None:
        """The value; None where it stands on no entry."""
        return _c.cursor_entry(self._handle, 1)

    @property
    def item(self) -> tuple[bytes, bytes]:
        """Key and value. Errors: LookupError where it stands on no entry."""
        key, value = self.key, self.value
        if key is None or value is None:
            raise LookupError("the cursor stands on no entry")
        return key, value

    @property
    def is_subtree(self) -> bool:
        """Whether the entry is a tree."""
        return _c.cursor_is_subtree(self._handle)

    @property
    def expires_at(self) -> int:
        """When the entry ends, in milliseconds since 1970; 0: never."""
        return _c.cursor_expires_at(self._handle)

    # ---- Many entries

    def next_list(self) -> list[tuple[bytes, bytes]]:
        """Entries from the one on which it stands, or from behind the last list: up to 1,024, and
        1 MB or so. Empty: the end. Afterwards it stands nowhere: another list, or a seek."""
        return _c.cursor_list(self._handle, _ITEMS, False)

    def prev_list(self) -> list[tuple[bytes, bytes]]:
        """The same backwards. Afterwards it stands on the first entry of the next list."""
        return _c.cursor_list(self._handle, _ITEMS, True)

    def next_columns(self, columns: Columns) -> int:
        """Fills the columns, likewise; returns how many rows, 0 at the end."""
        return columns._fill(self._handle, False)

    def prev_columns(self, columns: Columns) -> int:
        """The same backwards."""
        return columns._fill(self._handle, True)

    def close(self) -> None:
        """Frees it. Errors: BusyError while another thread uses it."""
        _c.close(self._handle)

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
