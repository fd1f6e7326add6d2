"""The inverted index of SQLite, as `engines.lexical` asks it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

from evomem.domain.facets import narrowing
from evomem.domain.ranking import GRADE_BITS, Corpus, Document
from evomem.engines.base import Filters
from evomem.engines.sqlite import rows


class Query(Protocol):
    """Runs a named statement and returns all its rows."""

    def __call__(self, name: str, **values: Any) -> list[Any]:
        """Run `name` with its parameters."""
        ...


class SqliteIndex:
    """The search index inside one reach and under some filters.

    Args:
        query: Runs a statement in the snapshot.
        spaces: Namespaces in reach.
        filters: What the nodes must pass.
        conditions: The same as parameters of `{passes}` and `{remembered}`.
    """

    def __init__(
        self, query: Query, spaces: Sequence[int], filters: Filters, conditions: dict[str, Any]
    ) -> None:
        self._query = query
        self._spaces = spaces
        self._within = _within(spaces)
        self._suffix = "" if len(spaces) == 1 else "_below"
        self._conditions = conditions
        self._narrowing = narrowing(
            filters.tags, filters.tags_any, filters.session, filters.metadata
        )

    def corpus(self, terms: Sequence[str]) -> Corpus:
        """Count documents and terms."""
        spaces = rows.json_list(self._spaces)
        ((documents, tokens, counted, last),) = self._query("space_counts", spaces=spaces)
        if len(self._spaces) > 1:
            frequency = {term: self._count(rows.match(term), self._within) for term in terms}
        else:
            frequency = self._frequencies(terms, counted, last)
        return Corpus(documents, tokens, frequency)

    def _frequencies(self, terms: Sequence[str], counted: int, last: int) -> dict[str, int]:
        """Add to what was counted before what only the index knows."""
        found = dict.fromkeys(terms, 0)
        (space,) = self._spaces
        found.update(self._query("term_counts", space=space, terms=rows.json_list(terms)))
        if counted < last:
            tail = {**self._within, "low": self._within["low"] + (counted + 1 << GRADE_BITS)}
            for term in terms:
                found[term] += self._count(rows.match(term), tail)
        return found

    def longest(self) -> int:
        """Return how many rows have the rarest of the facets asked for."""
        counts = (self._count(rows.match_any(group), self._within) for group in self._narrowing)
        return min(counts, default=2**63)

    def _count(self, match: str, within: dict[str, Any]) -> int:
        ((count,),) = self._query("term_count" + self._suffix, match=match, **within)
        return int(count)

    def postings(self, term: str, limit: int | None, below: int | None) -> Sequence[int]:
        """Return postings of a term."""
        match = rows.match(term, self._narrowing)
        within = self._within if below is None else {**self._within, "high": below - 1}
        if limit is None:
            ((found,),) = self._query("postings" + self._suffix, match=match, **within)
        else:
            name = "latest_postings" + self._suffix
            ((found,),) = self._query(name, match=match, limit=limit, **within)
        postings: list[int] = json.loads(found)
        return postings

    def documents(self, wanted: Sequence[int]) -> Sequence[Document]:
        """Return those of the nodes that pass."""
        found = self._query("documents", rows=rows.json_list(wanted), **self._conditions)
        terms: defaultdict[tuple[str, int, int], dict[int, str]] = defaultdict(dict)
        for node_id, row, sequence, grade, tokens in found:
            terms[node_id, row, sequence][grade] = tokens
        return [
            Document(node_id, row, graded, sequence)
            for (node_id, row, sequence), graded in terms.items()
        ]


def _within(spaces: Sequence[int]) -> dict[str, Any]:
    if len(spaces) == 1:
        return {
            "low": spaces[0] << rows.SPACE_BITS + GRADE_BITS,
            "high": (spaces[0] + 1 << rows.SPACE_BITS + GRADE_BITS) - 1,
        }
    return {"spaces": rows.json_list(spaces), "high": 2**63 - 1}
