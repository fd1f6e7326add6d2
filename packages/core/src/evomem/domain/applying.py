"""The rules of `apply`: operations with expected versions, in order, on a draft. Pure."""

from __future__ import annotations

from evomem.domain.draft import Draft
from evomem.domain.edge import AMENDS, REFINES, SUPERSEDES, Edge
from evomem.domain.extraction import Extraction
from evomem.domain.links import check_part, check_scope
from evomem.domain.node import CURRENT, NodeRecord, Status
from evomem.domain.operation import Add, Remove, RequestedOperation, Supersede, Update
from evomem.domain.patch import MemoryState, Op
from evomem.domain.planning import Replacement, add_version
from evomem.domain.request import RememberRequest
from evomem.domain.result import Decision
from evomem.domain.text import digest, fold_whitespace
from evomem.errors import (
    DuplicateError,
    InvalidRequestError,
    NotFoundError,
    VersionConflictError,
)

_ASKED = Decision("explicit", "the caller named it")


def plan_operation(draft: Draft, asked: RequestedOperation, extraction: Extraction | None) -> None:
    """Carry out one operation on the draft, against the versions that it has reached.

    Args:
        draft: Loaded with the tips of all memories that the operations name.
        asked: The operation.
        extraction: Fields of its content; None for a removal.

    Raises:
        NotFoundError: The memory is unknown.
        VersionConflictError: It is at another version.
        DuplicateError: The content says what an active note says already.
        InvalidRequestError: It cannot be done; nothing is written in any of these cases.
    """
    match asked:
        case Add():
            _add(draft, asked, extraction or Extraction("none"))
        case Update() | Supersede():
            _replace(draft, asked, extraction or Extraction("none"))
        case Remove():
            _remove(draft, asked)


def _add(draft: Draft, asked: Add, extraction: Extraction) -> None:
    if asked.slot:
        _check_slot(draft, asked.slot, asked.scope)
    _check_new(draft, asked.content, asked.scope, asked.slot)
    request = RememberRequest(
        text=asked.content,
        tags=tuple(asked.tags),
        session=asked.session,
        scope=asked.scope,
        subject=asked.subject,
        slot=asked.slot,
        valid_from=asked.valid_from,
        valid_to=asked.valid_to,
        metadata=asked.metadata,
    )
    add_version(draft, request, extraction, asked.scope, [], _ASKED, "caller")


def _replace(draft: Draft, asked: Update | Supersede, extraction: Extraction) -> None:
    memory = _at_version(draft, asked.memory_id, asked.expected_version)
    former = draft.record(memory.tip)
    part = asked.part if isinstance(asked, Supersede) else None
    removed = draft.lineage.facts[former.id].removed
    if removed and (part or isinstance(asked, Update)):
        message = f"{memory.id} was removed: only a SUPERSEDE without part opens it again."
        raise InvalidRequestError(message, memory_id=memory.id)
    scope = former.scope
    if isinstance(asked, Supersede) and asked.scope is not None:
        check_scope(draft, asked.scope, former.id)
        scope = asked.scope
    if not _rephrases(asked, former):
        _check_new(draft, asked.new_content, scope, None if part else former.slot, former)
    if removed and former.slot:
        _check_slot(draft, former.slot, scope)
    # A decision that stands ends when it was to end, whatever its wording.
    stands = isinstance(asked, Update) and former.valid_to and former.valid_to > draft.now
    request = RememberRequest(
        text=asked.new_content,
        tags=former.tags if asked.tags is None else tuple(asked.tags),
        session=former.session if isinstance(asked, Update) else None,
        subject=asked.subject or former.subject,
        slot=None if part else former.slot,
        valid_from=asked.valid_from,
        valid_to=asked.valid_to or (former.valid_to if stands else None),
        metadata=former.metadata if asked.metadata is None else asked.metadata,
        searchable=former.searchable,
    )
    if part:
        check_part(draft, former.id, part)
        new = add_version(draft, request, extraction, scope, [], _ASKED, "caller")
        amendment = Edge(AMENDS, new.id, former.id, part=part)
        draft.connect(amendment)
        draft.count(amendment, Op.LINK)
        return
    kind = REFINES if isinstance(asked, Update) else SUPERSEDES
    replaced = [Replacement(kind, former.id, former.id)]
    add_version(draft, request, extraction, scope, replaced, _ASKED, "caller")


