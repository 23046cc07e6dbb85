"""Repositories of backups, and backups that come back from streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _hawthorn as _c
from . import _options
from ._options import Options
from ._types import Path, path_bytes
from ._values import Source, reader_of

#: progress(bytes): told after each MB or so; what it raises ends the copy.
Progress = Callable[[int], Any]


def write_of(sink: Any) -> Callable[[bytes], Any]:
    """What takes the pieces of a backup: a function, or a binary file's."""
    write = getattr(sink, "write", None)
    if write is None:
        if not callable(sink):
            raise TypeError("a binary file or a function is needed")
        function: Callable[[bytes], Any] = sink
        return function

    def write_all(piece: bytes) -> None:
        rest = memoryview(piece)
        while rest:  # raw files may take less
            written = write(rest)
            rest = rest[len(rest) if written is None else written :]

    return write_all


class Repository:
    """Backups in a directory, each of what those before it have not. Threads: any number.
    Errors: NotFoundError for an id; CorruptionError; BusyError where somebody else writes."""

    __slots__ = ("_handle",)

    def __init__(self, directory: Path) -> None:
        """Opens the repository, and makes it when missing."""
        self._handle = _c.repository(path_bytes(directory))

    def backups(self) -> list[dict[str, Any]]:
        """All, the oldest first: id, created_us, bytes, bytes_stored, bytes_read, incremental,
        encrypted."""
        return _c.repository_list(self._handle)

    def verify(
        self,
        id: int,
        options: Options | None = None,
        *,
        bytes_per_second: int = 0,
        progress: Progress | None = None,
    ) -> None:
        """Reads a backup. The options' encryption tells whether it is what was written."""
        handle = _options.make(options, {})
        _c.repository_verify(self._handle, id, bytes_per_second, progress, False, handle)

    def restore(
        self,
        id: int,
        target: Path,
        options: Options | None = None,
        *,
        bytes_per_second: int = 0,
        progress: Progress | None = None,
    ) -> None:
        """Makes a database of it in a directory that is missing or empty. Durable."""
        handle = _options.make(options, {})
        where = path_bytes(target)
        _c.repository_restore(self._handle, id, where, bytes_per_second, progress, False, handle)

    def remove(self, id: int) -> None:
        """Removes a backup; others stay whole. Durable."""
        _c.repository_remove(self._handle, id)

    def close(self) -> None:
        """Frees it. Errors: BusyError while another thread uses it."""
        _c.close(self._handle)

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def restore_backup(
    source: Source,
    target: Path,
    options: Options | None = None,
    *,
    bytes_per_second: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Makes a database of a backup that Database.backup_to has written: of a binary file, or an
    iterable of bytes; in a directory that is missing or empty. Durable. Errors:
    CorruptionError; what the source raises."""
    handle = _options.make(options, {})
    where = path_bytes(target)
    read = reader_of(source)
    return _c.read_backup(read, where, bytes_per_second, progress, False, handle)[0]


def verify_backup(
    source: Source,
    options: Options | None = None,
    *,
    bytes_per_second: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Reads such a backup. Errors: CorruptionError; what the source raises."""
    handle = _options.make(options, {})
    read = reader_of(source)
    return _c.read_backup(read, None, bytes_per_second, progress, False, handle)[0]
