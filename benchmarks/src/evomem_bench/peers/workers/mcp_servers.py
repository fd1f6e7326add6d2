"""Servers of the Model Context Protocol, over their pipes. Run under the Python of the benchmarks.

Both search words in their own way: the embedder is not for them.
"""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


class ServerMemory:
    """The reference server; a search looks for the whole query as one piece of text."""

    def __init__(self, server: Any) -> None:  # noqa: ANN401  a `StdioServer`
        self._server = server
        self._keys = itertools.count()

    def write(self, text: str) -> None:
        """Create an entity with one observation."""
        self.write_many([text])

    def write_many(self, texts: Sequence[str]) -> None:
        """Create several."""
        entities = [
            {"name": f"note {next(self._keys)}", "entityType": "note", "observations": [text]}
            for text in texts
        ]
        self._server.call("create_entities", entities=entities)

    def recall(self, query: str, k: int) -> list[str]:
        """Search nodes; it has no ranking and no limit, so the first are taken."""
        told = self._server.call("search_nodes", query=query)["content"][0]["text"]
        return [entity["observations"][0] for entity in json.loads(told)["entities"][:k]]

    def close(self) -> None:
        """End the server."""
        self._server.__exit__()


class BasicMemory:
    """Basic Memory, which keeps every note in a Markdown file and an index beside them."""

    def __init__(self, server: Any) -> None:  # noqa: ANN401  a `StdioServer`
        self._server = server
        self._texts: dict[str, str] = {}

    def write(self, text: str) -> None:
        """Write a note, whose title is a number."""
        title = f"note {len(self._texts)}"
        self._server.call("write_note", title=title, content=text, directory="notes")
        self._texts[title] = text

    def recall(self, query: str, k: int) -> list[str]:
        """Search notes; the titles found say which they are."""
        told = self._server.call(
            "search_notes", query=query, page_size=k, search_type="text", output_format="json"
        )
        found = json.loads(told["content"][0]["text"])["results"]
        return [self._texts[hit["title"]] for hit in found if hit["title"] in self._texts]

    def close(self) -> None:
        """End the server."""
        self._server.__exit__()


_SERVERS: dict[str, type[ServerMemory | BasicMemory]] = {
    "server-memory": ServerMemory,
    "basic-memory": BasicMemory,
}


def open_store(
    folder: str, _: Callable[[str], list[float]], *, server: str, command: Sequence[str]
) -> ServerMemory | BasicMemory:
    """Start a server on an empty folder."""
    stdio = importlib.import_module("evomem_bench.concurrency.stdio")
    environment = {
        "MEMORY_FILE_PATH": str(Path(folder) / "memory.jsonl"),
        "BASIC_MEMORY_HOME": str(Path(folder) / "notes"),
        "BASIC_MEMORY_CONFIG_DIR": str(Path(folder) / "state"),
        # The model that it would search by is downloaded; updates and reports need a network too.
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        "BASIC_MEMORY_AUTO_UPDATE": "false",
        "BASIC_MEMORY_NO_PROMOS": "1",
    }
    return _SERVERS[server](stdio.StdioServer(command, environment))
