"""The rules of undoing a patch: prior states come back as new versions, links close. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """A content that a version of a patch changed from a time on.

    `first` is the first version of its line that the patch added, `former` what that took out of
    force; None if it took nothing out itself.
    """

    node: str
    first: str
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


def plan_rollback(draft: Draft, undone: Commit, prior: Prior) -> None:
    """Undo a patch on the draft: afterwards the heads have the contents they had before it.

    Args:
        draft: Loaded with every node that the patch added, removed or linked.
        undone: The patch; nothing later may depend on it.
        prior: What the store held before and after it.

    Raises:
        UnsafeRollbackError: A text that would have to come back was purged.
    """
    patch, lines = undone.patch, _lines(undone)
    _revive(draft, undone, prior)
    withdrawn = _undo_versions(draft, undone, prior, lines)
    for edge in patch.edges:
        if edge.new in withdrawn or not _continues(edge, lines):
            _close(draft, edge)
    for edge in patch.closed:
        _reopen(draft, edge)
    for node_id in patch.revived:
        if not draft.lineage.facts[node_id].removed:
            draft.remove(node_id, purge=False)


def _revive(draft: Draft, undone: Commit, prior: Prior) -> None:
    for node_id in undone.patch.removed:
        if node_id in prior.records and draft.lineage.facts[node_id].removed:
            _check_text(prior.records[node_id])
            draft.revive(node_id)


def _undo_versions(
    draft: Draft, undone: Commit, prior: Prior, lines: Mapping[str, Edge]
) -> set[str]:
    """Bring back what the versions of a patch took out of force.

    A line of versions whose start took out of force whatever was there comes back by new versions.
    Any other is withdrawn whole: then what was there stands again by itself.

    Returns:
        The first versions of the lines that are withdrawn: their links to what was before close.
    """
    changes = _changes(undone, prior, lines, draft.now)
    withdrawn = {change.first for change in changes if change.former is None}
    done: set[tuple[str, datetime]] = set()
    for change in changes:
        if change.first in withdrawn:
            _withdraw(draft, change.node)
        elif change.former and (change.former, change.begins) not in done:
            done.add((change.former, change.begins))
            _restore(draft, change, prior.records[change.former])
    for node_id, first in _firsts(undone, lines).items():
        if first in withdrawn and not draft.lineage.facts[node_id].removed:
            draft.remove(node_id, purge=False)
    return withdrawn


def _firsts(undone: Commit, lines: Mapping[str, Edge]) -> dict[str, str]:
    """Return for each version of a patch the first one of its line that the patch added."""
    firsts: dict[str, str] = {}
    for node in undone.patch.nodes:
        edge = lines.get(node.id)
        firsts[node.id] = firsts.get(edge.old, node.id) if edge else node.id
    return firsts


def _lines(undone: Commit) -> dict[str, Edge]:
    """Return for each version that a patch added the link by which it continues its memory."""
    # The first link of a version is the one it continues; a memory that begins has none.
    later = {node.id for node in undone.patch.nodes if node.version > 1}
    lines: dict[str, Edge] = {}
    for edge in undone.patch.edges:
        if edge.new in later and edge.kind in SUCCESSION:
            lines.setdefault(edge.new, edge)
    return lines


def _continues(edge: Edge, lines: Mapping[str, Edge]) -> bool:
    return lines.get(edge.new) == edge or (edge.kind == RESTORES and edge.new in lines)


def _changes(
    undone: Commit, prior: Prior, lines: Mapping[str, Edge], now: datetime
) -> list[_Change]:
    """Return the contents that the versions of a patch changed, by time.

    Only what a version took out of force itself comes back as a new version. Where something else
    was in force, or nothing, the version is withdrawn instead: that something then stands again.
    """
    firsts = _firsts(undone, lines)
    found = []
    for node, begins in _effects(undone, prior.after, now):
        first = firsts[node.id]
        old = lines[first].old if first in lines else None
        active = old and prior.lineage.status(old, begins) is Status.ACTIVE
        kind = lines[node.id].kind if node.id in lines else SUPERSEDES
        found.append(_Change(node.id, first, kind, begins, old if active else None))
    return found


def _effects(undone: Commit, after: Lineage, now: datetime) -> list[tuple[NodeRecord, datetime]]:
    """Return from when undoing each version shows, the earliest first.

    From now on if it stands, else in its own time; a version that never was in force, as a later
    one of the same patch began with it, is left out.
    """
    nodes = undone.patch.nodes
    # A lineage sums up for one time, so all that is asked of a time is asked together.
    standing = {n.id for n in nodes if n.valid_from > now or n.id in after.heads(n.id, now)}
    past = sorted((n for n in nodes if n.id not in standing), key=lambda n: n.valid_from)
    effects = [(n, max(now, n.valid_from)) for n in nodes if n.id in standing]
    effects += [(n, n.valid_from) for n in past if n.id in after.heads(n.id, n.valid_from)]
    return sorted(effects, key=lambda effect: effect[1])


def _withdraw(draft: Draft, node_id: str) -> None:
    """Take a version out of recall, with what undone patches have put after it."""
    facts = draft.lineage.facts
    own = [n for n in draft.lineage.tips(node_id) if facts[n].memory_id == facts[node_id].memory_id]
    for end in dict.fromkeys([node_id, *own]):
        if not facts[end].removed:
            draft.remove(end, purge=False)


def _restore(draft: Draft, change: _Change, record: NodeRecord) -> None:
    """Add a version with the content of the one before."""
    _check_text(record)
    memory = draft.memory_of(change.node)
    facts = draft.lineage.facts
    tips = (n for n in draft.lineage.tips(change.node) if facts[n].memory_id == memory.id)
    restored = replace(
        record,
        id=new_id(NODE),
        version=memory.version + 1,
        recorded_at=draft.now,
        valid_from=change.begins,
        backdated=change.begins < memory.latest_valid_from,
        sequence=0,
    )
    tip = next(tips, change.node)
    draft.add_node(restored, Op.RESTORE)
    reason = f"rollback, from {format_time(change.begins)}"
    draft.connect(Edge(change.kind, restored.id, tip, reason=reason))
    draft.connect(Edge(RESTORES, restored.id, record.id))


def _check_text(record: NodeRecord) -> None:
    if record.purged:
        message = f"The text of {record.id} was purged, so the state before cannot come back."
        raise UnsafeRollbackError(message, purged=[record.id])


def _close(draft: Draft, edge: Edge) -> None:
    """Close a link that the patch made, if it still stands."""
    for still in draft.facts.edges:
        if _ends(still) == _ends(edge):
            draft.disconnect(still)
            draft.count(edge, Op.UNLINK)
            return


def _ends(edge: Edge) -> tuple[str, str, str, str | None]:
    return edge.kind, edge.new, edge.old, edge.part


def _reopen(draft: Draft, edge: Edge) -> None:
    """Make a link again that the patch closed.

    Raises:
        UnsafeRollbackError: It would close a circle now.
    """
    if edge.kind in SUCCESSION and draft.is_ancestor(edge.new, edge.old):
        message = f"{edge.old} replaces {edge.new} by now, so their link cannot be made again."
        raise UnsafeRollbackError(message, new=edge.new, old=edge.old)
    draft.connect(replace(edge, sequence=0))
    draft.count(edge, Op.LINK)
