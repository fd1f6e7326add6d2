"""Undoing a patch: administrative, never offered to a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from evomem.domain.applied import applied, memory_texts
from evomem.domain.draft import Draft
from evomem.domain.namespace import Reach
from evomem.domain.node import CURRENT
from evomem.domain.patch import Commit, Patch
from evomem.domain.patch_result import PatchResult
from evomem.domain.rollback import Prior, plan_rollback, still_standing
from evomem.engines.base import Reader
from evomem.errors import InvalidRequestError, UnsafeRollbackError
from evomem.service.context import Context, until_current
from evomem.service.facts import load_facts
from evomem.service.guard import admit_reason, check_change
from evomem.service.patches import find_commit


@dataclass(frozen=True, slots=True)
class RollbackRequest:
    """A patch to undo.

    Attributes:
        patch_id: The patch.
        dry_run: Only tell what would be done.
        reason: Why, in the caller's words.
        actor: Who asks.
        source: By which way it came.
    """

    patch_id: str
    dry_run: bool = False
    reason: str | None = None
    actor: str | None = None
    source: str | None = None


def rollback(context: Context, request: RollbackRequest) -> PatchResult:
    """Write a patch that brings the states before another one back as new versions.

    Raises:
        NotFoundError: The patch is unknown.
        UnsafeRollbackError: Later patches depend on it; the message names them.
        InvalidRequestError: There is nothing to undo in it.
        PolicyDeniedError: The actor may not.
    """
    context.policy.check_rollback(request.actor)
    reason = admit_reason(context, request.reason)

    def attempt(_: int) -> PatchResult:
        with context.engine.read() as reader:
            undone = find_commit(reader, context.reach, request.patch_id)
            planned = _plan(context, reader, undone, (request.actor, request.source))
        if request.dry_run:
            return _without_new_ids(planned)
        patch = planned.draft.build(
            actor=request.actor,
            source=request.source,
            reason=reason or f"rollback of {request.patch_id}",
            rollback_of=request.patch_id,
            evidence=undone.patch.evidence,
        )
        receipt = context.commit(patch)
        return replace(
            planned.result,
            patch_id=receipt.patch_id,
            sequence=receipt.sequence,
            evidence=patch.evidence,
            warnings=receipt.warnings,
        )

    return until_current(attempt)


class _Planned(NamedTuple):
    draft: Draft
    result: PatchResult


def _plan(
    context: Context, reader: Reader, undone: Commit, by: tuple[str | None, str | None]
) -> _Planned:
    reach, patch = context.reach, undone.patch
    if not patch.operations:
        message = f"{patch.id} recorded evidence only, which is never undone: nothing to roll back."
        raise InvalidRequestError(message, patch_id=patch.id)
    touched = {step.memory_id for step in patch.operations}
    _check_untouched(reader, reach, undone, touched)
    before = reader.before(undone.sequence)
    ends = [end for edge in (*patch.edges, *patch.closed) for end in (edge.new, edge.old)]
    changed = [*_added(patch), *patch.removed, *patch.revived, *ends]
    story = before.story(reach, changed)
    after = reader.before(undone.sequence + 1).story(reach, changed)
    prior = Prior(story, after, before.records(reach, story.facts))
    tips = [memory.tip for memory in reader.memories(reach, touched).values()]
    named = [*tips, *changed]
    now = context.time(reader)
    draft = Draft(context.namespace, now, load_facts(reader, reach, named, now))
    check_change(context, draft, [*tips, *_added(patch)], *by)
    texts = memory_texts(draft)
    plan_rollback(draft, undone, prior)
    _check_slots(reader, reach, undone, draft)
    if not draft.operations:
        message = f"Nothing of {patch.id} is left to undo."
        raise InvalidRequestError(message, patch_id=patch.id)
    moved = reader.records(reach, [step.node_id for step in draft.operations])
    records = {**moved, **{node.id: node for node in draft.nodes}}
    steps = applied(draft.operations, texts, records)
    result = PatchResult(patch_id=None, sequence=None, operations=steps)
    return _Planned(draft, result)


def _without_new_ids(planned: _Planned) -> PatchResult:
    """Leave out the ids of nodes that a dry run does not make."""
    new = {node.id for node in planned.draft.nodes}
    steps = planned.result.operations
    shown = tuple(replace(s, node_id="") if s.node_id in new else s for s in steps)
    return replace(planned.result, operations=shown)


def _added(patch: Patch) -> list[str]:
    return [node.id for node in patch.nodes]


def _check_untouched(reader: Reader, reach: Reach, undone: Commit, touched: set[str]) -> None:
    """Refuse if a later patch changed one of the memories."""
    later = still_standing(reader.later_patches(reach, touched, undone.sequence))
    if undone.rolled_back_by in later:
        message = (
            f"{undone.patch.id} was rolled back by {undone.rolled_back_by}. To bring it back, roll "
            "that one back."
        )
        raise UnsafeRollbackError(message, patch_id=undone.patch.id, dependents=later)
    if later:
        raise _unsafe(undone, later)


def _check_slots(reader: Reader, reach: Reach, undone: Commit, draft: Draft) -> None:
    """Refuse if a slot that would be filled again has another value by now."""
    revived = [draft.facts.records[node_id] for node_id in draft.revived]
    for record in (*draft.nodes, *revived):
        if record.slot is None:
            continue
        key = (record.slot, record.scope)
        latest = draft.facts.slots[key] = reader.slots(reach, [key])[key]
        if latest is None:
            continue
        # What the rollback itself takes out of the slot is out of it in the draft.
        planned = latest in draft.lineage
        lineage = draft.lineage if planned else reader.lineage(reach, [latest], draft.now)
        for tip in lineage.tips(latest):
            fact = lineage.facts[tip]
            other = fact.memory_id != record.memory_id
            if other and lineage.status(tip, draft.now) in CURRENT:
                raise _unsafe(undone, reader.patch_ids(reach, [fact.sequence]))


def _unsafe(undone: Commit, later: list[str]) -> UnsafeRollbackError:
    message = (
        f"Later patches depend on {undone.patch.id}: {', '.join(later)}. Roll those back first, "
        "the latest first, or write the former state anew."
    )
    return UnsafeRollbackError(message, patch_id=undone.patch.id, dependents=later)
