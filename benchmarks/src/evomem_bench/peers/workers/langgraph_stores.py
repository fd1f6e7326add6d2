"""LangGraph's stores, with an index over the text."""

from __future__ import annotations

import contextlib
import importlib
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_NAMESPACE = ("notes",)


class LangGraphStore:
    """A store of either kind."""

    def __init__(self, store: Any, stack: contextlib.ExitStack) -> None:  # noqa: ANN401  of a peer
        self._store = store
        self._stack = stack
        self._operation = importlib.import_module("langgraph.store.base").PutOp
        self._keys = itertools.count()

    def write(self, text: str) -> None:
        """Put an item."""
        self._store.put(_NAMESPACE, str(next(self._keys)), {"text": text})

    def write_many(self, texts: Sequence[str]) -> None:
        """Put several in one batch."""
        keys = self._keys
        self._store.batch(
            [self._operation(_NAMESPACE, str(next(keys)), {"text": t}) for t in texts]
        )

    def recall(self, query: str, k: int) -> list[str]:
        """Search the namespace."""
        found = self._store.search(_NAMESPACE, query=query, limit=k)
        return [item.value["text"] for item in found]

    def close(self) -> None:
        """Close the connection, if there is one."""
        self._stack.close()


def open_store(folder: str, embed: Callable[[str], list[float]], *, kind: str) -> LangGraphStore:
    """Open `memory` or `sqlite` as their documentation does."""
    index = {
        "dims": len(embed("")),
        "embed": lambda texts: [embed(text) for text in texts],
        "fields": ["text"],
    }
    stack = contextlib.ExitStack()
    if kind == "memory":
        module = importlib.import_module("langgraph.store.memory")
        return LangGraphStore(module.InMemoryStore(index=index), stack)
    module = importlib.import_module("langgraph.store.sqlite")
    path = str(Path(folder) / "store.db")
    store = stack.enter_context(module.SqliteStore.from_conn_string(path, index=index))
    store.setup()
    return LangGraphStore(store, stack)
