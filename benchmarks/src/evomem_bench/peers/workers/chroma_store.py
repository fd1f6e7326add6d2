"""Chroma in this process, with a folder."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any


class ChromaStore:
    """One collection."""

    def __init__(self, collection: Any, embed: Callable[[str], list[float]]) -> None:  # noqa: ANN401  of a peer
        self._collection = collection
        self._embed = embed
        self._keys = itertools.count()

    def write(self, text: str) -> None:
        """Add a document."""
        self.write_many([text])

    def write_many(self, texts: Sequence[str]) -> None:
        """Add several documents."""
        self._collection.add(
            ids=[str(next(self._keys)) for _ in texts],
            documents=list(texts),
            embeddings=[self._embed(text) for text in texts],
        )

    def recall(self, query: str, k: int) -> list[str]:
        """Ask for the nearest documents."""
        found = self._collection.query(
            query_embeddings=[self._embed(query)], n_results=k, include=["documents"]
        )
        return list(found["documents"][0])

    def close(self) -> None:
        """Nothing to do: each call has left its trace."""


def open_store(folder: str, embed: Callable[[str], list[float]]) -> ChromaStore:
    """Open a persistent client; cosine, as for the others."""
    chromadb = importlib.import_module("chromadb")
    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(folder, settings=settings)
    collection = client.create_collection("notes", configuration={"hnsw": {"space": "cosine"}})
    return ChromaStore(collection, embed)
