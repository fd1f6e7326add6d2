"""Connections of one process: one writer, and a few readers that are reused."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evomem.engines.sqlite.connection import connect
from evomem.errors import EngineError

_KEPT_READERS = 4

# How long a fork waits for readers that other threads still use.
_FORK_PATIENCE_S = 5.0


class ConnectionPool:
    """Hands out connections, to one writing thread at a time and to any number of readers.

    A memory-only store lives in its one connection, which serves everybody in turn.
    """

    def __init__(self, location: Path | str, *, in_memory: bool, read_mode: str) -> None:
        self._location = location
        self._in_memory = in_memory
        self._closed = False
        # One is held as long as a transaction, the other only to look something up.
        self._writing = threading.RLock()
        self._turn = threading.Condition(threading.RLock())
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._lent = 0
        self._file: tuple[int, int] | None = None
        # Once open, a file that vanished is an error, not a new and empty store.
        self._write_mode = "rwc"
        self.read_mode = read_mode
        _pools.add(self)

    @contextmanager
    def writer(self) -> Iterator[sqlite3.Connection]:
        """Lend the writing connection; other writers wait. The first makes a missing file."""
        with self._writing:
            with self._turn:
                self._check()
                if self._writer is None:
                    self._writer = connect(self._location, mode=self._write_mode)
                    self._write_mode = "rw"
                    self._remember_file()
                connection = self._writer
            yield connection

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Lend a reading connection; nobody waits for a writer."""
        if self._in_memory:
            with self.writer() as connection:
                yield connection
            return
        with self._turn:
            self._check()
            if self._readers:
                connection = self._readers.pop()
            else:
                connection = connect(self._location, mode=self.read_mode)
            self._remember_file()
            self._lent += 1
        try:
            yield connection
        finally:
            self._take_back(connection)

    def close(self) -> None:
        """Close all connections that are not lent; the others close when they come back."""
        with self._writing, self._turn:
            self._closed = True
            self._close_idle()
            if self._in_memory and self._writer is not None:
                self._writer.close()

    def before_fork(self) -> None:
        """Close what a child must not inherit, and keep the turn until the fork is done.

        SQLite keeps its file locks per process: a child that inherits an open file believes
        itself locked where it is not, and loses what it writes.
        """
        self._writing.acquire()
        self._turn.acquire()
        self._turn.wait_for(lambda: not self._lent, _FORK_PATIENCE_S)
        self._close_idle()

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._turn.release()
        self._writing.release()

    def after_fork_in_child(self) -> None:
        """Start with locks of its own: the inherited ones belong to a thread of the parent."""
        self._writing = threading.RLock()
        self._turn = threading.Condition(threading.RLock())
        self._lent = 0

    def _take_back(self, connection: sqlite3.Connection) -> None:
        with self._turn:
            self._lent -= 1
            self._turn.notify_all()
            if not self._closed and len(self._readers) < _KEPT_READERS:
                self._readers.append(connection)
                return
        connection.close()

    def _close_idle(self) -> None:
        for connection in self._readers:
            connection.close()
        self._readers = []
        if self._writer is not None and not self._in_memory:
            self._writer.close()
            self._writer = None

    def _check(self) -> None:
        if self._closed:
            message = f"{self._location} was closed. Open it again."
            raise EngineError(message, path=str(self._location))
        if self._file is not None and self._identity() != self._file:
            message = f"{self._location} was deleted or replaced while it was open. Open it again."
            raise EngineError(message, path=str(self._location))

    def _remember_file(self) -> None:
        if self._file is None:
            self._file = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._location)  # noqa: PTH116  half the time of Path.stat, per call
        except OSError:
            return None
        return (found.st_dev, found.st_ino)


_pools: weakref.WeakSet[ConnectionPool] = weakref.WeakSet()


def _before_fork() -> None:
    for pool in _pools:
        pool.before_fork()


def _after_fork_in_parent() -> None:
    for pool in _pools:
        pool.after_fork_in_parent()


def _after_fork_in_child() -> None:
    for pool in _pools:
        pool.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
