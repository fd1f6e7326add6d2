"""Reads the engine's SQL files: named statements, the schema, and numbered migrations."""

from __future__ import annotations

import functools
import re
import sqlite3
from importlib.resources import files

_FOLDER = files(__package__)


@functools.cache
def _read(name: str) -> str:
    return _FOLDER.joinpath(name).read_text(encoding="utf-8")


def statements(script: str) -> list[str]:
    """Split a script into its statements."""
    found, pending = [], ""
    for line in script.splitlines(keepends=True):
        if not pending and (not line.strip() or line.lstrip().startswith("--")):
            continue
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    if pending:
        found.append(pending.strip())
    return found


def schema() -> str:
    """Return the script that makes a new store."""
    return _read("schema.sql")


@functools.cache
def migrations() -> list[str]:
    """Return the scripts that bring schema n to n + 1, the first of which starts from nothing."""
    folder = _FOLDER.joinpath("migrations")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [_read(f"migrations/{name}") for name in names]


def _named() -> dict[str, str]:
    blocks = re.split(r"^-- name: (\w+)$", _read("queries.sql"), flags=re.MULTILINE)[1:]
    found = {name: body.strip() for name, body in zip(blocks[::2], blocks[1::2], strict=True)}
    for part in ("passes", "remembered", "findable", "indexed"):
        condition = found.pop(part).rstrip(";")
        found = {n: body.replace(f"{{{part}}}", f"({condition})") for n, body in found.items()}
    return found


QUERIES = _named()
