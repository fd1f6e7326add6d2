"""Parameters of tools: their schemas, and the reading of a call's arguments."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import evomem
from evomem_mcp.kinds import Kind, shown

# Added to every call by n8n, which is not for the memory; `sessionId` would pass for `session`.
CLIENT_ARGUMENTS = frozenset({"action", "chatInput", "sessionId", "tool", "toolCallId"})

_LIKENESS = 0.75
_NAMED = 10


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool.

    Attributes:
        name: As published.
        kind: How it is published and read.
        description: For the model that calls.
        required: Whether a call without it is refused.
        default: What holds if it is left out; published unless None.
        aliases: Other words for it; refused, naming this one, if it is not given itself.
        fields: What an object holds; a call may give them beside it instead, as models do.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: int | bool | None = None
    aliases: tuple[str, ...] = ()
    fields: tuple[Parameter, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        default = {} if self.default is None else {"default": self.default}
        kind = input_schema(self.fields) if self.fields else self.kind.schema
        return {**kind, "description": self.description, **default}


def input_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments: no references, no unions, no null."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in parameters},
    }
    required = [parameter.name for parameter in parameters if parameter.required]
    return {**schema, "required": required} if required else schema


def read_arguments(
    given: Mapping[str, Any], parameters: Sequence[Parameter]
) -> tuple[dict[str, Any], list[str]]:
    """Read the arguments of a call; null equals leaving an argument out.

    Returns:
        The arguments that were given, and warnings about those that were ignored.

    Raises:
        InvalidRequestError: One is missing, misspelt, or of the wrong kind.
    """
    given = _gathered(given, parameters)
    warnings = _check_names(given, parameters)
    read: dict[str, Any] = {}
    for parameter in parameters:
        meant = _read(parameter, given)
        if meant is not None and parameter.fields:
            meant, ignored = read_arguments(meant, parameter.fields)
            warnings += ignored
        if meant is not None:
            read[parameter.name] = meant
        elif parameter.required:
            message = f"{parameter.name} is missing: {parameter.description} Nothing was done."
            raise evomem.InvalidRequestError(message, field=parameter.name)
    return read, warnings


def _read(parameter: Parameter, given: Mapping[str, Any]) -> Any:  # noqa: ANN401  it may be any kind
    """Return what is meant by a value; None if it was left out."""
    value = given.get(parameter.name)
    if value is None or (value == "" and parameter.kind.blank_is_absent):
        return None
    return parameter.kind.read(parameter.name, value)


def _gathered(given: Mapping[str, Any], parameters: Sequence[Parameter]) -> Mapping[str, Any]:
    """Move the fields of an object that were given beside it into it.

    Raises:
        InvalidRequestError: A field is given in both places, and not the same.
    """
    whole = _object_of(parameters)
    if whole is None:
        return given
    inside = _read(whole, given)
    if inside is None:
        flat = {name: value for name, value in given.items() if name != whole.name}
        misspelt = any(_meant(name, given, parameters) for name in flat)
        return {whole.name: flat} if flat and not misspelt else given
    names = {parameter.name for parameter in whole.fields}
    beside = {n: value for n, value in given.items() if n in names and value is not None}
    for name, value in beside.items():
        if inside.get(name) not in (None, value):
            message = f"{name} has one value in {whole.name} and another beside it."
            raise evomem.InvalidRequestError(message, field=name)
    rest = {name: value for name, value in given.items() if name not in names}
    return {**rest, whole.name: {**inside, **beside}}


def _object_of(parameters: Sequence[Parameter]) -> Parameter | None:
    return next((parameter for parameter in parameters if parameter.fields), None)


def _check_names(given: Mapping[str, Any], parameters: Sequence[Parameter]) -> list[str]:
    """Refuse what looks like a parameter and is none, and warn about the rest.

    Silently dropping a misspelt `supersedes` would add a second truth beside the old one.
    """
    known = [parameter.name for parameter in parameters]
    unknown = [name for name in given if name not in known]
    whole = _object_of(parameters)
    present = {**given, **(given.get(whole.name) or {})} if whole else given
    meanings = [*parameters, *(whole.fields if whole else ())]
    for name in unknown:
        if meant := _meant(name, present, meanings):
            message = f"Unknown argument {shown(name)}: did you mean {meant!r}? Nothing was done."
            raise evomem.InvalidRequestError(message, argument=name, did_you_mean=meant)
    warnings = [f"Unknown argument {shown(name)} was ignored." for name in unknown[:_NAMED]]
    if len(unknown) > _NAMED:
        warnings.append(f"{len(unknown) - _NAMED} more unknown arguments were ignored.")
    return warnings


def _meant(name: str, given: Mapping[str, Any], parameters: Sequence[Parameter]) -> str | None:
    if name in CLIENT_ARGUMENTS:
        return None
    word = name.lower()
    names = [parameter.name for parameter in parameters]
    if close := difflib.get_close_matches(word, names, n=1, cutoff=_LIKENESS):
        return close[0]
    named = (p.name for p in parameters if word in p.aliases and given.get(p.name) is None)
    return next(named, None)
