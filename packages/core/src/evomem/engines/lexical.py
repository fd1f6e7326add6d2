"""Lexical search over any inverted index: the rarest terms first, until the rest cannot matter.

Postings of the rarest terms give every document a score in part; the best are then scored in full.
What the terms not looked up could still add is bounded (MaxScore, Turtle and Flood 1995), so that
the search knows whether a better document may have been left out.

One order holds for every cut and for the result: the greater score, of equal ones the greater row.
A search that goes deeper so only appends, and pages of it neither repeat nor lose a document.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from evomem.domain.ranking import (
    GRADE_BITS,
    GRADE_MASK,
    Corpus,
    Document,
    Scorer,
    SearchHit,
)
from evomem.engines.base import SearchLimits, SearchResult

# A list this short costs less than the proof that it does not matter.
_CHEAP_LIST = 800
# Scoring a document in full costs about as much as so many postings.
_POSTINGS_A_SCORE = 40
# A query with more words is a document: its rarest words say enough.
_MOST_LISTS = 64
# Postings of common terms looked up first if rarer ones found too little.
_FIRST_SAMPLE = 2000
# Documents scored in full at a time, and at most while no proof is in sight.
_PAGE = 32
_MOST_SCORED = 240
# A number added and taken off again leaves multiples of 2 ** -36. Sums of those below 2 ** 16 are
# exact: documents that are equal in full are equal in part, in whatever order their terms are added.
_ROUNDING = 1.5 * 2**16

# Where a document stands in the order: its score, and its row.
_Key: TypeAlias = tuple[float, int]


class Index(Protocol):
    """Postings and documents, inside the reach and the filters of one search."""

    def corpus(self, terms: Sequence[str]) -> Corpus:
        """Count documents and terms, whatever the filters."""
        ...

    def longest(self) -> int:
        """Return how many documents a list can hold at most, as far as the filters tell."""
        ...

    def postings(self, term: str, limit: int | None, below: int | None) -> Sequence[int]:
        """Return postings, each a document's row and a grade in the lowest `GRADE_BITS`.

        All, or the `limit` greatest, below `below`. The filters may be applied in part only.
        """
        ...

    def documents(self, rows: Sequence[int]) -> Sequence[Document]:
        """Return those of the documents that pass the filters."""
        ...


def search(index: Index, terms: Sequence[str], limits: SearchLimits) -> SearchResult:
    """Rank the documents that hold any of the terms, which differ."""
    return _Search(index, terms, limits).run()


class _Weights(dict[int, float]):
    """What a posting of one term adds to a score, by its grade."""

    def __init__(self, idf: float, saturation: Mapping[int, float]) -> None:
        self._idf = idf
        self._saturation = saturation

    def __missing__(self, grade: int) -> float:
        weight = self[grade] = _rounded(self._idf * self._saturation[grade])
        return weight


class _Search:
    """One search: documents scored in part, and the best of them in full."""

    def __init__(self, index: Index, terms: Sequence[str], limits: SearchLimits) -> None:
        self._index = index
        self._limits = limits
        self._depth = limits.depth
        self._cut = False
        corpus = index.corpus(terms)
        self._scorer = Scorer(terms, corpus)
        longest = index.longest()
        self._lengths = {t: min(n, longest) for t, n in corpus.frequency.items() if n}
        self._pending = sorted(self._lengths, key=self._lengths.__getitem__)
        self._below: dict[str, int] = {}
        self._parts: dict[int, float] = {}
        self._hits: dict[int, SearchHit] = {}
        self._keys: list[_Key] = []
        self._seen: set[int] = set()
        self._rest: _Key = (0.0, 0)
        self._dropped: _Key = (0.0, 0)
        self._closed = False

    def run(self) -> SearchResult:
        """Search until the first `depth` are certain, or the limits end it."""
        settled = self._look_up() or self._rank(_MOST_SCORED)
        size = _FIRST_SAMPLE
        while not settled and self._pending and len(self._hits) < self._limits.least:
            if self._is_late():
                break
            self._sample(size)
            settled = self._rank(_MOST_SCORED)
            size *= 8
        bound = max(self._rest, self._dropped)
        if self._cut:
            bound = max(bound, (self._scorer.bound(self._lengths), 0))
        # Of what scores no more than was left out, the order would not be certain.
        kept = [row for score, row in self._keys if (score, row) >= bound or score < bound[0]]
        return SearchResult([self._hits[row] for row in kept], bound[0], partial=self._cut)

    def _look_up(self) -> bool:
        """Add whole lists within the budget; true once the others cannot matter."""
        left = self._limits.budget
        for _ in range(min(_MOST_LISTS, len(self._pending))):
            term = self._pending[0]
            count = self._lengths[term]
            if self._is_late():
                # The best so far is some of what the rarest term finds, if nothing else.
                if not self._parts:
                    self._add(term, self._index.postings(term, _MOST_SCORED, None))
                break
            if count > left:
                if not self._parts:
                    self._sample(left)
                break
            if count > _CHEAP_LIST and self._proved(count // _POSTINGS_A_SCORE):
                return True
            self._pending.pop(0)
            self._add(term, self._index.postings(term, None, None))
            left -= count
        return False

    def _proved(self, most: int) -> bool:
        """Try to prove, by scoring `most` documents at most, that the lists left do not matter."""
        unseen = self._scorer.bound(self._pending)
        parts = self._parts.values()
        if len(parts) + len(self._hits) < self._limits.least or unseen > max(parts, default=0.0):
            return False
        # A score in full is never below one in part.
        floor = max(min(heapq.nlargest(self._depth, parts)), self._kth()[0]) - unseen
        contenders = len(parts) if floor <= 0 else len([part for part in parts if part > floor])
        return contenders <= most + self._depth and self._rank(most)

    def _sample(self, size: int) -> None:
        """Add the latest part of every list that is left, `size` postings in all."""
        share = max(1, size // len(self._pending))
        for term in list(self._pending):
            if self._is_late():
                return
            found = self._index.postings(term, share, self._below.get(term))
            self._add(term, found)
            if len(found) < share:
                self._pending.remove(term)
            else:
                self._below[term] = min(found)

    def _add(self, term: str, postings: Sequence[int]) -> None:
        weights, parts = _Weights(self._scorer.idf[term], self._scorer.saturation), self._parts
        if self._closed:
            for posting in postings:
                if (row := posting >> GRADE_BITS) in parts:
                    parts[row] += weights[posting & GRADE_MASK]
            return
        get = parts.get
        for posting in postings:
            row = posting >> GRADE_BITS
            parts[row] = get(row, 0.0) + weights[posting & GRADE_MASK]

    def _rank(self, most: int) -> bool:
        """Score `most` of the best in full; true if no other can be among the first `depth`."""
        unseen = self._scorer.bound(self._pending)
        self._score(self._first())
        kth = self._kth()
        contenders = self._above((kth[0] - unseen, kth[1]))
        # The others cannot come among the first any more, nor can what no list held so far if the
        # terms left are not enough for it.
        if len(self._parts) - sum(row in self._parts for row in self._seen) > len(contenders):
            self._dropped = max(self._dropped, kth)
        self._parts = {row: part for part, row in contenders}
        if kth[0] >= unseen:
            self._closed = True
            self._dropped = max(self._dropped, (unseen, 0))
        # Without enough hits the filters may have left out any number of the best.
        contenders.sort(reverse=True)
        best = contenders[:most] if kth[0] else contenders
        for start in range(0, len(best), _PAGE):
            self._rest = (best[start][0] + unseen, best[start][1])
            if self._kth() >= self._rest:
                return True
            if len(self._hits) >= max(most, self._depth) or self._is_late():
                return False
            self._score([row for _, row in best[start : start + _PAGE]])
        if len(best) == len(contenders):
            self._rest = (unseen, 0)
        else:
            self._rest = (best[-1][0] + unseen, best[-1][1])
        return self._kth() >= self._rest

    def _first(self) -> list[int]:
        """Return the first `depth` by their scores in part, of those not scored in full."""
        floor = 0.0
        if len(self._parts) > self._depth:
            floor = heapq.nlargest(self._depth, self._parts.values())[-1]
        best = [(part, row) for row, part in self._parts.items() if part >= floor]
        best.sort(reverse=True)
        return [row for _, row in best[: self._depth] if row not in self._seen]

    def _above(self, floor: _Key) -> list[tuple[float, int]]:
        """Return documents not scored in full, with scores in part above the floor."""
        least, last = floor
        found = [
            (part, row)
            for row, part in self._parts.items()
            if part > least or (part == least and row > last)
        ]
        return [item for item in found if item[1] not in self._seen]

    def _is_late(self) -> bool:
        """Tell whether time is up, and with it that something was left undone."""
        self._cut = self._cut or self._limits.expired()
        return self._cut

    def _kth(self) -> _Key:
        """Return the last of the first `depth`, or of all if fewer were found but enough."""
        if len(self._keys) < self._limits.least:
            return (0.0, 0)
        return self._keys[min(self._depth, len(self._keys)) - 1]

    def _score(self, rows: Sequence[int]) -> None:
        self._seen.update(rows)
        for document in self._index.documents(rows):
            hit = self._scorer.score(document)
            score = sum(_rounded(part) for _, part in hit.terms)
            self._hits[document.row] = SearchHit(hit.node_id, score, hit.coverage, hit.terms)
            self._keys.append((score, document.row))
        self._keys.sort(reverse=True)


def _rounded(weight: float) -> float:
    return weight + _ROUNDING - _ROUNDING
