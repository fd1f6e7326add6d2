"""Operations of `memory_apply`: one flat schema for all of them, and what clients send for it."""

from __future__ import annotations

from typing import Any

import evomem
from evomem_mcp.kinds import OBJECT, TEXT, TEXTS, TIME, Kind, choice, from_json, whole
from evomem_mcp.parameters import Parameter, input_schema

OPERATION = (
    Parameter(
        "op",
        choice("ADD", "UPDATE", "SUPERSEDE", "REMOVE"),
        "ADD starts a memory; UPDATE words it anew, the decision stands; SUPERSEDE replaces the "
        "decision; REMOVE takes it out of search, its history is kept.",
        required=True,
    ),
    Parameter(
        "subject",
        TEXT,
        "ADD, needed: what it is about, in a few words. UPDATE, SUPERSEDE: instead of the former.",
    ),
    Parameter(
        "content",
        TEXT,
        "ADD, needed: the statement, in full sentences, with the reason; stored as received, up "
        "to 1 MiB.",
    ),
    Parameter(
        "memory_id", TEXT, "UPDATE, SUPERSEDE, REMOVE, needed: the memory, as search showed it."
    ),
    Parameter(
        "expected_version",
        whole(1, 2**53),
        "UPDATE, SUPERSEDE, REMOVE, needed: the version of the memory that you have read.",
    ),
    Parameter("new_content", TEXT, "UPDATE, SUPERSEDE, needed: the whole new statement."),
    Parameter("part", TEXT, "SUPERSEDE: quoted old words that it replaces; the rest stands."),
    Parameter(
        "scope",
        TEXT,
        "ADD, SUPERSEDE: where it holds, such as staging/eu; left out: everywhere, or as before.",
    ),
    Parameter("slot", TEXT, "ADD: address with one current value, such as ledger/database."),
    Parameter("tags", TEXTS, "ADD: labels to filter by. UPDATE, SUPERSEDE: instead of the former."),
    Parameter("session", TEXT, "ADD: name of the conversation that it comes from."),
    Parameter("metadata", OBJECT, "ADD, UPDATE, SUPERSEDE: your own names and values."),
    Parameter("valid_from", TIME, "All but REMOVE: ISO 8601 time from which it holds."),
    Parameter("valid_to", TIME, "All but REMOVE: ISO 8601 time until which it holds."),
)

_KINDS = {parameter.name: parameter.kind for parameter in OPERATION}


def _operations(_: str, value: object) -> object:
    meant = from_json(value)
    items = meant if isinstance(meant, list) else [meant]
    return (
        None if meant is None else [_operation(number, item) for number, item in enumerate(items)]
    )


def _operation(number: int, item: object) -> object:
    """Read the values of an operation for what they mean; the memory refuses what has no meaning.

    A name without a value is dropped, whatever the operation: some clients send all there are.
    """
    given = from_json(item)
    if not isinstance(given, dict):
        return given
    try:
        return {name: _value(name, v) for name, v in given.items() if not _is_blank(name, v)}
    except evomem.InvalidRequestError as error:
        message = f"Operation {number}: {error.message}"
        raise evomem.InvalidRequestError(message, **{**error.details, "item": number}) from error


def _is_blank(name: str, value: object) -> bool:
    return name in _KINDS and (value is None or value == "")


def _value(name: str, value: object) -> Any:  # noqa: ANN401  it may be any kind
    return _KINDS[name].read(name, value) if name in _KINDS else value


OPERATIONS = Kind({"type": "array", "items": input_schema(OPERATION)}, _operations)
