"""Answers of a memory as LangChain documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.documents import Document

import evomem

_OF_NODE = (
    "status",
    "memory_id",
    "version",
    "scope",
    "slot",
    "subject",
    "tags",
    "session",
    "namespace",
    "created_at",
    "recorded_at",
    "valid_from",
    "valid_to",
    "metadata",
)
_OF_EARLIER = ("id", "version", "status", "text", "recorded_at")


def to_documents(result: evomem.RecallResult, *, markers: bool = False) -> list[Document]:
    """Return a document for each answer, the best first.

    Args:
        result: The answers.
        markers: Write the status and what was replaced into the text.
    """
    of_all = {
        "insufficient": result.insufficient,
        "partial": result.partial,
        "warnings": [*result.warnings],
    }
    return [
        Document(
            id=hit.node.id,
            page_content=hit.to_text() if markers else hit.node.text,
            metadata={**_metadata(hit), **of_all},
        )
        for hit in result.hits
    ]


def _metadata(hit: evomem.Hit) -> dict[str, Any]:
    """Return what is known of an answer beside its text, as JSON values."""
    fields = hit.to_dict()
    node = fields.pop("node")
    return {
        **{name: node[name] for name in _OF_NODE},
        "chain_id": hit.node.memory_id,  # another name for it in older texts
        **fields,
        "supersedes": [old.id for old in hit.supersedes],
        "superseded": _earlier(fields["supersedes"]),
        "history": _earlier(fields["history"]),
    }


def _earlier(nodes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: node[name] for name in _OF_EARLIER} for node in nodes]
