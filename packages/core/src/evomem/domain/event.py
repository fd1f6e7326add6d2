"""Events: immutable evidence. An event proves who said what and when, not that it is true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from evomem.domain import arguments as read
from evomem.domain.plain import Result
from evomem.domain.text import sanitise
from evomem.domain.time import Instant
from evomem.errors import InvalidRequestError, shown

ROLES = ("user", "assistant", "tool", "system", "document")


@dataclass(frozen=True, slots=True)
class Event:
    """A piece of evidence: what was said, by which role, when."""

    id: str
    role: str
    content: str
    occurred_at: datetime
    session: str | None = None
    external_id: str | None = None


class EventOptions(TypedDict, total=False):
    """Keyword arguments of `record_event`; `EventRequest` says what each means."""

    external_id: str | None
    session: str | None
    occurred_at: Instant | None
    actor: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class EventRequest:
    """A piece of evidence to record.

    Attributes:
        role: Who said it, one of `ROLES`.
        content: What was said, stored as received, up to 1 MiB.
        external_id: Its id where it comes from; a repetition returns the first record.
        session: The conversation it comes from.
        occurred_at: When it was said, if not now.
        actor: Who records it.
        source: By which way it came, for example `cli`.
        warnings: What parsing had to repair or ignore.
    """

    role: str
    content: str
    external_id: str | None = None
    session: str | None = None
    occurred_at: datetime | None = None
    actor: str | None = None
    source: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventRecord(Result):
    """Immutable evidence: it proves who said what and when, not that it is true.

    Attributes:
        id: The event's id; pass it as evidence.
        role: Who said it, one of `ROLES`.
        content: What was said.
        occurred_at: When it was said.
        recorded_at: When it was recorded.
        session: The conversation it comes from.
        external_id: Its id where it comes from.
        patch_id: The patch that recorded it.
        replayed: It had been recorded before under the same external id.
        warnings: What had to be repaired or ignored.
    """

    id: str
    role: str
    content: str
    occurred_at: datetime
    recorded_at: datetime
    session: str | None
    external_id: str | None
    patch_id: str
    replayed: bool = False
    warnings: tuple[str, ...] = ()


EVENT_ARGUMENTS = ("role", "content", *EventOptions.__annotations__)


def parse_event(
    given: Mapping[str, Any], *, tolerate_unknown: bool = False, source: str = "python"
) -> EventRequest:
    """Read the arguments of `record_event`.

    Args:
        given: Arguments by name; `role` and `content` are needed.
        tolerate_unknown: Warn about unknown names instead of refusing them.
        source: The way the call came, if the arguments do not say.

    Raises:
        InvalidRequestError: Something in it cannot be meant; nothing was done.
    """
    ignored = read.check_names(given, EVENT_ARGUMENTS, tolerate=tolerate_unknown)
    role = _role(given.get("role"))
    content, repaired = sanitise(given.get("content"), "content")
    return EventRequest(
        role=role,
        content=content,
        external_id=read.name(given, "external_id"),
        session=read.name(given, "session"),
        occurred_at=read.time(given, "occurred_at"),
        actor=read.name(given, "actor"),
        source=read.name(given, "source") or source,
        warnings=(
            *ignored,
            *([repaired] if repaired else []),
            *read.repairs(given, but="content"),
        ),
    )


def _role(value: object) -> str:
    meant = value.strip().lower() if isinstance(value, str) else ""
    if meant not in ROLES:
        message = f"role={shown(value)}: say who said it, one of {', '.join(ROLES)}."
        raise InvalidRequestError(message, field="role")
    if meant != value:
        message = f"role={shown(value)}: did you mean {meant!r}? One of {', '.join(ROLES)}."
        raise InvalidRequestError(message, field="role", did_you_mean=meant)
    return meant
