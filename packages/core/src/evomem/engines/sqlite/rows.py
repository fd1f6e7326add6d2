"""Between rows and values: how a node lies in its table, and what the index keeps of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from evomem.domain.analysis import Analysis
from evomem.domain.edge import Edge
from evomem.domain.event import EventRecord
from evomem.domain.extraction import Extraction
from evomem.domain.facets import facets_of
from evomem.domain.lineage import NodeFacts
from evomem.domain.namespace import Namespace
from evomem.domain.node import NodeRecord
from evomem.domain.plain import to_json, to_sorted_json
from evomem.domain.ranking import GRADE_BITS, graded
from evomem.domain.text import digest
from evomem.domain.time import from_micros, to_micros

SPACE_BITS = 32
"""A node's row id is its namespace's id, then 32 bits that count the nodes in it."""

LATEST = 2**62
"""After every commit: who knows up to here knows all."""

MOST_SPACES = (1 << 63 - SPACE_BITS - GRADE_BITS) - 1
"""Namespaces that a store can hold: row ids of the index have 63 bits."""

_LABEL_END = "\x1f"


def space_range(space_id: int) -> dict[str, int]:
    """Return the row ids that belong to a namespace."""
    low = space_id << SPACE_BITS
    return {"low": low, "high": low | ((1 << SPACE_BITS) - 1)}


def write_path(namespace: Namespace) -> str:
    """Return the stored form of a namespace; no path is a prefix of a sibling's."""
    return "".join(label + _LABEL_END for label in namespace)


def end_of_subtree(path: str) -> str:
    """Return the first text after all paths below `path`: its last separator, one higher."""
    return path[:-1] + chr(ord(_LABEL_END) + 1)


def read_path(path: str) -> Namespace:
    """Return the namespace of a stored path."""
    return tuple(path.split(_LABEL_END)[:-1])


def json_list(items: Iterable[Any]) -> str:
    """Return items as the JSON array that the statements take for a list; pure ASCII."""
    return json.dumps(list(items))


def match(term: str, narrowing: Sequence[Sequence[str]] = ()) -> str:
    """Return an FTS5 expression for documents that hold a term, and one token of each group."""
    return " AND ".join([_quoted(term), *(f"({match_any(group)})" for group in narrowing)])


def match_any(tokens: Iterable[str]) -> str:
    """Return an FTS5 expression for documents that hold any of the tokens."""
    return " OR ".join(map(_quoted, tokens))


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def node_row(record: NodeRecord, row: int, sequence: int, text_id: int | None) -> tuple[Any, ...]:
    """Return the values of `add_node`."""
    offsets = record.extraction.offsets()
    findable = record.slot is None and text_id is not None
    return (
        row,
        record.id,
        record.memory_id,
        record.version,
        sequence,
        text_id,
        to_json(offsets) if offsets else None,
        record.extraction.cronista,
        digest(record.text, record.scope, None) if findable else None,
        record.subject,
        record.slot,
        record.scope,
        record.session,
        to_json(record.tags),
        to_sorted_json(record.metadata),
        to_micros(record.created_at),
        to_micros(record.valid_from),
        None if record.valid_to is None else to_micros(record.valid_to),
        record.backdated,
        record.searchable,
    )


def search_docs(record: NodeRecord, analysis: Analysis) -> dict[int, str]:
    """Return what the index keeps of a node: for each grade the terms, and the facets."""
    tokens = analysis.tokens
    change = str(record.extraction.change)
    focus = "\n".join(filter(None, (record.subject, record.slot, *record.tags, change)))
    facets = facets_of(record.tags, record.session, record.metadata)
    terms = graded(tokens(focus) if focus else (), tokens(record.text))
    return {grade: " ".join((*found, *facets)) for grade, found in terms.items()}


def read_record(row: sqlite3.Row | tuple[Any, ...]) -> NodeRecord:
    """Return the node of a row of `records`."""
    (node_id, memory_id, version, path, text, fields, cronista, subject, slot, scope) = row[:10]
    (session, tags, metadata, created, recorded, begins, ends) = row[10:17]
    backdated, searchable, sequence, gone = row[17:]
    return NodeRecord(
        id=node_id,
        memory_id=memory_id,
        version=version,
        namespace=read_path(path),
        text=text or "",
        extraction=_read_fields(fields, text, cronista),
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
        purged=bool(gone),
    )


def read_facts(row: tuple[Any, ...]) -> NodeFacts:
    """Return the facts of a row of `lineage`, behind its row id."""
    (node_id, memory_id, version, sequence, scope, begins, ends, backdated, removed) = row
    return NodeFacts(
        id=node_id,
        memory_id=memory_id,
        version=version,
        sequence=sequence,
        scope=scope,
        valid_from=from_micros(begins),
        valid_to=None if ends is None else from_micros(ends),
        backdated=bool(backdated),
        removed=bool(removed),
    )


def read_edge(row: tuple[Any, ...]) -> Edge:
    """Return the edge of a row of `edges`."""
    return Edge(*row)


def read_event(row: tuple[Any, ...]) -> EventRecord:
    """Return the event of a row of `events`."""
    (event_id, role, content, occurred, session, external_id, patch_id, recorded) = row
    return EventRecord(
        id=event_id,
        role=role,
        content=content or "",
        occurred_at=from_micros(occurred),
        recorded_at=from_micros(recorded),
        session=session,
        external_id=external_id,
        patch_id=patch_id,
    )


def _read_fields(written: str | None, text: str | None, cronista: str) -> Extraction:
    return Extraction.from_offsets(json.loads(written) if written else {}, text or "", cronista)
