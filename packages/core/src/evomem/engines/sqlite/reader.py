"""Reading: every method is one or two statements inside one snapshot."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from evomem.domain.analysis import current
from evomem.domain.edge import Edge
from evomem.domain.event import EventRecord
from evomem.domain.lineage import Lineage
from evomem.domain.namespace import Namespace, Reach
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Commit, MemoryState, Op, Replay, SlotKey, Step
from evomem.domain.plain import to_sorted_json
from evomem.domain.text import to_embed
from evomem.domain.time import EPOCH, from_micros, to_micros
from evomem.engines.base import (
    USUAL_LIMITS,
    Filters,
    LastCommit,
    SearchLimits,
    SearchResult,
    StoreFigures,
)
from evomem.engines.lexical import search
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.log import read_commits
from evomem.engines.sqlite.search import SqliteIndex
from evomem.engines.sqlite.sql import QUERIES
from evomem.engines.sqlite.vectors import ProcessCache, SqliteVectors, search_vectors

# Versions of a memory, from which on what marks one of them is not looked for from the end.
_LONG_STORY = 100


class SqliteReader:
    """A snapshot; `SqliteEngine.read` opens and closes it."""

    def __init__(
        self, connection: sqlite3.Connection, vectors: ProcessCache, known: int = rows.LATEST
    ) -> None:
        self._connection = connection
        self._vectors = vectors
        self._known = known
        self._spaces: dict[Reach, str] = {}

    def known_by(self, when: datetime) -> SqliteReader:
        """Return the view as of the last commit recorded at `when` or before."""
        return self._as_of(self._last_before(to_micros(when) + 1))

    def before(self, sequence: int) -> SqliteReader:
        """Return the view as of the commit before `sequence`."""
        return self._as_of(min(self._known, sequence - 1))

    def analyses(self, reach: Reach) -> tuple[int, ...]:
        """Return every version of text analysis that documents may carry."""
        found = self._all("analyses", spaces=self._within(reach))
        return tuple(version for (version,) in found) or (current().version,)

    def search(
        self,
        reach: Reach,
        terms: Sequence[str],
        filters: Filters,
        limits: SearchLimits = USUAL_LIMITS,
    ) -> SearchResult:
        """Rank the nodes that hold any of `terms`."""
        spaces = self._space_ids(reach)
        if not terms or not spaces:
            return SearchResult()
        index = SqliteIndex(self._all, spaces, filters, self._conditions(filters))
        return search(index, terms, limits)

    def nearest(
        self, reach: Reach, embedder: str, vector: bytes, filters: Filters, limits: SearchLimits
    ) -> SearchResult:
        """Rank the nodes by their vectors."""
        spaces = self._space_ids(reach)
        if not spaces:
            return SearchResult()
        found = self._all("embedder", embedder=embedder)
        if not found:
            ((nodes, *_),) = self._all("space_counts", spaces=self._within(reach))
            return SearchResult(unseen=nodes)
        conditions = {**self._conditions(filters), "known": self._known}
        number, dimension = found[0]
        table = SqliteVectors(self._connection, number, dimension, conditions)
        return search_vectors(self._vectors, table, spaces, vector, limits)

    def unembedded(
        self, reach: Reach, embedder: str, limit: int, *, after: str | None = None
    ) -> dict[str, str]:
        """Return nodes without a vector, in the order of their rows, with what to embed."""
        found: dict[str, str] = {}
        given = {"embedder": self._embedder_id(embedder), "after": after}
        for space in sorted(self._space_ids(reach)):
            within = rows.space_range(space)
            page = self._all("unembedded", limit=limit - len(found), **given, **within)
            found.update((node_id, to_embed(subject, text)) for node_id, subject, text in page)
            if len(found) == limit:
                break
        return found

    def missing_vectors(self, reach: Reach, embedder: str) -> int:
        """Count the nodes without a vector."""
        number = self._embedder_id(embedder)
        counts = (
            self._all("missing_vectors", embedder=number, **rows.space_range(space))[0][0]
            for space in self._space_ids(reach)
        )
        return sum(counts)

    def recent(self, reach: Reach, filters: Filters, *, after: str | None, limit: int) -> list[str]:
        """Return node ids, the latest committed first."""
        spaces = self._space_ids(reach)
        one = len(spaces) == 1
        within = rows.space_range(spaces[0]) if one else {"spaces": self._within(reach)}
        conditions = self._conditions(filters)
        name = "recent" if one else "recent_below"
        found = self._all(name, after=after, limit=limit, **within, **conditions)
        return [node_id for (node_id,) in found]

    def lineage(self, reach: Reach, ids: Iterable[str], at: datetime) -> Lineage:
        """Load what decides about the heads of `ids`."""
        wanted = rows.json_list(ids)
        found = self._all("lineage", ids=wanted, spaces=self._within(reach), at=to_micros(at))
        return self._connected(found)

    def story(self, reach: Reach, ids: Iterable[str]) -> Lineage:
        """Load everything before and after `ids` along succession edges."""
        found = self._all("story", ids=rows.json_list(ids), spaces=self._within(reach))
        return self._connected(found)

    def records(self, reach: Reach, ids: Iterable[str]) -> dict[str, NodeRecord]:
        """Return the nodes in full."""
        found = self._all("records", ids=rows.json_list(ids), spaces=self._within(reach))
        return {row[0]: rows.read_record(row) for row in found}

    def edges(self, reach: Reach, ids: Iterable[str]) -> list[Edge]:
        """Return the open edges that begin or end at `ids`."""
        found = self._all("edges", ids=rows.json_list(ids), spaces=self._within(reach))
        return [rows.read_edge(row) for row in found]

    def marks(self, reach: Reach, ids: Iterable[str]) -> list[Edge]:
        """Return the open edges that override or amend `ids` or what these replaced."""
        given = {"ids": rows.json_list(ids), "spaces": self._within(reach)}
        ((versions,),) = self._all("marked", **given)
        if versions is None:
            return []
        name = "marks" if versions <= _LONG_STORY else "marks_forward"
        return [rows.read_edge(row) for row in self._all(name, **given)]

    def memories(self, reach: Reach, ids: Iterable[str]) -> dict[str, MemoryState]:
        """Return memories by id."""
        name = "memories" if self._known == rows.LATEST else "memories_known"
        found = self._all(name, ids=rows.json_list(ids), spaces=self._within(reach))
        return {
            memory_id: MemoryState(memory_id, version, tip, from_micros(latest))
            for memory_id, version, tip, latest in found
        }

    def steps(self, reach: Reach, memory_id: str) -> list[Step]:
        """Return what was done to a memory, the oldest first."""
        found = self._all("steps", memory=memory_id, spaces=self._within(reach))
        return [
            Step(Op(op), version, node, patch, sequence, from_micros(recorded), actor, reason)
            for op, version, node, patch, sequence, recorded, actor, reason in found
        ]

    def expand(self, reach: Reach, prefix: str, limit: int) -> list[str]:
        """Return ids that begin with `prefix`."""
        if not prefix.isascii():
            return []
        found = self._all("expand", prefix=prefix, spaces=self._within(reach), limit=limit)
        return [node_id for (node_id,) in found]

    def twins(self, reach: Reach, digests: Iterable[bytes]) -> dict[bytes, tuple[str, ...]]:
        """Return remembered nodes by digest, the latest first."""
        return {
            digest: tuple(n for n, _ in self._latest("twins", reach, digest=digest))
            for digest in digests
        }

    def slots(self, reach: Reach, keys: Iterable[SlotKey]) -> dict[SlotKey, str | None]:
        """Return the latest node of every slot."""
        latest: dict[SlotKey, str | None] = {}
        for slot, scope in keys:
            found = self._latest("slot", reach, slot=slot, scope=scope)
            latest[slot, scope] = found[0][0] if found else None
        return latest

    def slot_values(
        self, reach: Reach, keys: Iterable[SlotKey], at: datetime
    ) -> dict[SlotKey, str]:
        """Return the latest node of every slot that had begun."""
        wanted = rows.json_list(keys)
        found = self._spread("slot_values", reach, keys=wanted, at=to_micros(at))
        found.sort(key=lambda row: row[3])
        return {(slot, scope): node_id for slot, scope, node_id, _ in found}

    def namespaces(self, reach: Reach) -> list[Namespace]:
        """Return the namespaces that hold what was not forgotten."""
        path = rows.write_path(reach.namespace)
        end, children = rows.end_of_subtree(path), reach.include_children
        found = self._all("live_spaces", path=path, end=end, children=children)
        return [rows.read_path(path) for (path,) in found]

    def replay(self, namespace: Namespace, key: str) -> Replay | None:
        """Return what is kept under an idempotency key."""
        for patch_id, digest, replay in self._all(
            "replay", path=rows.write_path(namespace), key=key
        ):
            return Replay(patch_id, digest, json.loads(replay))
        return None

    def suggestions(
        self, reach: Reach, old: Sequence[str] | None = None
    ) -> list[tuple[str, str, str, float]]:
        """Return the suggestions made."""
        spaces = self._within(reach)
        if old is None:
            return self._all("suggestions", spaces=spaces)
        return self._all("suggestions_about", spaces=spaces, ids=rows.json_list(old))

    def last_commit(self, namespace: Namespace) -> LastCommit:
        """Return the latest commit of a namespace."""
        name = "last_commit" if self._known == rows.LATEST else "last_commit_known"
        for sequence, recorded in self._all(name, path=rows.write_path(namespace)):
            return LastCommit(sequence, from_micros(recorded))
        return LastCommit(0, EPOCH)

    def log(
        self, reach: Reach, since: int, limit: int, *, newest_first: bool = False
    ) -> list[Commit]:
        """Return whole commits after `since`."""
        name = "latest_sequences" if newest_first else "sequences"
        found = self._all(name, since=since, limit=limit, spaces=self._within(reach))
        commits = read_commits(self._all, [sequence for (sequence,) in found])
        return commits[::-1] if newest_first else commits

    def commits(self, reach: Reach, ids: Iterable[str]) -> list[Commit]:
        """Return whole commits by the ids of their patches."""
        found = self._all("sequences_of", ids=rows.json_list(ids), spaces=self._within(reach))
        return read_commits(self._all, [sequence for (sequence,) in found])

    def patch_ids(self, reach: Reach, sequences: Iterable[int]) -> list[str]:
        """Return the patches of some commits, the oldest first."""
        wanted = rows.json_list(sequences)
        found = self._all("patch_ids", sequences=wanted, spaces=self._within(reach))
        return [patch_id for (patch_id,) in found]

    def later_patches(
        self, reach: Reach, memory_ids: Iterable[str], since: int
    ) -> list[tuple[str, str | None]]:
        """Return the patches after `since` that touched the memories."""
        ids = rows.json_list(memory_ids)
        return self._all("later_patches", ids=ids, since=since, spaces=self._within(reach))

    def events(self, reach: Reach, ids: Iterable[str]) -> dict[str, EventRecord]:
        """Return events by id."""
        found = self._all("events", ids=rows.json_list(ids), spaces=self._within(reach))
        return {row[0]: rows.read_event(row) for row in found}

    def event_of(self, reach: Reach, external_id: str) -> str | None:
        """Return the id of the event with an external id."""
        found = self._all(
            "event_by_external_id", external_id=external_id, spaces=self._within(reach)
        )
        return found[0][0] if found else None

    def figures(self, namespace: Namespace, at: datetime) -> StoreFigures:
        """Count what a namespace holds."""
        now = to_micros(at)
        space = (self._space_ids(Reach(namespace)) or [0])[0]
        within = rows.space_range(space)
        counts = {
            status: count
            for status, count in self._all("statuses", now=now, **within)
            if status is not None
        }
        unplain = [node_id for (node_id,) in self._all("unplain", now=now, **within)]
        ((store_id, texts, events, patches),) = self._all("figures", space=space, **within)
        ((size,),) = self._all("pages")
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        return StoreFigures(
            store_id, version, counts, unplain, events or 0, texts, patches or 0, size
        )

    def _connected(self, found: list[Any]) -> Lineage:
        if not found:
            return Lineage()
        edges = self._all("lineage_edges", rows=rows.json_list(r[0] for r in found))
        return Lineage((rows.read_facts(r[1:]) for r in found), map(rows.read_edge, edges))

    def _all(self, name: str, **values: Any) -> list[Any]:
        return self._connection.execute(QUERIES[name], {**values, "known": self._known}).fetchall()

    def _as_of(self, known: int) -> SqliteReader:
        return SqliteReader(self._connection, self._vectors, known)

    def _embedder_id(self, name: str) -> int | None:
        found = self._all("embedder", embedder=name)
        return found[0][0] if found else None

    def _last_before(self, micros: int) -> int:
        """Return the last commit recorded before a time."""
        # Sequences have no gaps and times never fall, so halving finds it.
        low, high = 0, min(self._known, self._latest_sequence())
        while low < high:
            middle = (low + high + 1) // 2
            ((recorded,),) = self._all("commit_time", sequence=middle)
            low, high = (middle, high) if recorded < micros else (low, middle - 1)
        return low

    def _latest_sequence(self) -> int:
        found = self._all("latest_patch")
        return found[0][0] if found else 0

    def _latest(self, name: str, reach: Reach, **values: Any) -> list[Any]:
        """Run a statement on each namespace in reach; rows of (id, sequence), the latest first."""
        return sorted(self._spread(name, reach, **values), key=lambda row: row[1], reverse=True)

    def _spread(self, name: str, reach: Reach, **values: Any) -> list[Any]:
        """Run a statement on each namespace in reach."""
        return [
            row
            for space in self._space_ids(reach)
            for row in self._all(name, **values, **rows.space_range(space))
        ]

    def _within(self, reach: Reach) -> str:
        if reach not in self._spaces:
            path = rows.write_path(reach.namespace)
            end = rows.end_of_subtree(path)
            found = self._all("space_ids", path=path, end=end, children=reach.include_children)
            self._spaces[reach] = rows.json_list(space_id for (space_id,) in found)
        return self._spaces[reach]

    def _space_ids(self, reach: Reach) -> list[int]:
        ids: list[int] = json.loads(self._within(reach))
        return ids

    def _conditions(self, filters: Filters) -> dict[str, Any]:
        since, until = filters.since, filters.until
        return {
            "tags": rows.json_list(filters.tags),
            "tags_any": rows.json_list(filters.tags_any),
            "tags_none": rows.json_list(filters.tags_none),
            "session": filters.session,
            "relation": filters.relation,
            "begins_after": filters.begins_after and to_micros(filters.begins_after),
            "standing": filters.standing and to_micros(filters.standing),
            "removed": filters.removed,
            "metadata": to_sorted_json(dict(filters.metadata)),
            "first": 0 if since is None else self._last_before(to_micros(since)) + 1,
            "last": rows.LATEST if until is None else self._last_before(to_micros(until)),
        }
