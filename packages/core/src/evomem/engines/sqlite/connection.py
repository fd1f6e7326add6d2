"""Connections: settings, and one place that turns the driver's errors into ours."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evomem.engines.sqlite.filtering import UNREADABLE, add_functions
from evomem.engines.sqlite.location import IN_MEMORY
from evomem.errors import EngineBusyError, EngineError, ReadOnlyError

BUSY_TIMEOUT_S = 30.0

# Row values and NULLS-safe upserts are as old; older builds also lack JSON1 by default.
MINIMUM_SQLITE = (3, 34, 0)

_STATEMENT_CACHE = 256


def check_driver(version: tuple[int, ...] | None = None) -> None:
    """Refuse a SQLite that cannot hold a store, saying what to do.

    Raises:
        EngineError: Older than the minimum, or built without FTS5.
    """
    version = version or sqlite3.sqlite_version_info
    if version < MINIMUM_SQLITE:
        message = (
            f"This Python has SQLite {'.'.join(map(str, version))}; EvoMem needs 3.34 or later. "
            "Use a newer Python build, for example one that uv or python.org provides."
        )
        raise EngineError(message, sqlite=list(version))
    probe = sqlite3.connect(IN_MEMORY)
    try:
        probe.execute("CREATE VIRTUAL TABLE probe USING fts5 (x)")
    except sqlite3.OperationalError as error:
        message = (
            "This Python's SQLite is built without FTS5, the full-text index that EvoMem needs. "
            "Use another Python build, for example one that uv or python.org provides."
        )
        raise EngineError(message) from error
    finally:
        probe.close()


def connect(location: Path | str, *, mode: str = "rwc") -> sqlite3.Connection:
    """Open a connection with the engine's settings.

    Args:
        location: A file, or `:memory:`.
        mode: `rwc` creates a missing file; `rw`; `ro`; `immutable` reads without any lock.
    """
    if location == IN_MEMORY:
        target, uri = IN_MEMORY, False
    else:
        option = "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}"
        target, uri = f"{Path(location).as_uri()}?{option}", True
    connection = sqlite3.connect(
        target,
        uri=uri,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENT_CACHE,
    )
    add_functions(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -16384")
    return connection


def switch_to_wal(connection: sqlite3.Connection) -> None:
    """Put the file into WAL mode; the switch ignores the busy time-out, so wait for it here."""

    def switch() -> None:
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode not in {"wal", "memory"}:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()

    retry_while_busy(switch)


def begin_writing(connection: sqlite3.Connection) -> None:
    """Begin a transaction that may write, waiting for other writers up to the busy time-out.

    SQLite's own waiting sleeps longer the longer it has waited, so whoever comes last is served
    first and one writer of eight may wait for seconds. Short random pauses are fair.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        retry_while_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000:.0f}")


def retry_while_busy(action: Callable[[], object]) -> None:
    """Repeat an action that another process may make fail at once, up to the busy time-out."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.0005, 0.004))  # noqa: S311  spreads waiters, no secret
        else:
            return


@contextmanager
def translated(location: Path | str) -> Iterator[None]:
    """Turn driver errors into EvoMem errors with a remedy; the cause is kept."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, location) from error


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _translate(error: sqlite3.Error, location: Path | str) -> EngineError | ReadOnlyError:
    text = str(error)
    details = {"path": str(location)}
    if _is_busy(error):
        message = f"{location} has been held by another writer for {BUSY_TIMEOUT_S:.0f} s. Retry."
        return EngineBusyError(message, **details)
    if "readonly" in text:
        message = f"{location} may not be written. Check its permissions, or open it read-only."
        return ReadOnlyError(message, **details)
    if "full" in text:
        message = f"The disk of {location} is full; nothing was written. Free space and retry."
        return EngineError(message, **details)
    if "unable to open" in text:
        message = f"{location} cannot be opened. Check that the folder exists and may be written."
        return EngineError(message, **details)
    if "image is malformed" in text or "not a database" in text:
        message = f"{location} is damaged or no database. Restore a backup, or choose another path."
        return EngineError(message, **details)
    if UNREADABLE in text:
        message = (
            f"Metadata in {location} cannot be read: they are damaged, or the reading was "
            f"interrupted. Look with: evomem --db {location} doctor"
        )
        return EngineError(message, **details)
    return EngineError(f"The store {location} failed: {text}.", **details)
