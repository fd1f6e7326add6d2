"""What is asked: EvoMem with each ranking it has, and plain FTS5 on the same texts."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import evomem
from evomem_bench.retrieval.pools import Note, Pool, successors
from evomem_bench.retrieval.signals import Answer
from evomem_bench.timing import track

EMBEDDER = "minilm"
LEXICAL, VECTOR, HYBRID = "lexical", "vector", "hybrid"
RANKINGS = (LEXICAL, VECTOR, HYBRID)
FLAT = "flat FTS5"
RESOLVED = "flat FTS5, links followed"

# Followed to their heads, the first so many matches of FTS5 leave ten and more.
_DEEP = 100

_TRIES, _PAUSE_S = 60, 2.0


def find_rankings() -> tuple[tuple[str, ...], str]:
    """Return the rankings that this EvoMem has, and why it has no others."""
    options: dict[str, Any] = {"embedder": EMBEDDER}
    try:
        with evomem.open(":memory:", linking="off", **options) as memory:
            memory.remember("A note.")
            for ranking in RANKINGS:
                asked: dict[str, Any] = {"ranking": ranking}
                memory.recall("note", **asked)
    except (TypeError, evomem.EvoMemError) as error:
        return (LEXICAL,), str(error)
    return RANKINGS, ""


class Store:
    """Pools in one file of EvoMem, each in a namespace of its own."""

    def __init__(self, path: Path, pools: Sequence[Pool], rankings: Sequence[str]) -> None:
        self.rankings = tuple(rankings)
        # An EvoMem without vectors does not know these options.
        embeds = len(self.rankings) > 1
        opening: dict[str, Any] = {"embedder": EMBEDDER} if embeds else {}
        self._memory = evomem.open(path, linking="off", **opening)
        self._asking: dict[str, dict[str, Any]] = {
            name: {"ranking": name} if embeds else {} for name in rankings
        }
        self._spaces = {pool.name: self._memory.within(f"p{n}") for n, pool in enumerate(pools)}
        self._keys = {
            pool.name: _load(self._spaces[pool.name], pool) for pool in track(pools, "load")
        }
        if embeds:
            _add_missing_vectors(self._memory)

    @property
    def missing_vectors(self) -> int:
        """Notes that a vector cannot find."""
        return sum(space.stats().missing_vectors for space in self._spaces.values())

    def recall(self, pool: Pool, text: str, k: int, ranking: str = LEXICAL) -> evomem.RecallResult:
        """Ask a pool."""
        return self._spaces[pool.name].recall(text, k=k, **self._asking[ranking])

    def keys(self, pool: Pool, result: evomem.RecallResult) -> list[str]:
        """Return the keys of what was answered as in force, the best first."""
        active = (hit.node for hit in result.hits if hit.node.status == evomem.Status.ACTIVE)
        return [self._keys[pool.name][node.id] for node in active]

    def answer(self, pool: Pool, hit: evomem.Hit) -> Answer:
        """Return which note a hit matched, and what it decides."""
        matched = hit.matched.node_id
        if matched == hit.node.id:
            decides = hit.node.change
        else:
            decides = self._spaces[pool.name].get_node(matched).change
        return Answer(self._keys[pool.name][matched], hit.score or 0.0, str(decides))

    def close(self) -> None:
        """Close the file."""
        self._memory.close()


def _load(memory: evomem.Memory, pool: Pool) -> dict[str, str]:
    """Write the notes of a pool; return the key of each node."""
    ids: dict[str, str] = {}
    for patch in pool.patches:
        kept = memory.remember_many([_arguments(note, ids) for note in patch])
        ids |= {note.key: one.node.id for note, one in zip(patch, kept, strict=True)}
    for new, old in pool.late:
        memory.link(ids[new], supersedes=[ids[old]])
    # Equal texts are one node: it goes by the first of their keys.
    return {node_id: key for key, node_id in reversed(ids.items())}


def _add_missing_vectors(memory: evomem.Memory) -> None:
    """Embed what a write did not wait for, and again what an embedder at work refuses."""
    for _ in range(_TRIES):
        if not memory.reindex().missing:
            return
        time.sleep(_PAUSE_S)


def _arguments(note: Note, ids: Mapping[str, str]) -> dict[str, Any]:
    olds = [ids[key] for key in note.supersedes]
    return {"text": note.text, "subject": note.subject, "supersedes": olds}


class Flat:
    """FTS5 as it comes: any word of the question, its own rank, and nothing is ever replaced."""

    def __init__(self, path: Path, pools: Sequence[Pool]) -> None:
        self._connection = sqlite3.connect(path)
        self._tables = {pool.name: f"pool{n}" for n, pool in enumerate(pools)}
        self._successors = {pool.name: successors(pool) for pool in pools}
        for pool in pools:
            table = self._tables[pool.name]
            self._connection.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5 (key UNINDEXED, text)"
            )
            rows = [(note.key, note.text) for note in pool.notes]
            self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)  # noqa: S608  our own name
        self._connection.commit()

    def ask(self, pool: Pool, text: str, k: int) -> list[str]:
        """Return the keys of the k notes that FTS5 ranks best."""
        table = self._tables[pool.name]
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        found = self._connection.execute(
            f"SELECT key FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?",  # noqa: S608
            (match, k),
        )
        return [key for (key,) in found]

    def ask_resolved(self, pool: Pool, text: str, k: int) -> list[str]:
        """Return k heads, found by following the links from what FTS5 ranks best."""
        heads = (
            head for key in self.ask(pool, text, _DEEP) for head in self._heads(pool, key, set())
        )
        return list(islice(dict.fromkeys(heads), k))

    def _heads(self, pool: Pool, key: str, seen: set[str]) -> list[str]:
        later = [new for new in self._successors[pool.name].get(key, []) if new not in seen]
        if not later:
            return [] if key in self._successors[pool.name] else [key]
        seen.update(later)
        return [head for new in later for head in self._heads(pool, new, seen)]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
