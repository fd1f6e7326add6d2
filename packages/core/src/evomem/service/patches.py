"""Reading patches: what each did, with diffs that are made from the texts when they are asked for."""

from __future__ import annotations

from dataclasses import fields

from evomem.domain.applied import MemoryText, applied
from evomem.domain.edge import Edge
from evomem.domain.namespace import Reach
from evomem.domain.patch import Commit, Op
from evomem.domain.patch_result import AppliedOperation, PatchLink, PatchRecord, PatchResult
from evomem.domain.time import EPOCH
from evomem.engines.base import Reader
from evomem.errors import NotFoundError
from evomem.service.context import Context, whole_id

_MOVING = {Op.REMOVE, Op.RESTORE}
"""What a patch may do to a node that it does not add."""


def get_patch(context: Context, patch_id: str) -> PatchRecord:
    """Return a patch in full, by its id or an unambiguous prefix.

    Raises:
        NotFoundError: It is unknown in this namespace.
    """
    reach = context.reach
    with context.engine.read() as reader:
        whole = whole_id(reader, reach, patch_id)
        return patch_record(reader, reach, find_commit(reader, reach, whole))


def find_commit(reader: Reader, reach: Reach, patch_id: str) -> Commit:
    """Return a commit by the id of its patch.

    Raises:
        NotFoundError: It is unknown here.
    """
    for commit in reader.commits(reach, [patch_id]):
        return commit
    message = f"{patch_id!r} is no patch of this namespace. Use a patch_id that a write showed."
    raise NotFoundError(message, id=patch_id)


def patch_result(
    reader: Reader, reach: Reach, commit: Commit, *, replayed: bool = False
) -> PatchResult:
    """Return what a patch did, as `apply` answers."""
    return PatchResult(
        patch_id=commit.patch.id,
        sequence=commit.sequence,
        operations=_operations(reader, reach, commit),
        evidence=_evidence(commit),
        replayed=replayed,
    )


def patch_record(reader: Reader, reach: Reach, commit: Commit) -> PatchRecord:
    """Return a patch as the audit tells it."""
    done = patch_result(reader, reach, commit)
    patch = commit.patch
    return PatchRecord(
        **{f.name: getattr(done, f.name) for f in fields(done)},
        recorded_at=patch.recorded_at,
        actor=patch.actor,
        source=patch.source,
        reason=patch.reason,
        idempotency_key=patch.idempotency_key,
        events=tuple(event.id for event in patch.events),
        links=tuple(map(_link, patch.edges)),
        unlinked=tuple(PatchLink(edge.kind, edge.new, edge.old) for edge in patch.closed),
        rollback_of=patch.rollback_of,
        rolled_back_by=commit.rolled_back_by,
        diff="".join(operation.diff for operation in done.operations),
        digest=commit.digest.hex(),
        hash=commit.hash.hex(),
    )


def _operations(reader: Reader, reach: Reach, commit: Commit) -> tuple[AppliedOperation, ...]:
    patch = commit.patch
    before = _texts(reader.before(commit.sequence), reach, {s.memory_id for s in patch.operations})
    known = {node.id: node for node in patch.nodes}
    others = [s.node_id for s in patch.operations if s.op in _MOVING and s.node_id not in known]
    return applied(patch.operations, before, {**known, **reader.records(reach, others)})


def _texts(reader: Reader, reach: Reach, memory_ids: set[str]) -> dict[str, MemoryText]:
    memories = reader.memories(reach, memory_ids)
    tips = [memory.tip for memory in memories.values()]
    texts = reader.records(reach, tips)
    facts = reader.lineage(reach, tips, EPOCH).facts
    return {
        memory.id: MemoryText(
            memory.version,
            memory.tip,
            None if facts[memory.tip].removed else texts[memory.tip].text,
        )
        for memory in memories.values()
    }


def _evidence(commit: Commit) -> tuple[str, ...]:
    """Return what a patch rests on: what it cites, and for a note the event that brought it."""
    patch = commit.patch
    own = (event.id for event in patch.events) if patch.operations else ()
    return (*patch.evidence, *own)


def _link(edge: Edge) -> PatchLink:
    return PatchLink(edge.kind, edge.new, edge.old, edge.part, edge.reason, edge.linked_by)
