"""Whole patches, as the tables hold them: for the audit, for undoing, for replaying."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evomem.domain.edge import Edge
from evomem.domain.event import Event
from evomem.domain.extraction import Extraction
from evomem.domain.namespace import Namespace
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Commit, Op, Operation, Patch, SuggestedLink
from evomem.domain.plain import to_json
from evomem.domain.seal import Item
from evomem.domain.time import from_micros
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.search import Query

_PARTS = (
    "events",
    "evidence",
    "nodes",
    "edges",
    "closed_edges",
    "removed",
    "revived",
    "purged",
    "operations",
    "suggestions",
)

_SEALED = {
    "events": "event",
    "evidence": "evidence",
    "nodes": "node",
    "edges": "edge",
    "closed": "close",
    "removed": "remove",
    "revived": "revive",
    "purged": "purge",
    "operations": "operation",
    "reseals": "reseal",
}
"""The parts that a seal covers, and what it calls the facts in them."""


def read_commits(query: Query, sequences: Sequence[int]) -> list[Commit]:
    """Return whole patches in the order of their sequence."""
    wanted = rows.json_list(sequences)
    parts = {name: _by_sequence(query("log_" + name, sequences=wanted)) for name in _PARTS}
    undone = dict(query("undone", sequences=wanted))
    return [
        _commit(row, {name: part[row[0]] for name, part in parts.items()}, undone.get(row[0]))
        for row in query("log_patches", sequences=wanted)
    ]


def sealed_items(query: Query, sequences: Sequence[int]) -> Iterator[tuple[Any, list[Item]]]:
    """Yield the row of each patch and the facts that its seal covers, as the tables hold them."""
    wanted = rows.json_list(sequences)
    facts: defaultdict[int, list[Item]] = defaultdict(list)
    for name, kind in _SEALED.items():
        for sequence, *values in query("log_" + name, sequences=wanted):
            facts[sequence].append((kind, *values))
    for row in query("log_patches", sequences=wanted):
        head = ("patch", row[1], to_json(rows.read_path(row[2])), *row[4:11])
        yield row, [head, *facts[row[0]]]


def _by_sequence(found: Iterable[Any]) -> defaultdict[int, list[Any]]:
    parts: defaultdict[int, list[Any]] = defaultdict(list)
    for sequence, *values in found:
        parts[sequence].append(values)
    return parts


def _commit(row: Any, parts: dict[str, list[Any]], rolled_back_by: str | None) -> Commit:  # noqa: ANN401  a row
    sequence, patch_id, path, recorded, actor, source, reason, key, payload, replay = row[:10]
    rollback_of, _, digest, chained = row[10:]
    namespace = rows.read_path(path)
    recorded_at = from_micros(recorded)
    patch = Patch(
        id=patch_id,
        namespace=namespace,
        recorded_at=recorded_at,
        actor=actor,
        source=source,
        reason=reason,
        idempotency_key=key,
        payload_digest=payload,
        replay=None if replay is None else json.loads(replay),
        rollback_of=rollback_of,
        events=tuple(map(_event, parts["events"])),
        evidence=tuple(event_id for (event_id,) in parts["evidence"]),
        nodes=tuple(_node(values, namespace, recorded, sequence) for values in parts["nodes"]),
        edges=tuple(_edge(values, sequence) for values in parts["edges"]),
        closed=tuple(_edge(values, made) for made, *values in parts["closed_edges"]),
        removed=tuple(node_id for (node_id,) in parts["removed"]),
        revived=tuple(node_id for (node_id,) in parts["revived"]),
        purged=tuple(node_id for (node_id,) in parts["purged"]),
        operations=tuple(
            Operation(Op(op), memory_id, version, node_id)
            for _, op, memory_id, version, node_id in parts["operations"]
        ),
        suggestions=tuple(SuggestedLink(*values) for values in parts["suggestions"]),
    )
    return Commit(sequence, patch, digest, chained, rolled_back_by)


def _event(values: list[Any]) -> Event:
    event_id, role, content, occurred, session, external_id = values
    return Event(event_id, role, content or "", from_micros(occurred), session, external_id)


def _node(values: list[Any], namespace: Namespace, recorded: int, sequence: int) -> NodeRecord:
    (node_id, memory_id, version, text, fields, cronista, subject, slot, scope, session) = values[
        :10
    ]
    tags, metadata, created, begins, ends, backdated, searchable = values[10:]
    offsets = json.loads(fields) if fields else {}
    return NodeRecord(
        id=node_id,
        memory_id=memory_id,
        version=version,
        namespace=namespace,
        text=text or "",
        extraction=Extraction.from_offsets(offsets, text or "", cronista),
        subject=subject,
        slot=slot,
        scope=scope,
        session=session,
        tags=tuple(json.loads(tags)),
        metadata=json.loads(metadata),
        created_at=from_micros(created),
        recorded_at=from_micros(recorded),
        valid_from=from_micros(begins),
        valid_to=None if ends is None else from_micros(ends),
        searchable=searchable,
        backdated=bool(backdated),
        sequence=sequence,
        purged=text is None,
    )


def _edge(values: list[Any], sequence: int) -> Edge:
    kind, new, old, part, reason, linked_by, confidence = values
    return Edge(kind, new, old, sequence, part, reason, linked_by, confidence)
