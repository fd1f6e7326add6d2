"""The read path: search any version, resolve to heads, one answer per head."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evomem.domain.analysis import terms_of
from evomem.domain.budget import fit
from evomem.domain.edge import AMENDS, OVERRIDES
from evomem.domain.namespace import Reach
from evomem.domain.node import NodeRecord, Status
from evomem.domain.question import RecallRequest
from evomem.domain.ranking import is_sufficient
from evomem.domain.result import Amended, RecallResult
from evomem.domain.text import fold_whitespace
from evomem.engines.base import Reader
from evomem.errors import InvalidRequestError
from evomem.service.context import Context
from evomem.service.hits import Shown, build_hits
from evomem.service.marks import Mark, Marks, live_marks
from evomem.service.match import Answer, Found, Matcher

# Past this a query is a document, of which the beginning says enough. The engine looks up the rarest
# of its terms.
MAX_TERMS = 512
MAX_QUERY_CHARS = 10_000

# A model that is slow to read the question must not cost more than the answer is worth.
_EMBEDDING_S = 3.0


def recall(context: Context, request: RecallRequest) -> RecallResult:
    """Answer a question with what is in force.

    Raises:
        InvalidRequestError: It asks for vectors, and the memory has no embedder.
    """
    found = _Recall(context, request).run()
    return found if request.max_tokens is None else fit(found, request.max_tokens)


class _Recall:
    """One recall in one snapshot."""

    def __init__(self, context: Context, request: RecallRequest) -> None:
        self._context = context
        self._request = request
        self._warnings = list(request.warnings)
        self._reach = Reach(context.namespace, request.include_children)
        limit = request.deadline_ms
        self._deadline = None if limit is None else time.monotonic() + limit / 1000
        self._whole = True
        self._query = self._cut(request.query)
        self._words: list[str] = []
        self._records: Mapping[str, NodeRecord] = {}
        self._vector = self._embedded()

    def run(self) -> RecallResult:
        """Find the heads, and show each with all that is said of it."""
        request = self._request
        with self._context.engine.read() as latest:
            reader, self._at = self._context.view(latest, request.as_of, request.known_at)
            versions = reader.analyses(self._reach)
            self._words = self._terms(versions)
            matcher = Matcher(reader, request, self._reach, self._at, self._deadline)
            found, answers = self._answers(reader, matcher)
            shown = self._accompany(reader, matcher, answers)
            hits = build_hits(reader, self._reach, request, shown, self._records, self._at)
        if found.unseen and self._vector:
            self._warnings.append(
                f"{found.unseen} notes have no vector by {self._vector[0]}: evomem reindex or "
                "memory.reindex() adds them."
            )
        if found.partial:
            self._warnings.append(f"Time was up after {request.deadline_ms} ms: the best so far.")
        return RecallResult(
            hits=hits,
            insufficient=not is_sufficient(
                [a.evidence for a in answers[request.offset :]], blank=not self._asked
            ),
            # Under two analyses at once frequencies are of neither.
            exact=found.exact and not found.partial and self._whole and len(versions) == 1,
            partial=found.partial,
            warnings=tuple(self._warnings),
        )

    @property
    def _asked(self) -> bool:
        return bool(self._words or self._vector)

    @property
    def _last(self) -> int:
        return self._request.offset + self._request.k

    def _cut(self, query: str) -> str:
        if len(query) > MAX_QUERY_CHARS:
            self._whole = False
            self._warnings.append(
                f"The query has {len(query)} characters: the first {MAX_QUERY_CHARS} were used."
            )
        return query[:MAX_QUERY_CHARS]

    def _terms(self, versions: Sequence[int]) -> list[str]:
        if self._request.ranking == "vector" and self._vector:
            return []
        words = terms_of(self._query, versions)
        if len(words) > MAX_TERMS:
            self._whole = False
            self._warnings.append(
                f"The query has {len(words)} terms: the first {MAX_TERMS} were used."
            )
        if self._query.strip() and not words and not self._vector:
            self._warnings.append("The query holds no word to search for: the latest are shown.")
        return words[:MAX_TERMS]

    def _embedded(self) -> tuple[str, bytes] | None:
        """Return the embedder's name and the vector of the query, if vectors are to rank."""
        embeddings, ranking = self._context.embeddings, self._request.ranking
        if embeddings is None and ranking in {"vector", "hybrid"}:
            message = (
                f"ranking={ranking!r} needs vectors: open the memory with embedder=..., or name one "
                "with --embedder or EVOMEM_EMBEDDER."
            )
            raise InvalidRequestError(message, field="ranking")
        if embeddings is None or ranking == "lexical" or not self._query.strip():
            return None
        left = _EMBEDDING_S
        if self._deadline is not None:
            left = min(left, max(0.001, self._deadline - time.monotonic()))
        answer = embeddings.vectors([self._query], query=True, deadline_s=left)
        if isinstance(answer, list):
            return embeddings.name, answer[0]
        self._whole = ranking != "vector"
        self._warnings.append(f"{answer.reason} The query was searched for by its words alone.")
        return None

    def _answers(self, reader: Reader, matcher: Matcher) -> tuple[Found, list[Answer]]:
        """Return the answers up to the last one asked for, which state different things."""
        need = wanted = self._last
        while True:
            found = self._find(matcher, need)
            answers = self._distinct(reader, list(found.answers.values())[:need])
            if len(answers) >= wanted or len(found.answers) < need or found.partial:
                return found, answers[:wanted]
            need *= 2

    def _find(self, matcher: Matcher, need: int) -> Found:
        if not self._asked:
            return matcher.recent(need)
        if self._vector is None:
            return matcher.by_words(self._words, need)
        if not self._words:
            return matcher.by_meaning(*self._vector, need)
        return matcher.by_both(self._words, *self._vector, need)

    def _distinct(self, reader: Reader, answers: Sequence[Answer]) -> list[Answer]:
        """Let the best of the answers that state the same stand for the others.

        Whom a tag excludes is not shown either, whichever of its versions matched.
        """
        self._records = reader.records(self._reach, [answer.head for answer in answers])
        first: dict[object, Answer] = {}
        excluded = set(self._request.tags_none)
        for answer in answers:
            record = self._records[answer.head]
            if excluded.intersection(record.tags):
                continue
            statement = _statement(record)
            known = first.get(statement)
            same = (*known.same, answer.head) if known else ()
            first[statement] = replace(known or answer, same=same)
        return list(first.values())

    def _accompany(
        self, reader: Reader, matcher: Matcher, answers: Sequence[Answer]
    ) -> list[Shown]:
        """Put what wins over an answer in the scope asked for before it, amendments behind it.

        Amendments come with their node and do not count towards k.
        """
        marks = self._marks(reader, matcher, [answer.head for answer in answers])
        placed: dict[str, Shown] = {}
        for answer in answers:
            winners = self._winners(marks, answer.head)
            for head in winners:
                placed.setdefault(head, Shown(head, answer, by="override"))
            placed[answer.head] = Shown(answer.head, answer, overridden=winners)
        shown = list(placed.values())[self._request.offset : self._last]
        for item in list(shown):
            amendments = marks[AMENDS, item.head]
            quoted = tuple(Amended(mark.fact.id, mark.part or "") for mark in amendments)
            at = shown.index(item)
            shown[at] = replace(item, amended=quoted)
            for by, _ in quoted:
                if by not in {other.head for other in shown}:
                    shown.insert(at + 1, Shown(by, item.answer, by="amends"))
        return shown

    def _marks(
        self, reader: Reader, matcher: Matcher, heads: list[str]
    ) -> defaultdict[tuple[str, str], list[Mark]]:
        """Return what marks the heads here, and what in turn overrides that."""
        found: defaultdict[tuple[str, str], list[Mark]] = defaultdict(list)
        asked: set[str] = set()
        while heads := [head for head in heads if head not in asked]:
            asked.update(heads)
            marks = live_marks(reader, self._reach, heads, self._at)
            for key, nodes in marks.items():
                found[key] += [n for n in nodes if matcher.shown(n.fact, Status.ACTIVE)]
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


def _statement(record: NodeRecord) -> object:
    """Return what is equal for nodes that state the same where the same holds."""
    said = fold_whitespace(record.text).casefold()
    return said, record.scope, record.slot, record.namespace
