"""What the service hands the linker, and what stays alike after a replacement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from evomem.domain.analysis import terms, tokens
from evomem.domain.decision import Abstain, Candidate, Link, LinkDecision, Suggestion
from evomem.domain.extraction import Extraction
from evomem.domain.node import Status
from evomem.domain.request import RememberRequest
from evomem.domain.time import format_time
from evomem.engines.base import Filters, Reader
from evomem.linker.base import NoteView
from evomem.service.context import Context

MAX_CANDIDATES = 8

# The write path searches in passing: few terms, the longest as they tell most, few documents.
_LINK_TERMS, _LINK_BUDGET = 8, 200
_COPY_TERMS, _COPY_BUDGET = 4, 60

# Two notes that share this much of their words say the same to a reader.
_NEAR_COPY = 0.8


def decide(
    context: Context, request: RememberRequest, extraction: Extraction
) -> LinkDecision | None:
    """Ask the linker about a note for which the caller named nothing; None if not to be asked.

    In `suggest` mode a link becomes a suggestion: nothing is hidden by a guess.
    """
    named = request.supersedes or request.refines or request.amends or request.overrides
    if context.linking == "off" or named or request.slot:
        return None
    note = NoteView(
        text=request.text,
        subject=request.subject,
        scope=request.scope,
        slot=request.slot,
        change=str(extraction.change),
    )
    if refused := context.linker.gate(note):
        return refused
    with context.engine.read() as reader:
        candidates = _heads_like(context, reader, note)
    decided = context.linker.decide(note, candidates)
    if isinstance(decided, Link) and context.linking == "suggest":
        texts = {c.node_id: c.text for c in candidates}
        return Abstain(
            tuple(Suggestion(n, texts[n], decided.reason, decided.confidence) for n in decided.old),
            decided.reason,
        )
    return decided


def near_copies(context: Context, reader: Reader, node_id: str, at: datetime) -> list[str]:
    """Return active nodes that say nearly the same as a node that was just replaced."""
    record = reader.records(context.reach, [node_id]).get(node_id)
    if record is None or not record.text:
        return []
    own = set(tokens(record.text))
    words = _telling(record.text, _COPY_TERMS)
    hits = reader.search(context.reach, words, Filters(), _COPY_BUDGET).hits
    found = [hit.node_id for hit in hits[:MAX_CANDIDATES] if hit.node_id != node_id]
    lineage = reader.lineage(context.reach, found, at)
    records = reader.records(context.reach, found)
    return [
        n for n in found if lineage.status(n, at) is Status.ACTIVE and _alike(own, records[n].text)
    ]


def _telling(text: str, count: int) -> list[str]:
    return sorted(terms(text), key=len, reverse=True)[:count]


def _alike(own: set[str], text: str) -> bool:
    other = set(tokens(text))
    return len(own & other) >= _NEAR_COPY * len(own | other)


def _heads_like(context: Context, reader: Reader, note: NoteView) -> Sequence[Candidate]:
    """Return the heads whose stories share most with the note, best first."""
    about = "\n".join(filter(None, (note.subject, note.change or note.text)))
    words = _telling(about, _LINK_TERMS)
    hits = reader.search(context.reach, words, Filters(), _LINK_BUDGET).hits
    best = hits[: 4 * MAX_CANDIDATES]
    if not best:
        return []
    now = context.clock()
    lineage = reader.lineage(context.reach, [hit.node_id for hit in best], now)
    scores: dict[str, float] = {}
    for hit in best:
        for head in lineage.heads(hit.node_id, now):
            if lineage.status(head, now) is Status.ACTIVE:
                scores.setdefault(head, hit.score)
    chosen = list(scores)[:MAX_CANDIDATES]
    records = reader.records(context.reach, chosen)
    return [
        Candidate(
            node_id=n,
            text=records[n].text,
            subject=records[n].subject,
            scope=records[n].scope,
            slot=records[n].slot,
            change=str(records[n].extraction.change),
            recorded_at=format_time(records[n].recorded_at),
            score=scores[n],
        )
        for n in chosen
    ]
