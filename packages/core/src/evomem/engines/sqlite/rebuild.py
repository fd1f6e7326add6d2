"""Making anew what follows from the truth: the search index, the memories, the counts."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evomem.domain.analysis import current
from evomem.domain.ranking import GRADE_BITS, rounded_length
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.counting import count_terms
from evomem.engines.sqlite.search import Query
from evomem.engines.sqlite.sql import QUERIES

_PAGE = 1000


def rebuild(connection: sqlite3.Connection) -> None:
    """Replace all that is derived; inside a transaction that the engine has begun."""

    def run(name: str, **values: Any) -> list[Any]:
        return connection.execute(QUERIES[name], values).fetchall()

    run("clear_index")
    run("drop_search_docs")
    run("reset_analyses", analysis=current().version)
    for documents in _documents(run):
        connection.executemany(QUERIES["add_search_doc"], documents)
    run("rebuild_index")
    run("drop_hidden_vectors")
    run("drop_memories")
    run("rebuild_memories")
    connection.executemany(QUERIES["set_counts"], right_counts(run))
    run("drop_term_counts")
    for space, _, _, _, _, last, _, _ in run("stored_counts"):
        count_terms(connection, space, 0, last)


def right_counts(query: Query) -> list[tuple[int, ...]]:
    """Return what `stored_counts` must say, from the rows counted."""
    documents: Counter[int] = Counter()
    tokens: Counter[int] = Counter()
    for space, grade, count in query("document_grades"):
        documents[space] += count
        tokens[space] += count * rounded_length(grade)
    return [
        (space, documents[space], tokens[space], *others)
        for space, *others in query("namespace_counts")
    ]


def _documents(query: Query) -> Iterator[list[tuple[int, int, str]]]:
    """Yield the search documents of all nodes that are to have some, in pages."""
    analysis = current()
    within = {"spaces": rows.json_list(i for (i,) in query("all_spaces")), "known": rows.LATEST}
    after = -1
    while page := query("next_nodes", after=after, limit=_PAGE):
        place = dict(page)
        after = page[-1][1]
        found = query("records", ids=rows.json_list(place), **within)
        records = (rows.read_record(row) for row in found)
        yield [
            (place[node.id] << GRADE_BITS | grade, analysis.version, tokens)
            for node in records
            if not node.purged
            for grade, tokens in rows.search_docs(node, analysis).items()
        ]
