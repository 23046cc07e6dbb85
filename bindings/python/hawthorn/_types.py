"""Constants, and what they and other arguments are for the library."""

from __future__ import annotations

import enum
import os
from typing import Any, Union

#: Keys and values: bytes, or what has their bytes. Strings are to be encoded by the program.
BytesLike = Union[bytes, bytearray, memoryview]
#: Where files are.
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Durability(enum.IntEnum):
    """What a commit survives; each includes those before it."""

    DEFAULT = 0  #: as the options of the database say, which is FULL unless they say else
    NONE = 1  #: the death of the process
    ASYNC = 2  #: and a power loss, but for its last milliseconds
    FULL = 3  #: all that the hardware survives


class Mode(enum.IntEnum):
    """How transactions keep out of each other's way."""

    OPTIMISTIC = 0  #: the first one that commits wins
    EXCLUSIVE = 1  #: one at a time
    PESSIMISTIC = 2  #: a write locks its key


class Isolation(enum.IntEnum):
    """What a transaction sees of others."""

    SNAPSHOT = 0  #: the moment at which it began
    READ_COMMITTED = 1  #: each read what is committed then
    SERIALIZABLE = 2  #: one moment, and what it read has not changed when it commits


class RowLock(enum.IntEnum):
    """The strength of a row lock."""

    SHARED = 0
    UPGRADABLE = 1
    EXCLUSIVE = 2


class Compression(enum.IntEnum):
    """How values on disk are compressed."""

    NONE = 0
    LZ4 = 1
    ZSTD = 2


def name_bytes(name: str | bytes) -> bytes:
    """A name as the library takes it. Names that are no UTF-8 are strings with surrogates."""
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")


def key_bytes(key: BytesLike) -> bytes:
    """A copy of the bytes of a key. bytes() itself takes numbers and lists, too."""
    return key if isinstance(key, bytes) else memoryview(key).tobytes()


def path_bytes(path: Path) -> bytes:
    """A path as the library takes it."""
    return os.fsencode(path)


def tree_options(
    order: str | None,
    value_order: str | None,
    multi_value: bool,
    expires: bool,
    subtrees: bool,
    ttl_ms: int,
) -> tuple[Any, ...]:
    """The arguments that say what a tree is made with; None: as it is."""
    if not (order or value_order or multi_value or expires or subtrees or ttl_ms):
        return (None, None, False, False, False, 0)
    words = (name_bytes(order or ""), name_bytes(value_order or ""))
    return (*words, multi_value, expires, subtrees, ttl_ms)


def expiry(expires_at_ms: int | None, expires_after_ms: int | None) -> tuple[int, int]:
    """The arguments that say when an entry ends."""
    if expires_at_ms is not None and expires_after_ms is not None:
        raise ValueError("expires_at_ms and expires_after_ms exclude each other")
    if expires_at_ms is not None:
        return (2, expires_at_ms) if expires_at_ms else (1, 0)
    if expires_after_ms is not None:
        return (3, expires_after_ms)
    return (0, 0)


def prefix_end(prefix: bytes) -> bytes | None:
    """The first bytes behind all that begin with the prefix; None: there are none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes((stripped[-1] + 1,)) if stripped else None
