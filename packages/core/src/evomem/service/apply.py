"""The write path of operations: the same planning, patch and commit as for notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evomem.domain.applied import applied, memory_texts
from evomem.domain.applying import plan_operation
from evomem.domain.draft import Draft
from evomem.domain.operation import (
    Add,
    ApplyRequest,
    Remove,
    RequestedOperation,
    Supersede,
    Update,
)
from evomem.domain.patch_result import PatchResult
from evomem.domain.text import digest
from evomem.domain.time import format_time
from evomem.engines.base import Reader
from evomem.service.context import Context, until_current
from evomem.service.facts import load_facts, load_twins
from evomem.service.guard import admit_operations, check_apply, located
from evomem.service.patches import find_commit, patch_result
from evomem.service.remember import extract
from evomem.service.replays import find_replay, payload_digest


def apply(context: Context, asked: ApplyRequest) -> PatchResult:
    """Carry out operations in one patch, in order, or none of them.

    Raises:
        EvoMemError: Nothing was written; `details["item"]` says which operation is meant.
    """
    key = asked.idempotency_key
    payload = payload_digest(replace(asked, actor=None, source=None, warnings=())) if key else None
    if kept := find_replay(context, key, payload):
        return _replayed(context, kept.patch_id)
    request = admit_operations(context, asked)
    contents = [_content(operation) for operation in request.operations]
    extractions = iter(extract(context, [text for text in contents if text is not None]))
    fields = [None if text is None else next(extractions) for text in contents]

    def attempt(_: int) -> PatchResult:
        if kept := find_replay(context, key, payload):
            return _replayed(context, kept.patch_id)
        with context.engine.read() as reader:
            draft = _draft(context, reader, request)
            check_apply(context, reader, request, draft)
        texts = memory_texts(draft)
        for number, operation in enumerate(request.operations):
            with located(number):
                plan_operation(draft, operation, fields[number])
        receipt = context.commit(
            draft.build(
                actor=request.actor,
                source=request.source,
                reason=request.reason,
                idempotency_key=key,
                payload_digest=payload,
                replay={} if key else None,
                evidence=sorted(request.evidence),
            )
        )
        records = {**draft.facts.records, **{node.id: node for node in draft.nodes}}
        return PatchResult(
            patch_id=receipt.patch_id,
            sequence=receipt.sequence,
            operations=applied(draft.operations, texts, records),
            evidence=tuple(sorted(request.evidence)),
            warnings=(*request.warnings, *_scheduled(draft), *receipt.warnings),
        )

    return until_current(attempt)


def _scheduled(draft: Draft) -> list[str]:
    """Name the new versions that do not hold yet."""
    return [
        f"{node.id} takes force at {format_time(node.valid_from)}; until then what is in force "
        "stands. Pass valid_from to change that."
        for node in draft.nodes
        if node.valid_from > draft.now
    ]


def _content(operation: RequestedOperation) -> str | None:
    match operation:
        case Add(content=text):
            return text
        case Remove():
            return None
        case _:
            return operation.new_content


def _draft(context: Context, reader: Reader, request: ApplyRequest) -> Draft:
    """Load the tips of every memory that the operations name, and what their contents equal."""
    now = context.time(reader)
    named = {o.memory_id for o in request.operations if not isinstance(o, Add)}
    memories = reader.memories(context.reach, named)
    tips = {memory.id: memory.tip for memory in memories.values()}
    records = reader.records(context.reach, tips.values())
    scopes = {memory_id: records[tip].scope for memory_id, tip in tips.items()}
    slots = [(o.slot, o.scope) for o in request.operations if isinstance(o, Add) and o.slot]
    slots += [(record.slot, record.scope) for record in records.values() if record.slot]
    digests = _digests(request.operations, scopes)
    twins, values, alike = load_twins(reader, context.reach, digests, slots)
    # A removal takes out whatever stands of a memory, and shows what that said.
    ending = {o.memory_id for o in request.operations if isinstance(o, Remove)}
    steps = (step for memory_id in ending for step in reader.steps(context.reach, memory_id))
    standing = [step.node_id for step in steps]
    facts = load_facts(reader, context.reach, tips.values(), now, [*alike, *standing])
    latest = [found[0] for found in twins.values() if found]
    facts.records.update(
        reader.records(context.reach, [*standing, *latest, *filter(None, values.values())])
    )
    facts.twins, facts.slots = twins, values
    return Draft(context.namespace, now, facts)


def _digests(
    operations: Sequence[RequestedOperation], scopes: dict[str, str | None]
) -> Iterator[bytes]:
    """Yield by what the contents are compared, each in the scope that its memory has by then."""
    for operation in operations:
        match operation:
            case Add(content=text, scope=scope, slot=None):
                yield digest(text, scope, None)
            case Supersede(memory_id=memory_id, new_content=text, scope=scope, part=part):
                holds = scope or scopes.get(memory_id)
                yield digest(text, holds, None)
                # An amended memory holds where it held.
                scopes[memory_id] = scopes.get(memory_id) if part else holds
            case Update(memory_id=memory_id, new_content=text):
                yield digest(text, scopes.get(memory_id), None)
            case _:
                pass


def _replayed(context: Context, patch_id: str) -> PatchResult:
    """Answer as the first call did; what it did has not changed, as patches never do."""
    with context.engine.read() as reader:
        commit = find_commit(reader, context.reach, patch_id)
        return patch_result(reader, context.reach, commit, replayed=True)
