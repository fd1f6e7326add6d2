"""What a note takes on the disk, and of what."""

from __future__ import annotations

import sqlite3
from collections.abc import Set
from contextlib import closing
from pathlib import Path

from evomem_bench.scale.internals import INDEX_TABLES, TEXT_TABLES
from evomem_bench.scale.stores import Stores
from evomem_bench.timing import Row

_PAGES = "SELECT name, pgsize FROM dbstat WHERE aggregate = 1"

# In the raw store the text stands in two tables, beside other columns.
_RAW_TEXT_TABLES = frozenset({"event", "node"})


def measure_disk(stores: Stores) -> list[Row]:
    """Weigh both files after a checkpoint, per note."""
    notes = stores.contents.notes
    with closing(sqlite3.connect(stores.raw)) as connection:
        statement = "SELECT sum(length(CAST(text AS BLOB))) FROM node"
        (text,) = connection.execute(statement).fetchone()
    contenders = {
        "raw": (stores.raw, _RAW_TEXT_TABLES),
        "EvoMem": (stores.path, TEXT_TABLES),
    }
    return [
        {
            "part": "disk",
            "system": system,
            "notes": notes,
            **{f"{name}_bytes": _each(size, notes) for name, size in weigh(path, tables).items()},
            "beyond_text_bytes": _each(_size(path) - text, notes),
        }
        for system, (path, tables) in contenders.items()
    ]


def weigh(path: Path, text_tables: Set[str]) -> dict[str, int | None]:
    """Return the bytes of a file in all, and of its text, its search index, and the rest.

    Where SQLite was built without `dbstat`, only the whole is known.
    """
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        whole = _size(path)
        try:
            pages = dict(connection.execute(_PAGES))
        except sqlite3.OperationalError:
            return {"all": whole, "text": None, "index": None, "rest": None}
    text = sum(size for name, size in pages.items() if name in text_tables)
    index = sum(size for name, size in pages.items() if name.startswith(INDEX_TABLES))
    return {"all": whole, "text": text, "index": index, "rest": whole - text - index}


def _size(path: Path) -> int:
    return path.stat().st_size


def _each(size: int | None, notes: int) -> float | None:
    return None if size is None else round(size / notes, 1)
