"""The SQLite engine: opening, snapshots, commits."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evomem.domain.analysis import current
from evomem.domain.diagnosis import Anchor, Check, StoreCondition
from evomem.domain.namespace import Reach
from evomem.domain.patch import Patch, Receipt
from evomem.domain.progress import Progress
from evomem.engines.base import StaleError
from evomem.engines.sqlite.connection import (
    begin_writing,
    check_driver,
    retry_while_busy,
    switch_to_wal,
    translated,
)
from evomem.engines.sqlite.doctor import condition, diagnose
from evomem.engines.sqlite.location import IN_MEMORY, check_file, network_file_system, resolve_path
from evomem.engines.sqlite.migrate import check_identity, migrate, schema_version
from evomem.engines.sqlite.pool import ConnectionPool
from evomem.engines.sqlite.reader import SqliteReader
from evomem.engines.sqlite.reanalyse import Reanalysis
from evomem.engines.sqlite.rebuild import rebuild
from evomem.engines.sqlite.sql import QUERIES, migrations
from evomem.engines.sqlite.vectors import ProcessCache, add_vectors
from evomem.engines.sqlite.writer import PatchWriter
from evomem.errors import EngineError, ReadOnlyError, SchemaVersionError

_logger = logging.getLogger("evomem")


class SqliteEngine:
    """A store in one file, or in memory."""

    def __init__(self, location: str | os.PathLike[str], *, read_only: bool = False) -> None:
        check_driver()
        in_memory = os.fspath(location) == IN_MEMORY
        self._path: Path | str = IN_MEMORY if in_memory else resolve_path(location)
        self._read_only = read_only
        self._vectors = ProcessCache()
        # The analysis that the namespace written to last carries: the next one's, most likely.
        self._analysis = current().version
        if isinstance(self._path, Path):
            check_file(self._path, read_only=read_only)
            if kind := network_file_system(self._path):
                _logger.warning(
                    "%s lies on a network file system (%s), whose locks SQLite cannot trust: two "
                    "machines writing may damage it. Keep the store on a local disk.",
                    self._path,
                    kind,
                )
        self._pool = ConnectionPool(
            self._path, in_memory=in_memory, read_mode="ro" if read_only else "rw"
        )
        try:
            with translated(self._path):
                if read_only and not in_memory:
                    self._open_read_only()
                else:
                    self._open()
        except BaseException:
            self._pool.close()
            raise

    @property
    def location(self) -> str:
        """Absolute path, or `:memory:`."""
        return str(self._path)

    @contextmanager
    def read(self) -> Iterator[SqliteReader]:
        """Open a snapshot."""
        with self._snapshot() as connection:
            yield SqliteReader(connection, self._vectors)

    def commit(self, patch: Patch) -> Receipt:
        """Write a patch in one transaction."""
        writer = PatchWriter(patch, self._analysis)
        with self._transaction() as connection:
            try:
                receipt = writer.write(connection)
            except sqlite3.IntegrityError as error:
                if _is_race(error):
                    raise StaleError from error
                raise
        self._analysis = writer.version
        return receipt

    def reanalyse(self, reach: Reach, limit: int) -> Progress:
        """Make documents anew, in one transaction if there is anything to do."""
        with self._snapshot() as connection:
            step = Reanalysis(connection, reach, limit)
        if not step.needed:
            return step.progress
        with self._transaction() as connection:
            return step.write(connection)

    def add_vectors(self, embedder: str, vectors: Mapping[str, bytes]) -> int:
        """Store vectors in one transaction."""
        with self._transaction() as connection:
            return add_vectors(connection, embedder, vectors)

    def condition(self) -> StoreCondition:
        """Tell where the store lies and how far it has come."""
        with self._snapshot() as connection:
            return condition(connection, self._path, read_only=self._read_only)

    def diagnose(self, anchor: Anchor | None = None) -> list[Check]:
        """Look at the whole store."""
        with self._snapshot() as connection:
            compare = None if self._read_only else self._compare_index
            return diagnose(connection, compare, anchor)

    def verify(self) -> list[str]:
        """Return what `diagnose` finds wrong."""
        return [f"{check.name}: {check.detail}" for check in self.diagnose() if not check.ok]

    def rebuild(self) -> None:
        """Make anew what is derived, in one transaction."""
        with self._transaction() as connection:
            rebuild(connection)

    def close(self) -> None:
        """Close every connection of this process."""
        self._pool.close()

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        with translated(self._path), self._pool.reader() as connection:
            # A memory-only store has one connection, on which readers of a thread may overlap.
            nested = connection.in_transaction
            if not nested:
                connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if not nested and connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._read_only:
            message = f"{self._path} was opened read-only. Open it without read_only to write."
            raise ReadOnlyError(message, path=str(self._path))
        with translated(self._path), self._pool.writer() as connection:
            nested = connection.in_transaction
            try:
                begin_writing(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk or an I/O error may have ended the transaction already.
                if connection.in_transaction and not nested:
                    connection.execute("ROLLBACK")
                raise

    def _compare_index(self) -> None:
        with self._pool.writer() as connection:
            connection.execute(QUERIES["check_index"])

    def _open(self) -> None:
        newest = len(migrations())
        with self._pool.writer() as connection:
            check_identity(connection, newest, self.location)
            switch_to_wal(connection)
            if schema_version(connection) == newest:
                return
            retry_while_busy(lambda: migrate(connection))

    def _open_read_only(self) -> None:
        """Try as any reader; on a read-only medium without a log, read without locks."""
        log = Path(f"{self._path}-wal")
        try:
            self._check_readable()
        except sqlite3.OperationalError:
            if log.exists() and log.stat().st_size:
                raise
            self._pool.read_mode = "immutable"
            self._check_readable()

    def _check_readable(self) -> None:
        newest = len(migrations())
        with self._pool.reader() as connection:
            check_identity(connection, newest, self.location)
            version = schema_version(connection)
        if version == 0:
            message = f"{self._path} is empty. Make it a store with: evomem --db {self._path} init"
            raise EngineError(message, path=str(self._path))
        if version < newest:
            message = f"{self._path} has an older schema. Open it once for writing to upgrade it."
            raise SchemaVersionError(message, path=str(self._path))


_CONTESTED = ("patch.idempotency_key", "event.external_id", "node.version")


def _is_race(error: sqlite3.IntegrityError) -> bool:
    """Tell whether another writer was first: a key, an external id or a version exists by now."""
    text = str(error)
    return any(key in text for key in _CONTESTED)
