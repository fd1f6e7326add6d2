"""Nodes: the immutable remembered statement, as stored and as shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from evomem.domain.extraction import Extraction, Spans
from evomem.domain.namespace import Namespace
from evomem.domain.plain import Result


class Status(StrEnum):
    """Where a node stands now; derived when it is read, never stored."""

    ACTIVE = "active"
    REFINED = "refined"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    SCHEDULED = "scheduled"


ALWAYS = "always"
TIP = "tip"
NEVER = "never"
SEARCHABLE = (ALWAYS, TIP, NEVER)
"""When a question finds a node: whatever replaced it, until something does, or not at all."""

CURRENT = frozenset({Status.ACTIVE, Status.SCHEDULED})
"""The statuses of what holds, or will."""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node as stored: what never changes once it is committed.

    Attributes:
        id: The node's id.
        memory_id: The line of versions it belongs to.
        version: The memory's version that the node made, from 1.
        namespace: Where it lives.
        text: The text as received; empty once purged.
        extraction: Narrative fields of the text.
        subject: What it is about, descriptive.
        slot: An address with one current value.
        scope: Where it holds; None is everywhere.
        tags: Labels, in the caller's order.
        session: The caller's session.
        metadata: JSON object of the caller.
        created_at: When it was said, by the author's clock.
        recorded_at: When it was committed.
        valid_from: From when it holds in the world.
        valid_to: Until when, exclusive; None is open.
        searchable: One of `SEARCHABLE`.
        backdated: True if an earlier version of the line has a later `valid_from`.
        sequence: Commit that made it; 0 until committed.
        purged: True if the text was deleted and only the tombstone is left.
    """

    id: str
    memory_id: str
    version: int
    namespace: Namespace
    text: str
    extraction: Extraction
    created_at: datetime
    recorded_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    subject: str | None = None
    slot: str | None = None
    scope: str | None = None
    tags: tuple[str, ...] = ()
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    searchable: str = ALWAYS
    backdated: bool = False
    sequence: int = 0
    purged: bool = False


@dataclass(frozen=True, slots=True)
class MemoryNode(Result):
    """A remembered statement as every surface shows it.

    The stored fields are those of `NodeRecord`; `status`, `supersedes`, `superseded_by` and
    `relations` are derived from the edges when the node is read. `relations` maps a kind to node
    ids: the free relations and `amends`, `overrides` of this node, and `amended_by`,
    `overridden_by` for those that point to it. `memory_version` is the memory's version, which
    counts operations that made no node too: what `expected_version` asks for.
    """

    id: str
    memory_id: str
    version: int
    memory_version: int
    status: Status
    text: str
    trigger: Spans
    change: Spans
    alternatives_tried: Spans
    consequences: Spans
    summary: str
    subject: str | None
    slot: str | None
    scope: str | None
    tags: tuple[str, ...]
    session: str | None
    metadata: Mapping[str, Any]
    created_at: datetime
    recorded_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    supersedes: tuple[str, ...]
    superseded_by: tuple[str, ...]
    relations: Mapping[str, tuple[str, ...]]
    cronista: str
    namespace: Namespace
    purged: bool = False

    @property
    def raw_text(self) -> str:
        """The text as received; another name for `text`."""
        return self.text
