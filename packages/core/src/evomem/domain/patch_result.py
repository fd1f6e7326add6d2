"""Results about patches and the memories they change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evomem.domain.node import MemoryNode, Status
from evomem.domain.patch import Op
from evomem.domain.plain import Result


@dataclass(frozen=True, slots=True)
class AppliedOperation:
    """One step of a patch, as it was carried out.

    A patch can hold more steps than were asked for: what replaces a note of another memory also
    counts there, as a LINK.

    Attributes:
        op: What was done.
        memory_id: To which memory.
        version: The memory's version after it.
        node_id: The node that it added, removed or linked; empty if a dry run would add it.
        diff: Unified diff of the memory's text; empty for links.
    """

    op: Op
    memory_id: str
    version: int
    node_id: str
    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchResult(Result):
    """What a patch did, or would do.

    Attributes:
        patch_id: The commit; None if it was a dry run.
        sequence: Its place in the store's one order; None if it was a dry run.
        operations: Its steps, in order.
        evidence: Ids of the events it rests on: they prove where it came from, not that it is true.
        replayed: True if the idempotency key was used before with the same payload.
        warnings: What the caller should know.
    """

    patch_id: str | None
    sequence: int | None
    operations: tuple[AppliedOperation, ...]
    evidence: tuple[str, ...] = ()
    replayed: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PatchLink:
    """A link that a patch made or closed."""

    kind: str
    new: str
    old: str
    part: str | None = None
    reason: str | None = None
    linked_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchRecord(PatchResult):
    """A patch as the audit tells it.

    Attributes:
        recorded_at: System time of the commit.
        actor: Who asked for it, as the caller said.
        source: By which way it came.
        reason: Why, in the caller's words.
        idempotency_key: Under which key it can be repeated.
        events: Ids of the events that it recorded.
        links: Links that it made.
        unlinked: Links that it closed.
        rollback_of: The patch that it undid.
        rolled_back_by: The patch that undid it.
        diff: All diffs, one after the other.
        digest: Seal of what it wrote, in hexadecimal digits.
        hash: Chains it to every commit before.
    """

    recorded_at: datetime
    actor: str | None
    source: str | None
    reason: str | None
    idempotency_key: str | None
    events: tuple[str, ...]
    links: tuple[PatchLink, ...]
    unlinked: tuple[PatchLink, ...]
    rollback_of: str | None
    rolled_back_by: str | None
    diff: str
    digest: str
    hash: str


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """One operation on a memory.

    Attributes:
        version: The memory's version after it.
        op: What was done.
        node_id: The node that it added, removed or linked.
        content: The text of that node; empty if purged.
        status: Where the node stands now.
        patch_id: The patch it was part of.
        sequence: Of that patch.
        recorded_at: Of that patch.
        actor: Of that patch.
        reason: Of that patch.
    """

    version: int
    op: Op
    node_id: str
    content: str
    status: Status
    patch_id: str
    sequence: int
    recorded_at: datetime
    actor: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class MemoryRecord(Result):
    """A memory as it stands.

    Attributes:
        memory_id: The memory.
        version: What `expected_version` asks for.
        status: Of `node`.
        node: Its version in force, or the tip if none is.
        heads: The nodes in force that it resolves to, of other memories too if those replaced it.
        scheduled: Versions that take force later.
        history: Every operation on it, the oldest first, if asked.
    """

    memory_id: str
    version: int
    status: Status
    node: MemoryNode
    heads: tuple[str, ...]
    scheduled: tuple[str, ...]
    history: tuple[MemoryVersion, ...] = ()
