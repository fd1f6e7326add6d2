"""The port: what a storage engine does for the service, whatever it is made of.

An engine stores what a patch says and answers what a reader asks. It decides nothing: rules live
in `evomem.domain`. Every implementation passes `tests/conformance`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from evomem.domain.diagnosis import Anchor, Check, StoreCondition
from evomem.domain.edge import Edge
from evomem.domain.event import EventRecord
from evomem.domain.lineage import Lineage
from evomem.domain.namespace import Namespace, Reach
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Commit, MemoryState, Patch, Receipt, Replay, SlotKey, Step
from evomem.domain.progress import Progress
from evomem.domain.ranking import POSTING_BUDGET, SearchHit


class StaleError(Exception):
    """What a patch took for granted no longer holds: load the facts again and plan anew."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on nodes that an engine applies before any limit.

    Attributes:
        tags: The node carries all of these.
        tags_any: It carries one of these at least, if there are any.
        tags_none: It carries none of these.
        session: It is of this session.
        metadata: Its metadata is as `evomem.domain.metadata` understands these.
        relation: It has an open relation of this kind.
        begins_after: It takes force later than then.
        standing: No later node that has begun by then plainly replaced it. Of what is left, the
            lineage decides.
        since: It was recorded then or later.
        until: It was recorded before.
        removed: Forgotten nodes are found as well.
    """

    tags: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    tags_none: tuple[str, ...] = ()
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    relation: str | None = None
    begins_after: datetime | None = None
    standing: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    removed: bool = False


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far a search goes.

    Attributes:
        depth: How many of the best must be right before it may stop.
        budget: Postings to look up; exceeded only while fewer than `least` nodes were found.
        least: How many are found if there are so many, whatever the budget.
        deadline: When it must stop, on the clock of `time.monotonic`, in seconds.
    """

    depth: int = 20
    budget: int = POSTING_BUDGET
    least: int = 1
    deadline: float | None = None

    def expired(self) -> bool:
        """Tell whether time is up."""
        return self.deadline is not None and time.monotonic() >= self.deadline


