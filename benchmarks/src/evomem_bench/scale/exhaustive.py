"""The right answers: every document scored for every query, and the best of each memory kept."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from pathlib import Path
from typing import NamedTuple

from evomem_bench.scale.internals import make_scorer, query_terms, read_documents
from evomem_bench.timing import track


class Ranked(NamedTuple):
    """A memory, and the score of its best version."""

    score: float
    memory_id: str


class _Best:
    """The best memories of one query so far."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._scores: dict[str, float] = {}
        self._floor = 0.0

    def add(self, memory_id: str, score: float) -> None:
        """Keep the score if it is the best of its memory and may be among the best of all."""
        if score <= self._floor or score <= self._scores.get(memory_id, 0.0):
            return
        self._scores[memory_id] = score
        # A memory dropped here comes back by a better version, if it has one.
        if len(self._scores) > 10 * self._k:
            best = self.ranked()
            self._scores = {memory: found for found, memory in best}
            self._floor = best[-1].score

    def ranked(self) -> list[Ranked]:
        """Return the best, the best first."""
        every = (Ranked(score, memory) for memory, score in self._scores.items())
        return heapq.nlargest(self._k, every)


def rank_all(path: Path, queries: Sequence[str], k: int) -> dict[str, list[Ranked]]:
    """Return the k best memories for each query, from all that is indexed.

    The first pass over the documents counts, the second scores: no index, no count that the
    store keeps, and no shortcut has a part in it.
    """
    wanted = {query: query_terms(query) for query in queries}
    asking: defaultdict[str, list[str]] = defaultdict(list)
    for query, terms in wanted.items():
        for term in terms:
            asking[term].append(query)
    documents, tokens, frequency = _counts(path, asking.keys())
    scorers = {
        query: make_scorer(terms, documents, tokens, frequency) for query, terms in wanted.items()
    }
    best = {query: _Best(k) for query in queries}
    read = read_documents(path)
    for _ in track(range(documents), f"score {documents:,}"):
        node = next(read)
        for query in {query for term in asking.keys() & node.terms for query in asking[term]}:
            best[query].add(node.memory_id, scorers[query](node.document))
    return {query: found.ranked() for query, found in best.items()}


def _counts(path: Path, terms: Set[str]) -> tuple[int, int, Counter[str]]:
    """Return the documents, their tokens, and how many documents hold each term."""
    documents = tokens = 0
    frequency: Counter[str] = Counter()
    for node in read_documents(path):
        documents += 1
        tokens += node.length
        frequency.update(terms & node.terms)
    return documents, tokens, frequency
