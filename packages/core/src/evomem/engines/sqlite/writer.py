"""Writing: one patch, one transaction."""

from __future__ import annotations

import os
import sqlite3
from datetime import datetime
from typing import Any

from evomem.domain.analysis import analysis, current
from evomem.domain.edge import SUCCESSION, Edge
from evomem.domain.event import Event
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Patch, Receipt
from evomem.domain.plain import to_json
from evomem.domain.seal import GENESIS, SALT_BYTES, Item, chain, items, seal
from evomem.domain.time import EPOCH, from_micros, to_micros
from evomem.engines.base import StaleError
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.counting import count_some_terms, is_due
from evomem.engines.sqlite.indexing import Indexing, Space
from evomem.engines.sqlite.log import sealed_items
from evomem.engines.sqlite.sql import QUERIES
from evomem.engines.sqlite.vectors import add_vectors
from evomem.errors import EngineError


class PatchWriter:
    """Writes one patch; made before the transaction begins, as its texts are analysed then.

    Attributes:
        version: The text analysis that the namespace is written with, as expected at first.
    """

    def __init__(self, patch: Patch, version: int) -> None:
        self._patch = patch
        self._rows: dict[str, int] = {}
        self._analyse(version)
        self._salt = os.urandom(SALT_BYTES)
        self._digest = seal(self._salt, items(patch))

    def write(self, connection: sqlite3.Connection) -> Receipt:
        """Write everything inside the transaction that the engine has begun.

        Raises:
            StaleError: An expectation does not hold.
        """
        self._connection = connection
        space = self._space()
        self._indexing = Indexing(connection, space)
        self._check(space)
        patch = self._patch
        before, recorded, before_hash = self._latest()
        sequence = before + 1
        recorded_at = max(patch.recorded_at, recorded)
        self._find_rows(space)
        chained = chain(before_hash, sequence, recorded_at, self._digest)
        self._run("add_patch", *self._patch_row(space, sequence, recorded_at, chained))
        texts: dict[str, int] = {}
        for event in patch.events:
            self._add_event(event, space, sequence, texts)
        for event_id in patch.evidence:
            self._once("add_evidence", sequence=sequence, event_id=event_id, space=space.id)
        for node in patch.nodes:
            self._add_node(node, space, sequence, texts)
        for ordinal, step in enumerate(patch.operations):
            row = self._rows[step.node_id]
            self._run(
                "add_operation", sequence, ordinal, step.op, step.memory_id, step.version, row
            )
        # A link may be closed and made anew in one patch.
        for edge in patch.closed:
            self._close_edge(edge, sequence)
        for edge in patch.edges:
            self._add_edge(edge, sequence)
        self._remove(sequence)
        self._purge(sequence)
        self._settle()
        self._derive(space, sequence, recorded_at)
        if patch.purged:
            # The seals of what is left of other patches are facts of this one.
            sealed = seal(self._salt, self._facts(sequence))
            chained = chain(before_hash, sequence, recorded_at, sealed)
            self._run("set_seal", sequence=sequence, digest=sealed, hash=chained)
        return Receipt(patch.id, sequence, recorded_at, self._add_vectors())

    def _latest(self) -> tuple[int, datetime, bytes]:
        """Return place, time and hash of the commit before."""
        for sequence, recorded, chained in self._run("latest_patch"):
            return sequence, from_micros(recorded), chained
        return 0, EPOCH, GENESIS

    def _analyse(self, version: int) -> None:
        chosen = analysis(version)
        self._docs = {n.id: rows.search_docs(n, chosen) for n in self._patch.findable}
        self.version = version

    def _space(self) -> Space:
        path = rows.write_path(self._patch.namespace)
        found = self._run("find_namespace", path=path).fetchone()
        if found is None:
            self._run("add_namespace", path=path, analysis=current().version)
            found = self._run("find_namespace", path=path).fetchone()
        space = Space(*found)
        if space.id > rows.MOST_SPACES:
            message = f"The store holds {rows.MOST_SPACES} namespaces, the most it can."
            raise EngineError(message)
        if space.analysis != self.version:
            self._analyse(space.analysis)
        return space

    def _check(self, space: Space) -> None:
        expects = self._patch.expects
        if expects.versions:
            ids = rows.json_list(expects.versions)
            if dict(self._run("memory_versions", ids=ids)) != dict(expects.versions):
                raise StaleError
        within = rows.space_range(space.id)
        for digest, latest in expects.twins.items():
            found = self._run("twins", digest=digest, **within).fetchone()
            if (found[0] if found else None) != latest:
                raise StaleError
        for (slot, scope), latest in expects.slots.items():
            found = self._run("slot", slot=slot, scope=scope, **within).fetchone()
            if (found[0] if found else None) != latest:
                raise StaleError

    def _patch_row(
        self, space: Space, sequence: int, recorded_at: datetime, chained: bytes
    ) -> tuple[Any, ...]:
        patch = self._patch
        return (
            sequence,
            patch.id,
            space.id,
            to_micros(recorded_at),
            patch.actor,
            patch.source,
            patch.reason,
            patch.idempotency_key,
            patch.payload_digest,
            None if patch.replay is None else to_json(patch.replay),
            patch.rollback_of,
            self._salt,
            self._digest,
            chained,
        )

    def _find_rows(self, space: Space) -> None:
        """Look up the rows of all stored nodes that the patch names."""
        patch = self._patch
        named = {end for edge in (*patch.edges, *patch.closed) for end in (edge.new, edge.old)}
        named |= {step.node_id for step in patch.operations} | {
            *patch.removed,
            *patch.revived,
            *patch.purged,
        }
        named |= {end for item in patch.suggestions for end in (item.new, item.old)}
        named -= {node.id for node in patch.nodes}
        if named:
            ids = rows.json_list(named)
            self._rows.update(self._run("rows", ids=ids, **rows.space_range(space.id)))
        if len(self._rows) < len(named):
            raise StaleError

    def _add_text(self, body: str, evidence: int) -> int:
        text_id = self._run("add_text", body, evidence).lastrowid
        assert text_id is not None  # noqa: S101  an INSERT always has a row id
        return text_id

    def _add_event(self, event: Event, space: Space, sequence: int, texts: dict[str, int]) -> None:
        text_id = None
        if event.content:
            text_id = texts[event.content] = self._add_text(event.content, 1)
        self._run(
            "add_event",
            event.id,
            space.id,
            sequence,
            event.role,
            text_id,
            to_micros(event.occurred_at),
            event.session,
            event.external_id,
        )

    def _add_node(
        self, node: NodeRecord, space: Space, sequence: int, texts: dict[str, int]
    ) -> None:
        space.last_node += 1
        row = self._rows[node.id] = rows.space_range(space.id)["low"] | space.last_node
        text_id = None
        if not node.purged:
            text_id = texts.get(node.text) or self._add_text(node.text, 0)
        self._run("add_node", *rows.node_row(node, row, sequence, text_id))
        if docs := self._docs.get(node.id):
            self._indexing.add(row, docs)

    def _add_edge(self, edge: Edge, sequence: int) -> None:
        self._run(
            "add_edge",
            edge.kind,
            self._rows[edge.new],
            self._rows[edge.old],
            sequence,
            edge.part,
            edge.reason,
            edge.linked_by,
            edge.confidence,
        )

    def _close_edge(self, edge: Edge, sequence: int) -> None:
        ends = {"new": self._rows[edge.new], "old": self._rows[edge.old]}
        self._once("close_edge", kind=edge.kind, part=edge.part, sequence=sequence, **ends)

    def _remove(self, sequence: int) -> None:
        for node_id in self._patch.removed:
            self._run("add_tombstone", node=self._rows[node_id], sequence=sequence)
        for node_id in self._patch.revived:
            self._once("revive", node=self._rows[node_id], sequence=sequence)

    def _purge(self, sequence: int) -> None:
        """Delete texts, and seal anew what is left of the patches that held them."""
        touched: set[int] = set()
        for node_id in self._patch.purged:
            row = self._rows[node_id]
            touched |= {found for (found,) in self._run("touched_by_purge", node=row)}
            self._indexing.drop(row)
            (text_id,) = self._run("text_of", node=row).fetchone()
            self._once("mark_purged", node=row, sequence=sequence)
            for statement in ("purge_edges", "purge_suggestions", "purge_node"):
                self._run(statement, node=row)
            self._run("drop_text", text_id=text_id)
        for other in sorted(touched - {sequence}):
            salt = os.urandom(SALT_BYTES)
            self._run("resalt", salt=salt, sequence=other)
            self._run("add_reseal", other, sequence, seal(salt, self._facts(other)))

    def _facts(self, sequence: int) -> list[Item]:
        """Return what the tables hold of a patch."""
        ((_, facts),) = sealed_items(self._all, [sequence])
        return facts

    def _settle(self) -> None:
        """Let what edges replace, or replace no more, leave the index or come back to it."""
        links = (*self._patch.edges, *self._patch.closed)
        self._indexing.settle({self._rows[e.old] for e in links if e.kind in SUCCESSION})

    def _derive(self, space: Space, sequence: int, recorded_at: datetime) -> None:
        self._count_memories(space)
        for item in self._patch.suggestions:
            ends = (self._rows[item.new], self._rows[item.old])
            self._run("add_suggestion", *ends, sequence, item.reason, item.confidence, item.linker)
        self._run(
            "count_namespace",
            id=space.id,
            last_node=space.last_node,
            sequence=sequence,
            recorded=to_micros(recorded_at),
            events=len(self._patch.events),
            documents=space.documents,
            tokens=space.tokens,
        )
        if is_due(space.last_node - space.counted, space.n_documents):
            count_some_terms(self._connection, space.id, space.counted, space.last_node)

    def _add_vectors(self) -> int:
        patch = self._patch
        if patch.embedder is None:
            return 0
        return add_vectors(self._connection, patch.embedder, patch.vectors)

    def _count_memories(self, space: Space) -> None:
        versions = {step.memory_id: step.version for step in self._patch.operations}
        tips = {node.memory_id: node for node in self._patch.nodes}
        latest: dict[str, datetime] = {}
        for node in self._patch.nodes:
            begins = latest.get(node.memory_id, node.valid_from)
            latest[node.memory_id] = max(begins, node.valid_from)
        for memory_id, version in versions.items():
            if tip := tips.get(memory_id):
                begins_at = to_micros(latest[memory_id])
                row = self._rows[tip.id]
                self._run("set_memory", memory_id, space.id, version, row, begins_at)
            else:
                self._run("count_operation", id=memory_id, version=version)

    def _run(self, name: str, *values: Any, **named: Any) -> sqlite3.Cursor:
        return self._connection.execute(QUERIES[name], named or values)

    def _once(self, name: str, **values: Any) -> None:
        """Run a statement that must change one row."""
        if self._run(name, **values).rowcount != 1:
            raise StaleError

    def _all(self, name: str, **values: Any) -> list[Any]:
        return self._run(name, **values).fetchall()
