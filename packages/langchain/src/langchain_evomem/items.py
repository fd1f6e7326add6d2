"""How a key and a value of a LangGraph store become a slot and a note, and come back equal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from langgraph.store.base import Item, SearchItem, get_text_at_path

import evomem

SOURCE = "langgraph"

Index = Literal[False] | Sequence[str] | None
_QUOTE = '"'
_DATA = re.compile(r"data:[\w/+.;=-]*;base64,[\w+/=-]*|[A-Za-z0-9+/]{512,}={0,2}")
# The items have a method `dict`.
_Fields = dict[str, Any]


class StoredItem(Item):
    """An item, with what the memory knows of it.

    Attributes:
        version: Counts what was done to the key. That of the value in force is what
            `put(expected_version=)` asks for.
        status: Of this version: `active`, or `superseded` and the like in a history.
        node_id: The note that holds it.
    """

    __slots__ = ("node_id", "status", "version")

    def __init__(self, *, version: int, status: str, node_id: str, **item: Any) -> None:
        super().__init__(**item)
        self.version = version
        self.status = status
        self.node_id = node_id

    def dict(self) -> _Fields:
        """Return the fields; a checkpoint makes the item anew from them."""
        return {**super().dict(), **_known(self)}


class FoundItem(SearchItem):
    """An item that a search found; see `StoredItem`."""

    __slots__ = ("node_id", "status", "version")

    def __init__(self, *, version: int, status: str, node_id: str, **item: Any) -> None:
        super().__init__(**item)
        self.version = version
        self.status = status
        self.node_id = node_id

    def dict(self) -> _Fields:
        """Return the fields; a checkpoint makes the item anew from them."""
        return {**super().dict(), **_known(self)}


def _known(item: StoredItem | FoundItem) -> _Fields:
    return {"version": item.version, "status": item.status, "node_id": item.node_id}


def slot_of(key: str) -> str:
    """Return the slot of a key; what a slot cannot hold as it is, is quoted."""
    plain = key.strip() == key and key.isprintable() and not key.startswith(_QUOTE)
    return key if key and plain else json.dumps(key)


def key_of(slot: str) -> str:
    """Return the key that a slot was made from."""
    if not slot.startswith(_QUOTE):
        return slot
    try:
        return str(json.loads(slot))
    except ValueError:
        return slot


def note_of(
    key: str, value: Mapping[str, Any], index: Index, created_at: datetime
) -> dict[str, Any]:
    """Return the arguments of `remember` that store a value.

    Args:
        key: Of the item.
        value: JSON values by name, kept as metadata: they come back equal and filters see them.
        index: Paths of what can be searched for; None is all of it, False nothing.
        created_at: When the key first had a value.
    """
    searched = _readable(_searched(value, index))
    # A note needs a text: what cannot be searched for is written as it is.
    shown = searched or _readable(_lines(value)) or json.dumps(value)
    return {
        "text": shown,
        "slot": slot_of(key),
        "metadata": {"value": value, "created_at": created_at.isoformat()},
        "searchable": "tip" if searched else "never",
        "source": SOURCE,
    }


def is_item(node: evomem.MemoryNode) -> bool:
    """Tell whether a note is an item of a store: a value, in the slot that its key has."""
    if node.slot is None or node.scope or not isinstance(node.metadata.get("value"), dict):
        return False
    return slot_of(key_of(node.slot)) == node.slot


def created_at(node: evomem.MemoryNode) -> datetime:
    """Return when the key of an item first had a value."""
    try:
        return datetime.fromisoformat(node.metadata["created_at"])
    except (KeyError, TypeError, ValueError):
        return node.created_at


def fields_of(node: evomem.MemoryNode, below: int, *, present: bool = True) -> dict[str, Any]:
    """Return what an item is made from.

    Args:
        node: A note that is an item.
        below: Labels of the memory's own namespace, which the store does not show.
        present: It was asked for what holds now, not for what held at a time.
    """
    in_force = present and node.status is evomem.Status.ACTIVE
    return {
        "value": node.metadata["value"],
        "key": key_of(node.slot or ""),
        "namespace": node.namespace[below:],
        "created_at": created_at(node),
        "updated_at": node.recorded_at,
        "version": node.memory_version if in_force else node.version,
        "status": node.status.value,
        "node_id": node.id,
    }


def _readable(lines: Iterable[str]) -> str:
    """Join lines without images and files that stand in them as base64: no question is about them."""
    return _DATA.sub("(data)", "\n".join(lines)).strip()


def _searched(value: Mapping[str, Any], index: Index) -> Iterable[str]:
    if index is None:
        return _lines(value)
    return [line for path in index or () for line in get_text_at_path(value, path)]


def _lines(value: object, name: str = "") -> Iterator[str]:
    """Yield each leaf of a value behind its name, and a list of leaves on one line."""
    if isinstance(value, Mapping):
        for inner_name, inner in value.items():
            yield from _lines(inner, str(inner_name))
    elif isinstance(value, list):
        leaves = [str(inner) for inner in value if not isinstance(inner, list | Mapping | None)]
        if leaves:
            yield from _lines(", ".join(leaves), name)
        for inner in value:
            if isinstance(inner, list | Mapping):
                yield from _lines(inner, name)
    elif value is not None:
        yield f"{name}: {value}" if name else str(value)
