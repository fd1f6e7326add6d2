"""The vectors in SQLite: writing them, and reading them as `engines.vectors` asks."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evomem.engines.base import SearchLimits, SearchResult
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.sql import QUERIES

if TYPE_CHECKING:
    from evomem.engines.vectors import VectorCache

_BATCH = 1000
# What is new is read by its ids where those of all namespaces are few beside what is there.
_FEW = 100


def add_vectors(connection: sqlite3.Connection, embedder: str, vectors: Mapping[str, bytes]) -> int:
    """Store vectors by node, inside a transaction; return how many were.

    The first vector of an embedder says how many numbers all others must have.
    """
    numbers = [len(value) // 4 for value in vectors.values() if value and not len(value) % 4]
    if not numbers:
        return 0
    connection.execute(QUERIES["add_embedder"], {"embedder": embedder, "dimension": numbers[0]})
    ((number, dimension),) = connection.execute(QUERIES["embedder"], {"embedder": embedder})
    fitting = [
        {"id": node_id, "embedder": number, "value": value}
        for node_id, value in vectors.items()
        if len(value) == 4 * dimension
    ]
    return connection.executemany(QUERIES["add_vector"], fitting).rowcount if fitting else 0


def purge_vectors(connection: sqlite3.Connection, row: int) -> None:
    """Delete the vectors of a node; their bytes are overwritten first, as a text shows in them."""
    connection.execute(QUERIES["overwrite_vectors"], {"node": row})
    connection.execute(QUERIES["drop_vectors"], {"node": row})


class ProcessCache:
    """The cache of loaded vectors that belongs to this process; a fork starts with its own."""

    def __init__(self) -> None:
        self._caches: dict[int, VectorCache] = {}

    def get(self) -> VectorCache:
        """Return the cache; made when first asked for, as it needs an extra."""
        from evomem.engines.vectors import VectorCache  # noqa: PLC0415  numpy is an extra

        pid = os.getpid()
        return self._caches.get(pid) or self._caches.setdefault(pid, VectorCache())


class SqliteVectors:
    """The vectors of one embedder in a snapshot, under some filters.

    Args:
        connection: In the snapshot.
        embedder: Its number.
        dimension: How many numbers its vectors have.
        conditions: Parameters of `{passes}` and `{remembered}`, and what is known.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        embedder: int,
        dimension: int,
        conditions: Mapping[str, Any],
    ) -> None:
        self._connection = connection
        self.embedder = embedder
        self.dimension = dimension
        self._conditions = conditions

    def latest(self) -> int:
        """Return the greatest id of a vector."""
        ((latest,),) = self._run("latest_vector")
        return int(latest)

    def count(self, space: int, last: int) -> int:
        """Count the vectors of a namespace, up to an id."""
        ((count,),) = self._run("count_vectors", last=last, **self._within(space))
        return int(count)

    def load(self, space: int, after: int, held: int) -> Iterator[Sequence[tuple[int, bytes]]]:
        """Yield rows and vectors after an id."""
        few = after and self.latest() - after <= _FEW + held // 10
        name = "new_vectors" if few else "vectors"
        found = self._run(name, after=after, size=4 * self.dimension, **self._within(space))
        while batch := found.fetchmany(_BATCH):
            yield batch

    def passing(self, wanted: Sequence[int]) -> Mapping[int, str]:
        """Return rows and ids of those nodes that pass."""
        return dict(self._passing("near", wanted))

    def passing_vectors(self, wanted: Sequence[int]) -> Sequence[tuple[int, str, bytes]]:
        """Return rows, ids and vectors of those nodes that pass."""
        return self._passing("near_vectors", wanted).fetchall()

    def _passing(self, name: str, wanted: Sequence[int]) -> sqlite3.Cursor:
        listed = rows.json_list(wanted)
        return self._run(name, rows=listed, embedder=self.embedder, **self._conditions)

    def _within(self, space: int) -> dict[str, int]:
        return {"embedder": self.embedder, **rows.space_range(space)}

    def _run(self, name: str, **values: Any) -> sqlite3.Cursor:
        return self._connection.execute(QUERIES[name], values)


def search_vectors(
    caches: ProcessCache,
    table: SqliteVectors,
    spaces: Sequence[int],
    vector: bytes,
    limits: SearchLimits,
) -> SearchResult:
    """Rank the nodes of some namespaces by their vectors."""
    from evomem.engines.vectors import nearest  # noqa: PLC0415  numpy is an extra

    return nearest(caches.get(), table, spaces, vector, limits)
