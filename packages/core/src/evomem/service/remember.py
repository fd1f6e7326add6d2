"""The write path of notes: extract, decide, plan, commit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from evomem.domain.decision import LinkDecision, Suggestion
from evomem.domain.draft import Draft
from evomem.domain.extraction import Extraction
from evomem.domain.patch import Receipt, Replay
from evomem.domain.planning import NotePlan, plan_note
from evomem.domain.request import RememberRequest
from evomem.domain.result import Decision, Moved, RememberResult
from evomem.service.candidates import copy_warnings, decide
from evomem.service.context import Context, until_current
from evomem.service.facts import facts_of_new, load_note_facts
from evomem.service.guard import admit_note, as_permitted, linked_nodes
from evomem.service.replays import find_replay, payload_digest
from evomem.service.view import view_new, view_nodes


def remember(
    context: Context, requests: Sequence[RememberRequest], idempotency_key: str | None
) -> list[RememberResult]:
    """Remember notes in one patch; notes of one patch replace what stood before it.

    Raises:
        EvoMemError: Nothing was written.
    """
    started = time.perf_counter()
    payload = _payload(requests) if idempotency_key is not None else None
    if kept := find_replay(context, idempotency_key, payload):
        return _replayed(context, kept, started)
    requests = [admit_note(context, request) for request in requests]
    extractions = extract(context, [request.text for request in requests])
    decisions = [decide(context, r, e) for r, e in zip(requests, extractions, strict=True)]

    def attempt(number: int) -> list[RememberResult]:
        if kept := find_replay(context, idempotency_key, payload):
            return _replayed(context, kept, started)
        draft = _draft(context, requests, decisions, first=number == 0)
        plans = []
        for request, extraction, decided in zip(requests, extractions, decisions, strict=True):
            allowed = as_permitted(context, draft, request, decided)
            plans.append(plan_note(draft, allowed[0], extraction, allowed[1], context.linker.name))
        receipt = _commit(context, draft, requests[0], plans, idempotency_key, payload)
        return _results(context, draft, plans, receipt, started)

    return until_current(attempt)


def _draft(
    context: Context,
    requests: Sequence[RememberRequest],
    decisions: Sequence[LinkDecision | None],
    *,
    first: bool,
) -> Draft:
    """Load what the plan needs; the first attempt takes a note that names nothing for new.

    Most are, and the commit finds out if not: that saves a snapshot on nearly every write.
    """
    notes = [(r, linked_nodes(d)) for r, d in zip(requests, decisions, strict=True)]
    if first and not any(request.targets or request.slot or linked for request, linked in notes):
        return Draft(context.namespace, context.clock(), facts_of_new(requests))
    with context.engine.read() as reader:
        now = context.time(reader)
        facts = load_note_facts(reader, context.reach, notes, now)
    return Draft(context.namespace, now, facts)


def _commit(
    context: Context,
    draft: Draft,
    request: RememberRequest,
    plans: Sequence[NotePlan],
    key: str | None,
    payload: bytes | None,
) -> Receipt | None:
    if draft.is_empty and key is None:
        return None
    patch = draft.build(
        actor=request.actor,
        source=request.source,
        idempotency_key=key,
        payload_digest=payload,
        replay={"notes": [_kept_ids(plan) for plan in plans]} if key else None,
    )
    return context.commit(patch)


def _kept_ids(plan: NotePlan) -> dict[str, object]:
    return {
        "node": plan.node_id,
        "superseded": plan.superseded,
        "moved": plan.moved,
        "deduplicated": plan.deduplicated,
        "outcome": plan.decision.outcome,
        "confidence": plan.decision.confidence,
        "candidates": [c.node_id for c in plan.candidates],
    }


def extract(context: Context, texts: Sequence[str]) -> list[Extraction]:
    """Extract fields; whatever goes wrong there, the notes are stored without them."""
    try:
        found = context.cronista.extract(texts)
        return [e.verified(text) for e, text in zip(found, texts, strict=True)]
    except Exception as error:  # a cronista may be any code, and must not cost a note
        warning = f"The cronista {context.cronista.name} failed ({error}): stored without fields."
        return [Extraction(cronista="none", warnings=(warning,)) for _ in texts]


def _payload(requests: Sequence[RememberRequest]) -> bytes:
    """Digest what the caller asked for, apart from the key and the way it came."""
    return payload_digest(
        [replace(r, idempotency_key=None, source=None, actor=None, warnings=()) for r in requests]
    )


def _replayed(context: Context, kept: Replay, started: float) -> list[RememberResult]:
    """Answer with the ids of the first call and the nodes as they are today."""
    notes = kept.replay["notes"]
    with context.engine.read() as reader:
        asked = [i for note in notes for i in (note["node"], *note["candidates"])]
        nodes = view_nodes(reader, context.reach, asked, context.time(reader))
    return [
        RememberResult(
            node=nodes[note["node"]],
            superseded=tuple(note["superseded"]),
            moved=tuple(Moved(*pair) for pair in note["moved"]),
            deduplicated=note["deduplicated"],
            replayed=True,
            decision=Decision(note["outcome"], "as in the first call", note["confidence"]),
            candidates=tuple(
                Suggestion(c, nodes[c].text, "suggested by the first call", 0.0)
                for c in note["candidates"]
                if c in nodes
            ),
            patch_id=kept.patch_id,
            latency_ms=_since(started),
        )
        for note in notes
    ]


def _results(
    context: Context,
    draft: Draft,
    plans: Sequence[NotePlan],
    receipt: Receipt | None,
    started: float,
) -> list[RememberResult]:
    superseded = [node_id for plan in plans for node_id in plan.superseded]
    copies: dict[str, list[str]] = {}
    # Notes that are all new and stand alone are shown without asking the store again.
    alone = not draft.edges and len(draft.nodes) == len(plans)
    nodes = {
        record.id: view_new(replace(record, recorded_at=receipt.recorded_at), draft.now)
        for record in draft.nodes
        if alone and receipt
    }
    if not alone:
        with context.engine.read() as reader:
            nodes = view_nodes(reader, context.reach, [p.node_id for p in plans], draft.now)
            own = {plan.node_id for plan in plans}
            copies = copy_warnings(context, reader, superseded, own, draft.now)
    return [
        RememberResult(
            node=nodes[plan.node_id],
            superseded=plan.superseded,
            moved=plan.moved,
            deduplicated=plan.deduplicated,
            decision=plan.decision,
            candidates=plan.candidates,
            warnings=(
                *plan.warnings,
                *(w for n in plan.superseded for w in copies.get(n, ())),
                *(receipt.warnings if receipt and not plan.deduplicated else ()),
            ),
            patch_id=receipt.patch_id if receipt else None,
            latency_ms=_since(started),
        )
        for plan in plans
    ]


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
