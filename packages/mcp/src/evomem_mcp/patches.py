"""The patch toolset: evidence, operations on it, and the memories and patches they make.

There is no rollback among the tools: to undo a patch is for people, on the command line or in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import evomem
from evomem_mcp import patch_wording as wording
from evomem_mcp.envelope import Answer
from evomem_mcp.limits import cut_text, fit, recalled
from evomem_mcp.note_parameters import AS_OF, KNOWN_AT
from evomem_mcp.patch_limits import BY_MEMORY, fit_history, fit_patch
from evomem_mcp.patch_parameters import APPLY, EVENT, MEMORY_ID, PATCH_ID, READ, SEARCH
from evomem_mcp.schemas import WARNINGS, list_schema, output_schema
from evomem_mcp.tool import READS, Session, ToolSpec, writes


def _record_event(session: Session, arguments: dict[str, Any]) -> Answer:
    event = session.memory.record_event(**arguments["event"], source="mcp")

    def render(limit: int) -> Answer:
        shown = replace(event, content=cut_text(event.content, limit, "stored whole"))
        return Answer(shown.to_dict(), wording.recorded(shown))

    return fit(render, session.max_chars)


def _apply(session: Session, arguments: dict[str, Any]) -> Answer:
    result = session.memory.apply(**arguments["request"], source="mcp")
    where = f"memory_patch_read({result.patch_id!r})"
    return fit_patch(result, session.max_chars, wording.applied, lambda _: where)


def _read(session: Session, arguments: dict[str, Any]) -> Answer:
    record = session.memory.read(**arguments)

    def say(shown: evomem.MemoryRecord, warnings: Sequence[str]) -> Answer:
        fields = {**shown.to_dict(), **({"warnings": [*warnings]} if warnings else {})}
        return Answer(fields, wording.memory(shown, warnings))

    # Without its history a memory is whole: this is where the others say to read on.
    return fit_history(record, session.max_chars, say) if record.history else say(record, [])


def _search(session: Session, arguments: dict[str, Any]) -> Answer:
    request = arguments["request"]
    result = session.memory.search(request.pop("query"), **request)
    return recalled(result, session.max_chars, wording.found, BY_MEMORY)


def _history(session: Session, arguments: dict[str, Any]) -> Answer:
    record = session.memory.read(**arguments, include_history=True)

    def say(shown: evomem.MemoryRecord, warnings: Sequence[str]) -> Answer:
        fields = {"versions": shown.to_dict()["history"], "warnings": [*warnings]}
        return Answer(fields, wording.versions(shown.history, warnings))

    return fit_history(record, session.max_chars, say, least=1)


def _patch_read(session: Session, arguments: dict[str, Any]) -> Answer:
    record = session.memory.patch(**arguments)
    then = record.recorded_at.isoformat()

    def where(step: evomem.AppliedOperation) -> str:
        return f"memory_read({step.memory_id!r}, known_at={then!r})"

    return fit_patch(record, session.max_chars, wording.patch, where)


PATCHES = (
    ToolSpec(
        name="memory_record_event",
        title="Record an event",
        description=(
            "Record what was said, and by whom, as evidence that memory_apply can cite. Writes "
            "one event that never changes; it is in no search. Use it before you act on a "
            "statement of the user, a tool or a document: word for word, with the role of who "
            "said it. An event proves who said something, not that it is true. Not for your own "
            "conclusions: the role assistant counts as no evidence unless the policy says so."
        ),
        parameters=[EVENT],
        output=output_schema(evomem.EventRecord),
        annotations=writes(destructive=False, idempotent=False),
        handle=_record_event,
    ),
    ToolSpec(
        name="memory_apply",
        title="Apply operations",
        description=(
            "Change memories by operations that cite evidence: ADD, UPDATE, SUPERSEDE, REMOVE. "
            "Writes one patch: all operations or none. Use it when something was decided, "
            "changed or given up, after memory_search and memory_record_event. All but ADD need "
            "the memory_id and the expected_version that you have read; on VERSION_CONFLICT "
            "read the memory again and decide again. Not for undoing a patch: an administrator "
            "rolls it back."
        ),
        parameters=[APPLY],
        output=output_schema(evomem.PatchResult),
        annotations=writes(destructive=True, idempotent=False),
        handle=_apply,
    ),
    ToolSpec(
        name="memory_read",
        title="Read a memory",
        description=(
            "Return a memory: its version in force whole, its status, and the version that "
            "expected_version asks for. Reads only. Use it before a change, after a "
            "VERSION_CONFLICT, to read on where a text was cut, or with as_of or known_at to "
            "see what held or was known then. Not for searching: use memory_search."
        ),
        parameters=READ,
        output=output_schema(evomem.MemoryRecord, warnings=WARNINGS),
        annotations=READS,
        handle=_read,
    ),
    ToolSpec(
        name="memory_search",
        title="Search memories",
        description=(
            "Find what is in force about a question, whatever version of a memory matches it. "
            "Reads only. Use it before you decide, act or write. Rely on status active only, "
            "and on what stands beside it; lines after 'replaced:' are obsolete. Each answer "
            "names the memory and the version that memory_apply asks for. Not for one known "
            "memory: use memory_read."
        ),
        parameters=[SEARCH],
        output=output_schema(evomem.RecallResult),
        annotations=READS,
        handle=_search,
    ),
    ToolSpec(
        name="memory_history",
        title="History of a memory",
        description=(
            "Tell every operation on a memory, the oldest first: what was done, by whom, why, in "
            "which patch, and where each version stands now. Reads only. Use it to explain how a "
            "decision came about. Not for the version in force alone: use memory_read."
        ),
        parameters=[MEMORY_ID, AS_OF, KNOWN_AT],
        output=list_schema("versions", evomem.MemoryVersion),
        annotations=READS,
        handle=_history,
    ),
    ToolSpec(
        name="memory_patch_read",
        title="Read a patch",
        description=(
            "Return a patch as the audit keeps it: who did what, when, why, on which evidence, "
            "with the diff of the texts, and whether it was rolled back. Reads only. Use it to "
            "check what a change did. Not for the state of a memory: use memory_read."
        ),
        parameters=[PATCH_ID],
        output=output_schema(evomem.PatchRecord),
        annotations=READS,
        handle=_patch_read,
    ),
)
