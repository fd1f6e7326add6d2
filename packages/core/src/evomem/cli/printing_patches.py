"""How evidence, patches and memories look to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evomem.cli.printing import (
    LINE_CHARS,
    PURGED,
    body,
    head,
    labelled,
    line,
    memory_at,
    moment,
    one_line,
    recalled,
    warnings,
)
from evomem.domain.event import EventRecord
from evomem.domain.patch import Change
from evomem.domain.patch_result import (
    AppliedOperation,
    MemoryRecord,
    MemoryVersion,
    PatchLink,
    PatchRecord,
    PatchResult,
)
from evomem.domain.result import RecallResult

if TYPE_CHECKING:
    from rich.console import Console

_OP_CHARS = 9
"""The longest name of an operation, `SUPERSEDE`."""
_HEADER_LINES = 2
"""A diff begins with `---` and `+++`."""
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def recorded(console: Console, result: EventRecord) -> None:
    """Print what became of a piece of evidence."""
    done = "Recorded before" if result.replayed else "Recorded"
    line(console, (done, "bold"), "  ", *_event_head(result))
    warnings(console, result.warnings)


def event(console: Console, result: EventRecord) -> None:
    """Print an event in full."""
    line(console, *_event_head(result))
    body(console, result.content, 2, None)
    line(console)
    labelled(console, _event_facts(result))


def _event_head(result: EventRecord) -> list[str | tuple[str, str]]:
    return [(result.id, "bold"), f"  {result.role}  {moment(result.occurred_at)}"]


def _event_facts(result: EventRecord) -> Iterator[tuple[str, str]]:
    yield "recorded", moment(result.recorded_at)
    yield "session", result.session or ""
    yield "external id", result.external_id or ""
    yield "patch", result.patch_id


def applied(console: Console, result: PatchResult) -> None:
    """Print what a patch did."""
    _done(console, "Replayed" if result.replayed else "Applied", result)
    warnings(console, result.warnings)


def rolled_back(console: Console, result: PatchResult, *, diffs: bool) -> None:
    """Print what an undoing did, or would do."""
    _done(console, "Rolled back by" if result.patch_id else "Would do", result)
    if diffs:
        line(console)
        _diffs(console, result.operations)
    warnings(console, result.warnings)


def _done(console: Console, verb: str, result: PatchResult) -> None:
    line(console, (verb, "bold"), *(["  ", *_patch_head(result)] if result.patch_id else []))
    _operations(console, result)
    if result.evidence:
        line(console, "  evidence ", ", ".join(result.evidence))


def _patch_head(result: PatchResult | Change) -> list[str | tuple[str, str]]:
    return [(result.patch_id or "", "bold"), f"  sequence {result.sequence}"]


def _operations(console: Console, result: PatchResult) -> None:
    """Print the steps; what is only planned has no node ids to use."""
    for step in result.operations:
        where = memory_at(step.memory_id, step.version)
        node = f"  {step.node_id}" if result.patch_id else ""
        line(console, f"  {step.op:<{_OP_CHARS}}  ", *where, node)


def changes(console: Console, found: Sequence[Change], more: str | None) -> None:
    """Print patches, a line each.

    Args:
        console: Where to.
        found: The patches.
        more: How to see more of them, if there may be more.
    """
    if not found:
        line(console, "No patches.")
    for change in found:
        who = [change.actor and f"by {change.actor}", change.source and f"via {change.source}"]
        known = [moment(change.recorded_at), _summary(change), *who, one_line(change.reason or "")]
        line(console, *_patch_head(change), "  ", "  ".join(filter(None, known)))
    if more:
        line(console, ("More: ", "dim"), more)


def _summary(change: Change) -> str:
    counts = Counter(str(step.op) for step in change.operations)
    words = [f"{count} {op}" if count > 1 else op for op, count in counts.items()]
    return ", ".join(words) or "evidence only"


def patch(console: Console, record: PatchRecord) -> None:
    """Print a patch in full, its diff with coloured lines on a terminal."""
    line(console, *_patch_head(record), f"  {moment(record.recorded_at)}")
    _operations(console, record)
    line(console)
    labelled(console, _patch_facts(record))
    if record.diff:
        line(console)
        _diffs(console, record.operations)
    warnings(console, record.warnings)


def _patch_facts(record: PatchRecord) -> Iterator[tuple[str, str]]:
    yield "actor", record.actor or ""
    yield "source", record.source or ""
    yield "reason", record.reason or ""
    yield "evidence", ", ".join(record.evidence)
    yield "recorded", ", ".join(record.events)
    for link in record.links:
        yield "link", _link(link)
    for link in record.unlinked:
        yield "link closed", _link(link)
    yield "rollback of", record.rollback_of or ""
    yield "rolled back", f"by {record.rolled_back_by}" if record.rolled_back_by else ""
    yield "key", record.idempotency_key or ""
    yield "digest", record.digest
    yield "hash", record.hash


def _link(link: PatchLink) -> str:
    part = f' in "{one_line(link.part)}"' if link.part else ""
    why = f"  ({link.reason})" if link.reason else ""
    return f"{link.new} {link.kind.replace('_', ' ')} {link.old}{part}{why}"


def _diffs(console: Console, operations: Sequence[AppliedOperation]) -> None:
    for step in operations:
        for number, text in enumerate(step.diff.split("\n")[:-1]):
            style = _DIFF_STYLES.get(text[:1], "") if number >= _HEADER_LINES else "bold"
            line(console, (text, style))


def searched(console: Console, result: RecallResult) -> None:
    """Print what was found, with the memory and its version, as an operation asks for them."""
    recalled(console, result, memories=True)


def memory(console: Console, record: MemoryRecord) -> None:
    """Print a memory: its version in force, and every operation on it."""
    line(console, "memory ", *memory_at(record.memory_id, record.version))
    line(console, "  ", *head(record.node))
    body(console, record.node.text or PURGED, 4, None)
    elsewhere = [node_id for node_id in record.heads if node_id != record.node.id]
    for label, ids in (("leads to", elsewhere), ("scheduled", record.scheduled)):
        if ids:
            line(console, f"  {label}: ", ", ".join(ids))
    line(console)
    for version in record.history:
        _version(console, version)


def _version(console: Console, version: MemoryVersion) -> None:
    who = f"  by {version.actor}" if version.actor else ""
    why = f"  {one_line(version.reason)}" if version.reason else ""
    line(
        console,
        f"version {version.version}  {version.op:<{_OP_CHARS}}  ",
        (version.node_id, "bold"),
        (f"  {moment(version.recorded_at)}  {version.patch_id}{who}{why}", "dim"),
    )
    body(console, version.content or PURGED, 2, LINE_CHARS, version.node_id)
