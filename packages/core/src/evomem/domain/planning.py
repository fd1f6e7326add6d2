"""The rules of writing: how a request becomes operations on a draft. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evomem.domain.decision import (
    Abstain,
    Amend,
    Link,
    LinkDecision,
    NoLink,
    Override,
    Proposed,
    Suggestion,
)
from evomem.domain.draft import Draft
from evomem.domain.edge import REFINES, SUPERSEDES, Edge
from evomem.domain.event import Event
from evomem.domain.extraction import Extraction
from evomem.domain.identifiers import EVENT, MEMORY, NODE, new_id
from evomem.domain.lineage import Lineage
from evomem.domain.links import check_scope, mark, plan_link
from evomem.domain.node import ALWAYS, NodeRecord, Status
from evomem.domain.patch import MemoryState, Op, SuggestedLink
from evomem.domain.request import RememberRequest
from evomem.domain.result import Decision, Moved
from evomem.domain.scope import common
from evomem.domain.text import digest
from evomem.domain.time import format_time
from evomem.errors import InvalidRequestError, VersionConflictError


@dataclass(frozen=True, slots=True)
class Replacement:
    """A tip that a note replaces, and the node by which it was named."""

    kind: str
    tip: str
    named: str


@dataclass(frozen=True, slots=True)
class NotePlan:
    """What the plan of a note came to."""

    node_id: str
    decision: Decision
    superseded: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    deduplicated: bool = False
    candidates: tuple[Suggestion, ...] = ()
    warnings: tuple[str, ...] = ()


def plan_note(
    draft: Draft,
    request: RememberRequest,
    extraction: Extraction,
    decided: LinkDecision | None,
    linker: str,
) -> NotePlan:
    """Add a note to the draft: one node, its edges, its event.

    Args:
        draft: Loaded with every node the request names.
        request: The note.
        extraction: Its fields, verified against the text.
        decided: The linker's answer; None if it was not asked.
        linker: Name and version of the linker.

    Raises:
        InvalidRequestError: The links asked for cannot be made; nothing is written.
    """
    decided = settle(draft, decided)
    replaced = _replacements(draft, request, decided)
    scope = _scope(draft, request, replaced)
    replaced += _in_slot(draft, request, scope, replaced)
    _check_version(draft, request, scope, replaced)
    if request.slot is None:
        twin = draft.active_twin(digest(request.text, scope, None))
        if twin is not None:
            waiting = decided if isinstance(decided, Proposed) else None
            proposed = _suggest(draft, twin, waiting, linker)
            return _reuse(draft, request, twin, proposed)
    decision = _decision(request, replaced, decided)
    by = _linked_by(request, decision, linker)
    node = add_version(draft, request, extraction, scope, replaced, decision, by)
    draft.events.append(_event(request, node))
    warnings = mark(draft, node, request, decided, by)
    candidates = _suggest(draft, node.id, decided, linker)
    warnings += _notices(draft, node, decision, by)
    warnings += _restated(draft, node, replaced)
    return NotePlan(
        node_id=node.id,
        decision=decision,
        superseded=_out_of_force(draft, [r.tip for r in replaced]),
        moved=_moved(replaced),
        candidates=candidates,
        warnings=(*request.warnings, *extraction.warnings, *warnings),
    )


def add_version(
    draft: Draft,
    request: RememberRequest,
    extraction: Extraction,
    scope: str | None,
    replaced: list[Replacement],
    decision: Decision,
    by: str,
) -> NodeRecord:
    """Add a node to the draft as the next version of what it replaces, or as a memory's first."""
    node = _node(draft, request, extraction, scope, replaced)
    draft.add_node(node, _op(replaced[0].kind) if replaced else Op.ADD)
    _connect(draft, node.id, replaced, decision, by)
    return node


def _restated(draft: Draft, node: NodeRecord, replaced: list[Replacement]) -> list[str]:
    """Say that the note repeats one that was replaced, if it does not replace its successor."""
    key = digest(node.text, node.scope, None)
    for twin in () if node.slot else draft.facts.twins.get(key, ()):
        heads = draft.lineage.heads(twin, draft.now)
        if heads and twin not in heads and not {r.tip for r in replaced} & set(heads):
            return [
                f"It says the same as {twin}, which {', '.join(heads)} replaced: both are in force "
                f"now. If this returns to the old decision, link it: supersedes={heads}."
            ]
    return []


def settle(draft: Draft, decided: LinkDecision | None) -> LinkDecision | None:
    """Turn a link that has become impossible since it was decided into a question.

    Between the decision and the commit a node may have been split, forgotten or replaced, by
    others or by an earlier note of the same batch. A guess never refuses the note.
    """
    if not isinstance(decided, Link | Amend | Override):
        return decided
    old = decided.old if isinstance(decided, Link) else (decided.old,)
    if all(draft.lineage.status(n, draft.now) is Status.ACTIVE for n in old):
        return decided
    return NoLink(f"What it would have replaced has changed meanwhile: {decided.reason}", 0.0)


