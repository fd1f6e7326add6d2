"""Fusion: one ranking out of several, by the places in each.

Scores of different kinds cannot be added; ranks can. Reciprocal rank fusion as in Cormack, Clarke
and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet" (2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# The constant of that paper and equal weights; `evomem-bench retrieval --fusion` compares others.
RRF_K = 60
LEXICAL_WEIGHT = 1.0
VECTOR_WEIGHT = 1.0


class Ranking(NamedTuple):
    """Names, the best first, with the weight of the ranking; `whole` if it has no more names."""

    names: Sequence[str]
    weight: float = 1.0
    whole: bool = True

    @property
    def next_score(self) -> float:
        """What a name that is not in it may still get from it."""
        return 0.0 if self.whole else self.weight / (RRF_K + len(self.names) + 1)


def fuse(rankings: Sequence[Ranking]) -> dict[str, float]:
    """Return fused scores, the best first; ties go to what an earlier ranking names first."""
    scores: dict[str, float] = {}
    for names, weight, _ in rankings:
        for rank, name in enumerate(names, 1):
            scores[name] = scores.get(name, 0.0) + weight / (RRF_K + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def is_certain(rankings: Sequence[Ranking], scores: dict[str, float], count: int) -> bool:
    """Tell whether the first `count` fused names would be the same in whole rankings."""
    known = [(set(ranking.names), ranking.next_score) for ranking in rankings]
    most = {n: s + sum(more for names, more in known if n not in names) for n, s in scores.items()}
    first = list(scores)[:count]
    if any(most[name] > scores[name] for name in first):
        return False
    rest = [sum(more for _, more in known), *(most[name] for name in list(scores)[count:])]
    return max(rest) <= (scores[first[-1]] if len(first) == count else 0.0)