def _rephrases(asked: Update | Supersede, former: NodeRecord) -> bool:
    """Tell whether an update keeps the words and changes what is said beside them."""
    beside = (asked.subject, asked.tags, asked.metadata, asked.valid_from, asked.valid_to)
    same = fold_whitespace(asked.new_content) == fold_whitespace(former.text)
    return isinstance(asked, Update) and same and any(given is not None for given in beside)


def _remove(draft: Draft, asked: Remove) -> None:
    memory = _at_version(draft, asked.memory_id, asked.expected_version)
    nodes = standing(draft, memory)
    if not nodes:
        message = f"{memory.id} was removed before: there is nothing left to remove."
        raise InvalidRequestError(message, memory_id=memory.id)
    for node_id in nodes:
        draft.remove(node_id, purge=False)


def standing(draft: Draft, memory: MemoryState) -> list[str]:
    """Return the nodes of a memory that a removal must take out: its tip, what is or comes."""
    facts = draft.lineage.facts
    own = [n for n, fact in facts.items() if fact.memory_id == memory.id and not fact.removed]
    return [n for n in own if n == memory.tip or draft.lineage.status(n, draft.now) in CURRENT]


def _at_version(draft: Draft, memory_id: str, expected: int) -> MemoryState:
    """Return the memory, if it is at the version that the caller has read."""
    memory = draft.memory(memory_id)
    if memory is None:
        message = (
            f"{memory_id!r} is no memory of this namespace. Use the memory_id that remember, "
            "search or read showed; nothing was written."
        )
        raise NotFoundError(message, id=memory_id)
    heads = [n for n in draft.lineage.tips(memory.tip) if n != memory.tip]
    if memory.version == expected and not heads:
        return memory
    message = (
        f"Memory {memory_id} is at version {memory.version}, not at {expected}. Read it, decide "
        f"again, and pass expected_version={memory.version}."
    )
    if heads:
        elsewhere = ", ".join(draft.lineage.facts[n].memory_id for n in heads)
        message = f"Memory {memory_id} was replaced by {elsewhere}. Read that, and decide again."
    current = [_state(draft, n) for n in heads or [memory.tip]]
    raise VersionConflictError(
        message, memory_id=memory_id, expected_version=expected, current=current[0], heads=current
    )


def _state(draft: Draft, node_id: str) -> dict[str, object]:
    memory = draft.memory_of(node_id)
    return {
        "content": draft.record(node_id).text,
        "memory_id": memory.id,
        "version": memory.version,
        "node_id": node_id,
        "status": str(draft.lineage.status(node_id, draft.now)),
    }


def _check_slot(draft: Draft, slot: str, scope: str | None) -> None:
    """Refuse a second value of a slot.

    Raises:
        DuplicateError: It has one.
    """
    present = draft.slots.get((slot, scope))
    for node_id in draft.lineage.tips(present) if present else []:
        if draft.lineage.status(node_id, draft.now) in CURRENT:
            raise _duplicate(draft, node_id, f"Slot {slot!r} has a value in this scope")


def _check_new(
    draft: Draft,
    text: str,
    scope: str | None,
    slot: str | None,
    former: NodeRecord | None = None,
) -> None:
    """Refuse content that an active note has already; slotted values are compared to their own.

    Raises:
        DuplicateError: It is there already.
    """
    twin = draft.active_twin(digest(text, scope, None)) if slot is None else None
    if former and slot and fold_whitespace(former.text) == fold_whitespace(text):
        active = draft.lineage.status(former.id, draft.now) is Status.ACTIVE
        twin = former.id if active else None
    if twin:
        raise _duplicate(draft, twin, "An active note says the same")


def _duplicate(draft: Draft, node_id: str, why: str) -> DuplicateError:
    state = _state(draft, node_id)
    message = (
        f"{why}: {node_id}, memory {state['memory_id']} at version {state['version']}. To change "
        "it pass a SUPERSEDE or UPDATE with that memory_id and expected_version."
    )
    return DuplicateError(message, current=state)
