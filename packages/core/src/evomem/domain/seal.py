"""The seal of a patch: a salted digest of all it wrote, and the chain over those digests.

Anyone who holds the store can compute both again, so any changed byte of any patch shows. The salt
keeps a digest from confirming a guess at a text that was erased: an erasure deletes content and
salt, keeps the digest in the chain, and seals what is left anew. What a chain cannot show is that
its end was cut off: keep the latest hash elsewhere to find that out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from evomem.domain.edge import Edge
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Patch
from evomem.domain.plain import to_json, to_sorted_json
from evomem.domain.time import to_micros

SALT_BYTES = 16
GENESIS = bytes(32)
"""What the first patch is chained to."""

# Bytes become a list, so that they differ from a text of the same digits.
_write = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=lambda value: [value.hex()]
).encode

Item = tuple[str | int | float | bytes | None, ...]
"""A fact of a patch, its kind first, as a store holds it."""


def items(patch: Patch) -> Iterator[Item]:
    """Yield every sealed fact of a patch; suggestions are questions and not sealed.

    Its sequence and time are chained beside the seal, and the rest of what a store holds follows
    from these.
    """
    yield (
        "patch",
        patch.id,
        to_json(patch.namespace),
        patch.actor,
        patch.source,
        patch.reason,
        patch.idempotency_key,
        patch.payload_digest,
        None if patch.replay is None else to_json(patch.replay),
        patch.rollback_of,
    )
    for event in patch.events:
        content = event.content or None
        occurred = to_micros(event.occurred_at)
        yield (
            "event",
            event.id,
            event.role,
            content,
            occurred,
            event.session,
            event.external_id,
        )
    yield from (("evidence", event_id) for event_id in patch.evidence)
    yield from map(_node, patch.nodes)
    yield from map(_edge, patch.edges)
    yield from (("close", edge.kind, edge.new, edge.old, edge.part) for edge in patch.closed)
    yield from (("remove", node_id) for node_id in patch.removed)
    yield from (("revive", node_id) for node_id in patch.revived)
    yield from (("purge", node_id) for node_id in patch.purged)
    for ordinal, step in enumerate(patch.operations):
        yield ("operation", ordinal, str(step.op), step.memory_id, step.version, step.node_id)


def _node(node: NodeRecord) -> Item:
    offsets = node.extraction.offsets()
    return (
        "node",
        node.id,
        node.memory_id,
        node.version,
        node.text or None,
        to_json(offsets) if offsets else None,
        node.extraction.cronista,
        node.subject,
        node.slot,
        node.scope,
        node.session,
        to_json(node.tags),
        to_sorted_json(node.metadata),
        to_micros(node.created_at),
        to_micros(node.valid_from),
        None if node.valid_to is None else to_micros(node.valid_to),
        int(node.backdated),
        node.searchable,
    )


def _edge(edge: Edge) -> Item:
    by = (edge.linked_by, float(edge.confidence))
    return ("edge", edge.kind, edge.new, edge.old, edge.part, edge.reason, *by)


def seal(salt: bytes, facts: Iterable[Item]) -> bytes:
    """Return the digest of the facts, whatever their order, under a salt."""
    return hashlib.sha256(salt + "\n".join(sorted(map(_write, facts))).encode()).digest()


def chain(before: bytes, sequence: int, recorded_at: datetime, digest: bytes) -> bytes:
    """Return the hash of a commit: over that of the one before, its place, time and digest."""
    place = sequence.to_bytes(8, "big") + to_micros(recorded_at).to_bytes(8, "big", signed=True)
    return hashlib.sha256(before + place + digest).digest()
