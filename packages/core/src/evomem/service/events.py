"""Events: recording evidence and reading it."""

from __future__ import annotations

from dataclasses import replace

from evomem.domain.draft import Draft, StoreFacts
from evomem.domain.event import Event, EventRecord, EventRequest
from evomem.domain.identifiers import EVENT, new_id
from evomem.engines.base import Reader
from evomem.errors import IdempotencyConflictError, NotFoundError
from evomem.service.context import Context, until_current, whole_id
from evomem.service.guard import admit_event


def record_event(context: Context, request: EventRequest) -> EventRecord:
    """Record evidence; the same external id with the same data answers with the first record.

    Raises:
        IdempotencyConflictError: Other data was recorded under the external id.
        PolicyDeniedError: The policy does not let it in.
    """
    said, request = request.content, admit_event(context, request)

    def attempt(_: int) -> EventRecord:
        with context.engine.read() as reader:
            if first := _first(context, reader, request, said):
                return first
            now = context.time(reader)
        event = Event(
            id=new_id(EVENT),
            role=request.role,
            content=request.content,
            occurred_at=request.occurred_at or now,
            session=request.session,
            external_id=request.external_id,
        )
        draft = Draft(context.namespace, now, StoreFacts())
        draft.events.append(event)
        receipt = context.commit(draft.build(actor=request.actor, source=request.source))
        return EventRecord(
            id=event.id,
            role=event.role,
            content=event.content,
            occurred_at=event.occurred_at,
            recorded_at=receipt.recorded_at,
            session=event.session,
            external_id=event.external_id,
            patch_id=receipt.patch_id,
            warnings=request.warnings,
        )

    return until_current(attempt)


def _first(
    context: Context, reader: Reader, request: EventRequest, said: str
) -> EventRecord | None:
    """Return what was recorded before under the external id.

    What was said counts as the same whether it was stored before secrets were replaced or after.
    """
    if request.external_id is None:
        return None
    found = reader.event_of(context.reach, request.external_id)
    if found is None:
        return None
    first = reader.events(context.reach, [found])[found]
    same = (first.role, first.session) == (request.role, request.session)
    same = same and first.content in {request.content, said}
    if not same or request.occurred_at not in {None, first.occurred_at}:
        message = (
            f"The external id {request.external_id!r} was recorded with other data as {found}. "
            "Events never change: record this one under an id of its own."
        )
        raise IdempotencyConflictError(message, external_id=request.external_id, event_id=found)
    return replace(first, replayed=True, warnings=request.warnings)


def get_event(context: Context, event_id: str) -> EventRecord:
    """Return an event by its id or an unambiguous prefix.

    Raises:
        NotFoundError: It is unknown in this namespace.
    """
    with context.engine.read() as reader:
        whole = whole_id(reader, context.reach, event_id)
        found = reader.events(context.reach, [whole]).get(whole)
    if found is None:
        message = f"{event_id!r} is no event of this namespace. Use an id that record_event showed."
        raise NotFoundError(message, id=event_id)
    return found
