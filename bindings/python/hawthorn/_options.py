"""The options of a database, and what it calls."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

from . import _hawthorn as _c
from ._types import name_bytes, path_bytes

_LOG, _EXPIRY, _LISTENER, _HOOK, _MERGE, _ORDER, _COMPARATOR, _FILTER, _ENCRYPTION = range(9)


def _text(name: str, value: Any) -> bytes:
    """A value as the library takes it."""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, enum.Enum):
        return value.name.lower().encode()
    if name == "file_mode" and isinstance(value, int):
        return f"{value:o}".encode()
    if isinstance(value, (int, float)):
        return str(int(value) if isinstance(value, int) else value).encode()
    if isinstance(value, (str, bytes)):
        return name_bytes(value)
    return path_bytes(value)


class Options:
    """Options by their names, and functions that the database calls. One object may open any
    number of databases; each takes the options as they are then. Values are numbers, True or
    False, words such as "lz4" or what stands for them (Compression.LZ4), sizes such as "64M"; lists
    for `devices` and `merge_operators`. `Options.names()` has all names.

    Functions run on any thread, and must not wait for one that holds a lock of theirs while it
    calls the database. What they raise is written by sys.unraisablehook, unless it is said
    otherwise. Threads: one at a time.
    Errors: NotFoundError for a name that there is not; NotSupportedError for one that takes a
    function, with what sets it; InvalidArgumentError for a value.
    """

    __slots__ = ("_handle",)

    def __init__(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        self._handle = _c.options()
        for name, value in {**(values or {}), **named}.items():
            self.set(name, value)

    @staticmethod
    def names() -> list[str]:
        """The names of all options."""
        return _c.options_names()

    def set(self, name: str, value: Any) -> None:
        """Sets an option. Those that are lists take one more, or all of a list or tuple."""
        for one in value if isinstance(value, (list, tuple)) else (value,):
            _c.options_set(self._handle, name_bytes(name), _text(name, one))

    def get(self, name: str) -> str:
        """The value of an option as text; of lists the number of items."""
        return _c.options_get(self._handle, name_bytes(name)).decode("utf-8", "surrogateescape")

    def _callback(self, which: int, name: str | None, flag: int, *callables: Any) -> None:
        for one in callables:
            if one is not None and not callable(one):
                raise TypeError("a function is needed")
        encoded = None if name is None else name_bytes(name)
        _c.options_callback(self._handle, which, encoded, flag, callables)

    # ---- What is told

    def on_log(self, log: Callable[[int, str], Any]) -> None:
        """log(level, message): messages for an operator; 0 information, 1 warning, 2 error."""
        self._callback(_LOG, None, 0, log)

    def on_expiry(self, told: Callable[[bytes, bytes, bytes], Any]) -> None:
        """told(tree name, key, value): an entry that had ended was removed. It may use the
        database, but for close and compact."""
        self._callback(_EXPIRY, None, 0, told)

    def add_listener(self, listener: Callable[[str, dict[str, Any]], Any]) -> None:
        """listener(event, fields): what a database tells of its work, such as "flush_completed",
        one after the other. It may read and write, and must not close the database."""
        self._callback(_LISTENER, None, 0, listener)

    def add_commit_hook(
        self,
        before: Callable[[int, int], Any] | None = None,
        after: Callable[[int, int, int, int], Any] | None = None,
    ) -> None:
        """before(operations, durability) is called on the thread that commits; what it raises
        refuses the commit (as an Error with its code, or InternalError with its message).
        after(operations, durability, timestamp, code) is told behind it. They may read."""
        if before is None and after is None:
            raise TypeError("one function is needed")
        self._callback(_HOOK, None, 0, before, after)

    # ---- What makes, orders and removes

    def add_merge_operator(
        self,
        name: str,
        merge: Callable[[bytes, bytes | None, list[bytes]], bytes | None],
        combine: Callable[[bytes, bytes, bytes], bytes | None] | None = None,
    ) -> None:
        """merge(key, existing, operands) returns the new value, combine(key, left, right) one
        operand of two; None: they do not fit together. They must be pure, and not call the
        database. Those of the library are values of the option merge_operators: "uint64_add",
        "max", "append", or "append:" and a separator."""
        self._callback(_MERGE, name, 0, merge, combine)

    def add_key_order(
        self,
        name: str,
        encode: Callable[[bytes], bytes | None],
        decode: Callable[[bytes], bytes | None],
        fixed_bytes: int = 0,
    ) -> None:
        """An order of keys by an encoding: encode(key) returns bytes whose order is that of the
        keys, decode(bytes) the key; None for what is no key. They must be pure, and not call the
        database. fixed_bytes: the size of all encodings; 0: they differ."""
        self._callback(_ORDER, name, fixed_bytes, encode, decode)

    def add_key_comparator(self, name: str, compare: Callable[[bytes, bytes], int]) -> None:
        """An order of keys by compare(a, b), less than, equal to or greater than 0. It must be
        pure, must not raise, and costs much more than an encoding."""
        self._callback(_COMPARATOR, name, 0, compare)

    def set_flush_filter(
        self, tree: str, kept: Callable[[bytes, bytes], bool | bytes], *, keys_only: bool = False
    ) -> None:
        """kept(key, value) says what becomes of an entry of the tree when it is flushed or
        compacted: True, it stays; False, it goes; bytes: its new value. keys_only: values come
        empty."""
        self._callback(_FILTER, tree, int(keys_only), kept)

    # ---- Encryption

    def set_encryption(self, key: Callable[[str], bytes], key_id: str | None = None) -> None:
        """Where keys come from: key(id) returns 32 bytes. A database that is created is encrypted
        by the key with `key_id`. What the function raises fails the call that asked."""
        self._callback(_ENCRYPTION, key_id, 0, key)


def make(options: Options | Mapping[str, Any] | None, named: Mapping[str, Any]) -> _c.Handle | None:
    """The handle of options, given as an object, or by name."""
    if isinstance(options, Options):
        if named:
            raise TypeError("options are an object or names, not both")
        return options._handle
    if options is None and not named:
        return None
    return Options(options, **named)._handle


def generate_key() -> bytes:
    """32 bytes of the system's randomness, for encryption."""
    return _c.generate_key()
