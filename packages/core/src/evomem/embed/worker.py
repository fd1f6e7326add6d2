"""One thread for work that may hang: whoever waits for it waits no longer than they said."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

# How long the end of the process waits for work that goes on. Before Python 3.14 native code that
# returns to Python after its end aborts the process.
EXIT_PATIENCE_S = 3.0

Result = TypeVar("Result")


class BusyError(Exception):
    """The thread still does what an earlier caller has given up waiting for."""


class Worker:
    """A daemon thread that does one job at a time; it starts with the first."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._jobs: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._job: _Job[Any] | None = None
        # The thread knows the queue only, so that it ends with whoever holds the worker.
        self.close = weakref.finalize(self, self._jobs.put, None)

    def run(self, work: Callable[[], Result], end: float) -> Result:
        """Return what the work returns, if it does before this time of the monotonic clock.

        Raises:
            BusyError: It was not begun: the thread hangs in an earlier job.
            TimeoutError: It was not done in time. What it returns later is thrown away.
        """
        if not self._turn.acquire(timeout=_seconds_to(end)):
            raise TimeoutError
        try:
            if self._job is None:
                threading.Thread(
                    target=_serve, args=(self._jobs,), name="evomem-embed", daemon=True
                ).start()
            elif not self._job.done.is_set():
                raise BusyError
            job = _Job(work)
            self._job = job
            _unfinished.add(job)
            self._jobs.put(job)
            return job.wait(_seconds_to(end))
        finally:
            self._turn.release()


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work: Callable[[], Result] | None = work
        self._results: list[Result] = []
        self._error: BaseException | None = None
        self.done = threading.Event()

    def do(self) -> None:
        try:
            if self._work is not None:
                self._results.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            self._work = None
            self.done.set()
            _unfinished.discard(self)

    def wait(self, seconds: float) -> Result:
        if not self.done.wait(seconds):
            raise TimeoutError
        if self._error is not None:
            raise self._error
        return self._results.pop()


_unfinished: set[_Job[Any]] = set()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unfinished.clear)


@atexit.register
def _let_finish() -> None:
    end = time.monotonic() + EXIT_PATIENCE_S
    for job in list(_unfinished):
        job.done.wait(_seconds_to(end))


def _serve(jobs: SimpleQueue[_Job[Any] | None]) -> None:
    while (job := jobs.get()) is not None:
        job.do()
        del job


def _seconds_to(end: float) -> float:
    return min(max(end - time.monotonic(), 0.0), threading.TIMEOUT_MAX)
