"""Answers of a memory as LangChain documents."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document

import evomem


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
    node = hit.node
    return {
        "status": node.status.value,
        "memory_id": node.memory_id,
        "chain_id": node.memory_id,
        "version": node.version,
        "scope": node.scope,
        "slot": node.slot,
        "subject": node.subject,
        "tags": [*node.tags],
        "session": node.session,
        "namespace": [*node.namespace],
        "created_at": node.created_at.isoformat(),
        "recorded_at": node.recorded_at.isoformat(),
        "valid_from": node.valid_from.isoformat(),
        "valid_to": node.valid_to and node.valid_to.isoformat(),
        "metadata": dict(node.metadata),
        "score": hit.score,
        "matched": hit.matched._asdict(),
        "supersedes": [old.id for old in hit.supersedes],
        "superseded": [_earlier(old) for old in hit.supersedes],
        "history": [_earlier(old) for old in hit.history],
        "overridden": [*hit.overridden],
        "amended": [part._asdict() for part in hit.amended],
        "questioned": [*hit.questioned],
        "scheduled": [*hit.scheduled],
        "same": [*hit.same],
        "why": hit.why,
        "explanation": hit.explanation and hit.explanation.to_dict(),
    }


def _earlier(node: evomem.MemoryNode) -> dict[str, Any]:
    return {
        "id": node.id,
        "version": node.version,
        "status": node.status.value,
        "text": node.text,
        "recorded_at": node.recorded_at.isoformat(),
    }
