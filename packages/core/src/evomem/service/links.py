"""Links after the fact, their undoing, and forgetting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from evomem.domain.draft import Draft
from evomem.domain.edge import MARKING, SUCCESSION, Edge
from evomem.domain.links import plan_link
from evomem.domain.node import MemoryNode, Status
from evomem.domain.patch import Op
from evomem.domain.result import ForgetResult, LinkResult, Moved
from evomem.errors import InvalidRequestError, NotFoundError
from evomem.service.candidates import copy_warnings
from evomem.service.context import Context, until_current
from evomem.service.facts import load_facts
from evomem.service.guard import admit_reason, check_change
from evomem.service.view import view_nodes

Planned = TypeVar("Planned")


def link(
    context: Context,
    new: str,
    supersedes: Sequence[str],
    *,
    reason: str | None = None,
    actor: str | None = None,
    source: str | None = None,
) -> LinkResult:
    """State that `new` replaces older nodes; an edge across memories that moves nothing.

    Raises:
        InvalidRequestError: Nothing named, or a node would come to replace itself.
        NotFoundError: An id is unknown.
    """
    if not supersedes:
        message = "link needs supersedes=[...]: name the older node or nodes that it replaces."
        raise InvalidRequestError(message, field="supersedes")

    def plan(draft: Draft) -> tuple[list[str], list[Moved]]:
        tips = [tip for old in supersedes for tip in draft.lineage.tips(old)]
        check_change(context, draft, tips, actor, source)
        return plan_link(draft, new, supersedes)

    (done, moved), patch_id = _write(context, [new, *supersedes], plan, reason, actor, source)
    with context.engine.read() as reader:
        at = context.time(reader)
        node = view_nodes(reader, context.reach, [new], at)[new]
        copies = copy_warnings(context, reader, done, {new}, at)
    warnings = [warning for found in copies.values() for warning in found]
    if not done:
        warnings.append(f"{new} replaced all of them before; nothing was done.")
    return LinkResult(
        node=node,
        superseded=tuple(done),
        moved=tuple(moved),
        warnings=tuple(warnings),
        patch_id=patch_id,
    )


def unlink(
    context: Context,
    new: str,
    old: str,
    *,
    reason: str | None = None,
    actor: str | None = None,
    source: str | None = None,
) -> LinkResult:
    """Close the link from `new` to `old`; the old node resolves to itself again.

    Raises:
        NotFoundError: There is no such link; the message names those that `new` has.
    """

    def plan(draft: Draft) -> bool:
        check_change(context, draft, [new, old], actor, source)
        edges = _open_edges(draft, new, old)
        for edge in edges:
            draft.disconnect(edge)
        draft.count(edges[0], Op.UNLINK)
        return draft.lineage.status(old, draft.now) is Status.ACTIVE

    restored, patch_id = _write(context, [new, old], plan, reason, actor, source)
    node = _node(context, new)
    return LinkResult(node=node, restored=(old,) if restored else (), patch_id=patch_id)


def forget(
    context: Context,
    node_id: str,
    *,
    purge: bool = False,
    reason: str | None = None,
    actor: str | None = None,
    source: str | None = None,
) -> ForgetResult:
    """Take a node out of recall; with `purge` delete its text too. Repeating it does nothing.

    Raises:
        NotFoundError: The id is unknown.
    """
    if purge:
        context.policy.check_purge(actor)

    def plan(draft: Draft) -> ForgetResult:
        check_change(context, draft, [node_id], actor, source)
        removed = draft.lineage.facts[node_id].removed
        purged = draft.facts.records[node_id].purged
        if removed and (purged or not purge):
            done = "purged" if purged else "forgotten"
            notice = f"{node_id} was {done} before; nothing was done."
            return ForgetResult(node_id, changed=False, purged=purged, warnings=(notice,))
        notices = _what_forgetting_leaves(draft, node_id, purge=purge)
        draft.remove(node_id, purge=purge)
        return ForgetResult(node_id, changed=True, purged=purge, warnings=notices)

    result, patch_id = _write(context, [node_id], plan, reason, actor, source)
    return replace(result, patch_id=patch_id)


def _what_forgetting_leaves(draft: Draft, node_id: str, *, purge: bool) -> tuple[str, ...]:
    notices = []
    older = [edge.old for edge in draft.lineage.predecessors(node_id)]
    if older and draft.lineage.status(node_id, draft.now) is Status.ACTIVE:
        notices.append(
            f"Nothing is in force in its place: {', '.join(older)} stays superseded. Unlink it to "
            "bring it back."
        )
    if purge:
        notices.append(
            "The text is gone from the node and the index; an event with the same text keeps it, "
            "and old bytes may stay in the file."
        )
    return tuple(notices)


def _write(
    context: Context,
    named: Sequence[str],
    plan: Callable[[Draft], Planned],
    reason: str | None,
    actor: str | None,
    source: str | None,
) -> tuple[Planned, str | None]:
    reason = admit_reason(context, reason)

    def attempt(_: int) -> tuple[Planned, str | None]:
        with context.engine.read() as reader:
            now = context.time(reader)
            draft = Draft(context.namespace, now, load_facts(reader, context.reach, named, now))
        planned = plan(draft)
        if draft.is_empty:
            return planned, None
        patch = draft.build(reason=reason, actor=actor, source=source)
        return planned, context.commit(patch).patch_id

    return until_current(attempt)


def _open_edges(draft: Draft, new: str, old: str) -> list[Edge]:
    """Return the links of one kind between two nodes; several if parts of one were amended."""
    links = [edge for edge in draft.facts.edges if edge.new == new]
    # Several kinds may join the same nodes: the one that replaces goes first, then the marks.
    links.sort(key=lambda e: (e.kind not in SUCCESSION, e.kind not in MARKING))
    between = [edge for edge in links if edge.old == old]
    if between:
        return [edge for edge in between if edge.kind == between[0].kind]
    has = ", ".join(f"{edge.old} ({edge.kind})" for edge in links) or "none"
    message = f"There is no open link from {new} to {old}. Links of {new}: {has}."
    raise NotFoundError(message, new=new, old=old)


def _node(context: Context, node_id: str) -> MemoryNode:
    with context.engine.read() as reader:
        return view_nodes(reader, context.reach, [node_id], context.time(reader))[node_id]
