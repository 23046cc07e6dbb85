"""Many entries in four buffers, as Arrow's LargeBinary and numpy.frombuffer take them."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator

from . import _hawthorn as _c
from ._errors import InvalidArgumentError


class Columns:
    """Entries in columns: key i is `keys[key_offsets[i]:key_offsets[i + 1]]`, values the same.
    `keys` and `values` are views of bytes, `key_offsets` and `value_offsets` views of 64-bit
    numbers, one more than `rows`; so numpy.frombuffer makes arrays of them without a copy.

    What fills it again overwrites what the views show. Buffers that are too small for one entry
    are replaced; views of the old ones stay as they are. One call at a time fills it.
    """

    __slots__ = (
        "_filling",
        "_found",
        "_key_bytes",
        "_key_offsets",
        "_key_used",
        "_rows_max",
        "_value_bytes",
        "_value_offsets",
        "_value_used",
        "rows",
    )

    def __init__(self, rows: int = 4096, key_bytes: int = 1 << 20, value_bytes: int = 1 << 20):
        """Room for so many rows, and bytes of keys and values."""
        if rows < 1:
            raise ValueError("there must be room for one row")
        #: How many entries the last call has filled.
        self.rows = 0
        self._key_bytes = bytearray(key_bytes)
        self._value_bytes = bytearray(value_bytes)
        self._key_used = self._value_used = 0
        self._filling = threading.Lock()
        self._make_room(rows)

    def _make_room(self, rows: int) -> None:
        self._rows_max = rows
        self._key_offsets = array("q", bytes(8 * (rows + 1)))
        self._value_offsets = array("q", bytes(8 * (rows + 1)))
        self._found = bytearray(rows)

    @property
    def keys(self) -> memoryview:
        """The bytes of all keys. Empty behind multi_get_columns."""
        return memoryview(self._key_bytes)[: self._key_used]

    @property
    def key_offsets(self) -> memoryview:
        """Where keys begin and end: rows + 1 numbers of 64 bits."""
        return memoryview(self._key_offsets)[: self.rows + 1]

    @property
    def values(self) -> memoryview:
        """The bytes of all values."""
        return memoryview(self._value_bytes)[: self._value_used]

    @property
    def value_offsets(self) -> memoryview:
        """Where values begin and end: rows + 1 numbers of 64 bits."""
        return memoryview(self._value_offsets)[: self.rows + 1]

    @property
    def found(self) -> memoryview:
        """Behind multi_get_columns: 1 for each key that was found, else 0."""
        return memoryview(self._found)[: self.rows]

    def __len__(self) -> int:
        return self.rows

    def key(self, row: int) -> bytes:
        """The key of a row."""
        return self._cell(row, self._key_bytes, self._key_offsets)

    def value(self, row: int) -> bytes:
        """The value of a row; empty for a key that was not found."""
        return self._cell(row, self._value_bytes, self._value_offsets)

    def _cell(self, row: int, data: bytearray, offsets: array[int]) -> bytes:
        if not 0 <= row < self.rows:
            raise IndexError(row)
        return bytes(data[offsets[row] : offsets[row + 1]])

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """The entries as objects."""
        for row in range(self.rows):
            yield self.key(row), self.value(row)

    def _begin(self) -> None:
        if not self._filling.acquire(blocking=False):
            raise InvalidArgumentError(2, "columns are filled by two calls at a time")

    def _fill(self, cursor: _c.Handle, reverse: bool) -> int:
        """Fills it from a cursor; 0 at the end."""
        self._begin()
        try:
            self.rows = self._key_used = self._value_used = 0
            while True:
                rows, keys, values = _c.cursor_columns(
                    cursor,
                    self._rows_max,
                    self._key_bytes,
                    self._key_offsets,
                    self._value_bytes,
                    self._value_offsets,
                    reverse,
                )
                if rows >= 0:
                    self.rows, self._key_used, self._value_used = rows, keys, values
                    return rows
                if keys > len(self._key_bytes):
                    self._key_bytes = bytearray(keys)
                if values > len(self._value_bytes):
                    self._value_bytes = bytearray(values)
        finally:
            self._filling.release()

    def _answer(
        self,
        source: _c.Handle,
        tree: _c.Handle,
        key_bytes: object,
        key_offsets: object,
        snapshot: _c.Handle | None,
    ) -> None:
        """Fills it with the answers to many keys."""
        self._begin()
        try:
            self.rows = self._key_used = self._value_used = 0
            count = memoryview(key_offsets).nbytes // 8 - 1  # type: ignore[arg-type]
            if count > self._rows_max:
                self._make_room(count)
            while True:
                needed = _c.multi_get_columns(
                    source,
                    tree,
                    key_bytes,
                    key_offsets,
                    snapshot,
                    self._value_bytes,
                    self._value_offsets,
                    self._found,
                )
                if needed == 0:
                    break
                self._value_bytes = bytearray(needed)
            self.rows = max(count, 0)
            self._value_used = self._value_offsets[self.rows]
        finally:
            self._filling.release()
