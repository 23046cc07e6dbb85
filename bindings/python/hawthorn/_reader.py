"""Gets for asyncio: reads that do not wait for the disk."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable

from . import _hawthorn as _c
from ._errors import ClosedError
from ._tree import ReadTree
from ._types import BytesLike


class AsyncReader:
    """Many gets on their way at once, for coroutines of one event loop: `await reader.get(tree,
    key)`. What is in memory comes with the loop's next turn; what is on disk when it is there,
    told by a descriptor that the loop watches. `Database.async_reader` makes it.

    It shows the newest state, or that of a snapshot's trees. Close it, or use `async with`.
    Threads: that of the event loop alone.
    """

    def __init__(self, handle: _c.Handle) -> None:
        self._handle = handle
        self._descriptor = _c.queue_fd(handle)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._futures: dict[int, asyncio.Future[bytes | None]] = {}
        self._tags = itertools.count()
        self._pumping = False

    def get(self, tree: ReadTree, key: BytesLike) -> asyncio.Future[bytes | None]:
        """Begins a get; the future becomes the value, None where there is none, or fails as a get
        does. A transaction's tree is refused (ValueError): transactions wait."""
        if tree._source is not tree._db._handle:
            raise ValueError("a reader does not read in transactions")
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None:
                raise RuntimeError("a reader belongs to one event loop")
            if self._descriptor >= 0:
                loop.add_reader(self._descriptor, self._pump)
            self._loop = loop
        tag = next(self._tags)
        _c.queue_get(self._handle, tree._tree, key, tree._snapshot, tag)
        future = self._futures[tag] = loop.create_future()
        if not self._pumping:
            self._pumping = True
            loop.call_soon(self._pump)
        return future

    async def multi_get(self, tree: ReadTree, keys: Iterable[BytesLike]) -> list[bytes | None]:
        """The values of many keys, each of its own moment unless the tree is a snapshot's."""
        return list(await asyncio.gather(*[self.get(tree, key) for key in keys]))

    @property
    def pending(self) -> int:
        """How many gets are on their way."""
        return _c.queue_pending(self._handle)

    def _pump(self) -> None:
        """Completes what is done, and sends off what can be."""
        self._pumping = False
        try:
            completed = _c.queue_poll(self._handle, False)
        except Exception as error:
            self._fail(error)
            return
        for tag, result in completed:
            future = self._futures.pop(tag, None)
            if future is None or future.done():  # cancelled, perhaps
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _fail(self, error: Exception) -> None:
        futures, self._futures = self._futures, {}
        for future in futures.values():
            if not future.done():
                future.set_exception(error)
        self._unwatch()

    def _unwatch(self) -> None:
        if self._loop is not None and self._descriptor >= 0 and not self._loop.is_closed():
            self._loop.remove_reader(self._descriptor)
        self._descriptor = -1

    def close(self) -> None:
        """Ends it; gets that are on their way fail with ClosedError."""
        self._fail(ClosedError(13, "the reader was closed"))
        _c.close(self._handle)

    async def __aenter__(self) -> AsyncReader:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()
