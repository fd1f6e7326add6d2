"""Reading a memory as a whole: its version in force, and what was done to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evomem.domain.lineage import Lineage
from evomem.domain.namespace import Reach
from evomem.domain.node import Status
from evomem.domain.patch import MemoryState
from evomem.domain.patch_result import MemoryRecord, MemoryVersion
from evomem.engines.base import Reader
from evomem.errors import NotFoundError
from evomem.service.context import Context, whole_id
from evomem.service.view import view_nodes


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A memory to read.

    Attributes:
        memory_id: The memory.
        include_history: Tell every operation on it.
        as_of: Tell what held then; default now, or `known_at` if that is given.
        known_at: Tell what was known then.
    """

    memory_id: str
    include_history: bool = False
    as_of: datetime | None = None
    known_at: datetime | None = None


def read_memory(context: Context, request: ReadRequest) -> MemoryRecord:
    """Return a memory as it stands, or as it stood.

    Raises:
        NotFoundError: It is unknown here, or had not begun.
    """
    reach = context.reach
    with context.engine.read() as latest:
        reader, at = context.view(latest, request.as_of, request.known_at)
        whole = whole_id(latest, reach, request.memory_id)
        memory = reader.memories(reach, [whole]).get(whole)
        if memory is None:
            raise _unknown(context, latest, request)
        story = reader.story(reach, [memory.tip])
        heads = story.heads(memory.tip, at)
        if request.as_of is not None and not heads:
            raise _unbegun(request)
        shown = _shown(story, memory, at, exact=request.as_of is not None)
        node = view_nodes(reader, reach, [shown], at)[shown]
        history = _history(reader, reach, whole, request, at) if request.include_history else ()
    return MemoryRecord(
        memory_id=memory.id,
        version=memory.version,
        status=node.status,
        node=node,
        heads=tuple(h for h in heads if story.status(h, at) is Status.ACTIVE),
        scheduled=tuple(story.scheduled(shown, at)),
        history=history,
    )


def _shown(story: Lineage, memory: MemoryState, at: datetime, *, exact: bool) -> str:
    """Return the memory's own version in force; if there is none, its last that had begun."""
    facts = story.facts.values()
    own = sorted((f for f in facts if f.memory_id == memory.id), key=lambda f: f.version)
    heads = [n for n in story.heads(memory.tip, at) if story.facts[n].memory_id == memory.id]
    for node_id in (*heads, *(fact.id for fact in own)):
        if story.status(node_id, at) is Status.ACTIVE:
            return node_id
    begun = [fact.id for fact in own if fact.valid_from <= at]
    return begun[-1] if exact and begun else memory.tip


def _history(
    reader: Reader, reach: Reach, memory_id: str, request: ReadRequest, at: datetime
) -> tuple[MemoryVersion, ...]:
    steps = reader.steps(reach, memory_id)
    nodes = view_nodes(reader, reach, [step.node_id for step in steps], at)
    return tuple(
        MemoryVersion(
            version=step.version,
            op=step.op,
            node_id=step.node_id,
            content=nodes[step.node_id].text,
            status=nodes[step.node_id].status,
            patch_id=step.patch_id,
            sequence=step.sequence,
            recorded_at=step.recorded_at,
            actor=step.actor,
            reason=step.reason,
        )
        for step in steps
        if request.as_of is None or nodes[step.node_id].valid_from <= request.as_of
    )


def _unknown(context: Context, latest: Reader, request: ReadRequest) -> NotFoundError:
    memory_id = request.memory_id
    if latest.memories(context.reach, [memory_id]):
        message = f"{memory_id} was not known at {request.known_at}: it was recorded later."
        return NotFoundError(message, id=memory_id)
    message = (
        f"{memory_id!r} is no memory of this namespace. Use the memory_id that remember, search or "
        "apply showed; a node's id is read with get_node."
    )
    return NotFoundError(message, id=memory_id)


def _unbegun(request: ReadRequest) -> NotFoundError:
    message = f"{request.memory_id} did not hold at {request.as_of}: it begins later."
    return NotFoundError(message, id=request.memory_id)
