"""Vectors on the write path: made before the commit, in time, and never at the cost of a note."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from evomem.domain.namespace import Namespace
from evomem.domain.patch import Patch, Receipt
from evomem.domain.text import to_embed
from evomem.embed.checked import Embeddings, EmbedFailure
from evomem.errors import EvoMemError

if TYPE_CHECKING:
    from evomem.service.context import Context

# How long a write waits for its vectors: a model loads with the first text, and each takes a while.
PATIENCE_S = 5.0
PATIENCE_A_TEXT_S = 0.2
MOST_PATIENCE_S = 120.0
# How many missing vectors one commit adds, once the embedder answers again.
FILLED = 32
# A plan that another writer outdated is made anew, with the same texts.
_KEPT = 1000

_REMEDY = "Stored without a vector; evomem reindex or memory.reindex() adds it."


class RecentVectors:
    """What the embedder answered lately, and where it failed; shared by the handles of a store.

    Attributes:
        behind: Namespaces with notes that it was too late for.
    """

    def __init__(self) -> None:
        self.behind: set[Namespace] = set()
        self._kept: dict[bytes, bytes] = {}
        self._refused: tuple[set[bytes], float, EmbedFailure] | None = None

    def vectors(
        self, embeddings: Embeddings, texts: Sequence[str], end: float
    ) -> list[bytes] | EmbedFailure:
        """Return one vector per text by a time; what was asked just now is not asked again."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        # Another thread may drop what is kept at any moment.
        kept = {key: self._kept.get(key) for key in keys}
        known = {key: vector for key, vector in kept.items() if vector is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if not new:
            return [known[key] for key in keys]
        made = self._asked(embeddings, new, end)
        if isinstance(made, EmbedFailure):
            return made
        known |= zip(new, made, strict=True)
        self._keep(known)
        return [known[key] for key in keys]

    def _asked(
        self, embeddings: Embeddings, texts: dict[bytes, str], end: float
    ) -> list[bytes] | EmbedFailure:
        now = time.monotonic()
        if self._refused is not None:
            refused, until, failure = self._refused
            if now < until and refused == texts.keys():
                return failure
        made = embeddings.vectors(list(texts.values()), query=False, deadline_s=end - now)
        if isinstance(made, EmbedFailure):
            self._refused = (set(texts), time.monotonic() + PATIENCE_S, made)
        return made

    def _keep(self, vectors: dict[bytes, bytes]) -> None:
        self._kept |= vectors
        for key in list(self._kept)[:-_KEPT]:
            self._kept.pop(key, None)


def commit_with_vectors(context: Context, embeddings: Embeddings, patch: Patch) -> Receipt:
    """Commit a patch with the vectors of its nodes, or without them and a warning.

    Raises:
        StaleError: The plan is outdated; nothing was written.
    """
    texts = {node.id: to_embed(node.subject, node.text) for node in patch.findable}
    if not texts:
        return context.engine.commit(patch)
    patience = min(PATIENCE_S + PATIENCE_A_TEXT_S * len(texts), MOST_PATIENCE_S)
    end = time.monotonic() + patience
    made = context.recent_vectors.vectors(embeddings, list(texts.values()), end)
    if isinstance(made, EmbedFailure):
        receipt = context.engine.commit(patch)
        context.recent_vectors.behind.add(context.namespace)
        return replace(receipt, warnings=(f"{made.reason} {_REMEDY}",))
    vectors = dict(zip(texts, made, strict=True))
    receipt = context.engine.commit(replace(patch, embedder=embeddings.name, vectors=vectors))
    if receipt.vectors < len(vectors):
        return replace(receipt, warnings=(refusal(embeddings.name, made),))
    _fill(context, embeddings, end)
    return receipt


def refusal(name: str, vectors: Iterable[bytes]) -> str:
    """Say why the store refused vectors, and what to do."""
    numbers = len(next(iter(vectors))) // 4
    return (
        f"The embedder {name} answered vectors of {numbers} numbers, and the store has others "
        "under its name: stored without a vector. Give the new model another name."
    )


def _fill(context: Context, embeddings: Embeddings, end: float) -> None:
    """Add some of the vectors that are missing here since the embedder failed."""
    behind = context.recent_vectors.behind
    if context.namespace not in behind:
        return
    # The note is written: nothing that goes wrong here may say otherwise.
    with suppress(EvoMemError):
        with context.engine.read() as reader:
            texts = reader.unembedded(context.reach, embeddings.name, FILLED)
        left = max(end - time.monotonic(), 0.0)
        made = embeddings.vectors(list(texts.values()), query=False, deadline_s=left)
        stored = 0
        if not isinstance(made, EmbedFailure):
            stored = context.engine.add_vectors(
                embeddings.name, dict(zip(texts, made, strict=True))
            )
        if stored < FILLED:
            behind.discard(context.namespace)
