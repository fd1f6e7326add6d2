"""The read path: search any version, resolve to heads, one answer per head."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evomem.domain.analysis import terms
from evomem.domain.edge import AMENDS, OVERRIDES
from evomem.domain.lineage import Lineage, NodeFacts
from evomem.domain.namespace import Reach
from evomem.domain.node import MemoryNode, Status
from evomem.domain.ranking import SearchHit
from evomem.domain.request import RecallRequest
from evomem.domain.result import Amended, Hit, Matched, RecallResult
from evomem.domain.scope import contains
from evomem.engines.base import Filters, Reader, SearchLimits
from evomem.service.context import Context
from evomem.service.marks import Mark, Marks, live_marks
from evomem.service.reading import ancestors, open_questions
from evomem.service.view import view_nodes

# Every term is a look-up: past this many a query is a document, and its first words say enough.
MAX_TERMS = 64

# Resolved at a time: the first page is nearly always enough, and each next one is larger.
_FIRST_PAGE = 16


@dataclass(frozen=True, slots=True)
class _Answer:
    """A head, and what led to it."""

    head: str
    matched: str
    by: str
    hit: SearchHit | None = None
    version: int = 0
    scheduled: tuple[str, ...] = ()
    overridden: tuple[str, ...] = ()
    amended: tuple[Amended, ...] = ()


def recall(context: Context, request: RecallRequest) -> RecallResult:
    """Answer a question with what is in force."""
    words = terms(request.query)
    warnings = list(request.warnings)
    if len(words) > MAX_TERMS:
        warnings.append(f"The query has {len(words)} terms: the first {MAX_TERMS} were used.")
    if request.query.strip() and not words:
        warnings.append("The query holds no word to search for: the latest nodes are shown.")
    return _Recall(context, request, words[:MAX_TERMS], warnings).run()


class _Recall:
    """One recall in one snapshot."""

    def __init__(
        self, context: Context, request: RecallRequest, words: list[str], warnings: list[str]
    ) -> None:
        self._context = context
        self._request = request
        self._words = words
        self._warnings = warnings
        self._reach = Reach(context.namespace, request.include_children)
        self._filters = Filters(
            tags=request.tags,
            session=request.session,
            metadata=request.filter,
            removed=request.include_removed,
        )
        self._page = max(_FIRST_PAGE, 2 * request.k)

    def run(self) -> RecallResult:
        request = self._request
        with self._context.engine.read() as latest:
            reader, self._at = self._context.view(latest, request.as_of, request.known_at)
            if not self._words:
                answers = self._collect(reader, self._recent(reader))
                return RecallResult(
                    self._hits(reader, answers), not answers, warnings=tuple(self._warnings)
                )
            found = reader.search(
                self._reach, self._words, self._filters, SearchLimits(depth=3 * request.k)
            )
            answers = self._collect(reader, self._pages(found.hits))
            hits = self._hits(reader, answers)
        scores = [answer.hit.score for answer in answers if answer.hit]
        full = len(scores) == request.k
        share = max((answer.hit.share for answer in answers if answer.hit), default=0.0)
        return RecallResult(
            hits=hits,
            insufficient=share < 0.3,
            exact=found.bound == 0 or (full and min(scores) >= found.bound),
            warnings=tuple(self._warnings),
        )

    def _recent(self, reader: Reader) -> Iterator[list[_Answer]]:
        after: str | None = None
        size = self._page
        while ids := reader.recent(self._reach, self._filters, after=after, limit=size):
            yield [_Answer("", node_id, "recent") for node_id in ids]
            after, size = ids[-1], size * 2

    def _pages(self, hits: Sequence[SearchHit]) -> Iterator[list[_Answer]]:
        start, size = 0, self._page
        while page := hits[start : start + size]:
            yield [_Answer("", hit.node_id, "text", hit) for hit in page]
            start, size = start + size, size * 2

    def _collect(self, reader: Reader, pages: Iterator[list[_Answer]]) -> list[_Answer]:
        """Resolve matches until there are k different heads; the first match of a head counts."""
        answers: dict[str, _Answer] = {}
        for page in pages:
            lineage = reader.lineage(self._reach, [m.matched for m in page], self._at)
            for match in page:
                for head in self._heads(lineage, match.matched):
                    fact, status = lineage.facts[head], lineage.status(head, self._at)
                    if head not in answers and self._shown(fact, status):
                        later = tuple(lineage.scheduled(head, self._at))
                        version = lineage.facts[match.matched].version
                        answers[head] = replace(match, head=head, version=version, scheduled=later)
            if len(answers) >= self._request.k:
                break
        return self._accompany(reader, list(answers.values())[: self._request.k])

    def _heads(self, lineage: Lineage, node_id: str) -> list[str]:
        """Return what answers for a match; who asks of a time gets nothing that began later."""
        if self._request.as_of is not None:
            return lineage.heads(node_id, self._at)
        return lineage.first_heads(node_id, self._at)

    def _shown(self, fact: NodeFacts, status: Status) -> bool:
        scope = self._request.scope
        if scope is not None and not contains(fact.scope, scope):
            return False
        if status is Status.FORGOTTEN:
            return self._request.include_removed
        return status in {Status.ACTIVE, Status.SCHEDULED}

    def _accompany(self, reader: Reader, answers: list[_Answer]) -> list[_Answer]:
        """Put what wins over an answer in the scope asked for before it, amendments behind it.

        Amendments come with their node and do not count towards k.
        """
        marks = self._marks(reader, [answer.head for answer in answers])
        placed: dict[str, _Answer] = {}
        for answer in answers:
            winners = self._winners(marks, answer.head)
            for head in winners:
                placed.setdefault(head, replace(answer, head=head, by="override", scheduled=()))
            placed[answer.head] = replace(answer, overridden=winners)
        shown = list(placed.values())[: self._request.k]
        for answer in list(shown):
            amendments = marks[AMENDS, answer.head]
            quoted = tuple(Amended(mark.fact.id, mark.part or "") for mark in amendments)
            at = shown.index(answer)
            shown[at] = replace(answer, amended=quoted)
            for by, _ in quoted:
                if by not in {other.head for other in shown}:
                    shown.insert(at + 1, replace(answer, head=by, by="amends", overridden=()))
        return shown

    def _marks(self, reader: Reader, heads: list[str]) -> defaultdict[tuple[str, str], list[Mark]]:
        """Return what marks the heads here, and what in turn overrides that."""
        found: defaultdict[tuple[str, str], list[Mark]] = defaultdict(list)
        asked: set[str] = set()
        while heads := [head for head in heads if head not in asked]:
            asked.update(heads)
            marks = live_marks(reader, self._reach, heads, self._at)
            for key, nodes in marks.items():
                found[key] += [n for n in nodes if self._shown(n.fact, Status.ACTIVE)]
            over = [nodes for (kind, _), nodes in marks.items() if kind == OVERRIDES]
            heads = [mark.fact.id for nodes in over for mark in nodes]
        return found

    def _winners(self, marks: Marks, head: str) -> tuple[str, ...]:
        """Return what in the end holds instead of a head in the scope asked for."""
        if self._request.scope is None:
            return ()
        final: dict[str, None] = {}
        seen, waiting = {head}, [head]
        while waiting:
            current = waiting.pop()
            over = [m.fact.id for m in marks.get((OVERRIDES, current), ())]
            over = [node_id for node_id in over if node_id not in seen]
            if not over and current != head:
                final[current] = None
            seen.update(over)
            waiting += over
        return tuple(final)

    def _hits(self, reader: Reader, answers: list[_Answer]) -> tuple[Hit, ...]:
        heads = view_nodes(reader, self._reach, [a.head for a in answers], self._at)
        replaced = [old for node in heads.values() for old in node.supersedes]
        olds = view_nodes(reader, self._reach, replaced, self._at)
        stories = self._stories(reader, [a.head for a in answers])
        questions = open_questions(reader, self._reach, list(heads), self._at)
        return tuple(
            Hit(
                node=heads[answer.head],
                score=round(answer.hit.score, 6) if answer.hit else None,
                matched=Matched(answer.matched, answer.version, answer.by),
                supersedes=_told(olds, heads[answer.head].supersedes),
                overridden=answer.overridden,
                amended=answer.amended,
                questioned=tuple(questions.get(answer.head, ())),
                scheduled=answer.scheduled,
                history=stories.get(answer.head, ()),
                why=_why(answer),
            )
            for answer in answers
        )

    def _stories(self, reader: Reader, heads: list[str]) -> dict[str, tuple[MemoryNode, ...]]:
        depth = self._request.history_depth
        if not self._request.include_history or not depth or not heads:
            return {}
        lineage = reader.story(self._reach, heads)
        told = {head: ancestors(lineage, head)[:depth] for head in heads}
        ids = [node_id for story in told.values() for node_id in story]
        nodes = view_nodes(reader, self._reach, ids, self._at)
        return {head: _told(nodes, story) for head, story in told.items()}


def _told(nodes: Mapping[str, MemoryNode], ids: Iterable[str]) -> tuple[MemoryNode, ...]:
    """Leave out what was forgotten: it is out of recall, in the story too."""
    found = (nodes[node_id] for node_id in ids if node_id in nodes)
    return tuple(node for node in found if node.status is not Status.FORGOTTEN)


def _why(answer: _Answer) -> str:
    if answer.hit is None:
        return "among the most recently changed"
    words = ", ".join(t for t, _ in answer.hit.terms)
    if answer.by == "override":
        return f"wins in this scope over what matched {words}"
    if answer.by == "amends":
        return f"amends what matched {words}"
    if answer.matched == answer.head:
        return f"matched {words}"
    return f"an earlier version matched {words}"
