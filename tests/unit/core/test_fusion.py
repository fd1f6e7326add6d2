"""Reciprocal rank fusion, against its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.fusion import RRF_K, Ranking, fuse, is_certain

RANKINGS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcdefgh"), unique=True), st.floats(0.1, 3, allow_nan=False)
    ),
    max_size=4,
)


@given(RANKINGS)
def test_a_score_is_the_sum_of_the_weighted_reciprocal_ranks(rankings):
    fused = fuse([Ranking(names, weight) for names, weight in rankings])
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
    assert list(fuse([Ranking("abc"), Ranking("cxb")])) == ["c", "b", "a", "x"]
    assert list(fuse([Ranking("ab"), Ranking("ba")])) == ["a", "b"]
    assert list(fuse([Ranking("ab"), Ranking("ba", 2.0)])) == ["b", "a"]
    assert fuse([]) == {}


NAMES = st.permutations("abcdefgh")


@given(NAMES, NAMES, st.integers(1, 8), st.integers(1, 8), st.integers(1, 8))
def test_what_is_certain_of_cut_rankings_is_so_of_the_whole_ones(one, other, cut, cut_too, count):
    whole = list(fuse([Ranking(one), Ranking(other)]))
    parts = [Ranking(one[:cut], whole=cut == 8), Ranking(other[:cut_too], whole=cut_too == 8)]
    scores = fuse(parts)
    right = fuse([Ranking(one), Ranking(other)])
    if is_certain(parts, scores, count):
        shown = list(scores)[:count]
        assert [right[n] for n in shown] == pytest.approx([right[n] for n in whole[:count]])
        assert [scores[n] for n in shown] == pytest.approx([right[n] for n in shown])
    if cut == cut_too == 8:
        assert is_certain(parts, scores, count)
