"""One memory as a process: `worker.py MODULE FOLDER OPTIONS`, asked in lines of JSON.

Run by path under any Python from 3.11 on: only the standard library is imported at the top.
A module beside this one opens the memory: `open_store(folder, embed, **options)` returns an
object with `write(text)`, `recall(query, k)`, `close()`, and `write_many(texts)` if it has a way
to write several at once.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TextIO

_LONGEST = 200


class Store(Protocol):
    """What the modules open."""

    def write(self, text: str) -> object:
        """Keep a note."""

    def recall(self, query: str, k: int) -> Sequence[str]:
        """Return the texts of the best notes, the best first."""

    def close(self) -> None:
        """Leave everything on the disk."""


class TimedEmbedder:
    """The embedder, and the time spent in it."""

    def __init__(self, embed: Callable[[str], list[float]]) -> None:
        self._embed = embed
        self.ns = 0

    def __call__(self, text: str) -> list[float]:
        """Embed a text."""
        started = time.perf_counter_ns()
        vector = self._embed(text)
        self.ns += time.perf_counter_ns() - started
        return vector


def answer(store: Store, embedder: TimedEmbedder, request: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked; tell how long it took, how long of that the embedder, and what came."""
    embedder.ns = 0
    started = time.perf_counter_ns()
    found = getattr(store, request["do"])(*request["with"])
    ms = (time.perf_counter_ns() - started) / 1e6
    told = {"ms": round(ms, 4), "embed_ms": round(embedder.ns / 1e6, 4)}
    return told | ({"texts": list(found)} if request["do"] == "recall" else {})


def serve(store: Store, embedder: TimedEmbedder, answers: TextIO) -> None:
    """Answer every line until the input ends."""
    _say(answers, {"batches": hasattr(store, "write_many")})
    for line in sys.stdin:
        try:
            told = answer(store, embedder, json.loads(line))
        except Exception as error:  # any error of any peer is told as a line of the report
            told = {"error": _one_line(error)}
        _say(answers, told)


def _one_line(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:_LONGEST]


def _say(answers: TextIO, told: dict[str, Any]) -> None:
    answers.write(json.dumps(told) + "\n")
    answers.flush()


def _own_output() -> TextIO:
    """Take standard output for the answers; what a library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def main(module: str, folder: str, options: str) -> None:
    """Open the memory and serve it."""
    answers = _own_output()
    embedder = TimedEmbedder(importlib.import_module("hashing").embed)
    try:
        opened = importlib.import_module(module)
        store = opened.open_store(folder, embedder, **json.loads(options))
    except Exception as error:  # as above
        _say(answers, {"error": _one_line(error)})
        return
    serve(store, embedder, answers)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