def note_scope(lineage: Lineage, request: RememberRequest, linked: Sequence[str]) -> str | None:
    """Return where a note will hold: where it says, or else where what it replaces does.

    Args:
        lineage: Around the nodes that the note replaces.
        request: The note.
        linked: Nodes that the linker would replace; they count if the caller named none.
    """
    named = (*request.supersedes, *request.refines) or tuple(linked)
    if request.scope is not None or not named:
        return request.scope
    return common(lineage.facts[tip].scope for n in named for tip in lineage.tips(n))


def _check_version(
    draft: Draft, request: RememberRequest, scope: str | None, replaced: list[Replacement]
) -> None:
    expected, slot = request.expected_version, request.slot
    if expected == 0 and slot:
        draft.check_free(slot, scope)
    if not expected:
        return
    if not replaced:
        present = draft.slots.get((slot or "", scope))
        state = "was split" if present else "has no value in this scope"
        message = f"Slot {slot!r} {state}, so it is at no version."
        current = draft.state_of(draft.lineage.tips(present)[-1]) if present else None
        raise VersionConflictError(message, slot=slot, current=current)
    for replacement in replaced:
        draft.check_version(replacement.named, replacement.tip, expected)


def _linked_by(request: RememberRequest, decision: Decision, linker: str) -> str:
    if decision.outcome == "explicit":
        return "caller"
    return "slot" if request.slot else linker


def _notices(draft: Draft, node: NodeRecord, decision: Decision, by: str) -> list[str]:
    """Say what a caller may not expect: a link it did not name, a time that has not come."""
    notices = []
    if by not in {"caller", "slot"} and decision.outcome in {"link", "amend", "override"}:
        notices.append(
            f"{by} made this {decision.outcome} on its own (confidence {decision.confidence:.2f}): "
            "check it, and undo it with unlink if it is wrong."
        )
    if node.valid_from > draft.now:
        notices.append(
            f"It takes force at {format_time(node.valid_from)}; until then what is in force "
            "stands. Pass valid_from to change that."
        )
    return notices


def _replacements(
    draft: Draft, request: RememberRequest, decided: LinkDecision | None
) -> list[Replacement]:
    named = [(SUPERSEDES, n) for n in request.supersedes]
    named += [(REFINES, n) for n in request.refines]
    if isinstance(decided, Link) and not named:
        named = [(SUPERSEDES, n) for n in decided.old]
    return [Replacement(kind, draft.tip(node_id), node_id) for kind, node_id in named]


def _in_slot(
    draft: Draft, request: RememberRequest, scope: str | None, replaced: list[Replacement]
) -> list[Replacement]:
    """Return the slot's present value, unless it is named anyway."""
    present = request.slot and draft.slots.get((request.slot, scope))
    # After a split nobody can tell which part is the slot's value: none is replaced unnamed.
    tips = draft.lineage.tips(present) if present else []
    if not present or len(tips) != 1 or tips[0] in {r.tip for r in replaced}:
        return []
    check_scope(draft, scope, tips[0])
    return [Replacement(SUPERSEDES, tips[0], present)]


def _scope(draft: Draft, request: RememberRequest, replaced: list[Replacement]) -> str | None:
    if request.scope is None:
        return common(draft.lineage.facts[r.tip].scope for r in replaced) if replaced else None
    for replacement in replaced:
        check_scope(draft, request.scope, replacement.tip)
    return request.scope


def _node(
    draft: Draft,
    request: RememberRequest,
    extraction: Extraction,
    scope: str | None,
    replaced: list[Replacement],
) -> NodeRecord:
    memory = _continued(draft, replaced)
    latest = max((draft.memory_of(r.tip).latest_valid_from for r in replaced), default=draft.now)
    said = min(request.created_at or draft.now, draft.now)
    valid_from = request.valid_from or (max(said, latest) if replaced else said)
    if request.valid_to is not None and request.valid_to <= valid_from:
        message = f"valid_to must lie after {format_time(valid_from)}, when the note takes force."
        raise InvalidRequestError(message, field="valid_to")
    return NodeRecord(
        id=new_id(NODE),
        memory_id=memory.id if memory else new_id(MEMORY),
        version=memory.version + 1 if memory else 1,
        namespace=draft.namespace,
        text=request.text,
        extraction=extraction,
        subject=request.subject,
        slot=request.slot,
        scope=scope,
        tags=request.tags,
        session=request.session,
        metadata=request.metadata,
        searchable=request.searchable,
        created_at=request.created_at or draft.now,
        recorded_at=draft.now,
        valid_from=valid_from,
        valid_to=request.valid_to,
        backdated=memory is not None and valid_from < memory.latest_valid_from,
    )


