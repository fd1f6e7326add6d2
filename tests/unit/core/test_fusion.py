"""Reciprocal rank fusion, against its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.fusion import RRF_K, fuse

RANKINGS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcdefgh"), unique=True), st.floats(0.1, 3, allow_nan=False)
    ),
    max_size=4,
)


@given(RANKINGS)
def test_a_score_is_the_sum_of_the_weighted_reciprocal_ranks(rankings):
    fused = fuse(rankings)
    assert set(fused) == {name for ranking, _ in rankings for name in ranking}
    for name, score in fused.items():
        right = sum(
            weight / (RRF_K + ranking.index(name) + 1)
            for ranking, weight in rankings
            if name in ranking
        )
        assert score == pytest.approx(right)
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


def test_what_both_rank_high_leads_and_ties_follow_the_first_ranking():
    assert list(fuse([("abc", 1.0), ("cxb", 1.0)])) == ["c", "b", "a", "x"]
    assert list(fuse([("ab", 1.0), ("ba", 1.0)])) == ["a", "b"]
    assert list(fuse([("ab", 1.0), ("ba", 2.0)])) == ["b", "a"]
    assert fuse([]) == {}
