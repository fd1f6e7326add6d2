"""The stores of LangGraph that are compared, opened as their documentation does."""

from __future__ import annotations

import contextlib
import sqlite3
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

NAMESPACE = ("notes",)


def embed_all(texts: Sequence[str]) -> list[list[float]]:
    """Embed texts by the cheap embedder that every store gets."""
    return [embed(text) for text in texts]


def can_index() -> bool:
    """Tell whether SqliteStore can have an index: not every Python loads SQLite's extensions."""
    return hasattr(sqlite3.Connection, "enable_load_extension")


def open_stores(folder: Path, stack: contextlib.ExitStack) -> dict[str, BaseStore]:
    """Open one of each kind in a folder; without `can_index` there is no SqliteStore."""
    index: IndexConfig = {"dims": DIMENSIONS, "embed": embed_all, "fields": ["text"]}
    words = stack.enter_context(evomem.open(folder / "words.db"))
    hybrid = stack.enter_context(evomem.open(folder / "hybrid.db", embedder=embed_all))
    stores: dict[str, BaseStore] = {
        IN_MEMORY: InMemoryStore(index=index),
        WORDS: EvoMemStore(words, fields=["text"]),
        HYBRID: EvoMemStore(hybrid, fields=["text"]),
    }
    if can_index():
        path = str(folder / "langgraph.db")
        sqlite = stack.enter_context(SqliteStore.from_conn_string(path, index=index))
        sqlite.setup()
        stores[SQLITE] = sqlite
    return stores
