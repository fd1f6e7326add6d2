"""No memory at all: every vector in one array, compared one by one. What vectors can find here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

_FIRST_ROOM = 1024


class ExactStore:
    """Texts and vectors in this process."""

    def __init__(self, embed: Callable[[str], list[float]]) -> None:
        self._embed = embed
        self._numpy = importlib.import_module("numpy")
        self._texts: list[str] = []
        self._vectors: Any = None

    def write(self, text: str) -> None:
        """Keep a note."""
        vector = self._embed(text)
        if self._vectors is None:
            self._vectors = self._numpy.zeros((_FIRST_ROOM, len(vector)), dtype="float32")
        if len(self._texts) == len(self._vectors):
            empty = self._numpy.zeros_like(self._vectors)
            self._vectors = self._numpy.concatenate([self._vectors, empty])
        self._vectors[len(self._texts)] = vector
        self._texts.append(text)

    def write_many(self, texts: Sequence[str]) -> None:
        """Keep several."""
        for text in texts:
            self.write(text)

    def recall(self, query: str, k: int) -> list[str]:
        """Return the texts with the smallest angle to the query."""
        if not self._texts:
            return []
        vector = self._numpy.array(self._embed(query), dtype="float32")
        scores = self._vectors[: len(self._texts)] @ vector
        return [self._texts[row] for row in self._numpy.argsort(-scores, kind="stable")[:k]]

    def close(self) -> None:
        """Keep nothing."""


def open_store(_: str, embed: Callable[[str], list[float]]) -> ExactStore:
    """Make an empty one."""
    return ExactStore(embed)
