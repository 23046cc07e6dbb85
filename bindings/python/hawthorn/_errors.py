"""What calls raise: Error, and a class of its own for each code of the library."""

from __future__ import annotations

import errno

from . import _hawthorn as _c


class Error(Exception):
    """A call of the library has failed. `code` is the number of the error, `name` its name, such
    as "Conflict", `message` says what and where."""

    #: The code of this class; 0 for Error itself, which stands for codes of later versions.
    CODE = 0

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    @property
    def name(self) -> str:
        """The name of the code."""
        return _c.code_name(self.code)

    @property
    def retryable(self) -> bool:
        """Whether the same transaction, begun anew, may succeed: conflicts and deadlocks."""
        return isinstance(self, (ConflictError, DeadlockError))

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


class NotFoundError(Error, KeyError):
    """There is no such tree, snapshot, feed or database. A key that is missing is a KeyError of
    Python's own."""

    CODE = 1


class InvalidArgumentError(Error, ValueError):
    """The caller's mistake: sizes, the order of calls, a tree of another database, one object
    used by two threads at a time."""

    CODE = 2


class NotSupportedError(Error):
    """A known wish that this version does not fulfil."""

    CODE = 3


class CorruptionError(Error):
    """Bytes on disk are not what was written; the message says where."""

    CODE = 4


class IoError(Error):
    """The operating system refused a read or write."""

    CODE = 5


class NoSpaceError(Error):
    """The disk is full; reads and deletes go on."""

    CODE = 6


class BusyError(Error):
    """Somebody else holds it: another process the database, another thread the object."""

    CODE = 7


class ConflictError(Error):
    """Another transaction committed first; begin anew."""

    CODE = 8


class ReadOnlyError(Error):
    """It was opened for reading, a failed sync made it so, or the medium is read-only."""

    CODE = 9


class OutOfMemoryError(Error, MemoryError):
    """The memory budget, or the process, does not allow it."""

    CODE = 10


class ForkedError(Error):
    """The database was opened by the parent process."""

    CODE = 11


class UnknownOutcomeError(Error):
    """The sync of this commit failed: it may or may not survive."""

    CODE = 12


class ClosedError(Error):
    """The object, or its database, was closed."""

    CODE = 13


class TimedOutError(Error):
    """Others held a lock for too long; the message names them."""

    CODE = 14


class DeadlockError(Error):
    """Transactions wait for each other; begin anew."""

    CODE = 15


class TooOldError(Error):
    """What was asked for is not kept any more."""

    CODE = 16


class NotInMemoryError(Error):
    """The disk would have to be read, which the caller did not want."""

    CODE = 17


class PermissionDeniedError(Error, PermissionError):
    """The system does not let this process do it: the permissions of a file or directory, or a
    sandbox; the message names it."""

    CODE = 18

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.errno = errno.EACCES  # not the code, which is no number of the system


class InternalError(Error):
    """A callback has broken its rules."""

    CODE = 101


_classes: list[type[Error]] = [Error, *Error.__subclasses__()]
_c.set_errors({kind.CODE: kind for kind in _classes})
