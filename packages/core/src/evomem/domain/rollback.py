"""The rules of undoing a patch: prior states come back as new versions, links close. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from evomem.domain.draft import Draft
from evomem.domain.edge import RESTORES, SUCCESSION, SUPERSEDES, Edge
from evomem.domain.identifiers import NODE, new_id
from evomem.domain.lineage import Lineage
from evomem.domain.node import NodeRecord, Status
from evomem.domain.patch import Commit, Op
from evomem.domain.time import format_time
from evomem.errors import UnsafeRollbackError

_CURRENT = {Status.ACTIVE, Status.SCHEDULED}


@dataclass(frozen=True, slots=True)
class Prior:
    """What the store held before the patch, and what right after it.

    Attributes:
        lineage: The whole stories of what the patch touched, before it.
        after: The same after it.
        records: Every node of the stories before.
    """

    lineage: Lineage
    after: Lineage
    records: Mapping[str, NodeRecord]


class _Change(NamedTuple):
    """A content that a patch changed from a time on.

    `node` is what it added or removed, `former` what was in force before, None if nothing was.
    """

    node: str
    kind: str
    begins: datetime
    former: str | None


def still_standing(later: Sequence[tuple[str, str | None]]) -> list[str]:
    """Return the patches that were not undone by a later one, which was not undone itself.

    Args:
        later: Patches, each with the patch that it undid, the oldest first.
    """
    left = dict.fromkeys(patch_id for patch_id, _ in later)
    for patch_id, undone in reversed(later):
        if patch_id in left and undone in left:
            del left[patch_id], left[undone]
    return list(left)


def plan_rollback(draft: Draft, undone: Commit, prior: Prior) -> list[str]:
    """Undo a patch on the draft: afterwards the heads have the contents they had before it.

    Args:
        draft: Loaded with every node that the patch added, removed or linked.
        undone: The patch; nothing later may depend on it.
        prior: What the store held before and after it.

    Returns:
        What it leaves as it is, in words.

    Raises:
        UnsafeRollbackError: A text that would have to come back was purged.
    """
    patch, lines = undone.patch, _lines(undone)
    changes = [*_additions(undone, prior, lines, draft.now), *_removals(undone, prior, draft.now)]
    done: set[tuple[str, datetime]] = set()
    for change in sorted(changes, key=lambda c: c.begins):
        if change.former is None:
            _withdraw(draft, change.node)
        elif (change.former, change.begins) not in done:
            done.add((change.former, change.begins))
            _restore(draft, change, prior.records[change.former])
    for edge in patch.edges:
        _close(draft, edge, lines)
    for edge in patch.closed:
        _reopen(draft, edge)
    return _left(undone, prior, draft.now)


def _lines(undone: Commit) -> dict[str, Edge]:
    """Return for each version that a patch added the link by which it continues its memory."""
    memories = {node.id: node.memory_id for node in undone.patch.nodes}
    lines: dict[str, Edge] = {}
    for edge in undone.patch.edges:
        if edge.new in memories and edge.kind in SUCCESSION:
            lines.setdefault(edge.new, edge)
    # The first link of a version is the one it continues; a memory that begins has none.
    begun = {node.id for node in undone.patch.nodes if node.version == 1}
    return {new: edge for new, edge in lines.items() if new not in begun}


def _additions(
    undone: Commit, prior: Prior, lines: Mapping[str, Edge], now: datetime
) -> Iterator[_Change]:
    for node in undone.patch.nodes:
        begins = _effect(prior.after, node, now)
        if begins is None:
            continue
        old = node.id
        while old in lines:
            old = lines[old].old
        former = _active(prior.lineage, old, node.memory_id, begins)
        kind = lines[node.id].kind if node.id in lines else SUPERSEDES
        yield _Change(node.id, kind, begins, former)


def _effect(after: Lineage, node: NodeRecord, now: datetime) -> datetime | None:
    """Return from when undoing a version shows: from now on if it stands, else in its own time.

    None if it never was in force: a later version of the same patch began with it.
    """
    if node.valid_from > now or node.id in after.heads(node.id, now):
        return max(now, node.valid_from)
    return node.valid_from if node.id in after.heads(node.id, node.valid_from) else None


def _active(lineage: Lineage, node_id: str, memory_id: str, at: datetime) -> str | None:
    """Return the version of the memory to which a node resolved at a time."""
    if node_id not in lineage:
        return None
    for head in lineage.heads(node_id, at):
        own = lineage.facts[head].memory_id == memory_id
        if own and lineage.status(head, at) is Status.ACTIVE:
            return head
    return None


def _removals(undone: Commit, prior: Prior, now: datetime) -> Iterator[_Change]:
    """Yield what the patch took out of recall while it was in force, or was to be."""
    for node_id in undone.patch.removed:
        if node_id in prior.records and prior.lineage.status(node_id, now) in _CURRENT:
            begins = max(now, prior.lineage.facts[node_id].valid_from)
            yield _Change(node_id, SUPERSEDES, begins, node_id)


def _left(undone: Commit, prior: Prior, now: datetime) -> list[str]:
    earlier = {n: prior.lineage.status(n, now) for n in undone.patch.removed if n in prior.records}
    return [
        f"{node_id} was {status} before: it stays forgotten, and in the history."
        for node_id, status in earlier.items()
        if status not in _CURRENT
    ]


def _own_tips(draft: Draft, node_id: str) -> list[str]:
    """Return the ends of the line that a node is in, inside its memory."""
    facts = draft.lineage.facts
    ends = draft.lineage.tips(node_id)
    return [n for n in ends if facts[n].memory_id == facts[node_id].memory_id] or [node_id]


def _withdraw(draft: Draft, node_id: str) -> None:
    """Take out of recall what a version came to be, if it holds or will."""
    lineage, now = draft.lineage, draft.now
    for end in dict.fromkeys([node_id, *_own_tips(draft, node_id)]):
        fact = lineage.facts[end]
        if not fact.removed and (fact.valid_from > now or end in lineage.heads(end, now)):
            draft.remove(end, purge=False)


def _restore(draft: Draft, change: _Change, record: NodeRecord) -> None:
    """Add a version with the content of an earlier one, unless that had ended by then."""
    if record.purged:
        message = f"The text of {record.id} was purged, so the state before cannot come back."
        raise UnsafeRollbackError(message, purged=[record.id])
    if record.valid_to is not None and record.valid_to <= change.begins:
        _withdraw(draft, change.node)
        return
    memory = draft.memory_of(record.id)
    (tip, *_) = _own_tips(draft, change.node)
    restored = replace(
        record,
        id=new_id(NODE),
        version=memory.version + 1,
        recorded_at=draft.now,
        valid_from=change.begins,
        backdated=change.begins < memory.latest_valid_from,
        sequence=0,
    )
    draft.add_node(restored, Op.RESTORE)
    reason = f"rollback, from {format_time(change.begins)}"
    draft.connect(Edge(change.kind, restored.id, tip, reason=reason))
    draft.connect(Edge(RESTORES, restored.id, record.id))


def _close(draft: Draft, edge: Edge, lines: Mapping[str, Edge]) -> None:
    """Close a link that the patch made, unless a version it added continues its memory by it."""
    if lines.get(edge.new) == edge or (edge.kind == RESTORES and edge.new in lines):
        return
    for still in draft.facts.edges:
        if (still.kind, still.new, still.old) == (edge.kind, edge.new, edge.old):
            draft.disconnect(still)
            draft.touch(draft.memory_of(edge.old), Op.UNLINK, edge.new)
            return


def _reopen(draft: Draft, edge: Edge) -> None:
    """Make a link again that the patch closed.

    Raises:
        UnsafeRollbackError: It would close a circle now.
    """
    if edge.kind in SUCCESSION and draft.is_ancestor(edge.new, edge.old):
        message = f"{edge.old} replaces {edge.new} by now, so their link cannot be made again."
        raise UnsafeRollbackError(message, new=edge.new, old=edge.old)
    draft.connect(replace(edge, sequence=0))
    draft.touch(draft.memory_of(edge.old), Op.LINK, edge.new)
