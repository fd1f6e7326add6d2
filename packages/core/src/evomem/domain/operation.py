"""Operations that a caller asks for: what `apply` should do to each memory, parsed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, TypedDict

from evomem.domain import arguments as read
from evomem.domain.identifiers import describe, parse_id
from evomem.domain.patch import Op
from evomem.domain.scope import parse_scope
from evomem.domain.text import sanitise
from evomem.errors import InvalidRequestError, TooLargeError, shown


@dataclass(frozen=True, slots=True)
class Add:
    """Start a memory.

    Attributes:
        subject: What it is about, in a few words.
        content: The statement, stored as received, up to 1 MiB.
        scope: Where it holds; None holds everywhere.
        slot: An address with one current value.
        tags: Labels to filter by; searchable.
        session: The conversation it comes from.
        metadata: JSON object, kept as it is.
        valid_from: From when it holds; default now.
        valid_to: Until when it holds, exclusive.
    """

    op: ClassVar[Op] = Op.ADD

    subject: str
    content: str
    scope: str | None = None
    slot: str | None = None
    tags: Sequence[str] = ()
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Word a decision anew; the decision stands. None keeps what the former version has.

    Attributes:
        memory_id: The memory that gains a version.
        expected_version: The version that the caller has read.
        new_content: The new wording, stored as received, up to 1 MiB.
        tags: Labels instead of the former; an empty list removes them.
        subject: What it is about, in a few words.
        metadata: JSON object instead of the former.
        valid_from: From when the new wording holds.
        valid_to: Until when it holds, exclusive.
    """

    op: ClassVar[Op] = Op.UPDATE

    memory_id: str
    expected_version: int
    new_content: str
    tags: Sequence[str] | None = None
    subject: str | None = None
    metadata: Mapping[str, Any] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Supersede:
    """Replace a decision by another one.

    Attributes:
        memory_id: The memory that gains a version.
        expected_version: The version that the caller has read.
        new_content: The new decision, stored as received, up to 1 MiB.
        part: Quoted words of the old text that it replaces; the rest stays in force.
        scope: Where it holds; None takes the scope of what it replaces.
        subject: What it is about; None keeps what the former version has.
        tags: Labels instead of the former; None keeps them.
        metadata: JSON object instead of the former; None keeps it.
        valid_from: From when it holds; default now, never before the memory's latest.
        valid_to: Until when it holds, exclusive.
    """

    op: ClassVar[Op] = Op.SUPERSEDE

    memory_id: str
    expected_version: int
    new_content: str
    part: str | None = None
    scope: str | None = None
    subject: str | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, Any] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a memory out of recall; its history is kept.

    Attributes:
        memory_id: The memory to remove.
        expected_version: The version that the caller has read.
    """

    op: ClassVar[Op] = Op.REMOVE

    memory_id: str
    expected_version: int


MAX_OPERATIONS = 10_000

RequestedOperation = Add | Update | Supersede | Remove


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """Operations to carry out together, or not at all.

    Attributes:
        operations: In order; several on one memory each expect the version the former made.
        evidence: Ids of the events they rest on.
        reason: Why, in the caller's words.
        idempotency_key: Replays of the same call return the first result.
        actor: Who asks.
        source: By which way it came, for example `cli`.
        warnings: What parsing had to repair.
    """

    operations: tuple[RequestedOperation, ...]
    evidence: tuple[str, ...] = ()
    reason: str | None = None
    idempotency_key: str | None = None
    actor: str | None = None
    source: str | None = None
    warnings: tuple[str, ...] = ()


class ApplyOptions(TypedDict, total=False):
    """Keyword arguments of `apply`; `ApplyRequest` says what each means."""

    evidence: Sequence[str] | str | None
    reason: str | None
    idempotency_key: str | None
    actor: str | None
    source: str | None


APPLY_ARGUMENTS = ("operations", *ApplyOptions.__annotations__)


def parse_apply(
    given: Mapping[str, Any],
    *,
    limit: int = MAX_OPERATIONS,
    tolerate_unknown: bool = False,
    source: str = "python",
) -> ApplyRequest:
    """Read the arguments of `apply`.

    Args:
        given: Arguments by name; `operations` is the only one needed.
        limit: How many operations one patch may hold.
        tolerate_unknown: Warn about unknown names instead of refusing them.
        source: The way the call came, if the arguments do not say.

    Raises:
        InvalidRequestError: Something in it cannot be meant; nothing was done.
    """
    ignored = read.check_names(given, APPLY_ARGUMENTS, tolerate=tolerate_unknown)
    operations, warnings = parse_operations(given.get("operations"), limit)
    return ApplyRequest(
        operations=operations,
        evidence=read.id_list(given.get("evidence"), "evidence"),
        reason=read.name(given, "reason"),
        idempotency_key=read.name(given, "idempotency_key"),
        actor=read.name(given, "actor"),
        source=read.name(given, "source") or source,
        warnings=(*ignored, *warnings),
    )


_KINDS: dict[str, type[RequestedOperation]] = {
    kind.op: kind for kind in (Add, Update, Supersede, Remove)
}


class ParsedOperations(NamedTuple):
    """Operations whose values need no further checks, and what parsing had to repair."""

    operations: tuple[RequestedOperation, ...]
    warnings: tuple[str, ...]


def parse_operations(given: object, limit: int) -> ParsedOperations:
    """Read the operations of `apply`: instances of these classes, or mappings with an `op`.

    Both go through the same checks. In the result tags are tuples, times aware UTC, scopes
    normalised.

    Args:
        given: A sequence of operations.
        limit: How many of them one patch may hold.

    Raises:
        TooLargeError: More operations than `limit`; none was looked at.
        InvalidRequestError: One cannot be meant; `details["item"]` is its position from 0.
    """
    items = _sequence(given)
    if not items:
        message = "There is no operation to apply: pass at least one, for example an Add."
        raise InvalidRequestError(message, field="operations")
    if len(items) > limit:
        message = (
            f"{len(items)} operations are more than the {limit} allowed in one patch. "
            "Apply them in several calls."
        )
        raise TooLargeError(message, field="operations", count=len(items), limit=limit)
    parsed = [_operation(number, item) for number, item in enumerate(items)]
    return ParsedOperations(
        operations=tuple(operation for operation, _ in parsed),
        warnings=tuple(warning for _, warnings in parsed for warning in warnings),
    )


def _sequence(given: object) -> Sequence[object]:
    if isinstance(given, Mapping | RequestedOperation):
        message = "This is a single operation: pass a list, apply([operation])."
        raise InvalidRequestError(message, field="operations")
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        message = (
            f"operations={shown(given)} is no list. Pass a list of Add, Update, Supersede "
            'and Remove, or of mappings such as {"op": "ADD", "subject": ..., "content": ...}.'
        )
        raise InvalidRequestError(message, field="operations")
    return given


def _operation(number: int, item: object) -> tuple[RequestedOperation, tuple[str, ...]]:
    try:
        given = _as_mapping(item)
        operation = _READERS[_kind(given)](given)
    except InvalidRequestError as error:
        message = f"Operation {number}: {error.message}"
        raise type(error)(message, **{**error.details, "item": number}) from error
    return operation, tuple(f"Operation {number}: {warning}" for warning in read.repairs(given))


def _as_mapping(item: object) -> Mapping[str, Any]:
    if isinstance(item, RequestedOperation):
        return {"op": item.op, **{f.name: getattr(item, f.name) for f in fields(item)}}
    if not isinstance(item, Mapping):
        message = (
            f"{shown(item)} is no operation. Pass an Add, Update, Supersede or Remove, "
            'or a mapping with an "op".'
        )
        raise InvalidRequestError(message, field="operations")
    return item


def _kind(given: Mapping[str, Any]) -> type[RequestedOperation]:
    op = given.get("op")
    kind = _KINDS.get(op.strip().upper()) if isinstance(op, str) else None
    if kind is None:
        message = f"op={shown(op)}: say what to do, one of {', '.join(_KINDS)}."
        raise InvalidRequestError(message, field="op")
    read.check_names(given, ("op", *(f.name for f in fields(kind))), tolerate=False)
    for f in fields(kind):
        needed = f.default is MISSING and f.default_factory is MISSING
        if needed and given.get(f.name) is None:
            message = f"{kind.op} needs {f.name}, which is missing."
            raise InvalidRequestError(message, field=f.name)
    return kind


def _add(given: Mapping[str, Any]) -> Add:
    subject = read.name(given, "subject")
    if subject is None:
        message = "subject is empty: say in a few words what it is about."
        raise InvalidRequestError(message, field="subject")
    begins, ends = read.period(given)
    return Add(
        subject=subject,
        content=_text(given, "content"),
        scope=parse_scope(read.name(given, "scope")),
        slot=read.name(given, "slot"),
        tags=read.text_list(given.get("tags"), "tags"),
        session=read.name(given, "session"),
        metadata=read.json_object(given.get("metadata"), "metadata"),
        valid_from=begins,
        valid_to=ends,
    )


def _update(given: Mapping[str, Any]) -> Update:
    begins, ends = read.period(given)
    return Update(
        memory_id=_memory_id(given),
        expected_version=_version(given),
        new_content=_text(given, "new_content"),
        tags=_tags(given),
        subject=read.name(given, "subject"),
        metadata=_metadata(given),
        valid_from=begins,
        valid_to=ends,
    )


def _supersede(given: Mapping[str, Any]) -> Supersede:
    begins, ends = read.period(given)
    return Supersede(
        memory_id=_memory_id(given),
        expected_version=_version(given),
        new_content=_text(given, "new_content"),
        part=None if given.get("part") is None else _text(given, "part"),
        scope=parse_scope(read.name(given, "scope")),
        subject=read.name(given, "subject"),
        tags=_tags(given),
        metadata=_metadata(given),
        valid_from=begins,
        valid_to=ends,
    )


def _remove(given: Mapping[str, Any]) -> Remove:
    return Remove(memory_id=_memory_id(given), expected_version=_version(given))


def _memory_id(given: Mapping[str, Any]) -> str:
    memory_id = parse_id(given["memory_id"], "memory_id")
    named = describe(memory_id)
    if named and named != "a memory":
        message = f"memory_id={memory_id!r} is the id of {named}: pass node.memory_id."
        raise InvalidRequestError(message, field="memory_id")
    return memory_id


def _version(given: Mapping[str, Any]) -> int:
    value = given["expected_version"]
    return read.whole_number(value, "expected_version", 1, read.MAX_VERSION)


def _text(given: Mapping[str, Any], name: str) -> str:
    text, _ = sanitise(given[name], name)
    return text


def _tags(given: Mapping[str, Any]) -> tuple[str, ...] | None:
    value = given.get("tags")
    return None if value is None else read.text_list(value, "tags")


def _metadata(given: Mapping[str, Any]) -> dict[str, Any] | None:
    value = given.get("metadata")
    return None if value is None else read.json_object(value, "metadata")


_READERS: Mapping[type[RequestedOperation], Callable[[Mapping[str, Any]], RequestedOperation]] = {
    Add: _add,
    Update: _update,
    Supersede: _supersede,
    Remove: _remove,
}
