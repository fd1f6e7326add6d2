"""The operations of a LangGraph store, each on the memory that the store lies in."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

import evomem
from evomem import Memory, MemoryNode
from langchain_evomem.items import (
    SOURCE,
    FoundItem,
    Index,
    StoredItem,
    created_at,
    fields_of,
    is_item,
    note_of,
    slot_of,
)

Labels = tuple[str, ...]
Times = Mapping[str, Any]

_NOW: Times = {}
# As many as the memory hands out at a time.
_PAGE = 1000
_ANSWERS = 100
_NAMESPACES = 10_000
_DEEPEST = 10_000
_DEEPEST_NAMESPACE = 16


def labels_of(namespace: object) -> Labels:
    """Return a namespace as labels; a text is not split into its letters.

    Raises:
        InvalidNamespaceError: It is no sequence of labels.
    """
    if isinstance(namespace, list | tuple):
        return tuple(namespace)
    message = f"namespace={namespace!r} is no tuple of labels."
    raise InvalidNamespaceError(message)


def check(root: Memory, op: object) -> None:
    """Refuse what cannot be meant.

    Raises:
        ValueError: It is no operation, or its namespace, value or filter is none.
        NotImplementedError: It asks that an item expire.
    """
    if not isinstance(op, Op):
        message = f"Unknown operation type: {type(op).__name__}."
        raise ValueError(message)  # noqa: TRY004  the exception that stores of LangGraph raise
    validate_op_namespace(op)
    if isinstance(op, GetOp | PutOp):
        _check_meant({"key": (op.key, str), "namespace": (op.namespace, list | tuple)})
    if isinstance(op, SearchOp):
        _check_search(op)
    if isinstance(op, PutOp):
        _check_put(root, op)


def _check_meant(given: Mapping[str, tuple[object, Any]]) -> None:
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            message = f"{name}={value!r} is of a type that cannot be meant."
            raise ValueError(message)  # noqa: TRY004  the exception that stores of LangGraph raise


def _check_put(root: Memory, op: PutOp) -> None:
    if not op.namespace:
        message = "Namespace cannot be empty."
        raise InvalidNamespaceError(message)
    _within(root, op.namespace)
    if op.ttl is not None:
        message = "Items do not expire here: set ttl=None."
        raise NotImplementedError(message)
    value: object = op.value
    if value is None:
        return
    if not isinstance(value, Mapping):
        message = f"The value of {op.key!r} is no mapping of names to JSON values."
        raise ValueError(message)  # noqa: TRY004  the exception that stores of LangGraph raise
    check_index(op.index)
    # The value before its text, as what JSON cannot carry has none; and each of them once.
    now = datetime.now(UTC)
    evomem.parse_remember(
        {"text": "-", "metadata": {"value": value, "created_at": now.isoformat()}}
    )
    evomem.parse_remember({**note_of(op.key, value, op.index, now), "metadata": None})


def check_index(index: object) -> None:
    """Refuse what says nothing about what can be searched for.

    Raises:
        ValueError: It is neither None, False nor a list of paths.
    """
    if index is None or index is False:
        return
    if isinstance(index, list | tuple) and all(isinstance(path, str) for path in index):
        return
    message = f"index={index!r} is neither None, False nor a list of paths."
    raise ValueError(message)


def _check_search(op: SearchOp) -> None:
    _check_meant(
        {
            "query": (op.query, str | None),
            "filter": (op.filter, Mapping | None),
            "limit": (op.limit, int),
            "offset": (op.offset, int),
            "namespace_prefix": (op.namespace_prefix, list | tuple),
        }
    )
    if wrong := [name for name in op.filter or () if str(name).startswith("$")]:
        message = f"filter: {wrong[0]!r} names no key; write {{key: {{{wrong[0]!r}: ...}}}}."
        raise ValueError(message)
    evomem.parse_list({"filter": _condition(op)})


def get(root: Memory, op: GetOp, times: Times = _NOW) -> StoredItem | None:
    """Return the item of a key as of some time, or None."""
    check(root, op)
    slot = slot_of(op.key)
    node = _within(root, op.namespace).get_slots(slot, **times).get(slot)
    here = node is not None and node.slot == slot and is_item(node)
    return _stored(root, node, present=not times) if node and here else None


def history(
    root: Memory, op: GetOp, limit: int | None = None, times: Times = _NOW
) -> list[StoredItem]:
    """Return the values that a key had, the newest first, deleted ones included."""
    check(root, op)
    slot = slot_of(op.key)
    handle = _within(root, op.namespace)
    latest = handle.get_slots(slot, include_removed=True, **times).get(slot)
    story = handle.history(latest.id, limit=limit, **times) if latest else []
    return [_stored(root, node, present=not times) for node in story if is_item(node)]


def search(root: Memory, op: SearchOp, times: Times = _NOW) -> list[SearchItem]:
    """Return the items at or below a namespace: those that match, or else the latest."""
    check(root, op)
    asked = op.query and op.query.strip()
    if asked and times:
        message = "A query is answered from present values: leave out as_of and known_at."
        raise evomem.InvalidRequestError(message, field="query")
    handle = _within(root, op.namespace_prefix)
    conditions = {
        "filter": _condition(op),
        "include_children": True,
        "status": "active",
        **times,
    }
    found = _matching(handle, op, conditions) if asked else _latest(handle, op, conditions)
    below = len(root.namespace)
    return [
        FoundItem(**fields_of(node, below, present=not times), score=score) for node, score in found
    ]


def list_namespaces(root: Memory, op: ListNamespacesOp) -> list[Labels]:
    """Return the namespaces that hold an item, sorted."""
    paths: dict[str, list[Sequence[str]]] = {"prefix": [], "suffix": []}
    for condition in op.match_conditions or ():
        if condition.match_type not in paths:
            message = f"Unsupported match type: {condition.match_type}."
            raise ValueError(message)
        paths[condition.match_type].append(condition.path)
    prefix = _merged(paths["prefix"])
    suffix = _merged([path[::-1] for path in paths["suffix"]])
    if prefix is None or suffix is None or max(len(prefix), len(suffix)) > _DEEPEST_NAMESPACE:
        return []
    depth = op.max_depth if op.max_depth is None else min(op.max_depth, _DEEPEST_NAMESPACE)
    found: list[Labels] = []
    while size := max(0, min(_NAMESPACES, op.limit - len(found))):
        page = root.namespaces(
            prefix=prefix or None,
            suffix=suffix[::-1] or None,
            max_depth=depth,
            limit=size,
            offset=op.offset + len(found),
        )
        found += page
        if len(page) < size:
            break
    return found


def write(root: Memory, puts: Iterable[PutOp], fields: Index, expected: int | None) -> None:
    """Write values and take out keys, namespace by namespace.

    Args:
        root: The memory that the store lies in.
        puts: At most one for each key.
        fields: What can be searched for where a put does not say.
        expected: The version that the keys must be at; None for whatever they are at.

    Raises:
        VersionConflictError: A key is at another version than expected.
    """
    by_namespace: defaultdict[Labels, list[PutOp]] = defaultdict(list)
    for op in puts:
        by_namespace[op.namespace].append(op)
    for namespace, ops in by_namespace.items():
        handle = _within(root, namespace)
        values = [op for op in ops if op.value is not None]
        if values:
            _remember(handle, values, fields, expected)
        _forget(handle, [slot_of(op.key) for op in ops if op.value is None])


def _remember(handle: Memory, ops: Sequence[PutOp], fields: Index, expected: int | None) -> None:
    """Write values in one patch, over what each key has at that moment."""
    slots = [slot_of(op.key) for op in ops]
    before: dict[str, tuple[str, int]] | None = None
    while True:
        last = _present(handle, slots, include_removed=True)
        versions = {slot: (node.id, node.memory_version) for slot, node in last.items()}
        held = {s: n for s, n in last.items() if n.status is evomem.Status.ACTIVE}
        notes = [_next(op, held.get(slot_of(op.key)), fields, expected) for op in ops]
        try:
            handle.remember_many(notes)
        except evomem.VersionConflictError:
            # Another writer came between, unless nothing has changed.
            if expected is not None or versions == before:
                raise
            before = versions
        else:
            return


def _next(
    op: PutOp, present: MemoryNode | None, fields: Index, expected: int | None
) -> dict[str, Any]:
    item = present if present and is_item(present) else None
    note = note_of(
        op.key,
        op.value or {},
        fields if op.index is None else op.index,
        created_at(item) if item else datetime.now(UTC),
    )
    version = present.memory_version if present else 0
    return {**note, "expected_version": version if expected is None else expected}


def _forget(handle: Memory, slots: Sequence[str]) -> None:
    for slot, node in _present(handle, slots).items():
        # A link may have put another slot's value in its place: that one stays.
        if node.slot == slot and is_item(node):
            handle.forget(node.id, source=SOURCE)


def _present(
    handle: Memory, slots: Sequence[str], *, include_removed: bool = False
) -> dict[str, MemoryNode]:
    """Return what slots hold, asking for as many at a time as the memory answers."""
    found: dict[str, MemoryNode] = {}
    for start in range(0, len(slots), _PAGE):
        page = slots[start : start + _PAGE]
        found |= handle.get_slots(page, include_removed=include_removed)
    return found


def _condition(op: SearchOp) -> dict[str, Any]:
    """Return the condition on metadata that says: an item, with such a value."""
    return {"value": _listed(op.filter or {})}


def _listed(wanted: object) -> object:
    """Write sequences as lists, as they are in values."""
    if isinstance(wanted, Mapping):
        return {name: _listed(inner) for name, inner in wanted.items()}
    return [_listed(inner) for inner in wanted] if isinstance(wanted, list | tuple) else wanted


def _matching(
    handle: Memory, op: SearchOp, conditions: dict[str, Any]
) -> Iterator[tuple[MemoryNode, float | None]]:
    """Yield what matches, asking for as many answers at a time as a recall gives.

    A ranking is told to a depth of 10,100 answers.
    """
    start, end = op.offset, op.offset + op.limit
    while start < end and start <= _DEEPEST:
        size = min(_ANSWERS, end - start)
        hits = handle.recall(op.query or "", k=size, offset=start, **conditions).hits
        yield from ((hit.node, hit.score) for hit in hits if is_item(hit.node))
        if len(hits) < size:
            return
        start += size


def _latest(
    handle: Memory, op: SearchOp, conditions: dict[str, Any]
) -> Iterator[tuple[MemoryNode, float | None]]:
    left, offset, cursor = op.limit, op.offset, None
    while left > 0:
        size = min(_PAGE, left)
        page = handle.list(limit=size, offset=offset, cursor=cursor, **conditions)
        yield from ((node, None) for node in page if is_item(node))
        if page.cursor is None:
            return
        left, offset, cursor = left - size, 0, page.cursor


def _merged(paths: Iterable[Sequence[str]]) -> Labels | None:
    """Return the one path that says what several say together; None if they contradict."""
    merged: list[str] = []
    for labels in itertools.zip_longest(*paths, fillvalue="*"):
        named = {label for label in labels if label != "*"}
        if len(named) > 1:
            return None
        merged.append(named.pop() if named else "*")
    return tuple(merged)


def _within(root: Memory, namespace: Labels) -> Memory:
    """Return the handle on a namespace of the store.

    Raises:
        InvalidNamespaceError: The memory takes no such label, or not so many.
    """
    if not namespace:
        return root
    try:
        return root.within(namespace)
    except evomem.InvalidRequestError as error:
        raise InvalidNamespaceError(error.message) from error


def _stored(root: Memory, node: MemoryNode, *, present: bool) -> StoredItem:
    return StoredItem(**fields_of(node, len(root.namespace), present=present))
