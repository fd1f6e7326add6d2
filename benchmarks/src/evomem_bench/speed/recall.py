"""Recalling: EvoMem's answers beside the matches of plain FTS5 on the same texts."""

from __future__ import annotations

import random
from collections.abc import Sequence

import evomem
from evomem_bench.speed.baseline import RawStore
from evomem_bench.speed.stores import Loaded
from evomem_bench.timing import Row, Stopwatch, in_turns, track

_BLOCK = 5
_K = 5
_LIMIT = 10
PLAIN = "plain FTS5, rank"
OWN = "recall, k=5"


class _Recalls:
    """The two stores, and what they answered."""

    def __init__(self, loaded: Loaded) -> None:
        self._memory = evomem.open(loaded.path, read_only=True)
        self._raw = RawStore(loaded.raw)
        chains = [note.chain for note in loaded.notes]
        self._by_row = dict(enumerate(chains, start=1))
        self._by_id = dict(zip(loaded.ids, chains, strict=True))
        self.watches = {PLAIN: Stopwatch(), OWN: Stopwatch()}
        self.exact: list[bool] = []
        self.first: dict[str, dict[str, int | None]] = {PLAIN: {}, OWN: {}}

    def ask(self, system: str, query: str) -> None:
        """Ask one of them, and keep the chain of its first answer."""
        watch = self.watches[system]
        if system == PLAIN:
            rows = watch.time(lambda: self._raw.search(query, _LIMIT))
            self.first[PLAIN][query] = self._by_row[rows[0]] if rows else None
            return
        result = watch.time(lambda: self._memory.recall(query, k=_K))
        self.exact.append(result.exact)
        hits = result.hits
        self.first[OWN][query] = self._by_id[hits[0].node.id] if hits else None

    def forget_times(self) -> None:
        """Begin anew after the warm-up."""
        self.watches = {PLAIN: Stopwatch(), OWN: Stopwatch()}
        self.exact.clear()

    def agreement(self) -> float:
        """Return the share of queries whose first answers are of the same chain."""
        own, plain = self.first[OWN], self.first[PLAIN]
        return sum(own[query] == plain[query] for query in own) / len(own)

    def close(self) -> None:
        """Close the stores."""
        self._memory.close()
        self._raw.close()


def measure_recalls(loaded: Loaded, queries: Sequence[str], generator: random.Random) -> list[Row]:
    """Time the same queries in both stores, in turns."""
    recalls = _Recalls(loaded)
    for query in queries[:_BLOCK]:
        for system in (PLAIN, OWN):
            recalls.ask(system, query)
    recalls.forget_times()
    turns = in_turns(queries, (PLAIN, OWN), generator, block=_BLOCK)
    for system, block in track(turns, f"recall at {len(loaded.notes):,}"):
        for query in block:
            recalls.ask(system, query)
    recalls.close()
    base = recalls.watches[PLAIN]
    head = {"part": "recall", "notes": len(loaded.notes)}
    return [
        {**head, "system": PLAIN, **base.figures(base)},
        {
            **head,
            "system": OWN,
            **recalls.watches[OWN].figures(base),
            "exact": round(sum(recalls.exact) / len(recalls.exact), 3),
            "same_first": round(recalls.agreement(), 3),
        },
    ]
