"""What the service hands the linker, and what stays alike after a replacement."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from datetime import datetime

from evomem.domain.analysis import terms_of, tokens
from evomem.domain.decision import (
    Abstain,
    Amend,
    Candidate,
    Link,
    LinkDecision,
    NoLink,
    Override,
    Suggestion,
    checked,
)
from evomem.domain.extraction import Extraction
from evomem.domain.namespace import Reach
from evomem.domain.node import ALWAYS, Status
from evomem.domain.request import RememberRequest
from evomem.domain.scope import contains
from evomem.domain.text import fold_whitespace
from evomem.domain.time import format_time
from evomem.engines.base import Filters, Reader, SearchLimits
from evomem.errors import EngineError
from evomem.linker.base import NoteView
from evomem.service.context import Context

MAX_CANDIDATES = 8

# The write path searches in passing: few terms, the longest as they tell most, few documents.
_LINK_TERMS, _LINKING = 8, SearchLimits(depth=4 * MAX_CANDIDATES, budget=5000)
_COPY_TERMS, _COPYING = 4, SearchLimits(depth=MAX_CANDIDATES, budget=2000)

# Replaced nodes of one patch whose copies are looked for.
_MOST_CHECKED = 50

# Two notes that share this much of their words say the same to a reader.
_NEAR_COPY = 0.8


def decide(
    context: Context, request: RememberRequest, extraction: Extraction
) -> LinkDecision | None:
    """Ask the linker about a note for which the caller named nothing; None if not to be asked.

    Whatever goes wrong in the linker, the note is stored; what it may not do is not done.
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
    try:
        candidates: Sequence[Candidate] = ()
        decided: LinkDecision | None = context.linker.gate(note)
        if decided is None:
            with context.engine.read() as reader:
                candidates = _heads_like(context, reader, note)
            decided = context.linker.decide(note, candidates)
        return _permitted(context.linking, note, candidates, checked(decided))
    except EngineError:
        raise
    except Exception as error:  # a linker may be any code, and must not cost a note
        return NoLink(f"The linker {context.linker.name} failed ({error}).", 0.0)


def _permitted(
    linking: str, note: NoteView, candidates: Sequence[Candidate], decided: LinkDecision
) -> LinkDecision:
    """Leave only what the mode and the rules of linking allow: nothing is hidden by a guess."""
    known = {candidate.node_id: candidate for candidate in candidates}
    if isinstance(decided, Abstain):
        asked = tuple(s for s in decided.suggestions if s.node_id in known)
        return Abstain(asked, decided.reason) if asked else NoLink(decided.reason, 0.0)
    if isinstance(decided, NoLink):
        return decided
    old = decided.old if isinstance(decided, Link) else (decided.old,)
    if not old or not known.keys() >= set(old):
        return NoLink("The linker named a node it was not given.", 0.0)
    if linking == "auto" and all(_may(decided, note, known[node_id]) for node_id in old):
        return decided
    asked = tuple(Suggestion(n, known[n].text, decided.reason, decided.confidence) for n in old)
    return Abstain(asked, decided.reason)


def _may(decided: Link | Amend | Override, note: NoteView, old: Candidate) -> bool:
    """Tell whether the rules for callers would let this link pass."""
    match decided:
        case Link():
            # A scope that the caller did not give is not taken over by a guess.
            given = note.scope is not None or old.scope is None
            return given and contains(note.scope, old.scope)
        case Override():
            return note.scope != old.scope and contains(old.scope, note.scope)
        case Amend(part=part):
            return bool(part.strip()) and fold_whitespace(part) in fold_whitespace(old.text)


def near_copies(context: Context, reader: Reader, node_id: str, at: datetime) -> list[str]:
    """Return active nodes that say nearly the same as a node that was just replaced.

    Of a value that no question finds any more it does not matter.
    """
    record = reader.records(context.reach, [node_id]).get(node_id)
    if record is None or not record.text or record.searchable != ALWAYS:
        return []
    own = set(tokens(record.text))
    words = _telling(reader, context.reach, record.text, _COPY_TERMS)
    hits = reader.search(context.reach, words, Filters(), _COPYING).hits
    found = [hit.node_id for hit in hits[:MAX_CANDIDATES] if hit.node_id != node_id]
    lineage = reader.lineage(context.reach, found, at)
    records = reader.records(context.reach, found)
    return [
        n for n in found if lineage.status(n, at) is Status.ACTIVE and _alike(own, records[n].text)
    ]


def copy_warnings(
    context: Context, reader: Reader, replaced: Iterable[str], own: Container[str], at: datetime
) -> dict[str, list[str]]:
    """Say, for the nodes just replaced, which near-copies of them stay active.

    Of a patch that replaces very many only the first are looked at: each costs a search.

    Args:
        context: The open memory.
        reader: A snapshot after the replacement.
        replaced: The nodes taken out of force.
        own: Nodes that the write itself made or linked.
        at: World time.
    """
    return {
        old: [
            f"{copy} says nearly the same as the replaced {old} and is still active."
            for copy in near_copies(context, reader, old, at)
            if copy not in own
        ]
        for old in list(dict.fromkeys(replaced))[:_MOST_CHECKED]
    }


def _telling(reader: Reader, reach: Reach, text: str, count: int) -> list[str]:
    """Return the terms of a text that tell most: the longest."""
    return sorted(terms_of(text, reader.analyses(reach)), key=len, reverse=True)[:count]


def _alike(own: set[str], text: str) -> bool:
    other = set(tokens(text))
    return len(own & other) >= _NEAR_COPY * len(own | other)


def _heads_like(context: Context, reader: Reader, note: NoteView) -> Sequence[Candidate]:
    """Return the heads whose stories share most with the note, best first."""
    about = "\n".join(filter(None, (note.subject, note.change or note.text)))
    words = _telling(reader, context.reach, about, _LINK_TERMS)
    hits = reader.search(context.reach, words, Filters(), _LINKING).hits
    best = hits[: 4 * MAX_CANDIDATES]
    if not best:
        return []
    now = context.time(reader)
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
