"""Finding: which heads answer a question by words, by meaning, or by both."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from evomem.domain.fusion import LEXICAL_WEIGHT, VECTOR_WEIGHT, Ranking, fuse, is_certain
from evomem.domain.lineage import Lineage, NodeFacts
from evomem.domain.namespace import Reach
from evomem.domain.node import Status
from evomem.domain.question import RecallRequest
from evomem.domain.ranking import Evidence, SearchHit
from evomem.domain.scope import contains
from evomem.engines.base import Filters, Reader, SearchLimits, SearchResult
from evomem.service.filters import filters_of

# Resolved at a time: the first page is nearly always enough, and each next one is larger.
_FIRST_PAGE = 8
# Several versions of a story match alike: so many nodes are searched for each answer.
_NODES_AN_ANSWER = 3
_WIDER = 8
# Fusion looks at more answers than are asked for: what is third by words and tenth by meaning may
# be the best.
_FUSED_AN_ANSWER = 2
# Fused deeper, the first answers may be others. So the first few are fused at one depth, and what
# comes behind them is the best of a deeper fusion that they left.
_FIRST_TIER = 20
_NEXT_TIER = 5


class Place(NamedTuple):
    """Where a head stands in one ranking, and which of its versions put it there."""

    rank: int
    hit: SearchHit
    version: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A head, and what led to it.

    Attributes:
        head: The node that answers.
        score: In the ranking that it is an answer of.
        words: Its place by words.
        meaning: Its place by meaning.
        recent: Without a query: the node that was changed and its version.
        scheduled: Versions that take force later.
        same: Other heads that state the same.
    """

    head: str
    score: float | None = None
    words: Place | None = None
    meaning: Place | None = None
    recent: tuple[str, int] | None = None
    scheduled: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    @property
    def evidence(self) -> Evidence:
        """Return what speaks for it."""
        covered = self.words.hit.coverage if self.words else 0.0
        return Evidence(covered, self.meaning.hit.score if self.meaning else 0.0)


