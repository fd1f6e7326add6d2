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
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: int | bool | None = None
    aliases: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        default = {} if self.default is None else {"default": self.default}
        return {**self.kind.schema, "description": self.description, **default}


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
    warnings = _check_names(given, parameters)
    read: dict[str, Any] = {}
    for parameter in parameters:
        value = given.get(parameter.name)
        if value is None or (value == "" and parameter.kind.blank_is_absent):
            meant = None
        else:
            meant = parameter.kind.read(parameter.name, value)
        if meant is not None:
            read[parameter.name] = meant
        elif parameter.required:
            message = f"{parameter.name} is missing: {parameter.description} Nothing was done."
            raise evomem.InvalidRequestError(message, field=parameter.name)
    return read, warnings


def _check_names(given: Mapping[str, Any], parameters: Sequence[Parameter]) -> list[str]:
    """Refuse what looks like a parameter and is none, and warn about the rest.

    Silently dropping a misspelt `supersedes` would add a second truth beside the old one.
    """
    known = [parameter.name for parameter in parameters]
    unknown = [name for name in given if name not in known]
    for name in unknown:
        if meant := _meant(name, given, parameters):
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
