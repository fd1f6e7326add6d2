"""Lexical search: candidates from the index, scored by the rules of `domain.ranking`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from evomem.domain.ranking import Corpus, Document, Scorer, rare_first
from evomem.engines.base import SearchResult
from evomem.engines.sqlite import rows


class Query(Protocol):
    """Runs a named statement and returns all its rows."""

    def __call__(self, name: str, **values: Any) -> list[Any]:
        """Run `name` with its parameters."""
        ...


def search(
    query: Query,
    spaces: Sequence[int],
    terms: Sequence[str],
    conditions: dict[str, Any],
    budget: int,
) -> SearchResult:
    """Score the documents of some namespaces that hold any of the terms.

    The rarest terms select, all terms score. What only a common term would have selected may be
    missing; `bound` says how much it could score at most.
    """
    if not terms or not spaces:
        return SearchResult()
    within = _within(spaces)
    suffix = "" if len(spaces) == 1 else "_below"
    frequency = {
        term: query("term_count" + suffix, match=rows.match_any([term]), **within)[0][0]
        for term in terms
    }
    chosen, left_out = rare_first(frequency, budget)
    if not chosen:
        return SearchResult()
    ((documents, token_count),) = query("space_counts", spaces=rows.json_list(spaces))
    scorer = Scorer(terms, Corpus(documents, token_count, frequency))
    found = query("candidates" + suffix, match=rows.match_any(chosen), **within, **conditions)
    # The rows come latest first, and the sort keeps that order among equal scores.
    hits = sorted((scorer.score(Document(*row)) for row in found), key=lambda h: -h.score)
    return SearchResult(hits, scorer.bound(left_out))


def _within(spaces: Sequence[int]) -> dict[str, Any]:
    if len(spaces) == 1:
        return rows.space_range(spaces[0])
    return {"spaces": rows.json_list(spaces)}
