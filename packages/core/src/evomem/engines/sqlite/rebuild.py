"""Making anew what follows from the truth: the search index, the memories, the counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from evomem.domain.analysis import ANALYSIS_VERSION
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.search import Query
from evomem.engines.sqlite.sql import QUERIES

_PAGE = 1000
_LATEST = 2**62


def rebuild(connection: sqlite3.Connection) -> None:
    """Replace all that is derived; inside a transaction that the engine has begun."""

    def run(name: str, **values: Any) -> list[Any]:
        return connection.execute(QUERIES[name], values).fetchall()

    run("clear_index")
    run("drop_search_docs")
    for documents in _documents(run):
        connection.executemany(QUERIES["add_search_doc"], documents)
    run("rebuild_index")
    run("drop_memories")
    run("rebuild_memories")
    connection.executemany(QUERIES["set_counts"], run("namespace_counts"))


def _documents(query: Query) -> Iterator[list[tuple[int, int, str, str]]]:
    """Yield the search documents of all nodes that were not purged, in pages."""
    within = {"spaces": rows.json_list(i for (i,) in query("all_spaces")), "known": _LATEST}
    after = -1
    while page := query("next_nodes", after=after, limit=_PAGE):
        place = dict(page)
        after = page[-1][1]
        found = query("records", ids=rows.json_list(place), **within)
        records = (rows.read_record(row) for row in found)
        yield [
            (place[node.id], ANALYSIS_VERSION, *rows.search_tokens(node))
            for node in records
            if not node.purged
        ]
