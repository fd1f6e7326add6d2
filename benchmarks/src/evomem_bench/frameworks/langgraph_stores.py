"""The stores of LangGraph that are compared, opened as their documentation does."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from langgraph.store.base import BaseStore, IndexConfig
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

import evomem
from evomem_bench.peers.workers.hashing import DIMENSIONS, embed
from langchain_evomem import EvoMemStore

IN_MEMORY = "InMemoryStore"
SQLITE = "SqliteStore"
WORDS = "EvoMemStore, by words"
HYBRID = "EvoMemStore, the same embedder"
SYSTEMS = (SQLITE, IN_MEMORY, WORDS, HYBRID)

NAMESPACE = ("notes",)


def embed_all(texts: Sequence[str]) -> list[list[float]]:
    """Embed texts by the cheap embedder that every store gets."""
    return [embed(text) for text in texts]


def open_stores(folder: Path, stack: contextlib.ExitStack) -> dict[str, BaseStore]:
    """Open one of each kind in a folder."""
    index: IndexConfig = {"dims": DIMENSIONS, "embed": embed_all, "fields": ["text"]}
    sqlite = stack.enter_context(
        SqliteStore.from_conn_string(str(folder / "langgraph.db"), index=index)
    )
    sqlite.setup()
    words = stack.enter_context(evomem.open(folder / "words.db"))
    hybrid = stack.enter_context(evomem.open(folder / "hybrid.db", embedder=embed_all))
    return {
        SQLITE: sqlite,
        IN_MEMORY: InMemoryStore(index=index),
        WORDS: EvoMemStore(words, fields=["text"]),
        HYBRID: EvoMemStore(hybrid, fields=["text"]),
    }
