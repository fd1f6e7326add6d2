"""The memory for asyncio: the same names, each run in a thread.

SQLite has one writer and answers in milliseconds, so a thread per call is all the concurrency
there is to have. Nothing here belongs to an event loop: one handle serves any number of them.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Generator, Sequence
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from evomem.domain.namespace import Namespace
from evomem.service.memory import Memory

P = ParamSpec("P")
R = TypeVar("R")


def _threaded(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    @functools.wraps(method)
    async def call(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self._memory, *args, **kwargs)

    return call


class AsyncMemory:
    """A `Memory` whose methods are awaited.

    A cancelled await stops waiting, not the thread: a write under way may still commit, wholly.
    Pass an `idempotency_key` where a cancelled call will be repeated.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def memory(self) -> Memory:
        """The same handle, called without `await`."""
        return self._memory

    @property
    def namespace(self) -> Namespace:
        """The namespace that the handle is bound to."""
        return self._memory.namespace

    @property
    def path(self) -> str:
        """Absolute path or address of the store."""
        return self._memory.path

    remember = _threaded(Memory.remember)
    remember_many = _threaded(Memory.remember_many)
    recall = _threaded(Memory.recall)
    get_node = _threaded(Memory.get_node)
    get_slots = _threaded(Memory.get_slots)
    namespaces = _threaded(Memory.namespaces)
    history = _threaded(Memory.history)
    list = _threaded(Memory.list)
    link = _threaded(Memory.link)
    unlink = _threaded(Memory.unlink)
    record_event = _threaded(Memory.record_event)
    get_event = _threaded(Memory.get_event)
    apply = _threaded(Memory.apply)
    search = _threaded(Memory.search)
    read = _threaded(Memory.read)
    patch = _threaded(Memory.patch)
    rollback = _threaded(Memory.rollback)
    forget = _threaded(Memory.forget)
    review = _threaded(Memory.review)
    version = _threaded(Memory.version)
    changes = _threaded(Memory.changes)
    stats = _threaded(Memory.stats)
    doctor = _threaded(Memory.doctor)
    reindex = _threaded(Memory.reindex)
    export_audit = _threaded(Memory.export_audit)
    close = _threaded(Memory.close)

    def within(self, namespace: str | Sequence[str]) -> AsyncMemory:
        """Return a handle on a namespace below this one; it shares the store."""
        return AsyncMemory(self._memory.within(namespace))

    async def __aenter__(self) -> AsyncMemory:
        """Return the handle."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the handle."""
        await self.close()


class Opening:
    """What `aopen` returns: await it, or enter it with `async with`."""

    def __init__(self, open_: Callable[[], Memory]) -> None:
        self._open = open_
        self._memory: AsyncMemory | None = None

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        """Open in a thread and return the handle."""
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncMemory:
        """Open in a thread and return the handle."""
        self._memory = await self._opened()
        return self._memory

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the handle."""
        if self._memory is not None:
            await self._memory.close()

    async def _opened(self) -> AsyncMemory:
        return AsyncMemory(await asyncio.to_thread(self._open))
