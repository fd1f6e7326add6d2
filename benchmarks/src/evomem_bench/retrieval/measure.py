"""Asking every question of every system, and what the answers are worth."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evomem_bench.retrieval.pools import Pool, Question
from evomem_bench.retrieval.systems import FLAT, RESOLVED, Flat, Store
from evomem_bench.timing import Row, Stopwatch, percentile, track

# Answers asked for; all figures are about these.
DEPTH = 10
_CUTS = (1, 5, DEPTH)
_BLOCK = 5

Ask = Callable[[Pool, str], list[str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question.

    Attributes:
        rank: Of the first answer that was wanted, from 1; None if it is not among them.
        shown: True if something obsolete was among the answers, as if it held.
        misled: True if that was the first answer.
    """

    rank: int | None
    shown: bool
    misled: bool


def judge(question: Question, answers: Sequence[str]) -> Outcome:
    """Hold the answers against the labels."""
    ranks = [rank for rank, key in enumerate(answers, start=1) if key in question.wanted]
    obsolete = [key in question.obsolete for key in answers]
    return Outcome(ranks[0] if ranks else None, any(obsolete), obsolete[:1] == [True])


def figures(outcomes: Sequence[Outcome]) -> Row:
    """Return the shares over all questions, and the mean of 1/rank."""
    ranks = [outcome.rank for outcome in outcomes]
    found = [rank for rank in ranks if rank is not None]
    return {
        "n": len(ranks),
        **{f"recall@{k}": _share([rank <= k for rank in found], len(ranks)) for k in _CUTS},
        "mrr": round(sum(1 / rank for rank in found) / len(ranks), 4),
        "misled": _share([outcome.misled for outcome in outcomes], len(ranks)),
        "obsolete": _share([outcome.shown for outcome in outcomes], len(ranks)),
    }


def _share(values: Sequence[bool], of: int) -> float:
    return round(sum(values) / of, 4)


def measure(pools: Sequence[Pool], store: Store, flat: Flat, generator: random.Random) -> list[Row]:
    """Ask all questions of the pools; a row for each table, kind of question and system."""
    systems = _systems(store, flat)
    outcomes: defaultdict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    watches: defaultdict[tuple[str, str, str], Stopwatch] = defaultdict(Stopwatch)
    asked = [(pool, question) for pool in pools for question in pool.questions]
    for pool, question in asked[:_BLOCK]:
        for ask in systems.values():
            ask(pool, question.text)
    for pool, question in track(asked, "ask"):
        for name in generator.sample(list(systems), len(systems)):
            key = (pool.part, question.kind, name)
            answers = watches[key].time(lambda: systems[name](pool, question.text))  # noqa: B023  called at once
            outcomes[key].append(judge(question, answers))
    sets = dict.fromkeys((part, kind) for part, kind, _ in outcomes)
    return [
        _row((part, kind, name), outcomes[part, kind, name], watches[part, kind, name])
        for part, kind in sets
        for name in systems
    ]


def _systems(store: Store, flat: Flat) -> dict[str, Ask]:
    return {
        FLAT: lambda pool, text: flat.ask(pool, text, DEPTH),
        RESOLVED: lambda pool, text: flat.ask_resolved(pool, text, DEPTH),
        **{ranking: _asker(store, ranking) for ranking in store.rankings},
    }


def _asker(store: Store, ranking: str) -> Ask:
    def ask(pool: Pool, text: str) -> list[str]:
        return store.keys(pool, store.recall(pool, text, DEPTH, ranking))

    return ask


def _row(key: tuple[str, str, str], outcomes: Sequence[Outcome], watch: Stopwatch) -> Row:
    part, kind, name = key
    p50 = round(percentile(watch.wall_ms, 0.5), 3)
    return {"part": part, "system": name, "set": kind, **figures(outcomes), "p50_ms": p50}
