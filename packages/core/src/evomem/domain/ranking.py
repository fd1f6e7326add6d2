"""Ranking: BM25 over candidates from any index, and one answer per head.

The scorer is ours so that the order is the same on every engine, with counts per namespace so
that no score tells anything about a neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the
# constants that Lucene and FTS5 use.
K1 = 1.2
B = 0.75
# A word in the subject, the slot, a tag or the decision itself says more than one in passing.
FOCUS_WEIGHT = 2.0

# Documents scored at most, unless the rarest term alone has more: scoring is what a recall costs,
# and `evomem-bench speed` measures it.
POSTING_BUDGET = 2000

# An answer that holds less than this share of the query's terms is no ground to stand on.
SUFFICIENT_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Corpus:
    """Counts of the namespaces searched.

    Attributes:
        documents: Indexed nodes.
        tokens: Tokens in all of them.
        frequency: Documents that hold each query term.
    """

    documents: int
    tokens: int
    frequency: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Return the weight of a term, above 0; the rarer, the more."""
        found = self.frequency.get(term, 0)
        return math.log(1 + (self.documents - found + 0.5) / (found + 0.5))


class Document(NamedTuple):
    """The indexed tokens of a node, joined by blanks."""

    node_id: str
    focus: str
    body: str


class SearchHit(NamedTuple):
    """A node of any version that matches.

    Attributes:
        node_id: The node.
        score: BM25, higher is better.
        share: Share of the query's terms that it holds, 0 to 1.
        terms: The matched terms.
    """

    node_id: str
    score: float
    share: float
    terms: tuple[str, ...]


class Scorer:
    """BM25 of one query over one corpus."""

    def __init__(self, terms: Sequence[str], corpus: Corpus) -> None:
        self._weights = {term: corpus.idf(term) for term in terms}
        self._terms = frozenset(terms)
        self._mean = (corpus.tokens / corpus.documents if corpus.documents else 0.0) or 1.0

    def score(self, document: Document) -> SearchHit:
        """Score one candidate."""
        focus, body = document.focus.split(), document.body.split()
        length = len(focus) + len(body)
        norm = K1 * (1 - B + B * length / self._mean)
        present = self._terms.intersection(body) | self._terms.intersection(focus)
        # In the order of the query, so that the sums do not depend on the order of a set.
        matched = [term for term in self._weights if term in present]
        score = 0.0
        for term in matched:
            count = body.count(term) + FOCUS_WEIGHT * focus.count(term)
            score += self._weights[term] * count * (K1 + 1) / (count + norm)
        share = len(matched) / max(1, len(self._weights))
        return SearchHit(document.node_id, score, share, tuple(matched))

    def bound(self, left_out: Iterable[str]) -> float:
        """Return what a document can score at most by these terms alone (MaxScore)."""
        return sum(self._weights[term] * (K1 + 1) for term in left_out)


def rare_first(frequency: Mapping[str, int], budget: int) -> tuple[list[str], list[str]]:
    """Split the terms into those to look up, the rarest first, and those only to score with.

    The lookup stops before the documents it may return exceed `budget`; at least one term is
    looked up. Terms found nowhere are in neither list.
    """
    found = sorted((term for term, count in frequency.items() if count), key=frequency.__getitem__)
    chosen: list[str] = []
    postings = 0
    for term in found:
        postings += frequency[term]
        if chosen and postings > budget:
            break
        chosen.append(term)
    return chosen, found[len(chosen) :]
