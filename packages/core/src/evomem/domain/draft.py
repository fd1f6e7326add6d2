"""A patch in the making: the state a plan works on, loaded before and changed in memory only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from evomem.domain.edge import MARKING, SUCCESSION, Edge
from evomem.domain.event import Event
from evomem.domain.identifiers import PATCH, new_id
from evomem.domain.lineage import Lineage, NodeFacts
from evomem.domain.namespace import Namespace
from evomem.domain.node import NodeRecord, Status
from evomem.domain.patch import (
    Expectations,
    MemoryState,
    Op,
    Operation,
    Patch,
    SlotKey,
    SuggestedLink,
)
from evomem.domain.text import digest
from evomem.errors import InvalidRequestError, VersionConflictError

_HOLDING = {Status.ACTIVE, Status.SCHEDULED}


@dataclass(slots=True)
class StoreFacts:
    """What the store held when the plan began.

    Attributes:
        lineage: Around every node that the requests name, their twins and slots.
        records: The named nodes in full, and their tips.
        memories: The memories of all nodes in the lineage.
        edges: Open edges of any kind that touch the named nodes.
        twins: Digests, and the remembered nodes that have each, the latest first.
        slots: Slots, and the latest node that has each.
    """

    lineage: Lineage = field(default_factory=Lineage)
    records: dict[str, NodeRecord] = field(default_factory=dict)
    memories: dict[str, MemoryState] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()
    twins: dict[bytes, tuple[str, ...]] = field(default_factory=dict)
    slots: dict[SlotKey, str | None] = field(default_factory=dict)


@dataclass(slots=True)
class Draft:
    """Collects what a patch will write, and keeps the picture of the store in step with it.

    Attributes:
        namespace: Where the patch happens.
        now: System time of the patch.
        facts: What the store held; the lineage in it advances with the draft.
    """

    namespace: Namespace
    now: datetime
    facts: StoreFacts
    events: list[Event] = field(default_factory=list)
    nodes: list[NodeRecord] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    closed: list[Edge] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    revived: list[str] = field(default_factory=list)
    purged: list[str] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    suggestions: list[SuggestedLink] = field(default_factory=list)
    memories: dict[str, MemoryState] = field(default_factory=dict)
    slots: dict[SlotKey, str | None] = field(default_factory=dict)
    _twins: dict[bytes, tuple[str, ...]] = field(default_factory=dict)
    _tips: dict[str, list[str]] = field(default_factory=dict)
    _added: dict[str, NodeRecord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note the tips before the patch: notes of one patch replace what stood before it."""
        self._tips = {n: self.facts.lineage.tips(n) for n in self.facts.records}
        self.slots = dict(self.facts.slots)
        self._twins = dict(self.facts.twins)

    @property
    def lineage(self) -> Lineage:
        """Return the lineage as the draft has changed it so far."""
        return self.facts.lineage

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to write."""
        return not (self.operations or self.edges or self.suggestions or self.events)

    def tip(self, node_id: str) -> str:
        """Return where a new version after `node_id` attaches.

        Raises:
            InvalidRequestError: The node was split; the message names its parts.
        """
        tips = self._tips.get(node_id) or self.lineage.tips(node_id)
        if len(tips) > 1:
            message = f"{node_id} was split into {', '.join(tips)}: name the one you mean."
            raise InvalidRequestError(message, node_id=node_id, heads=tips)
        return tips[0]

    def memory(self, memory_id: str) -> MemoryState | None:
        """Return a memory as the draft has changed it so far."""
        return self.memories.get(memory_id) or self.facts.memories.get(memory_id)

    def record(self, node_id: str) -> NodeRecord:
        """Return a node that was named, or that the draft adds."""
        return self._added.get(node_id) or self.facts.records[node_id]

    def memory_of(self, node_id: str) -> MemoryState:
        """Return the memory of a node as the draft has changed it so far."""
        memory_id = self.lineage.facts[node_id].memory_id
        return self.memories.get(memory_id) or self.facts.memories[memory_id]

    def check_free(self, slot: str, scope: str | None) -> None:
        """Refuse if a slot has a value that is in force, or that takes force later.

        Raises:
            VersionConflictError: It has.
        """
        if not (present := self.slots.get((slot, scope))):
            return
        ends = [*self.lineage.heads(present, self.now), *self.lineage.tips(present)]
        held = [n for n in ends if self.lineage.status(n, self.now) in _HOLDING]
        if held:
            state = self.state_of(held[-1])
            message = (
                f"Slot {slot!r} has a value: memory {state['memory_id']} is at version "
                f"{state['version']} (node {held[-1]}). Read it, decide again, and pass "
                f"expected_version={state['version']}."
            )
            raise VersionConflictError(message, slot=slot, expected_version=0, current=state)

    def state_of(self, node_id: str) -> dict[str, Any]:
        """Return the memory of a node, the version it is at, and the node, for a refusal."""
        memory = self.memory_of(node_id)
        return {"memory_id": memory.id, "version": memory.version, "node_id": node_id}

    def check_version(self, named: str, tip: str, expected: int) -> None:
        """Refuse unless the memory of `named` still is at the expected version.

        Raises:
            VersionConflictError: It is not, or another memory has replaced it.
        """
        memory = self._before(named)
        elsewhere = self.lineage.facts[tip].memory_id != memory.id
        if memory.version == expected and not elsewhere:
            return
        current = self._before(tip)
        message = (
            f"Memory {current.id} is at version {current.version} (node {tip}), not at "
            f"{expected}. Read it, decide again, and pass expected_version={current.version}."
        )
        state = {"memory_id": current.id, "version": current.version, "node_id": tip}
        raise VersionConflictError(message, expected_version=expected, current=state)

    def _before(self, node_id: str) -> MemoryState:
        """Return the memory of a node as it was before the patch, if it was there."""
        known = self.facts.memories.get(self.lineage.facts[node_id].memory_id)
        return known or self.memory_of(node_id)

    def add_node(self, record: NodeRecord, op: Op) -> None:
        """Add a node as the next version of its memory."""
        self.nodes.append(record)
        self._added[record.id] = record
        self.lineage.add(
            NodeFacts(
                id=record.id,
                memory_id=record.memory_id,
                version=record.version,
                sequence=0,
                scope=record.scope,
                valid_from=record.valid_from,
                valid_to=record.valid_to,
                backdated=record.backdated,
                removed=False,
            )
        )
        before = self.memory(record.memory_id)
        latest = max(record.valid_from, before.latest_valid_from) if before else record.valid_from
        self.memories[record.memory_id] = MemoryState(
            record.memory_id, record.version, record.id, latest
        )
        self.operations.append(Operation(op, record.memory_id, record.version, record.id))
        if record.slot is None:
            key = digest(record.text, record.scope, None)
            self._twins[key] = (record.id, *self._twins.get(key, ()))
        else:
            self.slots[record.slot, record.scope] = record.id

    def touch(self, memory: MemoryState, op: Op, node_id: str) -> None:
        """Count an operation that leaves the memory's nodes as they are."""
        version = memory.version + 1
        self.memories[memory.id] = replace(memory, version=version)
        self.operations.append(Operation(op, memory.id, version, node_id))

    def count(self, edge: Edge, op: Op) -> None:
        """Count a link on the memory that it decides about: the older one's.

        A free relation decides nothing about that, and is counted on the newer one's.
        """
        decides = edge.kind in SUCCESSION | MARKING
        self.touch(self.memory_of(edge.old if decides else edge.new), op, edge.new)

    def connect(self, edge: Edge) -> None:
        """Add an edge."""
        self.edges.append(edge)
        self.lineage.connect(edge)

    def disconnect(self, edge: Edge) -> None:
        """Close an edge."""
        self.closed.append(edge)
        if edge.kind in SUCCESSION:
            self.lineage.disconnect(edge)

    def remove(self, node_id: str, *, purge: bool) -> None:
        """Take a node out of recall, and delete its text if `purge`."""
        fact = self.lineage.facts[node_id]
        if not fact.removed:
            self.removed.append(node_id)
            self.lineage.add(replace(fact, removed=True))
        if purge:
            self.purged.append(node_id)
        self.touch(self.memory_of(node_id), Op.REMOVE, node_id)

    def revive(self, node_id: str) -> None:
        """Bring a forgotten node back into recall."""
        self.revived.append(node_id)
        self.lineage.add(replace(self.lineage.facts[node_id], removed=False))
        self.touch(self.memory_of(node_id), Op.RESTORE, node_id)

    def active_twin(self, key: bytes) -> str | None:
        """Return an active node with this digest, the latest first."""
        for node_id in self._twins.get(key, ()):
            if self.lineage.status(node_id, self.now) is Status.ACTIVE:
                return node_id
        return None

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether `newer` already comes after `older`, directly or by way of others."""
        seen, waiting = set(), [older]
        while waiting:
            for edge in self.lineage.successors(waiting.pop()):
                if edge.new == newer:
                    return True
                if edge.new not in seen:
                    seen.add(edge.new)
                    waiting.append(edge.new)
        return False

    def build(
        self,
        *,
        actor: str | None = None,
        source: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        payload_digest: bytes | None = None,
        replay: Mapping[str, Any] | None = None,
        evidence: Sequence[str] = (),
        rollback_of: str | None = None,
    ) -> Patch:
        """Return the finished patch, with all that it took for granted."""
        base = self.facts
        return Patch(
            id=new_id(PATCH),
            namespace=self.namespace,
            recorded_at=self.now,
            actor=actor,
            source=source,
            reason=reason,
            idempotency_key=idempotency_key,
            payload_digest=payload_digest,
            replay=replay,
            rollback_of=rollback_of,
            evidence=tuple(evidence),
            events=tuple(self.events),
            nodes=tuple(self.nodes),
            edges=tuple(self.edges),
            closed=tuple(self.closed),
            removed=tuple(self.removed),
            revived=tuple(self.revived),
            purged=tuple(self.purged),
            operations=tuple(self.operations),
            suggestions=tuple(self.suggestions),
            expects=Expectations(
                versions={memory.id: memory.version for memory in base.memories.values()},
                twins={key: found[0] if found else None for key, found in base.twins.items()},
                slots=dict(base.slots),
            ),
        )
