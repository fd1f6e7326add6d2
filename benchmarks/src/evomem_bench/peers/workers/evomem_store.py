"""EvoMem, with linking off, as the others have nothing like it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


class EvoMemStore:
    """One file."""

    def __init__(self, path: Path, options: dict[str, Any]) -> None:
        self._memory = importlib.import_module("evomem").open(path, linking="off", **options)

    def write(self, text: str) -> None:
        """Keep a note."""
        self._memory.remember(text)

    def write_many(self, texts: Sequence[str]) -> None:
        """Keep several in one patch."""
        self._memory.remember_many(list(texts))

    def recall(self, query: str, k: int) -> list[str]:
        """Return the texts of the hits."""
        return [hit.node.text for hit in self._memory.recall(query, k=k).hits]

    def close(self) -> None:
        """Close the store."""
        self._memory.close()


def open_store(
    folder: str, embed: Callable[[str], list[float]], *, embedder: bool = False
) -> EvoMemStore:
    """Open a new file; with `embedder` its recall is by words and by vectors."""

    def hashing(texts: list[str]) -> list[list[float]]:
        return [embed(text) for text in texts]

    return EvoMemStore(Path(folder) / "evomem.db", {"embedder": hashing} if embedder else {})
