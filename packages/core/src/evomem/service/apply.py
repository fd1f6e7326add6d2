"""The write path of operations: the same planning, patch and commit as for notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evomem.domain.applied import applied, memory_texts
from evomem.domain.applying import plan_operation
from evomem.domain.draft import Draft
from evomem.domain.operation import Add, ApplyRequest, Remove, RequestedOperation
from evomem.domain.patch_result import PatchResult
from evomem.domain.text import digest
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
                evidence=request.evidence,
            )
        )
        records = {**draft.facts.records, **{node.id: node for node in draft.nodes}}
        return PatchResult(
            patch_id=receipt.patch_id,
            sequence=receipt.sequence,
            operations=applied(draft.operations, texts, records),
            evidence=request.evidence,
            warnings=request.warnings,
        )

    return until_current(attempt)


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
    tips = [memory.tip for memory in memories.values()]
    scopes = {
        m.id: s for m, s in zip(memories.values(), _scopes(reader, context, tips), strict=True)
    }
    keys = [_digest(operation, scopes) for operation in request.operations]
    slots = [(o.slot, o.scope) for o in request.operations if isinstance(o, Add) and o.slot]
    twins, values, alike = load_twins(reader, context.reach, filter(None, keys), slots)
    facts = load_facts(reader, context.reach, tips, now, alike)
    facts.twins, facts.slots = twins, values
    # A removal takes out versions before the tip too, and shows what they said.
    ending = {o.memory_id for o in request.operations if isinstance(o, Remove)}
    rest = [n for n, fact in facts.lineage.facts.items() if fact.memory_id in ending]
    facts.records.update(reader.records(context.reach, rest))
    return Draft(context.namespace, now, facts)


def _scopes(reader: Reader, context: Context, tips: Sequence[str]) -> list[str | None]:
    records = reader.records(context.reach, tips)
    return [records[tip].scope for tip in tips]


def _digest(operation: RequestedOperation, scopes: dict[str, str | None]) -> bytes | None:
    match operation:
        case Remove():
            return None
        case Add(content=text, scope=scope, slot=slot):
            return None if slot else digest(text, scope, None)
        case _:
            scope = getattr(operation, "scope", None) or scopes.get(operation.memory_id)
            return digest(operation.new_content, scope, None)


def _replayed(context: Context, patch_id: str) -> PatchResult:
    """Answer as the first call did; what it did has not changed, as patches never do."""
    with context.engine.read() as reader:
        commit = find_commit(reader, context.reach, patch_id)
        return patch_result(reader, context.reach, commit, replayed=True)
