"""Kinds of tool arguments: the plain schema published, and what clients send for it.

Clients and models send lists and objects as JSON text, numbers and flags as words, and one text
where a list is meant. All of that is read for what it means; the schema stays plain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import evomem

_SHOWN_CHARS = 60

_FLAGS: Mapping[object, bool] = {
    "true": True,
    "false": False,
    "1": True,
    "0": False,
    1: True,
    0: False,
}


@dataclass(frozen=True, slots=True)
class Kind:
    """How arguments of one kind are published and read.

    Attributes:
        schema: JSON schema, without description and default.
        read: Turns a given value into what is meant; `None` means that it was left out.
        blank_is_absent: Whether an empty text means that the argument was left out.
    """

    schema: Mapping[str, Any]
    read: Callable[[str, object], object]
    blank_is_absent: bool = field(default=True)


def shown(value: object) -> str:
    """Return a value for a message, cut if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


def refuse(name: str, value: object, meant: str) -> evomem.InvalidRequestError:
    """Return the refusal of a value that cannot be meant."""
    message = f"{name}={shown(value)} is not {meant}. Nothing was done."
    return evomem.InvalidRequestError(message, field=name)


def from_json(value: object) -> object:
    """Read JSON text; what is no text or no JSON is returned as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _text(name: str, value: object) -> object:
    if not isinstance(value, str):
        raise refuse(name, value, "a text")
    return value


def _statement(name: str, value: object) -> object:
    if not isinstance(value, str):
        raise refuse(name, value, "a text")
    if not value.strip():
        message = f"{name} is empty: pass the statement to remember. Nothing was done."
        raise evomem.InvalidRequestError(message, field=name)
    return value


def _time(name: str, value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise refuse(name, value, "a time in ISO 8601")
    return value


def _whole(name: str, value: object) -> object:
    meant = from_json(value)
    if isinstance(meant, float) and meant.is_integer():
        meant = int(meant)
    if meant is not None and (isinstance(meant, bool) or not isinstance(meant, int)):
        raise refuse(name, value, "a whole number")
    return meant


def _flag(name: str, value: object) -> object:
    meant = value.strip().lower() if isinstance(value, str) else value
    if isinstance(meant, bool):
        return meant
    if not isinstance(meant, str | int) or meant not in _FLAGS:
        raise refuse(name, value, "true or false")
    return _FLAGS[meant]


def _texts(name: str, value: object) -> object:
    meant = from_json(value) if _looks_like(value, "[") else value
    if isinstance(meant, str):
        return [meant]
    if not isinstance(meant, list) or not all(isinstance(item, str) for item in meant):
        raise refuse(name, value, "a text or a list of texts")
    return meant


def _object(name: str, value: object) -> object:
    meant = from_json(value)
    if meant is not None and not isinstance(meant, dict):
        raise refuse(name, value, "an object of names and values")
    return meant


def _relations(name: str, value: object) -> object:
    meant = _object(name, value)
    if not isinstance(meant, dict):
        return meant
    return {kind: _texts(f"{name}.{kind}", ids) for kind, ids in meant.items()}


def _objects(name: str, value: object) -> object:
    meant = from_json(value)
    items = meant if isinstance(meant, list) else [meant]
    if meant is not None and not all(isinstance(item, dict) for item in items):
        raise refuse(name, value, "an object or a list of objects")
    return None if meant is None else items


def _looks_like(value: object, opening: str) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(opening)


def whole(low: int, high: int) -> Kind:
    """Return the kind of whole numbers between two bounds; the memory checks them."""
    return Kind({"type": "integer", "minimum": low, "maximum": high}, _whole)


def choice(*words: str) -> Kind:
    """Return the kind of texts of which a few have a meaning; the memory checks them."""
    return Kind({"type": "string", "enum": [*words]}, _text)


TEXT = Kind({"type": "string"}, _text, blank_is_absent=False)
STATEMENT = Kind({"type": "string", "minLength": 1}, _statement, blank_is_absent=False)
TIME = Kind({"type": "string"}, _time)
FLAG = Kind({"type": "boolean"}, _flag)
TEXTS = Kind({"type": "array", "items": {"type": "string"}}, _texts)
OBJECT = Kind({"type": "object"}, _object)

_IDS = {"type": "array", "items": {"type": "string"}}
RELATIONS = Kind(
    {
        "type": "object",
        "properties": {
            "caused_by": {**_IDS, "description": "Ids of nodes that led to it."},
            "depends_on": {**_IDS, "description": "Ids of nodes that it rests on."},
        },
    },
    _relations,
)
AMENDMENTS = Kind(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Id of the older node."},
                "part": {"type": "string", "description": "The old words, quoted exactly."},
            },
            "required": ["id", "part"],
        },
    },
    _objects,
)