def _continued(draft: Draft, replaced: list[Replacement]) -> MemoryState | None:
    """Return the memory the note continues: the first target's, unless a split took it."""
    for replacement in replaced:
        if not draft.lineage.successors(replacement.tip):
            return draft.memory_of(replacement.tip)
    return None


def _connect(
    draft: Draft, new: str, replaced: list[Replacement], decision: Decision, by: str
) -> None:
    own = draft.lineage.facts[new].memory_id
    for tip in dict.fromkeys(r.tip for r in replaced):
        replacement = next(r for r in replaced if r.tip == tip)
        draft.connect(
            Edge(
                replacement.kind,
                new,
                replacement.tip,
                reason=decision.reason,
                linked_by=by,
                confidence=decision.confidence,
            )
        )
        memory = draft.memory_of(replacement.tip)
        if memory.id != own:
            draft.touch(memory, Op.LINK, new)


def _suggest(
    draft: Draft, new: str, decided: LinkDecision | None, linker: str
) -> tuple[Suggestion, ...]:
    if not isinstance(decided, Abstain):
        return ()
    for item in decided.suggestions:
        draft.suggestions.append(
            SuggestedLink(new, item.node_id, item.reason, item.confidence, linker)
        )
    return decided.suggestions


def _decision(
    request: RememberRequest, replaced: list[Replacement], decided: LinkDecision | None
) -> Decision:
    if request.supersedes or request.refines or request.amends or request.overrides:
        return Decision("explicit", "the caller named it")
    if request.slot:
        if replaced:
            return Decision("link", f"same slot {request.slot!r} in the same scope")
        return Decision("no_link", f"first value of slot {request.slot!r}")
    match decided:
        case None:
            return Decision("off", "linking is off")
        case Link(reason=reason, confidence=confidence):
            return Decision("link", reason, confidence)
        case Amend(reason=reason, confidence=confidence):
            return Decision("amend", reason, confidence)
        case Override(reason=reason, confidence=confidence):
            return Decision("override", reason, confidence)
        case NoLink(reason=reason, confidence=confidence):
            return Decision("no_link", reason, confidence)
        case Abstain(reason=reason, suggestions=suggestions):
            best = max((s.confidence for s in suggestions), default=0.0)
            return Decision("abstain", reason, best)


def _reuse(
    draft: Draft, request: RememberRequest, twin: str, proposed: tuple[Suggestion, ...]
) -> NotePlan:
    """Answer with the equal active note; what the call replaces is linked to it."""
    done: list[str] = []
    moved: list[Moved] = []
    for kind, named in ((SUPERSEDES, request.supersedes), (REFINES, request.refines)):
        others = [n for n in named if draft.tip(n) != twin]
        linked, passed = plan_link(draft, twin, others, kind)
        done += linked
        moved += passed
    warnings = [*request.warnings, *_differences(request, draft.record(twin))]
    return NotePlan(
        node_id=twin,
        decision=Decision("explicit" if done else "no_link", "an equal active note exists"),
        superseded=_out_of_force(draft, done),
        moved=tuple(moved),
        deduplicated=True,
        candidates=proposed,
        warnings=tuple(warnings),
    )


def _differences(request: RememberRequest, twin: NodeRecord) -> list[str]:
    given = ("tags", "session", "subject", "metadata", "valid_from", "valid_to", "amends")
    lost = [name for name in (*given, "overrides", "relations") if getattr(request, name)]
    if request.searchable not in {ALWAYS, twin.searchable}:
        lost.append("searchable")
    if not lost:
        return []
    return [
        f"An equal active note exists and was returned as it is; not applied: {', '.join(lost)}."
    ]


def _out_of_force(draft: Draft, tips: Iterable[str]) -> tuple[str, ...]:
    """Leave out what a scheduled or back-dated note leaves in force."""
    standing = {Status.ACTIVE, Status.SCHEDULED}
    return tuple(
        n for n in dict.fromkeys(tips) if draft.lineage.status(n, draft.now) not in standing
    )


def _moved(replaced: list[Replacement]) -> tuple[Moved, ...]:
    return tuple(Moved(r.named, r.tip) for r in replaced if r.tip != r.named)


def _op(kind: str) -> Op:
    return Op.UPDATE if kind == REFINES else Op.SUPERSEDE


def _event(request: RememberRequest, node: NodeRecord) -> Event:
    return Event(
        id=new_id(EVENT),
        role="document",
        content=request.text,
        occurred_at=node.created_at,
        session=request.session,
    )
