"""Recalling beside plain FTS5, and beside no more than reading what a recall has to read."""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from functools import partial

import evomem
from evomem_bench.scale.internals import POSTINGS
from evomem_bench.scale.questions import ALL, KINDS, Questions
from evomem_bench.scale.stores import Stores
from evomem_bench.speed.baseline import RawStore
from evomem_bench.timing import Row, Stopwatch, in_turns, percentile, track

K = 10
PLAIN = "plain FTS5, rank"
OWN = f"recall, k={K}"
FLOOR = "postings only"
SYSTEMS = (PLAIN, OWN, FLOOR)

_BLOCK = 5
_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class _Recalls:
    """The systems open side by side, and how long their answers took by kind of query."""

    def __init__(self, stores: Stores, questions: Questions) -> None:
        self._questions = questions
        self._memory = evomem.open(stores.path, read_only=True)
        self._raw = RawStore(stores.raw)
        self._postings = sqlite3.connect(stores.raw, isolation_level=None)
        # As RawStore reads.
        self._postings.execute("PRAGMA cache_size = -16384")
        self._postings.execute("PRAGMA mmap_size = 268435456")
        self.watches: defaultdict[tuple[str, str], Stopwatch] = defaultdict(Stopwatch)

    def ask(self, system: str, query: str) -> None:
        """Ask one of them, and keep the time."""
        watch = self.watches[system, self._questions.kind(query)]
        if system == PLAIN:
            watch.time(lambda: self._raw.search(query, K))
        elif system == OWN:
            watch.time(lambda: self._memory.recall(query, k=K))
        else:
            watch.time(partial(self._read_postings, self._questions.rarest_first(query)))

    def close(self) -> None:
        """Close the stores."""
        self._memory.close()
        self._raw.close()
        self._postings.close()

    def _read_postings(self, words: list[str]) -> None:
        """Read the rows that hold a word, the rarest first, until there are enough of them."""
        left = POSTINGS
        statement = "SELECT rowid FROM search WHERE search MATCH ? LIMIT ?"
        for word in words:
            left -= len(self._postings.execute(statement, (f'"{word}"', left)).fetchall())
            if left <= 0:
                break


def measure_latency(stores: Stores, questions: Questions, generator: random.Random) -> list[Row]:
    """Time the same queries in all systems, in turns."""
    recalls = _Recalls(stores, questions)
    for query in questions.queries[:_BLOCK]:
        for system in SYSTEMS:
            recalls.ask(system, query)
    recalls.watches.clear()
    turns = in_turns(questions.queries, SYSTEMS, generator, block=_BLOCK)
    for system, block in track(turns, f"recall at {questions.notes:,}"):
        for query in block:
            recalls.ask(system, query)
    recalls.close()
    milliseconds = {key: watch.wall_ms for key, watch in recalls.watches.items()}
    for system in SYSTEMS:
        every = [ms for (name, _), found in milliseconds.items() if name == system for ms in found]
        milliseconds[system, ALL] = every
    return [
        {
            "part": "recall",
            "system": system,
            "notes": questions.notes,
            "queries": kind,
            **figures(milliseconds[system, kind], milliseconds[PLAIN, kind]),
        }
        for kind in KINDS
        for system in SYSTEMS
        if (system, kind) in milliseconds
    ]


def figures(own: list[float], base: list[float]) -> Row:
    """Return percentiles, and their ratios to those of `base`; below 1 is faster."""
    found = {name: percentile(own, share) for name, share in _SHARES.items()}
    bases = {name: percentile(base, share) for name, share in _SHARES.items()}
    return {
        "calls": len(own),
        **{f"{name}_ms": round(value, 3) for name, value in found.items()},
        "ratio": round(found["p50"] / bases["p50"], 3),
        "ratio_p95": round(found["p95"] / bases["p95"], 3),
        "ratio_p99": round(found["p99"] / bases["p99"], 3),
    }
