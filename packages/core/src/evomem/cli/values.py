"""Options with a structure: names with values, JSON."""

from __future__ import annotations

import json
from typing import NoReturn

import typer


def wanted_metadata(given: list[str] | None) -> dict[str, object]:
    """Read the conditions of `--filter`."""
    return {key: _value(value) for key, value in pairs(given or [], "--filter")}


def pairs(given: list[str], option: str) -> list[tuple[str, str]]:
    """Read names and values, each as NAME=VALUE."""
    found = [pair.partition("=") for pair in given]
    if any(not (key.strip() and equals) for key, equals, _ in found):
        refuse(option, "write a name, '=' and a value.")
    return [(key.strip(), value) for key, _, value in found]


def _value(text: str) -> object:
    """Read a filter's value: JSON if it is some, else the text."""
    try:
        return _parsed(text)
    except (ValueError, RecursionError):
        return text


def metadata(text: str) -> dict[str, object]:
    """Read a JSON object."""
    try:
        read = _parsed(text)
    except (ValueError, RecursionError) as error:
        refuse("--metadata", f"this is not JSON: {error}.")
    if not isinstance(read, dict):
        refuse("--metadata", 'pass a JSON object, such as {"ticket": 7}.')
    return read


def _parsed(text: str) -> object:
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> NoReturn:
    message = f"{name} is no JSON number"
    raise ValueError(message)


def refuse(name: str, message: str) -> NoReturn:
    """Say that an option is used wrongly."""
    raise typer.BadParameter(message, param_hint=f"'{name}'")
