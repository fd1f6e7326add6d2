"""What the operations of a patch did to the texts of memories: one diff each, made when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evomem.domain.diff import unified_diff
from evomem.domain.draft import Draft
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Op, Operation
from evomem.domain.patch_result import AppliedOperation

_LINKS = {Op.LINK, Op.UNLINK}


@dataclass(slots=True)
class MemoryText:
    """What a memory says: the text of its tip, None if that was removed."""

    version: int
    tip: str
    text: str | None


def memory_texts(draft: Draft) -> dict[str, MemoryText]:
    """Return what the memories say whose tips a draft has in full; ask before it is planned."""
    facts, records = draft.lineage.facts, draft.facts.records
    return {
        memory.id: MemoryText(
            memory.version,
            memory.tip,
            None if facts[memory.tip].removed else records[memory.tip].text,
        )
        for memory in draft.facts.memories.values()
        if memory.tip in records
    }


def applied(
    operations: Sequence[Operation],
    before: Mapping[str, MemoryText],
    records: Mapping[str, NodeRecord],
) -> tuple[AppliedOperation, ...]:
    """Return operations with their diffs, each against the text that the former one left.

    Args:
        operations: In order, of one patch.
        before: The memories before them; those that they begin are missing.
        records: The nodes that they add or remove.
    """
    current = {memory_id: replace(text) for memory_id, text in before.items()}
    done = []
    for step in operations:
        memory = current.setdefault(step.memory_id, MemoryText(0, "", None))
        diff = _diff(step, memory, records)
        memory.version = step.version
        done.append(AppliedOperation(step.op, step.memory_id, step.version, step.node_id, diff))
    return tuple(done)


def _diff(step: Operation, memory: MemoryText, records: Mapping[str, NodeRecord]) -> str:
    """Return the diff of one step, and bring the memory in step with it."""
    if step.op in _LINKS:
        return ""
    labels = (f"{step.memory_id}@{memory.version}", f"{step.memory_id}@{step.version}")
    record = records[step.node_id]
    text = record.text
    # Only the tip speaks for the memory; a node that is removed or revived may lie before it.
    if step.op is Op.REMOVE:
        memory.text = None if step.node_id == memory.tip else memory.text
        return unified_diff(text, None, *labels)
    if record.version != step.version:
        memory.text = text if step.node_id == memory.tip else memory.text
        return unified_diff(None, text, *labels)
    former, memory.tip, memory.text = memory.text, step.node_id, text
    return unified_diff(former, text, *labels)
