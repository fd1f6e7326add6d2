"""Patches: the unit of commit, audit and undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from evomem.domain.edge import SUCCESSION, Edge
from evomem.domain.event import Event
from evomem.domain.namespace import Namespace
from evomem.domain.node import NEVER, TIP, NodeRecord
from evomem.domain.plain import Result


class Op(StrEnum):
    """What a patch does to one memory.

    RESTORE is made by a rollback and brings prior content back as a new version; LINK and UNLINK
    touch edges only.
    """

    ADD = "ADD"
    UPDATE = "UPDATE"
    SUPERSEDE = "SUPERSEDE"
    REMOVE = "REMOVE"
    RESTORE = "RESTORE"
    LINK = "LINK"
    UNLINK = "UNLINK"


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a patch: after it, `memory_id` is at `version`."""

    op: Op
    memory_id: str
    version: int
    node_id: str


@dataclass(frozen=True, slots=True)
class Change(Result):
    """What one commit did, for those who follow the store.

    Attributes:
        sequence: Its place in the store's one order; grows with every commit.
        patch_id: The patch's id.
        recorded_at: System time of the commit.
        actor: Who asked for it.
        source: By which way it came.
        reason: Why, in the caller's words.
        operations: What it did to each memory, in order.
    """

    sequence: int
    patch_id: str
    recorded_at: datetime
    actor: str | None
    source: str | None
    reason: str | None
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class MemoryState:
    """A line of versions, derived from its operations.

    Attributes:
        id: The memory's id.
        version: Counts every operation on it.
        tip: The last node it gained.
        latest_valid_from: The greatest `valid_from` of its nodes.
    """

    id: str
    version: int
    tip: str
    latest_valid_from: datetime


SlotKey = tuple[str, str | None]
"""A slot and its scope."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the plan of a patch took for granted; a commit re-checks it under the write lock.

    Attributes:
        versions: Memory ids and the versions they must still be at.
        twins: Digests, and the latest node that has each, or None.
        slots: Slots, and the latest node that has each, or None.
    """

    versions: Mapping[str, int] = field(default_factory=dict)
    twins: Mapping[bytes, str | None] = field(default_factory=dict)
    slots: Mapping[SlotKey, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuggestedLink:
    """A link that the linker left to the caller, kept for review."""

    new: str
    old: str
    reason: str
    confidence: float
    linker: str


@dataclass(frozen=True, slots=True)
class Patch:
    """Everything one commit writes.

    Attributes:
        id: The patch's id.
        namespace: Where all of it happens.
        recorded_at: System time of the commit.
        actor: Who asked for it.
        source: By which way it came.
        reason: Why, in the caller's words.
        idempotency_key: Unique in the namespace.
        payload_digest: Digest of the request behind the key.
        replay: Ids to answer with when the key comes again.
        rollback_of: The patch that it undoes.
        events: New evidence.
        evidence: Ids of earlier events that it cites.
        nodes: New nodes, with the digests by which equal notes are found.
        edges: New edges.
        closed: Edges that end with this patch.
        removed: Nodes that leave recall.
        revived: Nodes that come back into it.
        purged: Removed nodes whose text is deleted as well.
        operations: What it does to each memory, in order; they name every node that it adds,
            removes or revives, and the newer end of every edge that it opens or closes.
        suggestions: Links left to the caller.
        expects: What must still hold.
        embedder: What made the vectors.
        vectors: Vectors of new nodes, unit length, 32-bit floats, little-endian; derived, so that
            no seal covers them and no audit tells them.
    """

    id: str
    namespace: Namespace
    recorded_at: datetime
    actor: str | None = None
    source: str | None = None
    reason: str | None = None
    idempotency_key: str | None = None
    payload_digest: bytes | None = None
    replay: Mapping[str, Any] | None = None
    rollback_of: str | None = None
    events: tuple[Event, ...] = ()
    evidence: tuple[str, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()
    edges: tuple[Edge, ...] = ()
    closed: tuple[Edge, ...] = ()
    removed: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    purged: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    suggestions: tuple[SuggestedLink, ...] = ()
    expects: Expectations = Expectations()
    embedder: str | None = field(default=None, compare=False)
    vectors: Mapping[str, bytes] = field(default_factory=dict, compare=False)

    @property
    def findable(self) -> list[NodeRecord]:
        """Return the new nodes that a question can find once the patch is written."""
        replaced = {edge.old for edge in self.edges if edge.kind in SUCCESSION}
        hidden = {n.id for n in self.nodes if n.searchable == TIP and n.id in replaced}
        hidden |= {n.id for n in self.nodes if n.searchable == NEVER or n.purged}
        return [node for node in self.nodes if node.id not in hidden]


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of a commit.

    Attributes:
        patch_id: The patch's id.
        sequence: Its place in the store's one order.
        recorded_at: System time of the commit; never before that of an earlier one.
        vectors: How many of the patch's vectors were stored.
        warnings: What the caller should know.
    """

    patch_id: str
    sequence: int
    recorded_at: datetime
    vectors: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """A patch as the store holds it.

    Attributes:
        sequence: Its place in the store's one order.
        patch: What it wrote; texts that were erased since are empty.
        digest: Seal of what it wrote.
        hash: Chains it to every commit before.
        rolled_back_by: The latest patch that undid it.
    """

    sequence: int
    patch: Patch
    digest: bytes
    hash: bytes
    rolled_back_by: str | None = None


class Step(NamedTuple):
    """An operation on one memory, and the commit it was part of."""

    op: Op
    version: int
    node_id: str
    patch_id: str
    sequence: int
    recorded_at: datetime
    actor: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Replay:
    """What is kept of a keyed patch to answer its repetition."""

    patch_id: str
    payload_digest: bytes
    replay: Mapping[str, Any]