@dataclass(slots=True)
class Found:
    """The answers of one ranking, the best first, by head.

    Attributes:
        answers: By head.
        exact: True if no better answer can have been left out.
        partial: True if the deadline cut the search short.
        unseen: Nodes that have no vector to be found by.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    exact: bool = True
    partial: bool = False
    unseen: int = 0


Search = Callable[[SearchLimits], SearchResult]


class Matcher:
    """Finds heads in one snapshot.

    Args:
        reader: The snapshot.
        request: The question.
        reach: What may be seen.
        at: World time.
        deadline: When to stop, on the clock of `time.monotonic`.
    """

    def __init__(
        self,
        reader: Reader,
        request: RecallRequest,
        reach: Reach,
        at: datetime,
        deadline: float | None,
    ) -> None:
        self._reader = reader
        self._request = request
        self._reach = reach
        self._at = at
        removed = request.include_removed or request.status == Status.FORGOTTEN
        self._filters = filters_of(request, request.status, at, removed=removed)
        self._limits = SearchLimits(deadline=deadline)

    def recent(self, need: int) -> Found:
        """Return the most recently changed heads."""
        found = Found()
        filters = self._filters
        if filters == Filters(removed=filters.removed):
            # Without conditions, a node that was replaced leads only where a later one led.
            filters = replace(filters, standing=self._at)
        after: str | None = None
        size = max(_FIRST_PAGE, 2 * need)
        while ids := self._reader.recent(self._reach, filters, after=after, limit=size):
            for match, head, lineage in self._heads(ids):
                if head not in found.answers:
                    version = lineage.facts[match].version
                    found.answers[head] = self._answer(head, lineage, recent=(match, version))
            if len(found.answers) >= need:
                break
            if self._limits.expired():
                found.partial = True
                break
            after, size = ids[-1], size * 2
        return found

    def by_words(self, terms: Sequence[str], need: int) -> Found:
        """Return the heads whose versions hold the terms."""

        def search(limits: SearchLimits) -> SearchResult:
            return self._reader.search(self._reach, terms, self._filters, limits)

        return self._heads_of(search, need, "words")

    def by_meaning(self, embedder: str, vector: bytes, need: int) -> Found:
        """Return the heads whose versions are near to a vector."""

        def search(limits: SearchLimits) -> SearchResult:
            return self._reader.nearest(self._reach, embedder, vector, self._filters, limits)

        return self._heads_of(search, need, "meaning")

    def by_both(self, terms: Sequence[str], embedder: str, vector: bytes, need: int) -> Found:
        """Fuse the heads found by words and by meaning; fewer are always the first of more."""
        answers: dict[str, Answer] = {}
        tier = _FIRST_TIER
        while True:
            fused = self._fused(terms, embedder, vector, need, _FUSED_AN_ANSWER * tier)
            whole = len(fused.answers) < _FUSED_AN_ANSWER * tier
            last = tier >= need or whole or fused.partial
            left = (answer for head, answer in fused.answers.items() if head not in answers)
            more = list(itertools.islice(left, (need if last else tier) - len(answers)))
            answers.update((answer.head, answer) for answer in more)
            if last:
                break
            tier *= _NEXT_TIER
        # What a first tier has put elsewhere than the last one is not the ranking that is certain.
        fused.exact &= list(answers) == list(fused.answers)[:need]
        fused.answers = answers
        return fused

    def _fused(
        self, terms: Sequence[str], embedder: str, vector: bytes, need: int, depth: int
    ) -> Found:
        words, meaning = self.by_words(terms, depth), self.by_meaning(embedder, vector, depth)
        rankings = [
            Ranking(list(words.answers), LEXICAL_WEIGHT, len(words.answers) < depth),
            Ranking(list(meaning.answers), VECTOR_WEIGHT, len(meaning.answers) < depth),
        ]
        scores = fuse(rankings)
        fused = {}
        for head, score in scores.items():
            told, meant = words.answers.get(head), meaning.answers.get(head)
            fused[head] = replace(
                words.answers.get(head) or meaning.answers[head],
                score=score,
                words=told.words if told else None,
                meaning=meant.meaning if meant else None,
            )
        return Found(
            fused,
            exact=words.exact and meaning.exact and is_certain(rankings, scores, need),
            partial=words.partial or meaning.partial,
            unseen=meaning.unseen,
        )

    def shown(self, fact: NodeFacts, status: Status) -> bool:
        """Tell whether a head may stand among the answers."""
        request = self._request
        if request.scope is not None and not contains(fact.scope, request.scope):
            return False
        if request.status not in {"all", status.value}:
            return False
        if status is Status.FORGOTTEN:
            return request.include_removed or request.status == status
        return status in {Status.ACTIVE, Status.SCHEDULED}

    def _heads_of(self, search: Search, need: int, kind: str) -> Found:
        """Search until there are enough different heads, wider each time."""
        limits = replace(self._limits, depth=_NODES_AN_ANSWER * need, least=need)
        while True:
            result = search(limits)
            found = self._collect(result.hits, need, kind)
            found.partial |= result.partial
            found.unseen = result.unseen
            if len(found.answers) >= need or result.bound <= 0 or found.partial:
                break
            limits = replace(
                limits,
                depth=limits.depth * _WIDER,
                budget=limits.budget * _WIDER,
                least=limits.least * _WIDER,
            )
        found.answers = dict(itertools.islice(found.answers.items(), need))
        if result.bound > 0:
            lowest = min((a.score or 0.0 for a in found.answers.values()), default=0.0)
            found.exact = len(found.answers) == need and lowest >= result.bound
        found.exact &= not found.partial and not found.unseen
        return found

    def _collect(self, hits: Sequence[SearchHit], need: int, kind: str) -> Found:
        found = Found()
        start, size = 0, max(_FIRST_PAGE, 2 * need)
        while page := hits[start : start + size]:
            matched = {hit.node_id: hit for hit in page}
            for match, head, lineage in self._heads(list(matched)):
                if head not in found.answers:
                    hit, version = matched[match], lineage.facts[match].version
                    place = Place(len(found.answers) + 1, hit, version)
                    answer = self._answer(head, lineage, score=hit.score, **{kind: place})
                    found.answers[head] = answer
            if len(found.answers) >= need:
                break
            if self._limits.expired():
                found.partial = True
                break
            start, size = start + size, size * 2
        return found

    def _heads(self, ids: Sequence[str]) -> Iterator[tuple[str, str, Lineage]]:
        """Yield the heads that may be shown: the match, the head, and the lineage of both.

        Who asks of a time gets nothing that began later.
        """
        lineage = self._reader.lineage(self._reach, ids, self._at)
        resolve = lineage.first_heads if self._request.as_of is None else lineage.heads
        for match in ids:
            for head in resolve(match, self._at):
                if self.shown(lineage.facts[head], lineage.status(head, self._at)):
                    yield match, head, lineage

    def _answer(self, head: str, lineage: Lineage, **found: Any) -> Answer:
        return Answer(head, scheduled=tuple(lineage.scheduled(head, self._at)), **found)
