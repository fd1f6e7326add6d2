"""What every tool answers with: the result's fields and a short text, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from mcp.types import CallToolResult, TextContent


class Answer(NamedTuple):
    """What a tool found: fields for programs, and the text a model reads."""

    fields: dict[str, Any]
    text: str

    @property
    def size(self) -> int:
        """Characters on the wire; both halves count, as clients show one or the other."""
        return sum(len(json.dumps(half, ensure_ascii=False)) for half in self)


def success(answer: Answer, warnings: Sequence[str] = ()) -> CallToolResult:
    """Return an answer, with warnings about the call itself added to both of its halves."""
    fields, text = answer
    if warnings:
        fields = {**fields, "warnings": [*warnings, *fields.get("warnings", ())]}
        text = "\n".join([text, *(f"Warning: {warning}" for warning in warnings)])
    return _result({"ok": True, **fields}, text)


def refusal(answer: Answer) -> CallToolResult:
    """Return a refusal: an error of the tool, which the model reads, not of the protocol."""
    return _result({"ok": False, **answer.fields}, answer.text, is_error=True)


def _result(fields: dict[str, Any], text: str, *, is_error: bool = False) -> CallToolResult:
    content = TextContent(type="text", text=text)
    return CallToolResult(content=[content], structured_content=fields, is_error=is_error)
