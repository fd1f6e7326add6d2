"""Fusion: one ranking out of several, by the places in each.

Scores of different kinds cannot be added; ranks can. Reciprocal rank fusion as in Cormack, Clarke
and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet" (2009).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Measured by `evomem-bench retrieval --fusion`.
RRF_K = 60
LEXICAL_WEIGHT = 1.0
VECTOR_WEIGHT = 1.0


def fuse(rankings: Iterable[tuple[Sequence[str], float]]) -> dict[str, float]:
    """Fuse rankings.

    Args:
        rankings: Ids, the best first, each ranking with its weight.

    Returns:
        Fused scores, the best first; ties go to what an earlier ranking names first.
    """
    scores: dict[str, float] = {}
    for ranking, weight in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + weight / (RRF_K + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
