"""Connections of one process: one writer, and a few readers that are reused."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evomem.engines.sqlite.connection import connect
from evomem.errors import EngineError

_KEPT_READERS = 4

# Connections that a fork inherited. Closing them here would disturb the parent's locks and log,
# so they are kept until the child ends.
_inherited: list[sqlite3.Connection] = []


class ConnectionPool:
    """Hands out connections, to one writing thread at a time and to any number of readers.

    A memory-only store lives in its one connection, which serves everybody in turn. After a fork
    the child gets connections of its own.
    """

    def __init__(self, location: Path | str, *, in_memory: bool, read_mode: str) -> None:
        self._location = location
        self._in_memory = in_memory
        self._closed = False
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        # Once open, a file that vanished is an error, not a new and empty store.
        self._write_mode = "rwc"
        self.read_mode = read_mode

    @contextmanager
    def writer(self) -> Iterator[sqlite3.Connection]:
        """Lend the writing connection; other threads wait. The first makes a missing file."""
        self._check()
        with self._lock:
            if self._writer is None:
                self._writer = connect(self._location, mode=self._write_mode)
                self._write_mode = "rw"
            yield self._writer

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Lend a reading connection."""
        if self._in_memory:
            with self.writer() as connection:
                yield connection
            return
        self._check()
        with self._lock:
            kept = self._readers.pop() if self._readers else None
        connection = kept or connect(self._location, mode=self.read_mode)
        try:
            yield connection
        finally:
            self._keep(connection)

    def close(self) -> None:
        """Close all connections that are not lent; the others close when they come back."""
        if self._pid != os.getpid():
            self._start_anew()
        with self._lock:
            self._closed = True
            for connection in filter(None, (*self._readers, self._writer)):
                connection.close()
            self._readers, self._writer = [], None

    def _keep(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._readers) < _KEPT_READERS:
                self._readers.append(connection)
                return
        connection.close()

    def _check(self) -> None:
        if self._closed:
            message = f"{self._location} was closed. Open it again."
            raise EngineError(message, path=str(self._location))
        if self._pid != os.getpid():
            self._start_anew()

    def _start_anew(self) -> None:
        """Forget what a fork inherited: its lock may be held by a thread that is not here."""
        self._pid = os.getpid()
        self._lock = threading.RLock()
        if self._in_memory:
            return
        _inherited.extend(filter(None, (*self._readers, self._writer)))
        self._readers, self._writer = [], None
