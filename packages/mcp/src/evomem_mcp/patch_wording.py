"""The short texts of the patch toolset: what a model needs to go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import evomem
from evomem_mcp import wording


def recorded(event: evomem.EventRecord) -> str:
    """Say under which id an event can be cited."""
    again = "Recorded before" if event.replayed else "Recorded"
    first = f"{again} as event {event.id} (role {event.role}). Pass its id in evidence."
    return "\n".join([first, *wording.warnings(event.warnings)])


def applied(result: evomem.PatchResult) -> str:
    """Say what a patch did."""
    again = "Replayed: it had been committed before as" if result.replayed else "Committed"
    first = f"{again} patch {result.patch_id} (commit {result.sequence})."
    return "\n".join([first, *_steps(result), *wording.warnings(result.warnings)])


def patch(record: evomem.PatchRecord) -> str:
    """Tell a patch as the audit does, with its diff."""
    by = " ".join(_said("by", record.actor) + _said("via", record.source))
    first = f"Patch {record.patch_id} (commit {record.sequence}) of {_day(record.recorded_at)} {by}"
    undone = [f"It undoes patch {record.rollback_of}."] if record.rollback_of else []
    undone += [f"Undone by patch {record.rolled_back_by}."] if record.rolled_back_by else []
    known = [f"{first.rstrip()}.", *undone]
    known += [f"Reason: {wording.one_line(record.reason)}"] if record.reason else []
    known += [f"Evidence: {', '.join(record.evidence)}."] if record.evidence else []
    known += [f"Recorded: {', '.join(record.events)}."] if record.events else []
    lines = [*known, *_steps(record), *wording.warnings(record.warnings)]
    return "\n".join([*lines, record.diff]).rstrip("\n")


def found(result: evomem.RecallResult) -> str:
    """Render answers as recall does, each with the memory and the version that a change names."""
    hits = tuple(replace(hit, node=_addressed(hit.node)) for hit in result.hits)
    return replace(result, hits=hits).to_text()


def _addressed(node: evomem.MemoryNode) -> evomem.MemoryNode:
    return replace(node, id=f"{node.memory_id} at version {node.memory_version} | {node.id}")


def memory(record: evomem.MemoryRecord, warnings: Iterable[str] = ()) -> str:
    """Tell how a memory stands."""
    shown = record.node
    lines = [
        f"Memory {record.memory_id} is at version {record.version}.",
        wording.nodes([shown]).removeprefix("1. "),
        *wording.doubts(shown),
    ]
    if others := [head for head in record.heads if head != shown.id]:
        lines.append(f"In force: {', '.join(others)}; find it with memory_search.")
    if record.scheduled:
        lines.append(f"Takes force later: {', '.join(record.scheduled)}.")
    if record.history:
        lines.append(versions(record.history))
    return "\n".join([*lines, *wording.warnings(warnings)])


def versions(shown: Sequence[evomem.MemoryVersion], warnings: Iterable[str] = ()) -> str:
    """Tell every operation on a memory, each with where its node stands now."""
    return "\n".join([*(_version(version) for version in shown), *wording.warnings(warnings)])


def _version(version: evomem.MemoryVersion) -> str:
    known = [
        f"status: {version.status}",
        f"version {version.version} {version.op}",
        version.node_id,
        version.patch_id,
        _day(version.recorded_at),
        *_said("by", version.actor),
    ]
    text = "\n   ".join(version.content.splitlines()) or "(text purged)"
    reason = f"\n   reason: {wording.one_line(version.reason)}" if version.reason else ""
    return f"[{' | '.join(known)}] {text}{reason}"


def _steps(result: evomem.PatchResult) -> list[str]:
    return [
        f"{step.op} {step.memory_id}, version {step.version}: node {step.node_id}."
        for step in result.operations
    ]


def _said(word: str, name: str | None) -> list[str]:
    return [f"{word} {wording.one_line(name)}"] if name else []


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d}"
