"""What EvoMem is measured against: the same facts in five statements, and FTS5 as it comes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from evomem_bench.corpus import Note
from evomem_bench.timing import batched

_SCHEMA = """
CREATE TABLE event (id TEXT PRIMARY KEY, body TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE node (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, chain INTEGER NOT NULL,
    version INTEGER NOT NULL, head INTEGER NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX node_head ON node (chain) WHERE head;
CREATE VIRTUAL TABLE search USING fts5 (text, content = '', tokenize = 'unicode61');
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY, op TEXT NOT NULL, node TEXT NOT NULL, at INTEGER NOT NULL
);
"""

# Any moment does: a clock is no part of the five statements.
_AT = 1_700_000_000_000_000


class RawStore:
    """One file, written by the standard library's driver as directly as it can be.

    Settings are those of EvoMem's own connections, so that only the work differs.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        run = self._connection.execute
        run("PRAGMA journal_mode = WAL").fetchone()
        run("PRAGMA synchronous = FULL")
        run("PRAGMA temp_store = MEMORY")
        run("PRAGMA cache_size = -16384")
        run("PRAGMA mmap_size = 268435456")
        if not run("PRAGMA schema_version").fetchone()[0]:
            self._connection.executescript(_SCHEMA)
        (self._last,) = run("SELECT coalesce(max(row), 0) FROM node").fetchone()

    def write(self, note: Note) -> None:
        """Write a note in one durable transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._add(note)
        self._connection.execute("COMMIT")

    def load(self, notes: Sequence[Note], batch: int) -> None:
        """Write many notes, a batch in each transaction."""
        for chunk in batched(notes, batch):
            self._connection.execute("BEGIN IMMEDIATE")
            for note in chunk:
                self._add(note)
            self._connection.execute("COMMIT")

    def search(self, query: str, limit: int) -> list[int]:
        """Return the rows that hold any word of the query, FTS5's best first."""
        match = " OR ".join(f'"{word}"' for word in query.split())
        found = self._connection.execute(
            "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        )
        return [row for (row,) in found]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _add(self, note: Note) -> None:
        self._last += 1
        row, run = self._last, self._connection.execute
        node_id = f"n{row:011}"
        run("INSERT INTO event VALUES (?, ?, ?)", (f"e{row:011}", note.text, _AT))
        run("UPDATE node SET head = 0 WHERE chain = ? AND head", (note.chain,))
        run(
            "INSERT INTO node VALUES (?, ?, ?, ?, 1, ?, ?)",
            (row, node_id, note.chain, note.version, note.text, _AT),
        )
        run("INSERT INTO search (rowid, text) VALUES (?, ?)", (row, note.text))
        run("INSERT INTO audit (op, node, at) VALUES ('add', ?, ?)", (node_id, _AT))
