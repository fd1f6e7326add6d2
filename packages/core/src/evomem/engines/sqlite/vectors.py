"""The vectors in SQLite: writing them, and reading them as `engines.vectors` asks."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evomem.domain.ranking import Passing
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

    def nodes(self, space: int) -> int:
        """Count the nodes of a namespace that have a text."""
        return int(self._run("space_counts", spaces=rows.json_list([space])).fetchone()[0])

    def all(self, space: int, behind: int, last: int) -> Iterator[Sequence[tuple[int, bytes]]]:
        """Yield rows and vectors up to an id."""
        within = self._within(space)
        within["low"] = max(within["low"], behind + 1)
        return self._batches("vectors", after=0, last=last, **within)

    def new(self, space: int, after: int, held: int) -> Iterator[Sequence[tuple[int, bytes]]]:
        """Yield rows and vectors after an id."""
        latest = self.latest()
        name = "new_vectors" if latest - after <= _FEW + held // 10 else "vectors"
        return self._batches(name, after=after, last=latest, **self._within(space))

    def passing(self, wanted: Sequence[int]) -> Mapping[int, Passing]:
        """Return those nodes that pass."""
        found = self._passing("near", wanted)
        return {row: Passing(sequence, row, node_id) for row, sequence, node_id in found}

    def passing_vectors(self, wanted: Sequence[int]) -> Sequence[tuple[Passing, bytes]]:
        """Return those nodes that pass, with their vectors."""
        found = self._passing("near_vectors", wanted)
        return [(Passing(sequence, row, n), value) for row, sequence, n, value in found]

    def _batches(self, name: str, **values: int) -> Iterator[Sequence[tuple[int, bytes]]]:
        found = self._run(name, size=4 * self.dimension, **values)
        while batch := found.fetchmany(_BATCH):
            yield batch

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
