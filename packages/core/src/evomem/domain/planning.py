"""The rules of writing: how a request becomes operations on a draft. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evomem.domain.analysis import fold_whitespace
from evomem.domain.decision import (
    Abstain,
    Amend,
    Link,
    LinkDecision,
    NoLink,
    Override,
    Suggestion,
)
from evomem.domain.draft import Draft
from evomem.domain.edge import AMENDS, OVERRIDES, REFINES, SUPERSEDES, Edge
from evomem.domain.event import Event
from evomem.domain.extraction import Extraction
from evomem.domain.identifiers import EVENT, MEMORY, NODE, new_id
from evomem.domain.lineage import Lineage
from evomem.domain.node import NodeRecord
from evomem.domain.patch import MemoryState, Op, SuggestedLink
from evomem.domain.request import RememberRequest
from evomem.domain.result import Decision, Moved
from evomem.domain.scope import common, contains
from evomem.domain.text import digest
from evomem.domain.time import format_time
from evomem.errors import InvalidRequestError, ScopeMismatchError


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
    replaced = _replacements(draft, request, decided)
    scope = _scope(draft, request, replaced)
    if request.slot is None:
        twin = draft.active_twin(digest(request.text, scope, None))
        if twin is not None:
            return _reuse(draft, request, twin)
    for named in dict.fromkeys(r.named for r in replaced):
        if request.expected_version is not None:
            draft.check_version(named, draft.tip(named), request.expected_version)
    node = _node(draft, request, extraction, scope, replaced)
    op = Op.ADD if not replaced else _op(replaced[0].kind)
    draft.add_node(node, op)
    draft.events.append(_event(request, node))
    decision = _decision(request, replaced, decided)
    by = "caller" if decision.outcome == "explicit" else linker
    _connect(draft, node.id, replaced, decision, by)
    warnings = _mark(draft, node, request, decided, by)
    candidates = _suggest(draft, node.id, decided, linker)
    if node.valid_from > draft.now:
        warnings.append(
            f"It takes force at {format_time(node.valid_from)}; until then what is in force "
            "stands. Pass valid_from to change that."
        )
    return NotePlan(
        node_id=node.id,
        decision=decision,
        superseded=tuple(dict.fromkeys(r.tip for r in replaced)),
        moved=_moved(replaced),
        candidates=candidates,
        warnings=(*request.warnings, *extraction.warnings, *warnings),
    )


def note_digest(lineage: Lineage, request: RememberRequest, linked: Sequence[str]) -> bytes:
    """Return the digest by which a note equal to this one is found.

    Args:
        lineage: Around the nodes that the note replaces.
        request: The note.
        linked: Nodes that the linker would replace; they count if the caller named none.
    """
    named = (*request.supersedes, *request.refines) or tuple(linked)
    scope = request.scope
    if scope is None and named:
        scope = common(lineage.facts[tip].scope for n in named for tip in lineage.tips(n))
    return digest(request.text, scope, None)


def plan_link(draft: Draft, new: str, old: Iterable[str]) -> tuple[list[str], list[Moved]]:
    """Add to the draft that `new` replaces each of `old`, after the fact.

    Returns:
        The tips taken out of force, and the named nodes that had been replaced before.

    Raises:
        InvalidRequestError: A node would come to replace itself.
        ScopeMismatchError: `new` does not hold wherever an old one does.
    """
    done: list[str] = []
    moved: list[Moved] = []
    for named in dict.fromkeys(old):
        if named == new:
            message = f"{new} cannot replace itself: name the older node in supersedes."
            raise InvalidRequestError(message, node_id=new)
        if draft.is_ancestor(named, new):
            continue
        if draft.is_ancestor(new, named):
            message = (
                f"{named} already replaces {new}, directly or by way of others, so {new} cannot "
                f"replace it. Undo that link first: unlink, or remember a new note."
            )
            raise InvalidRequestError(message, node_id=new, old=named)
        tip = draft.tip(named)
        _check_scope(draft, draft.lineage.facts[new].scope, tip)
        if tip != named:
            moved.append(Moved(named, tip))
        draft.connect(Edge(SUPERSEDES, new, tip))
        draft.touch(draft.memory_of(tip), Op.LINK, new)
        done.append(tip)
    return done, moved


def _replacements(
    draft: Draft, request: RememberRequest, decided: LinkDecision | None
) -> list[Replacement]:
    named = [(SUPERSEDES, n) for n in request.supersedes]
    named += [(REFINES, n) for n in request.refines]
    in_slot = request.slot and draft.slots.get((request.slot, request.scope))
    if in_slot and not named:
        named = [(SUPERSEDES, in_slot)]
    if isinstance(decided, Link) and not named:
        named = [(SUPERSEDES, n) for n in decided.old]
    return [Replacement(kind, draft.tip(node_id), node_id) for kind, node_id in named]


def _scope(draft: Draft, request: RememberRequest, replaced: list[Replacement]) -> str | None:
    if request.scope is None:
        return common(draft.lineage.facts[r.tip].scope for r in replaced) if replaced else None
    for replacement in replaced:
        _check_scope(draft, request.scope, replacement.tip)
    return request.scope


def _check_scope(draft: Draft, scope: str | None, old: str) -> None:
    old_scope = draft.lineage.facts[old].scope
    if contains(scope, old_scope):
        return
    message = (
        f"{old} holds in scope {old_scope or 'everywhere'!r}, the new note only in {scope!r}: it "
        f"cannot replace it wholly. Pass overrides=['{old}'] to win inside {scope!r} and leave "
        f"the old one in force elsewhere, or use the old one's scope."
    )
    raise ScopeMismatchError(message, node_id=old, scope=scope, old_scope=old_scope)


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
    for replacement in {r.tip: r for r in reversed(replaced)}.values():
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


def _mark(
    draft: Draft,
    node: NodeRecord,
    request: RememberRequest,
    decided: LinkDecision | None,
    by: str,
) -> list[str]:
    """Add the edges that leave the old node in force; return what to warn about."""
    warnings: list[str] = []
    for target, part in request.amends:
        _check_part(draft, target, part)
        if (tip := draft.tip(target)) != target:
            warnings.append(f"{target} was replaced by {tip} before: the amendment marks {target}.")
        draft.connect(Edge(AMENDS, node.id, target, part=part))
    for target in request.overrides:
        draft.connect(_override(draft, node, draft.tip(target), "caller"))
    for kind, target in request.relations:
        draft.connect(Edge(kind, node.id, target))
    if isinstance(decided, Amend):
        draft.connect(
            Edge(
                AMENDS,
                node.id,
                decided.old,
                part=decided.part,
                reason=decided.reason,
                linked_by=by,
                confidence=decided.confidence,
            )
        )
    if isinstance(decided, Override):
        draft.connect(_override(draft, node, draft.tip(decided.old), by))
    return warnings


def _check_part(draft: Draft, target: str, part: str) -> None:
    record = draft.facts.records.get(target)
    if record and fold_whitespace(part) not in fold_whitespace(record.text):
        message = f"amends: {part!r} is not in the text of {target}. Quote its words as they are."
        raise InvalidRequestError(message, node_id=target, field="amends")


def _override(draft: Draft, node: NodeRecord, old: str, by: str) -> Edge:
    old_scope = draft.lineage.facts[old].scope
    if node.scope == old_scope or not contains(old_scope, node.scope):
        message = (
            f"overrides needs a scope inside that of {old} ({old_scope or 'everywhere'!r}), not "
            f"{node.scope!r}. To replace it wholly pass supersedes=['{old}']."
        )
        raise ScopeMismatchError(message, node_id=old, scope=node.scope, old_scope=old_scope)
    return Edge(OVERRIDES, node.id, old, linked_by=by)


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


def _reuse(draft: Draft, request: RememberRequest, twin: str) -> NotePlan:
    """Answer with the equal active note; what the call replaces is linked to it."""
    done: list[str] = []
    moved: list[Moved] = []
    others = [n for n in (*request.supersedes, *request.refines) if draft.tip(n) != twin]
    if others:
        done, moved = plan_link(draft, twin, others)
    warnings = [*request.warnings, *_differences(request)]
    return NotePlan(
        node_id=twin,
        decision=Decision("explicit" if done else "no_link", "an equal active note exists"),
        superseded=tuple(done),
        moved=tuple(moved),
        deduplicated=True,
        warnings=tuple(warnings),
    )


def _differences(request: RememberRequest) -> list[str]:
    given = ("tags", "session", "subject", "metadata", "valid_from", "valid_to", "amends")
    lost = [name for name in (*given, "overrides", "relations") if getattr(request, name)]
    if not lost:
        return []
    return [
        f"An equal active note exists and was returned as it is; not applied: {', '.join(lost)}."
    ]


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
