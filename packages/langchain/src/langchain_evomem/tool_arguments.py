"""Arguments of the tools: plain schemas for models, and the reading of what models send.

The schemas have no unions and no null, which some providers refuse and all charge for. What is
left out is None.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

import evomem


def _listed(given: object) -> object:
    """Read one text where a list is meant, and a list written as JSON text."""
    if not isinstance(given, str):
        return given
    try:
        read = json.loads(given) if given.lstrip().startswith("[") else given
    except (ValueError, RecursionError):
        read = given
    return read if isinstance(read, list) else [given]


def _left_out() -> None:
    """Return the default of an optional argument; a factory, so that no schema publishes it."""


Text = Annotated[str | None, WithJsonSchema({"type": "string"})]
Texts = Annotated[
    list[str] | None,
    BeforeValidator(_listed),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]


def _text(description: str) -> Any:  # noqa: ANN401  a field has the type of its annotation
    return Field(default_factory=_left_out, description=description)


class Arguments(BaseModel):
    """Arguments of a tool; unknown ones are kept, for `unknown` to judge."""

    model_config = ConfigDict(extra="allow")


class RememberArguments(Arguments):
    """Arguments of `remember`."""

    text: str = Field(description="The statement, in full sentences, with the reason.")
    supersedes: Texts = _text("Ids of the notes that this one replaces wholly.")
    tags: Texts = _text("Labels to filter by.")
    scope: Text = _text(
        "Where it holds, such as production or staging/eu; left out: everywhere, or where what it "
        "replaces holds."
    )
    overrides: Texts = _text("Ids of broader notes it wins over, in its own scope only.")
    slot: Text = _text(
        "Address with one current value, such as ledger/database; replaces the value before it."
    )
    subject: Text = _text("What it is about, in a few words.")
    valid_from: Text = _text("ISO 8601 time from which it holds; left out: now.")


class RecallArguments(Arguments):
    """Arguments of `recall`."""

    query: str = Field(
        description="Question or key words, plain text; an empty text lists what changed last."
    )
    k: Annotated[int | None, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 100})] = (
        _text("How many answers at most.")
    )
    scope: Text = _text("Answer with what holds there, such as production.")
    tags: Texts = _text("Only notes with all of these tags.")
    include_history: Annotated[bool | None, WithJsonSchema({"type": "boolean"})] = _text(
        "Tell all that each answer replaced."
    )
    as_of: Text = _text("ISO 8601 time: tell what held then.")


class NodeArguments(Arguments):
    """Arguments of `history` and `forget`."""

    node_id: str = Field(description="Id of the note, as remember or recall showed it.")


class LinkArguments(Arguments):
    """Arguments of `link`."""

    node_id: str = Field(description="Id of the note that replaces.")
    supersedes: Annotated[list[str], BeforeValidator(_listed)] = Field(
        description="Ids of the notes that it replaces."
    )


_LIKENESS = 0.75
_OTHER_WORDS = {
    "content": "text",
    "note": "text",
    "raw_text": "text",
    "id": "node_id",
    "new_id": "node_id",
    "memory_id": "node_id",
    "invalidates": "supersedes",
    "old": "supersedes",
    "old_ids": "supersedes",
    "previous": "supersedes",
    "replace": "supersedes",
    "replaced": "supersedes",
    "replaces": "supersedes",
    "replacing": "supersedes",
    "updates": "supersedes",
    "overwrites": "supersedes",
    "old_id": "supersedes",
    "limit": "k",
    "top_k": "k",
}
_OF_THE_MEMORY = {
    field.name
    for request in (evomem.RememberRequest, evomem.RecallRequest)
    for field in dataclasses.fields(request)
} | {"namespace", "purge", "user_id"}


def unknown(given: Mapping[str, Any], schema: type[BaseModel]) -> list[str]:
    """Look at arguments that the schema does not have.

    Silently dropping a misspelt `supersedes` would add a second truth beside the old one.

    Returns:
        A warning for each that may be ignored.

    Raises:
        InvalidRequestError: One looks like an argument, or means something to the memory.
    """
    names = [name for name in given if name not in schema.model_fields]
    for name in names:
        if meant := _meant(name, list(schema.model_fields)):
            message = f"Unknown argument {name!r}: did you mean {meant!r}? Nothing was done."
            raise evomem.InvalidRequestError(message, argument=name, did_you_mean=meant)
        if name in _OF_THE_MEMORY:
            message = f"This tool does not take {name!r}: leave it out. Nothing was done."
            raise evomem.InvalidRequestError(message, argument=name)
    return [f"Unknown argument {name!r} was ignored." for name in names]


def _meant(name: str, known: list[str]) -> str | None:
    word = _OTHER_WORDS.get(name.lower(), name.lower())
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=_LIKENESS)), None)
