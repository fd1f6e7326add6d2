"""A note to remember: parsed once at the edge, frozen, and carried unopened to where it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypedDict

from evomem.domain import arguments as read
from evomem.domain.edge import parse_relation
from evomem.domain.identifiers import parse_id
from evomem.domain.node import ALWAYS, SEARCHABLE
from evomem.domain.scope import parse_scope
from evomem.domain.text import sanitise
from evomem.domain.time import Instant
from evomem.errors import InvalidRequestError, shown


class Amendment(NamedTuple):
    """A quoted part of an older node that a new note replaces."""

    id: str
    part: str


class RememberOptions(TypedDict, total=False):
    """Keyword arguments of `remember`; `RememberRequest` says what each means."""

    tags: Sequence[str] | str
    session: str | None
    scope: str | None
    subject: str | None
    slot: str | None
    supersedes: Sequence[str] | str | None
    refines: Sequence[str] | str | None
    amends: Sequence[Mapping[str, str]] | Mapping[str, str] | None
    overrides: Sequence[str] | str | None
    relations: Mapping[str, Sequence[str] | str] | None
    expected_version: int | None
    idempotency_key: str | None
    valid_from: Instant | None
    valid_to: Instant | None
    created_at: Instant | None
    metadata: Mapping[str, Any] | None
    searchable: str
    actor: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """A note to remember.

    Attributes:
        text: The statement, stored as received, up to 1 MiB.
        tags: Labels to filter by; searchable.
        session: The conversation it comes from.
        scope: Where it holds; None takes the scope of what it replaces, else everywhere.
        subject: What it is about, in a few words.
        slot: An address with one current value; an equal slot in the same scope is replaced.
        supersedes: Nodes it replaces wholly; each is extended at its current tip.
        refines: Nodes whose decision stands and is worded anew.
        amends: Parts of nodes that it replaces; the rest stays in force.
        overrides: Nodes it wins over inside its own, narrower scope.
        relations: Free relations to other nodes, by kind.
        expected_version: Refuse unless the replaced memory is at this version; 0 unless the slot
            holds nothing.
        idempotency_key: Replays of the same call return the first result.
        valid_from: From when it holds; default now, never before the memory's latest.
        valid_to: Until when it holds, exclusive.
        created_at: When it was said, if not now.
        metadata: JSON object, kept as it is.
        searchable: Whether a question finds it: `always`, `tip` until it is replaced, or `never`.
        actor: Who writes.
        source: By which way it came, for example `cli`.
        warnings: What parsing had to repair or ignore.
    """

    text: str
    tags: tuple[str, ...] = ()
    session: str | None = None
    scope: str | None = None
    subject: str | None = None
    slot: str | None = None
    supersedes: tuple[str, ...] = ()
    refines: tuple[str, ...] = ()
    amends: tuple[Amendment, ...] = ()
    overrides: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    expected_version: int | None = None
    idempotency_key: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    searchable: str = ALWAYS
    actor: str | None = None
    source: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """Return every node the request names."""
        amended = tuple(amendment.id for amendment in self.amends)
        related = tuple(node_id for _, node_id in self.relations)
        return (*self.supersedes, *self.refines, *amended, *self.overrides, *related)


REMEMBER_ARGUMENTS = ("text", *RememberOptions.__annotations__)


def parse_remember(
    given: Mapping[str, Any], *, tolerate_unknown: bool = False, source: str = "python"
) -> RememberRequest:
    """Read the arguments of `remember`.

    Args:
        given: Arguments by name; `text` is the only one needed.
        tolerate_unknown: Warn about unknown names instead of refusing them.
        source: The way the call came, if the arguments do not say.

    Raises:
        InvalidRequestError: Something in it cannot be meant; nothing was done.
    """
    ignored = read.check_names(given, REMEMBER_ARGUMENTS, tolerate=tolerate_unknown)
    text, repaired = sanitise(given.get("text"))
    mended = read.repairs(given, but="text")
    begins, ends = read.period(given)
    expected = given.get("expected_version")
    request = RememberRequest(
        text=text,
        tags=read.text_list(given.get("tags"), "tags"),
        session=read.name(given, "session"),
        scope=parse_scope(read.name(given, "scope")),
        subject=read.name(given, "subject"),
        slot=read.name(given, "slot"),
        supersedes=_ids(given, "supersedes"),
        refines=_ids(given, "refines"),
        amends=_amendments(given.get("amends")),
        overrides=_ids(given, "overrides"),
        relations=_relations(given.get("relations")),
        expected_version=expected
        if expected is None
        else read.whole_number(expected, "expected_version", 0, read.MAX_VERSION),
        idempotency_key=read.name(given, "idempotency_key"),
        valid_from=begins,
        valid_to=ends,
        created_at=read.time(given, "created_at"),
        metadata=read.json_object(given.get("metadata"), "metadata"),
        searchable=read.one_of(given.get("searchable", ALWAYS), "searchable", SEARCHABLE),
        actor=read.name(given, "actor"),
        source=read.name(given, "source") or source,
        warnings=(*ignored, *([repaired] if repaired else []), *mended),
    )
    _check_targets(request)
    return request


def _ids(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return read.id_list(given.get(name), name)


def _amendments(value: object) -> tuple[Amendment, ...]:
    items = [value] if isinstance(value, Mapping) else (value or [])
    found = []
    for item in items if isinstance(items, Sequence) else [items]:
        if not isinstance(item, Mapping) or set(item) != {"id", "part"}:
            message = f'amends={item!r}: pass {{"id": node id, "part": the quoted old words}}.'
            raise InvalidRequestError(message, field="amends")
        part, _ = sanitise(item["part"], "amends.part")
        found.append(Amendment(parse_id(item["id"], "amends.id"), part))
    return tuple(found)


def _relations(value: object) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        message = f'relations={shown(value)}: pass an object such as {{"caused_by": ["node id"]}}.'
        raise InvalidRequestError(message, field="relations")
    return tuple(
        (parse_relation(kind), node_id)
        for kind, ids in value.items()
        for node_id in read.id_list(ids, "relations")
    )


def _check_targets(request: RememberRequest) -> None:
    both = set(request.supersedes) & {*request.refines, *request.overrides}
    both |= set(request.refines) & set(request.overrides)
    amended = {amendment.id for amendment in request.amends}
    both |= amended & {*request.supersedes, *request.refines, *request.overrides}
    if both:
        message = (
            f"{sorted(both)[0]} is given two roles: name it in one of supersedes, refines, "
            "overrides and amends."
        )
        raise InvalidRequestError(message, field="supersedes")
    if request.overrides and request.scope is None:
        message = "overrides needs a scope: say where the new note wins, for example scope='eu'."
        raise InvalidRequestError(message, field="scope")
    _check_expected(request)


def _check_expected(request: RememberRequest) -> None:
    named, expected = request.supersedes or request.refines, request.expected_version
    if expected == 0 and (named or not request.slot):
        message = (
            "expected_version=0 says that a slot holds nothing: pass it with slot, without "
            "supersedes and refines."
        )
        raise InvalidRequestError(message, field="expected_version")
    if expected and not (named or request.slot):
        message = "expected_version needs supersedes, refines or slot: say which memory it is of."
        raise InvalidRequestError(message, field="expected_version")


def parse_notes(notes: object) -> list[RememberRequest]:
    """Read a batch: a sequence of texts, or of mappings with the arguments of `remember`.

    Raises:
        InvalidRequestError: One of them cannot be meant; the message says which.
    """
    if isinstance(notes, str | bytes | Mapping) or not isinstance(notes, Sequence):
        message = "A batch is a list of texts, or of mappings with the arguments of remember."
        raise InvalidRequestError(message, field="notes")
    requests = [_note(number, note) for number, note in enumerate(notes)]
    if len({(request.actor, request.source) for request in requests}) > 1:
        message = "A batch is one patch: its notes must name the same actor and source."
        raise InvalidRequestError(message, field="actor")
    return requests


def _note(number: int, note: object) -> RememberRequest:
    given = {"text": note} if isinstance(note, str) else note
    if not isinstance(given, Mapping):
        message = f"Note {number} of the batch is {note!r}: pass a text or a mapping."
        raise InvalidRequestError(message, field="notes", item=number)
    if given.get("idempotency_key"):
        message = "A batch is one patch: pass idempotency_key to remember_many itself."
        raise InvalidRequestError(message, field="idempotency_key", item=number)
    try:
        return parse_remember(given)
    except InvalidRequestError as error:
        message = f"Note {number} of the batch: {error.message}"
        raise type(error)(message, **{**error.details, "item": number}) from error
