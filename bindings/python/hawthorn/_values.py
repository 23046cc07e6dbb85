"""Values in place, values as files, and what gives the bytes of a stream."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, Union

from . import _hawthorn as _c

if TYPE_CHECKING:
    from ._tree import ReadTree


class Readable(Protocol):
    """A binary file, as far as streams need it."""

    def read(self, size: int, /) -> bytes | None: ...


#: What gives the bytes of a stream.
Source = Union[Readable, Iterable[bytes]]


def reader_of(source: Source) -> Callable[[int], Any]:
    """A function that returns up to so many bytes; none at the end."""
    read = getattr(source, "read", None)
    if read is not None:
        return lambda size: read(size) or b""
    pieces = iter(source)  # type: ignore[arg-type]
    rest = memoryview(b"")

    def take(size: int) -> memoryview:
        nonlocal rest
        while not rest:
            piece = next(pieces, None)
            if piece is None:
                return memoryview(b"")
            rest = memoryview(piece).cast("B")
        taken, rest = rest[:size], rest[size:]
        return taken

    return take


class Value:
    """The bytes of a value, in place where that can be. memoryview(value.data), or numpy's
    frombuffer(value.data), show them without a copy; while such a view is held, the value is not
    closed (BufferError), nor is its database (BusyError). Threads: any may read the bytes."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _c.Handle) -> None:
        self._handle = handle

    @property
    def data(self) -> memoryview:
        """A view of the bytes. Errors: BufferError behind close."""
        return memoryview(self._handle)

    def __bytes__(self) -> bytes:
        return bytes(memoryview(self._handle))

    def __len__(self) -> int:
        return memoryview(self._handle).nbytes

    def close(self) -> None:
        """Lets go of the bytes. Errors: BufferError while a view is held."""
        _c.close(self._handle)

    def __enter__(self) -> Value:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class ValueReader(io.RawIOBase):
    """A value as a binary file to read: read, readinto, seek, tell. io.BufferedReader around it
    makes small reads fast. Lifetime: that of what it was opened by."""

    def __init__(self, tree: ReadTree, key: bytes) -> None:
        super().__init__()
        self._tree = tree._of_one_moment()
        self._key = key
        self._size = self._tree.size_of(key)
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    @property
    def size(self) -> int:
        """The size of the value."""
        return self._size

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer with the next bytes; returns how many there were."""
        if self.closed:
            raise ValueError("the reader was closed")
        view = memoryview(buffer).cast("B")
        if self._position >= self._size:
            return 0
        count = self._tree.read_part(self._key, self._position, view)
        self._position += count
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to an offset; returns it."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError("an offset before the beginning")
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        """The offset of the next byte."""
        return self._position

    def close(self) -> None:
        """Lets go of the moment that it shows."""
        if not self.closed:
            del self._tree
        super().close()
