"""Output schemas, derived from the memory's results: plain, without references or unions.

A field that may be null has no schema of its own, as it would be a union; the object's description
names it. Only `ok` is required, so that a refusal too is valid under a tool's schema: some clients
check refusals, and would show a schema error in place of the message.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import evomem

_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", datetime: "string"}

_DESCRIPTIONS = {
    "MemoryRecord.heads": "Ids of the nodes in force, of other memories too.",
    "MemoryRecord.history": "Every operation on it, the oldest first, if asked.",
    "MemoryRecord.node": "Its version in force, or the last if none is.",
    "MemoryRecord.status": "Of the node; only active holds.",
    "MemoryRecord.version": "What expected_version asks for.",
    "AppliedOperation.version": "The memory's version after it.",
    "MemoryVersion.version": "The memory's version after it.",
    "candidates": "Older nodes it may replace; answer with link.",
    "changed": "False if it had been done before.",
    "decision": "How the links came about.",
    "content": "Text, as received.",
    "deduplicated": "True if an equal active note existed and is returned.",
    "history": "Earlier nodes of the story, newest first.",
    "diff": "Unified diff of the texts.",
    "digest": "Seal of what the patch wrote.",
    "events": "Ids of events that it recorded.",
    "evidence": "Ids of the events that it rests on.",
    "hash": "Chains the patch to all before it.",
    "hits": "Answers, the best first.",
    "insufficient": "True if nothing matched enough of the query to lean on.",
    "matched": "The version that the query met.",
    "memory_version": "What expected_version asks for.",
    "links": "Links that it made.",
    "moved": "Named nodes that had been replaced already, and what was extended instead.",
    "nodes": "Nodes.",
    "node_id": "Id of a node.",
    "op": "What was done.",
    "operations": "What was done to each memory, in order.",
    "overridden": "Ids of nodes that win in the scope asked for.",
    "replayed": "True if it had been done before, under the same key or external id.",
    "scheduled": "Ids of versions that take force later.",
    "status": "Only active holds now.",
    "sequence": "Place in the order of commits.",
    "superseded": "Ids of nodes taken out of force.",
    "superseded_by": "Ids of nodes that replaced it.",
    "supersedes": "What it replaced.",
    "text": "As received.",
    "unlinked": "Links that it closed.",
    "versions": "Every operation on the memory, the oldest first.",
    "warnings": "What the caller should know.",
}

_ERROR = {
    "type": "object",
    "description": "The refusal, if ok is false.",
    "properties": {
        "code": {"type": "string", "description": "Stable name."},
        "message": {"type": "string", "description": "What happened and what to do."},
        "details": {"type": "object", "description": "Facts about the refusal."},
    },
}


def output_schema(result: type, **more: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool that answers with the fields of `result`.

    Args:
        result: A result class of the memory.
        **more: Schemas of fields that the tool adds.
    """
    ok = {"type": "boolean", "description": "False if the call was refused."}
    schema = _object(result)
    properties = {"ok": ok, "error": _ERROR, **schema["properties"], **more}
    return {**schema, "properties": properties, "required": ["ok"]}


def list_schema(name: str, item: type) -> dict[str, Any]:
    """Return the schema of a tool that answers with a list."""
    listed = {"type": "array", "items": _object(item), "description": _describe(name)}
    ok = {"type": "boolean", "description": "False if the call was refused."}
    properties = {"ok": ok, "error": _ERROR, name: listed, "warnings": WARNINGS}
    return {"type": "object", "properties": properties, "required": ["ok"]}


def _object(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    schemas = {name: _schema(hint) for name, hint in hints.items()}
    properties = {
        name: {**schema, "description": _describe(name, cls)}
        for name, schema in schemas.items()
        if schema
    }
    untyped = [name for name, schema in schemas.items() if not schema]
    note = {"description": f"Also, or null: {', '.join(untyped)}."} if untyped else {}
    return {"type": "object", **note, "properties": properties}


def _schema(hint: type) -> dict[str, Any]:
    """Return the schema of a type; empty if it may be null."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType} and NoneType in arguments:
        return {}
    if origin in {tuple, list}:
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is Mapping or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return {"type": "object"}
    if hint is evomem.Spans:
        return {"type": "array", "items": _object(evomem.Span)}
    if issubclass(hint, Enum):
        return {"type": "string", "enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        return _object(hint)
    return {"type": _PLAIN[hint]}


def _describe(name: str, cls: type | None = None) -> str:
    own = f"{cls.__name__}.{name}" if cls else name
    common = _DESCRIPTIONS.get(name) or f"{name.replace('_', ' ').capitalize()}."
    return _DESCRIPTIONS.get(own, common)


WARNINGS = {
    "type": "array",
    "items": {"type": "string"},
    "description": _DESCRIPTIONS["warnings"],
}
