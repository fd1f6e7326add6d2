"""How good the answers are: recalls beside the right answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import evomem
from evomem_bench.scale.exhaustive import Ranked, rank_all
from evomem_bench.scale.latency import OWN, K
from evomem_bench.scale.questions import ALL, KINDS, Questions
from evomem_bench.scale.stores import Stores
from evomem_bench.timing import Row

# Scores are told with six decimals.
_NEAR = 1e-5


class Verdict(NamedTuple):
    """What became of one query.

    Attributes:
        top_1: The first answer is right; one that scores the same is as right.
        overlap: Share of the right answers that were found.
        exact: The answer says that nothing better was left out.
        lie: It says so, and its scores are not those of the right answers.
    """

    top_1: bool
    overlap: float
    exact: bool
    lie: bool


def judge(result: evomem.RecallResult, right: Sequence[Ranked]) -> Verdict:
    """Compare an answer with the right one, where equal scores are interchangeable."""
    scores = [hit.score or 0.0 for hit in result.hits]
    pairs = zip(scores, (ranked.score for ranked in right), strict=False)
    same = len(scores) == len(right) and all(_near(a, b) for a, b in pairs)
    first = bool(scores and right) and _near(scores[0], right[0].score)
    return Verdict(
        top_1=first or not (scores or right),
        overlap=_overlap(result, right),
        exact=result.exact,
        lie=result.exact and not same,
    )


def _overlap(result: evomem.RecallResult, right: Sequence[Ranked]) -> float:
    if not right:
        return 1.0
    memories, last = {ranked.memory_id for ranked in right}, right[-1].score
    found = sum(
        hit.node.memory_id in memories or _near(hit.score or 0.0, last) for hit in result.hits
    )
    return min(1.0, found / len(right))


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_NEAR, abs_tol=_NEAR)


def measure_relevance(stores: Stores, questions: Questions, sampled: int) -> list[Row]:
    """Judge the answers to the first queries, `sampled` of them."""
    queries = list(dict.fromkeys(questions.queries[:sampled]))
    right = rank_all(stores.path, queries, K)
    verdicts: dict[str, list[Verdict]] = {kind: [] for kind in KINDS}
    with evomem.open(stores.path, read_only=True) as memory:
        for query in queries:
            verdict = judge(memory.recall(query, k=K), right[query])
            for kind in (ALL, questions.kind(query)):
                verdicts[kind].append(verdict)
    return [
        {
            "part": "relevance",
            "system": OWN,
            "notes": questions.notes,
            "queries": kind,
            "calls": len(found),
            "top_1": round(fmean(verdict.top_1 for verdict in found), 3),
            f"overlap_{K}": round(fmean(verdict.overlap for verdict in found), 3),
            "exact": round(fmean(verdict.exact for verdict in found), 3),
            "exact_lies": sum(verdict.lie for verdict in found),
        }
        for kind, found in verdicts.items()
        if found
    ]
