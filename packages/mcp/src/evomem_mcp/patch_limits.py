"""Patches and the versions of memories within the bound of an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import evomem
from evomem_mcp.envelope import Answer
from evomem_mcp.limits import (
    LEAST_TEXT_CHARS,
    ReadOn,
    cut_node,
    cut_text,
    fit,
    fitting,
)

# What a warning about what was left out may take, in both halves.
_RESERVED_CHARS = 500
_LISTS = ("evidence", "events", "warnings", "operations", "links", "unlinked")

Patch = TypeVar("Patch", bound=evomem.PatchResult)
Say = Callable[[evomem.MemoryRecord, Sequence[str]], Answer]


def _call(node: evomem.MemoryNode) -> str:
    if node.status is evomem.Status.ACTIVE:
        return f"memory_read({node.memory_id!r})"
    return as_known(node.memory_id, node)


def as_known(memory_id: str, then: evomem.MemoryNode | evomem.MemoryVersion) -> str:
    """Return the call that shows what a memory held when this was recorded."""
    return f"memory_read({memory_id!r}, known_at={then.recorded_at.isoformat()!r})"


BY_MEMORY = ReadOn(
    call=_call,
    name=lambda node: node.memory_id,
    advice="Read one with memory_read(memory_id), or ask for less.",
)


def fit_patch(
    result: Patch,
    max_chars: int,
    say: Callable[[Patch], str],
    where: Callable[[evomem.AppliedOperation], str],
) -> Answer:
    """Return the answer about a patch: its diffs cut first, then whole operations left out.

    Args:
        result: The patch.
        max_chars: The bound.
        say: Makes the text of it.
        where: The call that tells more about an operation.
    """

    def render(shown: Patch) -> Answer:
        return Answer(shown.to_dict(), say(shown))

    steps = len(result.operations)
    answer = fit(lambda limit: render(_cut_patch(result, limit, where)), max_chars, nodes=steps)
    if answer.size <= max_chars:
        return answer
    return render(_drop_items(_cut_patch(result, LEAST_TEXT_CHARS, where), max_chars, render))


def fit_history(record: evomem.MemoryRecord, max_chars: int, say: Say, *, least: int = 0) -> Answer:
    """Return the answer about a memory with its history: the oldest versions are left out first.

    Args:
        record: The memory.
        max_chars: The bound.
        say: Makes the answer of it, and of warnings about the versions that were left out.
        least: How many versions there must be in it.
    """

    def cut(limit: int) -> evomem.MemoryRecord:
        history = tuple(_cut_version(record.memory_id, v, limit) for v in record.history)
        return replace(record, node=cut_node(record.node, limit, BY_MEMORY), history=history)

    answer = fit(lambda limit: say(cut(limit), []), max_chars, nodes=1 + len(record.history))
    if answer.size <= max_chars:
        return answer
    shortest = cut(LEAST_TEXT_CHARS)

    def size(*versions: evomem.MemoryVersion) -> int:
        return say(replace(shortest, history=versions), []).size

    room = max_chars - _RESERVED_CHARS - size()
    kept = fitting((size(v) - size() for v in reversed(shortest.history)), room)
    first = len(record.history) - max(least, kept)
    shown = replace(shortest, history=shortest.history[first:])
    return say(shown, _earlier(record, first, max_chars))


def _earlier(record: evomem.MemoryRecord, first: int, max_chars: int) -> list[str]:
    """Say how to read the versions before the first that is shown."""
    if first <= 0:
        return []
    left = record.history[first - 1]
    call = f"memory_history({record.memory_id!r}, known_at={left.recorded_at.isoformat()!r})"
    if first < len(record.history) and left.patch_id == record.history[first].patch_id:
        call = f"memory_patch_read({left.patch_id!r})"
    return [
        f"Cut to {max_chars} characters: {first} earlier versions left out. Read them with {call}."
    ]


def _cut_version(memory_id: str, version: evomem.MemoryVersion, limit: int) -> evomem.MemoryVersion:
    where = as_known(memory_id, version)
    return replace(
        version,
        content=cut_text(version.content, limit, where),
        actor=_cut(version.actor, limit),
        reason=_cut(version.reason, limit),
    )


def _cut_patch(result: Patch, limit: int, where: Callable[[evomem.AppliedOperation], str]) -> Patch:
    steps = tuple(
        replace(step, diff=cut_text(step.diff, limit, where(step))) for step in result.operations
    )
    warnings = tuple(cut_text(warning, limit, "not shown") for warning in result.warnings)
    cut = replace(result, operations=steps, warnings=warnings)
    if not isinstance(cut, evomem.PatchRecord):
        return cut
    return replace(
        cut,
        diff=cut_text(cut.diff, limit, "the operations have each its own"),
        actor=_cut(cut.actor, limit),
        reason=_cut(cut.reason, limit),
        idempotency_key=_cut(cut.idempotency_key, limit),
    )


def _cut(text: str | None, limit: int) -> str | None:
    return None if text is None else cut_text(text, limit, "not shown")


def _drop_items(result: Patch, max_chars: int, render: Callable[[Patch], Answer]) -> Patch:
    """Return a patch whose lists fit: most of the room is for its operations."""
    kept: dict[str, Any] = {name: () for name in _LISTS if hasattr(result, name)}

    def size(name: str, items: Sequence[object]) -> int:
        return render(replace(result, **{**kept, name: items})).size

    lost = []
    for name in kept:
        items, used = getattr(result, name), size(name, ())
        room = max_chars - _RESERVED_CHARS - used
        share = room if name == "operations" else room // 4
        count = fitting((size(name, (item,)) - used for item in items), share)
        kept[name] = items[: max(1, count) if name == "operations" else count]
        if left := len(items) - len(kept[name]):
            lost.append(f"{left} {name}")
    warning = (
        f"Cut to {max_chars} characters: {', '.join(lost)} left out. Read a memory with "
        "memory_read(memory_id)."
    )
    return replace(result, **{**kept, "warnings": (*kept["warnings"], warning)})
