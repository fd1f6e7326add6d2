"""The function by which statements filter on metadata: the rule of the domain, on stored text."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from evomem.domain.metadata import matches, required
from evomem.domain.plain import to_json

UNREADABLE = "user-defined function raised exception"
"""All that SQLite tells of an error in a function."""

# Floats from here on are written with an exponent.
_LONG = 10**16
_decoder = json.JSONDecoder()


class _Filter(NamedTuple):
    """What is wanted, and what the text of all metadata that matches holds."""

    wanted: dict[str, Any]
    parts: tuple[str, ...]


def add_functions(connection: sqlite3.Connection) -> None:
    """Make the function known to a connection."""
    connection.create_function("metadata_matches", 2, _metadata_matches, deterministic=True)


def _metadata_matches(metadata: str, wanted: str) -> bool:
    asked = _filter(wanted)
    # To look for a part costs a twentieth of parsing the text.
    for part in asked.parts:
        if part not in metadata:
            return False
    return matches(_parsed(metadata), asked.wanted)


# A statement asks for every node with the same filter.
@functools.lru_cache(maxsize=16)
def _filter(written: str) -> _Filter:
    wanted = _parsed(written)
    return _Filter(wanted, tuple(_parts(wanted)))


def _parsed(written: str) -> dict[str, Any]:
    parsed: dict[str, Any] = _decoder.raw_decode(written)[0]
    return parsed


def _parts(wanted: dict[str, Any]) -> Iterator[str]:
    for (*_, key), value in required(wanted):
        start = f"{to_json(key)}:"
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield start + to_json(value)
        elif 0 < abs(value) < _LONG:
            # It may be stored as 2 or as 2.0.
            yield start + to_json(int(value) if value == int(value) else value)
