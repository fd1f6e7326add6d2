"""The SQLite engine: one writer, a few pooled readers, keyed by process."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evomem.domain.patch import Patch, Receipt
from evomem.engines.base import StaleError
from evomem.engines.sqlite.connection import (
    check_driver,
    connect,
    retry_while_busy,
    switch_to_wal,
    translated,
)
from evomem.engines.sqlite.location import IN_MEMORY, check_file, resolve_path
from evomem.engines.sqlite.migrate import check_identity, migrate, schema_version
from evomem.engines.sqlite.reader import SqliteReader
from evomem.engines.sqlite.sql import QUERIES, migrations
from evomem.engines.sqlite.writer import PatchWriter
from evomem.errors import EngineError, ReadOnlyError, SchemaVersionError

_POOLED_READERS = 4

# Connections that a fork inherited. Closing them here would disturb the parent's locks and log,
# so they are kept until the child ends.
_inherited: list[sqlite3.Connection] = []


class SqliteEngine:
    """A store in one file, or in memory."""

    def __init__(self, location: str | os.PathLike[str], *, read_only: bool = False) -> None:
        check_driver()
        self._in_memory = os.fspath(location) == IN_MEMORY
        self._path: Path | str = IN_MEMORY if self._in_memory else resolve_path(location)
        self._read_only = read_only
        self._read_mode = "ro"
        self._closed = False
        self._reset()
        if isinstance(self._path, Path):
            check_file(self._path, read_only=read_only)
        with translated(self._path):
            self._open()

    @property
    def location(self) -> str:
        """Absolute path, or `:memory:`."""
        return str(self._path)

    @contextmanager
    def read(self) -> Iterator[SqliteReader]:
        """Open a snapshot."""
        connection = self._take_reader()
        try:
            with translated(self._path):
                connection.execute("BEGIN")
                try:
                    yield SqliteReader(connection)
                finally:
                    connection.execute("ROLLBACK")
        finally:
            self._give_reader(connection)

    def commit(self, patch: Patch) -> Receipt:
        """Write a patch in one transaction."""
        if self._read_only:
            message = f"{self._path} was opened read-only. Open it without read_only to write."
            raise ReadOnlyError(message, path=str(self._path))
        self._check_process()
        with self._lock, translated(self._path):
            connection = self._writer_connection()
            writer = PatchWriter(connection, patch)
            connection.execute("BEGIN IMMEDIATE")
            try:
                receipt = writer.write()
                connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back(connection)
                if isinstance(error, sqlite3.IntegrityError) and _is_race(error):
                    raise StaleError from error
                raise
            return receipt

    def verify(self) -> list[str]:
        """Check integrity and that the index is in step."""
        self._check_process()
        with self._lock, translated(self._path):
            connection = self._writer_connection()
            problems = [r for (r,) in connection.execute("PRAGMA integrity_check") if r != "ok"]
            problems += [str(r) for r in connection.execute("PRAGMA foreign_key_check")]
            try:
                connection.execute(QUERIES["check_index"])
            except sqlite3.DatabaseError as error:
                problems.append(f"search index: {error}")
            for name in ("unindexed", "indexed_tombstones"):
                (count,) = connection.execute(QUERIES[name]).fetchone()
                if count:
                    problems.append(f"search index: {count} node(s) {name.replace('_', ' ')}")
            return problems

    def close(self) -> None:
        """Close every connection of this process."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._pid != os.getpid():
                self._reset()
            for connection in (*self._readers, self._writer):
                if connection is not None:
                    connection.close()
            self._readers, self._writer = [], None

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []

    def _open(self) -> None:
        newest = len(migrations())
        if self._read_only and not self._in_memory:
            self._open_read_only(newest)
            return
        connection = connect(self._path)
        try:
            check_identity(connection, newest)
            if schema_version(connection) < newest:
                switch_to_wal(connection)
                retry_while_busy(lambda: migrate(connection) and None)
        except BaseException:
            connection.close()
            raise
        self._writer = connection

    def _open_read_only(self, newest: int) -> None:
        """Try as any reader; on a read-only medium without a log, read without locks."""
        log = Path(f"{self._path}-wal")
        try:
            self._check_readable(newest)
        except sqlite3.OperationalError:
            if log.exists() and log.stat().st_size:
                raise
            self._read_mode = "immutable"
            self._check_readable(newest)

    def _check_readable(self, newest: int) -> None:
        connection = connect(self._path, mode=self._read_mode)
        try:
            check_identity(connection, newest)
            if schema_version(connection) < newest:
                message = (
                    f"{self._path} has an older schema. Open it once for writing to upgrade it."
                )
                raise SchemaVersionError(message, path=str(self._path))
        except BaseException:
            connection.close()
            raise
        self._readers.append(connection)

    def _check_process(self) -> None:
        if self._closed:
            message = f"{self._path} was closed. Open it again."
            raise EngineError(message, path=str(self._path))
        if self._pid == os.getpid() or self._in_memory:
            return
        _inherited.extend(filter(None, (*self._readers, self._writer)))
        self._reset()

    def _writer_connection(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = connect(self._path, mode="rw")
        return self._writer

    def _take_reader(self) -> sqlite3.Connection:
        self._check_process()
        if self._in_memory:
            self._lock.acquire()
            return self._writer_connection()
        with self._lock:
            if self._readers:
                return self._readers.pop()
        with translated(self._path):
            return connect(self._path, mode=self._read_mode)

    def _give_reader(self, connection: sqlite3.Connection) -> None:
        if self._in_memory:
            self._lock.release()
            return
        with self._lock:
            if not self._closed and len(self._readers) < _POOLED_READERS:
                self._readers.append(connection)
                return
        connection.close()

    @staticmethod
    def _roll_back(connection: sqlite3.Connection) -> None:
        # A full disk or an I/O error may have ended the transaction already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_race(error: sqlite3.IntegrityError) -> bool:
    """Tell whether another writer was first: an idempotency key or a version exists by now."""
    text = str(error)
    return "patch.idempotency_key" in text or "node.version" in text
