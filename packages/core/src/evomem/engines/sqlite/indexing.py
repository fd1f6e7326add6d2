"""Search documents on the write path: they come and go in the patch that decides about them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from evomem.domain.analysis import analysis
from evomem.domain.ranking import GRADE_BITS, rounded_length
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.counting import add_counts, discount, terms_in
from evomem.engines.sqlite.sql import QUERIES
from evomem.engines.sqlite.vectors import purge_vectors


@dataclass(slots=True)
class Space:
    """The namespace written to, and what the patch changes in its counts."""

    id: int
    last_node: int
    n_documents: int
    counted: int
    analysis: int
    analysis_before: int | None
    n_before: int
    documents: int = 0
    tokens: int = 0

    def analysis_of(self, row: int) -> int:
        """Return the text analysis that the documents of a node carry."""
        number = row - rows.space_range(self.id)["low"]
        before = self.analysis_before
        return before if before is not None and number <= self.n_before else self.analysis


class Indexing:
    """Adds and drops the documents of nodes, inside the transaction of a patch."""

    def __init__(self, connection: sqlite3.Connection, space: Space) -> None:
        self._connection = connection
        self._space = space

    def add(self, row: int, docs: Mapping[int, str]) -> None:
        """Give a node its documents, by their grades."""
        space = self._space
        version = space.analysis_of(row)
        for grade, tokens in docs.items():
            self._run("add_search_doc", row << GRADE_BITS | grade, version, tokens)
            self._run("index_doc", row << GRADE_BITS | grade, tokens)
        space.documents += 1
        space.tokens += rounded_length(next(iter(docs)))
        if self._is_counted(row):
            add_counts(self._connection, space.id, Counter(terms_in(docs.values())))

    def drop(self, row: int) -> None:
        """Take a node out of the index, with its vectors."""
        space = self._space
        found = self._run("docs_between", low=row, high=row).fetchall()
        for doc, tokens in found:
            self._run("unindex_doc", row=doc, tokens=tokens)
            self._run("drop_search_doc", row=doc)
        if found and self._is_counted(row):
            discount(self._connection, space.id, (tokens for _, tokens in found))
        if found:
            space.documents -= 1
            space.tokens -= rounded_length(found[0][0])
        purge_vectors(self._connection, row)

    def settle(self, touched: Collection[int]) -> None:
        """Bring the documents of nodes in step with the edges that the patch opened and closed."""
        if not touched:
            return
        for node_id, row, findable in self._run("unsettled", rows=rows.json_list(touched)):
            if findable:
                self._bring_back(node_id, row)
            else:
                self.drop(row)

    def _bring_back(self, node_id: str, row: int) -> None:
        within = {"spaces": rows.json_list([self._space.id]), "known": rows.LATEST}
        (found,) = self._run("records", ids=rows.json_list([node_id]), **within)
        version = analysis(self._space.analysis_of(row))
        self.add(row, rows.search_docs(rows.read_record(found), version))

    def _is_counted(self, row: int) -> bool:
        return row <= (rows.space_range(self._space.id)["low"] | self._space.counted)

    def _run(self, name: str, *values: Any, **named: Any) -> sqlite3.Cursor:
        return self._connection.execute(QUERIES[name], named or values)
