"""The one way in which an embedder is called: in time, checked, and never raising."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from evomem.embed.base import Embedder
from evomem.embed.packing import AnswerError, packed
from evomem.embed.worker import BusyError, Worker

BATCH_SIZE = 64
_MAX_ERROR_CHARS = 300


@dataclass(frozen=True, slots=True)
class EmbedFailure:
    """Why there are no vectors, as one sentence for people."""

    reason: str


class Embeddings:
    """An embedder held to its port: vectors of unit length, by a deadline, or the reason why not.

    It may be shared between threads, which take turns, and used on after a fork. While the
    embedder hangs in a call whose deadline has passed, every further call fails at once.

    Args:
        embedder: What turns texts into vectors.

    Attributes:
        name: The embedder's name, under which vectors are stored.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        size = getattr(embedder, "batch_size", None)
        self._batch_size = size if isinstance(size, int) and size > 0 else BATCH_SIZE
        self._dimension: int | None = None
        self._workers: dict[int, Worker] = {}

    def vectors(
        self, texts: Sequence[str], *, query: bool, deadline_s: float
    ) -> list[bytes] | EmbedFailure:
        """Return one vector per text, as little-endian float32 of unit length: all, or none.

        Args:
            texts: Any number of any texts.
            query: Whether they are what is looked for, not what is kept.
            deadline_s: How long the call may take in all.
        """
        end = time.monotonic() + deadline_s
        found: list[bytes] = []
        for start in range(0, len(texts), self._batch_size):
            batch = texts[start : start + self._batch_size]
            answer = self._batch(batch, query=query, end=end, allowed_s=deadline_s)
            if isinstance(answer, EmbedFailure):
                return answer
            found += answer
        return found

    def close(self) -> None:
        """End the thread, once what it does is done; a later call starts another."""
        if worker := self._workers.pop(os.getpid(), None):
            worker.close()

    def _batch(
        self, texts: Sequence[str], *, query: bool, end: float, allowed_s: float
    ) -> list[bytes] | EmbedFailure:
        try:
            return self._worker().run(lambda: self._answer(texts, query=query), end)
        except BusyError:
            return self._failure("is still busy with an earlier call")
        except TimeoutError:
            return self._failure(f"did not answer within {allowed_s:g} s")

    def _worker(self) -> Worker:
        pid = os.getpid()
        # Two threads may both make one: one of the two is never started.
        return self._workers.get(pid) or self._workers.setdefault(pid, Worker())

    def _answer(self, texts: Sequence[str], *, query: bool) -> list[bytes] | EmbedFailure:
        """Run in the worker's thread: reading the rows may hang or raise as well, they are not ours."""
        try:
            rows = self._embedder.embed([_well_formed(text) for text in texts], query=query)
        except BaseException as error:
            return self._failure(f"failed: {type(error).__name__}: {error}")
        try:
            found = packed(rows, len(texts), self._dimension)
        except AnswerError as error:
            return self._failure(str(error))
        except BaseException as error:
            return self._failure(f"answered what cannot be read: {type(error).__name__}: {error}")
        self._dimension = len(found[0]) // 4
        return found

    def _failure(self, what: str) -> EmbedFailure:
        line = " ".join(what.split()).rstrip(".")
        if len(line) > _MAX_ERROR_CHARS:
            line = f"{line[:_MAX_ERROR_CHARS]}…"
        return EmbedFailure(f"The embedder {self.name} {line}.")


def _well_formed(text: str) -> str:
    """Return the text without lone surrogates, which no tokenizer and no JSON takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
