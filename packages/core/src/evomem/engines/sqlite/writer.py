"""Writing: one patch, one transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from evomem.domain.analysis import ANALYSIS_VERSION
from evomem.domain.edge import Edge
from evomem.domain.event import Event
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Patch, Receipt
from evomem.domain.time import to_micros
from evomem.engines.base import StaleError
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.sql import QUERIES


@dataclass(slots=True)
class _Space:
    """The namespace written to, and what the patch changes in its counts."""

    id: int
    last_node: int
    documents: int = 0
    tokens: int = 0


class PatchWriter:
    """Writes one patch; made before the transaction begins, as its texts are analysed then."""

    def __init__(self, patch: Patch) -> None:
        self._patch = patch
        self._rows: dict[str, int] = {}
        self._tokens = {node.id: rows.search_tokens(node) for node in patch.nodes}

    def write(self, connection: sqlite3.Connection) -> Receipt:
        """Write everything inside the transaction that the engine has begun.

        Raises:
            StaleError: An expectation does not hold.
        """
        self._connection = connection
        space = self._space()
        self._check(space)
        patch = self._patch
        ((sequence,),) = self._run("next_sequence").fetchall()
        self._run("add_patch", *self._patch_row(space, sequence))
        self._find_rows(space)
        shared = {event.content: event for event in patch.events}
        texts: dict[str, int] = {}
        for event in patch.events:
            self._add_event(event, space, sequence, texts)
        for node in patch.nodes:
            text_id = texts[node.text] if node.text in shared else self._add_text(node.text, 0)
            self._add_node(node, space, sequence, text_id)
        for ordinal, step in enumerate(patch.operations):
            row = self._rows[step.node_id]
            self._run(
                "add_operation", sequence, ordinal, step.op, step.memory_id, step.version, row
            )
        for edge in patch.edges:
            self._add_edge(edge, sequence)
        for edge in patch.closed:
            self._close_edge(edge, sequence)
        self._remove(space, sequence)
        self._derive(space, sequence)
        return Receipt(patch.id, sequence)

    def _space(self) -> _Space:
        path = rows.write_path(self._patch.namespace)
        found = self._run("find_namespace", path=path).fetchone()
        if found is None:
            self._run("add_namespace", path=path)
            found = self._run("find_namespace", path=path).fetchone()
        return _Space(*found)

    def _check(self, space: _Space) -> None:
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

    def _patch_row(self, space: _Space, sequence: int) -> tuple[Any, ...]:
        patch = self._patch
        replay = None if patch.replay is None else rows.to_json(patch.replay)
        return (
            sequence,
            patch.id,
            space.id,
            to_micros(patch.recorded_at),
            patch.actor,
            patch.source,
            patch.reason,
            patch.idempotency_key,
            patch.payload_digest,
            replay,
        )

    def _find_rows(self, space: _Space) -> None:
        """Look up the rows of all stored nodes that the patch names."""
        patch = self._patch
        named = {end for edge in (*patch.edges, *patch.closed) for end in (edge.new, edge.old)}
        named |= {step.node_id for step in patch.operations} | {*patch.removed, *patch.purged}
        named |= {memory.tip for memory in patch.memories}
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

    def _add_event(self, event: Event, space: _Space, sequence: int, texts: dict[str, int]) -> None:
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

    def _add_node(self, node: NodeRecord, space: _Space, sequence: int, text_id: int) -> None:
        space.last_node += 1
        row = self._rows[node.id] = rows.space_range(space.id)["low"] | space.last_node
        self._run("add_node", *rows.node_row(node, row, sequence, text_id))
        focus, body = self._tokens[node.id]
        self._run("add_search_doc", row, ANALYSIS_VERSION, focus, body)
        self._run("index_doc", row, focus, body)
        space.documents += 1
        space.tokens += _length(focus, body)

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
        self._run("close_edge", kind=edge.kind, sequence=sequence, **ends)

    def _remove(self, space: _Space, sequence: int) -> None:
        for node_id in self._patch.removed:
            row = self._rows[node_id]
            self._run("add_tombstone", node=row, sequence=sequence)
            focus, body = self._run("find_search_doc", node=row).fetchone()
            self._run("unindex_doc", node=row, focus=focus, body=body)
            self._run("drop_search_doc", node=row)
            space.documents -= 1
            space.tokens -= _length(focus, body)
        for node_id in self._patch.purged:
            row = self._rows[node_id]
            (text_id,) = self._run("text_of", node=row).fetchone()
            self._run("mark_purged", node=row, sequence=sequence)
            for statement in ("purge_edges", "purge_suggestions", "purge_node"):
                self._run(statement, node=row)
            self._run("drop_text", text_id=text_id)

    def _derive(self, space: _Space, sequence: int) -> None:
        for memory in self._patch.memories:
            latest = to_micros(memory.latest_valid_from)
            tip = self._rows[memory.tip]
            self._run("set_memory", memory.id, space.id, memory.version, tip, latest)
        for item in self._patch.suggestions:
            ends = (self._rows[item.new], self._rows[item.old])
            self._run("add_suggestion", *ends, sequence, item.reason, item.confidence, item.linker)
        self._run(
            "count_namespace",
            id=space.id,
            last_node=space.last_node,
            sequence=sequence,
            recorded=to_micros(self._patch.recorded_at),
            events=len(self._patch.events),
            documents=space.documents,
            tokens=space.tokens,
        )

    def _run(self, name: str, *values: Any, **named: Any) -> sqlite3.Cursor:
        return self._connection.execute(QUERIES[name], named or values)


def _length(focus: str, body: str) -> int:
    return len(focus.split()) + len(body.split())
