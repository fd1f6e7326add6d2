"""From stored records to nodes as people see them: status and links are derived here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from evomem.domain.edge import AMENDS, OVERRIDES, SUCCESSION, Edge
from evomem.domain.lineage import Lineage
from evomem.domain.namespace import Reach
from evomem.domain.node import CURRENT, MemoryNode, NodeRecord, Status
from evomem.engines.base import Reader
from evomem.service.marks import Marks, live_marks

_INVERSE = {AMENDS: "amended_by", OVERRIDES: "overridden_by"}


def view_nodes(
    reader: Reader,
    reach: Reach,
    ids: Iterable[str],
    at: datetime,
    lineage: Lineage | None = None,
    records: Mapping[str, NodeRecord] | None = None,
) -> dict[str, MemoryNode]:
    """Load nodes with their status at `at` and their links, in the order of `ids`.

    Args:
        reader: The snapshot to read in.
        reach: What may be seen.
        ids: Node ids; unknown ones are left out.
        at: World time that the status is of.
        lineage: Around all of `ids`, if it was loaded before.
        records: Those of `ids` that were loaded before.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    loaded = dict(records or {})
    if missing := [n for n in wanted if n not in loaded]:
        loaded |= reader.records(reach, missing)
    ends = _by_end(reader.edges(reach, wanted))
    lineage = lineage or reader.lineage(reach, wanted, at)
    statuses = {n: lineage.status(n, at) for n in wanted if n in loaded}
    memories = reader.memories(reach, {loaded[n].memory_id for n in statuses})
    # Only what is shown as current can be shown as overridden or amended.
    marks = live_marks(reader, reach, [n for n, s in statuses.items() if s in CURRENT], at)
    return {
        n: _view(loaded[n], status, memories[loaded[n].memory_id].version, ends[n], marks)
        for n, status in statuses.items()
    }


def view_new(record: NodeRecord, at: datetime) -> MemoryNode:
    """Return a node just committed that nothing is linked to, without asking the store again."""
    status = Status.SCHEDULED if record.valid_from > at else Status.ACTIVE
    return _view(record, status, record.version, (), {})


def _by_end(edges: Iterable[Edge]) -> Mapping[str, list[Edge]]:
    ends: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        ends[edge.new].append(edge)
        ends[edge.old].append(edge)
    return ends


def _view(
    record: NodeRecord, status: Status, memory_version: int, edges: Iterable[Edge], marks: Marks
) -> MemoryNode:
    supersedes: list[str] = []
    superseded_by: list[str] = []
    relations: defaultdict[str, list[str]] = defaultdict(list)
    for edge in edges:
        outgoing = edge.new == record.id
        if edge.kind in SUCCESSION:
            (supersedes if outgoing else superseded_by).append(edge.old if outgoing else edge.new)
        elif outgoing:
            relations[edge.kind].append(edge.old)
    for kind, name in _INVERSE.items():
        for mark in marks.get((kind, record.id), ()):
            relations[name].append(mark.fact.id)
    fields = record.extraction
    return MemoryNode(
        id=record.id,
        memory_id=record.memory_id,
        version=record.version,
        memory_version=memory_version,
        status=status,
        text=record.text,
        trigger=fields.trigger,
        change=fields.change,
        alternatives_tried=fields.alternatives_tried,
        consequences=fields.consequences,
        summary=fields.summary,
        subject=record.subject,
        slot=record.slot,
        scope=record.scope,
        tags=record.tags,
        session=record.session,
        metadata=record.metadata,
        created_at=record.created_at,
        recorded_at=record.recorded_at,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        supersedes=tuple(supersedes),
        superseded_by=tuple(superseded_by),
        relations={kind: tuple(ids) for kind, ids in relations.items()},
        cronista=fields.cronista,
        namespace=record.namespace,
        purged=record.purged,
    )
