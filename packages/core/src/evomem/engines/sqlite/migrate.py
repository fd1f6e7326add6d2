"""Making and upgrading a store, safe when several processes open the same file at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence

from evomem.engines.sqlite import sql
from evomem.engines.sqlite.connection import begin_writing
from evomem.errors import EngineError, SchemaVersionError

FORMAT = "evomem/1"

# Tells our files from those of other programs; "EvoM" in ASCII.
APPLICATION_ID = 0x45766F4D


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema number in the file; 0 for a new one."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def check_identity(connection: sqlite3.Connection, newest: int, location: str = "The file") -> None:
    """Refuse a file of another program, or of a newer EvoMem.

    Raises:
        EngineError: Tables that are not ours.
        SchemaVersionError: Written by a newer version.
    """
    version = schema_version(connection)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    # Read last: a store that another process makes meanwhile has its mark by then.
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID and (tables or version or application):
        message = f"{location} is an SQLite database of another program. Choose another path."
        raise EngineError(message, path=location)
    if application == APPLICATION_ID and version > newest:
        message = (
            f"{location} has schema {version}; this EvoMem knows {newest} at most. Upgrade "
            "EvoMem (pip install -U evomem-core) to use it."
        )
        raise SchemaVersionError(message, store=version, known=newest)


def migrate(connection: sqlite3.Connection, scripts: Sequence[str] | None = None) -> int:
    """Bring the file to the newest schema and return its number.

    A new file gets the whole schema; an older one the scripts it lacks. All happens in one
    transaction, and the version is read again once the write lock is held, so that of several
    processes one does the work and the others find it done.

    Args:
        connection: To the file, outside a transaction.
        scripts: Migrations in order; those of the package if None.
    """
    known = sql.migrations() if scripts is None else list(scripts)
    check_identity(connection, len(known))
    if schema_version(connection) == len(known):
        return len(known)
    begin_writing(connection)
    try:
        check_identity(connection, len(known))
        version = schema_version(connection)
        whole = version == 0 and scripts is None
        for script in [sql.schema()] if whole else known[version:]:
            for statement in sql.statements(script):
                connection.execute(statement)
        if version == 0:
            _identify(connection)
        connection.execute(f"PRAGMA user_version = {len(known)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return len(known)


def _identify(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    identity = {"store_id": os.urandom(16).hex(), "format": FORMAT}
    connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", list(identity.items()))
