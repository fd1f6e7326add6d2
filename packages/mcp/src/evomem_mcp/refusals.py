"""Refusals within the bound of an answer: they may quote whole texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.types import CallToolResult

import evomem
from evomem_mcp.envelope import Answer, refusal
from evomem_mcp.limits import cut_text, fit

_CHARS_PER_ITEM = 20
_MESSAGE_CHARS = 2_000
_LOST = "not shown"


def refused(error: evomem.EvoMemError, max_chars: int) -> CallToolResult:
    """Return the refusal, with what is too long in it cut."""

    def render(limit: int) -> Answer:
        message = cut_text(error.message, min(limit, _MESSAGE_CHARS), _LOST)
        details = _cut(error.details, limit, _LOST)
        return Answer(
            {"error": {**error.to_dict(), "message": message, "details": details}}, message
        )

    return refusal(fit(render, max_chars))


def _cut(value: Any, limit: int, where: str) -> Any:  # noqa: ANN401  a JSON value
    if isinstance(value, str):
        return cut_text(value, limit, where)
    if isinstance(value, Mapping):
        memory_id = value.get("memory_id")
        inner = f"read memory {memory_id}" if isinstance(memory_id, str) else where
        return {key: _cut(item, limit, inner) for key, item in value.items()}
    if isinstance(value, list | tuple):
        most = limit // _CHARS_PER_ITEM
        more = [f"[cut: {len(value) - most} more]"] if len(value) > most else []
        return [*(_cut(item, limit, where) for item in value[:most]), *more]
    return value
