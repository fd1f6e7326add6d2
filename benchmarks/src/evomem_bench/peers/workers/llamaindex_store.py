"""LlamaIndex's VectorStoreIndex on its default store, which is JSON files."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any


class LlamaIndexStore:
    """An index, saved after each write or at the end."""

    def __init__(self, index: Any, folder: str, *, save: bool) -> None:  # noqa: ANN401  of a peer
        self._index = index
        self._node = importlib.import_module("llama_index.core.schema").TextNode
        self._folder = folder
        self._save = save

    def write(self, text: str) -> None:
        """Insert a node."""
        self.write_many([text])

    def write_many(self, texts: Sequence[str]) -> None:
        """Insert several nodes."""
        self._index.insert_nodes([self._node(text=text) for text in texts])
        if self._save:
            self._persist()

    def recall(self, query: str, k: int) -> list[str]:
        """Retrieve the nearest nodes."""
        found = self._index.as_retriever(similarity_top_k=k).retrieve(query)
        return [hit.node.get_content() for hit in found]

    def close(self) -> None:
        """Save it."""
        self._persist()

    def _persist(self) -> None:
        self._index.storage_context.persist(persist_dir=self._folder)


def open_store(folder: str, embed: Callable[[str], list[float]], *, save: bool) -> LlamaIndexStore:
    """Make an empty index; with `save` it is written to the folder after each write."""
    core = importlib.import_module("llama_index.core")
    index = core.VectorStoreIndex(nodes=[], embed_model=_embedding(embed))
    return LlamaIndexStore(index, folder, save=save)


def _embedding(embed: Callable[[str], list[float]]) -> Any:  # noqa: ANN401  of a peer
    base = importlib.import_module("llama_index.core.embeddings").BaseEmbedding

    def one(_: object, text: str) -> list[float]:
        return embed(text)

    async def later(_: object, text: str) -> list[float]:
        return embed(text)

    methods = {
        "__module__": __name__,
        "_get_text_embedding": one,
        "_get_query_embedding": one,
        "_aget_query_embedding": later,
    }
    return type("HashingEmbedding", (base,), methods)()
