"""Mem0 without its model: notes are stored as they come (`infer=False`)."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_USER = "bench"


class Embedding:
    """The embedder as Mem0 calls it."""

    def __init__(self, embed: Callable[[str], list[float]]) -> None:
        self._embed = embed

    def embed(self, text: str, _action: str | None = None) -> list[float]:
        """Embed a text."""
        return self._embed(text)

    def embed_batch(self, texts: list[str], _action: str | None = None) -> list[list[float]]:
        """Embed several."""
        return [self._embed(text) for text in texts]


class Mem0Store:
    """A memory of one user. Mem0 writes the messages of one call one by one: no batches."""

    def __init__(self, memory: Any) -> None:  # noqa: ANN401  of a peer
        self._memory = memory

    def write(self, text: str) -> None:
        """Add a message."""
        self._memory.add([{"role": "user", "content": text}], user_id=_USER, infer=False)

    def recall(self, query: str, k: int) -> list[str]:
        """Search, with nothing left out for a low score."""
        found = self._memory.search(query, top_k=k, threshold=0.0, filters={"user_id": _USER})
        return [item["memory"] for item in found["results"]]

    def close(self) -> None:
        """Close its history."""
        self._memory.close()


def open_store(folder: str, embed: Callable[[str], list[float]], *, vectors: str) -> Mem0Store:
    """Open it on local files; the model that it wants configured is never called."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": folder}
    module = importlib.import_module("mem0")
    place: dict[str, Any] = {"path": str(Path(folder) / vectors), "embedding_model_dims": 384}
    if vectors == "faiss":
        place["distance_strategy"] = "cosine"
    memory = module.Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "vector_store": {"provider": vectors, "config": place},
            "history_db_path": str(Path(folder) / "history.db"),
        }
    )
    memory.embedding_model = Embedding(embed)
    return Mem0Store(memory)