USUAL_LIMITS = SearchLimits()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Matching nodes of any version, the best first.

    Attributes:
        hits: What was scored, but ties with the bound; of equal scores the later node of a
            namespace comes first, and one namespace follows the other.
        bound: What a node that is not among them can score at most, above 0; 0 if none was left
            out.
        partial: True if the deadline cut the search short.
        unseen: Nodes that cannot be found this way, as they have no vector to compare.
    """

    hits: Sequence[SearchHit] = ()
    bound: float = 0.0
    partial: bool = False
    unseen: int = 0


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """Counts of what a namespace holds, and the identity of the store.

    Attributes:
        store_id: Identity of the store.
        schema_version: Of the store.
        statuses: Nodes by status, as far as a node and its direct successors tell.
        unplain: Nodes not counted there: their lineage must be asked.
        events: Events.
        texts: Nodes that have their text.
        patches: Commits.
        size_bytes: Of the whole store.
    """

    store_id: str
    schema_version: int
    statuses: Mapping[str, int]
    unplain: Sequence[str]
    events: int
    texts: int
    patches: int
    size_bytes: int


class LastCommit(NamedTuple):
    """The latest commit: its sequence, and the greatest time that any commit was recorded at."""

    sequence: int
    recorded_at: datetime


class Reader(Protocol):
    """A consistent view of the store as of one commit; sees every commit acknowledged before it.

    No method returns anything outside the reach it is given. Unknown ids are left out.
    """

    def known_by(self, when: datetime) -> Reader:
        """Return the view as of the last commit recorded at `when` or before.

        What a purge or an erasure deleted since is missing there too. `twins`, `slots`, `replay`
        and `figures` are of the present whatever the view.
        """
        ...

    def before(self, sequence: int) -> Reader:
        """Return the view as of the commit before `sequence`."""
        ...

    def analyses(self, reach: Reach) -> tuple[int, ...]:
        """Return every version of text analysis that documents may carry, the newest first.

        One as a rule, the current one where there is no document; `analysis.terms_of` makes the
        terms to search for. With several, counts are of a mixed index: no answer is exact.
        """
        ...

    def search(
        self,
        reach: Reach,
        terms: Sequence[str],
        filters: Filters,
        limits: SearchLimits = USUAL_LIMITS,
    ) -> SearchResult:
        """Rank the nodes that hold any of `terms`, purged ones never."""
        ...

    def nearest(
        self, reach: Reach, embedder: str, vector: bytes, filters: Filters, limits: SearchLimits
    ) -> SearchResult:
        """Rank the nodes by the cosine of their vectors by `embedder`, purged ones never.

        Filters apply before any limit: it looks at ever more vectors until enough nodes pass. The
        hits have cosines for scores and no terms; `bound` is 1 if vectors were rounded.

        Args:
            reach: What may be seen.
            embedder: Only its vectors are compared.
            vector: Of unit length: 32-bit floats, little-endian.
            filters: What the nodes must pass.
            limits: `depth` says how many nodes are wanted.
        """
        ...

    def unembedded(
        self, reach: Reach, embedder: str, limit: int, *, after: str | None = None
    ) -> dict[str, str]:
        """Return at most `limit` nodes without a vector by `embedder`, with what to embed.

        What no search may find is left out.

        Nodes come in a fixed order, behind the node `after`.
        """
        ...

    def missing_vectors(self, reach: Reach, embedder: str) -> int:
        """Count the nodes that a search may find and that lack a vector by `embedder`."""
        ...

    def recent(self, reach: Reach, filters: Filters, *, after: str | None, limit: int) -> list[str]:
        """Return node ids, the latest committed first, continuing behind the node `after`."""
        ...

    def lineage(self, reach: Reach, ids: Iterable[str], at: datetime) -> Lineage:
        """Load what decides about the heads of `ids` at `at`.

        One set query, whatever the number of ids.
        """
        ...

    def story(self, reach: Reach, ids: Iterable[str]) -> Lineage:
        """Load everything before and after `ids` along succession edges."""
        ...

    def records(self, reach: Reach, ids: Iterable[str]) -> dict[str, NodeRecord]:
        """Return the nodes in full; a purged one has no text."""
        ...

    def edges(self, reach: Reach, ids: Iterable[str]) -> list[Edge]:
        """Return the open edges of every kind that begin or end at `ids`."""
        ...

    def marks(self, reach: Reach, ids: Iterable[str]) -> list[Edge]:
        """Return the open edges that override or amend `ids` or what these replaced.

        The old end of each is given as the node of `ids`: what wins over a decision also wins
        over its successors, and what amends a text also amends its refinements.
        """
        ...

    def memories(self, reach: Reach, ids: Iterable[str]) -> dict[str, MemoryState]:
        """Return memories by id."""
        ...

    def steps(self, reach: Reach, memory_id: str) -> list[Step]:
        """Return what was done to a memory, the oldest first."""
        ...

    def expand(self, reach: Reach, prefix: str, limit: int) -> list[str]:
        """Return at most `limit` ids of nodes, memories, patches or events with this prefix."""
        ...

    def twins(self, reach: Reach, digests: Iterable[bytes]) -> dict[bytes, tuple[str, ...]]:
        """Return, for every digest, the latest eight remembered nodes that have it."""
        ...

    def slots(self, reach: Reach, keys: Iterable[SlotKey]) -> dict[SlotKey, str | None]:
        """Return, for every slot in its scope, the latest node that has it, forgotten or not."""
        ...

    def slot_values(
        self, reach: Reach, keys: Iterable[SlotKey], at: datetime
    ) -> dict[SlotKey, str]:
        """Return the latest node, forgotten or not, that has each slot and had begun at `at`."""
        ...

    def namespaces(self, reach: Reach) -> list[Namespace]:
        """Return, in order, the namespaces that hold a memory whose tip was not forgotten."""
        ...

    def replay(self, namespace: Namespace, key: str) -> Replay | None:
        """Return what is kept under an idempotency key."""
        ...

    def suggestions(
        self, reach: Reach, old: Sequence[str] | None = None
    ) -> list[tuple[str, str, str, float]]:
        """Return what was suggested as (new, old, reason, confidence), the latest first.

        Of all nodes, or only those about the nodes in `old`.
        """
        ...

    def last_commit(self, namespace: Namespace) -> LastCommit:
        """Return the latest commit of a namespace; sequence 0 at the epoch if there is none."""
        ...

    def log(
        self, reach: Reach, since: int, limit: int, *, newest_first: bool = False
    ) -> list[Commit]:
        """Return whole commits after the sequence `since`, the oldest first or the newest."""
        ...

    def commits(self, reach: Reach, ids: Iterable[str]) -> list[Commit]:
        """Return whole commits by the ids of their patches, the oldest first."""
        ...

    def patch_ids(self, reach: Reach, sequences: Iterable[int]) -> list[str]:
        """Return the patches of some commits, the oldest first."""
        ...

    def later_patches(
        self, reach: Reach, memory_ids: Iterable[str], since: int
    ) -> list[tuple[str, str | None]]:
        """Return the patches after the sequence `since` that did something to the memories.

        Each with the patch that it undid, the oldest first.
        """
        ...

    def events(self, reach: Reach, ids: Iterable[str]) -> dict[str, EventRecord]:
        """Return events by id."""
        ...

    def event_of(self, reach: Reach, external_id: str) -> str | None:
        """Return the id of the event with an external id."""
        ...

    def figures(self, namespace: Namespace, at: datetime) -> StoreFigures:
        """Count what a namespace holds as of `at`."""
        ...


class Engine(Protocol):
    """A store. Safe to use from any thread, and after a fork."""

    @property
    def location(self) -> str:
        """Absolute path or address, for people."""
        ...

    def read(self) -> AbstractContextManager[Reader]:
        """Open a consistent view; it must be closed soon, and never blocks a writer."""
        ...

    def commit(self, patch: Patch) -> Receipt:
        """Write all of a patch in one short transaction, durably, or nothing.

        Commits of a store are serial: what the patch expects, absences included, holds until it
        is written, sequences grow by one, and no commit becomes visible after a later one.

        A vector of another dimension than the first of its embedder is left out, and the receipt
        counts those that were not.

        Raises:
            StaleError: An expectation of the patch no longer holds; nothing was written.
            EngineBusyError: Another writer held the store for too long.
            ReadOnlyError: The store may not be written.
            SchemaVersionError: The namespace carries a text analysis of a later version.
        """
        ...

    def reanalyse(self, reach: Reach, limit: int) -> Progress:
        """Make at most `limit` documents of one namespace anew by the current text analysis.

        One short transaction: call it until all is done. From the first call on, what is written
        there is of the current analysis. It goes on where a killed process stopped, and several
        may run at once, beside writers.

        Raises:
            SchemaVersionError: A namespace in reach carries an analysis of a later version.
            EngineBusyError: Another writer held the store for too long.
            ReadOnlyError: There is work to do, and the store may not be written.
        """
        ...

    def add_vectors(self, embedder: str, vectors: Mapping[str, bytes]) -> int:
        """Store vectors of nodes that have none by `embedder`, in one short transaction.

        Returns:
            How many were stored: nodes that no search may find by now, or that were embedded
            meanwhile, are left out, and so are vectors of another dimension than the embedder's first.
        """
        ...

    def condition(self) -> StoreCondition:
        """Tell where the store lies and how far it has come, all namespaces together."""
        ...

    def diagnose(self, anchor: Anchor | None = None) -> list[Check]:
        """Look at the whole store; details hold counts and ids, never texts.

        Args:
            anchor: A hash that the store must still hold.
        """
        ...

    def verify(self) -> list[str]:
        """Return a line for every check of `diagnose` that is not well."""
        ...

    def rebuild(self) -> None:
        """Make anew all that is derived, in one transaction; nothing else is ever repaired.

        Vectors stay as they are: only their model can make them.
        """
        ...

    def close(self) -> None:
        """Release everything; a closed engine raises `EngineError` when used."""
        ...
