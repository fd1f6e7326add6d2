"""How to join the lexical and the vector ranking: reciprocal ranks, over a range of settings."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from evomem_bench.concurrency.evidence import Evidence, machine
from evomem_bench.retrieval.adr import load_adr
from evomem_bench.retrieval.calibration import by_size
from evomem_bench.retrieval.data import find_data
from evomem_bench.retrieval.measure import figures, judge
from evomem_bench.retrieval.pools import Pool, Question
from evomem_bench.retrieval.systems import HYBRID, LEXICAL, VECTOR, Store, find_rankings
from evomem_bench.timing import Row, track

CONSTANTS = (10, 20, 30, 60)
WEIGHTS = (0.5, 0.75, 1.0, 1.5, 2.0)

PART = "fusion, ADR"
# What the settings are chosen by.
_GOAL = "recall@5"
_DEEP = 100


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question, the half its group is in, and what each ranking answered, the best first."""

    question: Question
    half: int
    lists: dict[str, list[str]]


def run_fusion(groups: int | None, seed: int, data: Path | None) -> Evidence:
    """Rank every question both ways, and try all settings on the lists.

    Args:
        groups: Only so many project groups; None takes all groups.
        seed: Kept in the report; nothing is drawn.
        data: The folder of the data; None takes the default.

    Raises:
        SystemExit: There is no data, or EvoMem has no vectors here.
    """
    folder = find_data(data)
    rankings, why = find_rankings()
    if VECTOR not in rankings:
        message = f"There are no vectors to join with: {why}"
        raise SystemExit(message)
    pools = by_size(load_adr(folder, groups))
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as name:
        store = Store(Path(name) / "evomem.db", pools, rankings)
        if missing := store.missing_vectors:
            message = f"{missing} notes got no vector: the figures would mean nothing."
            raise SystemExit(message)
        ranked = rank_all(pools, store)
        store.close()
    return Evidence("fusion", [machine(), *sweep(ranked)], seed)


def rank_all(pools: Sequence[Pool], store: Store) -> list[Ranked]:
    """Ask each question with every ranking."""
    asked = [(n % 2, pool, q) for n, pool in enumerate(pools) for q in pool.questions]
    return [
        Ranked(
            question, half, {name: _list(store, pool, question, name) for name in store.rankings}
        )
        for half, pool, question in track(asked, "rank")
    ]


def _list(store: Store, pool: Pool, question: Question, ranking: str) -> list[str]:
    return store.keys(pool, store.recall(pool, question.text, _DEEP, ranking))


def fuse(lexical: Sequence[str], vector: Sequence[str], constant: int, weight: float) -> list[str]:
    """Join two rankings: each adds 1/(constant + rank), the vector's times `weight`."""
    scores: defaultdict[str, float] = defaultdict(float)
    for of_list, ranking in ((1.0, lexical), (weight, vector)):
        for rank, key in enumerate(ranking, start=1):
            scores[key] += of_list / (constant + rank)
    return sorted(scores, key=lambda key: -scores[key])


def sweep(ranked: Sequence[Ranked]) -> list[Row]:
    """Return the figures of each ranking and setting, and those of settings chosen elsewhere.

    A setting that is best on one half is shown on the other, with its figures there.
    """
    alone = [name for name in (LEXICAL, VECTOR, HYBRID) if name in ranked[0].lists]
    rows = [_row(name, [r.lists[name] for r in ranked], ranked) for name in alone]
    tried = [_tried(ranked, c, w) for c, w in product(CONSTANTS, WEIGHTS)]
    return [*rows, *tried, *_chosen(tried)]


def _tried(ranked: Sequence[Ranked], constant: int, weight: float) -> Row:
    lists = [fuse(r.lists[LEXICAL], r.lists[VECTOR], constant, weight) for r in ranked]
    return _row(f"k={constant}, vector x {weight:g}", lists, ranked)


def _row(system: str, lists: Sequence[list[str]], ranked: Sequence[Ranked]) -> Row:
    row: Row = {"part": PART, "system": system}
    for half in (0, 1):
        own = [(r, found) for r, found in zip(ranked, lists, strict=True) if r.half == half]
        judged = [judge(r.question, found[:10]) for r, found in own]
        worth = figures(judged) if judged else {}
        row |= {f"{name}, half {half + 1}": worth.get(name) for name in ("n", _GOAL, "mrr")}
    return row


def _chosen(tried: Sequence[Row]) -> list[Row]:
    rows = []
    for here, there in ((1, 2), (2, 1)):
        if any(row[f"n, half {half}"] is None for row in tried for half in (1, 2)):
            continue
        best = max(tried, key=lambda row: (row[f"{_GOAL}, half {here}"], row[f"mrr, half {here}"]))
        shown = {name: value for name, value in best.items() if name.endswith(f"half {there}")}
        system = f"best of half {here}: {best['system']}"
        rows.append({"part": PART, "system": system, **shown})
    return rows
