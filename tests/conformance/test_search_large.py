"""A search of a large store says what it may have left out, and never leaves out more."""

import random
from functools import partial

import pytest
from tests.conformance.builders import BELOW, HOME, REACH, note, open_memory, patch_of
from tests.conformance.searching import (
    EVERYTHING,
    brute_force,
    certain,
    equal_hits,
    found,
    search,
    tells_no_lie,
)

from evomem.engines.base import Filters, SearchLimits
from evomem.service import match

# Of a few thousand notes nearly all hold the commonest words, so that rare terms alone select.
VOCABULARY = [f"word{n}" for n in range(2000)]
QUERIES = [
    ["word0"],
    ["word0", "word1", "word2"],
    ["word900"],
    ["word0", "word1500"],
    ["word1", "word40", "word700", "nowhere"],
    ["word3", "word4", "word5", "word6", "word7", "word8"],
    ["tag3", "word2"],
    ["word300", "word301", "word302", "word303"],
]


@pytest.fixture(scope="module")
def library(shared_engine):
    rng = random.Random(20260301)  # noqa: S311  a repeatable corpus, no secret
    weights = [1 / (n + 2) for n in range(len(VOCABULARY))]
    nodes = []
    for n in range(2500):
        words = rng.choices(VOCABULARY, weights, k=rng.randint(5, 40))
        nodes.append(note(" ".join(words), tags=(f"tag{n % 7}",) if n % 3 == 0 else ()))
    shared_engine.commit(patch_of(*nodes))
    rest = [note("word0 word1500", namespace=("tenant", "beside")) for _ in range(500)]
    shared_engine.commit(patch_of(*rest, namespace=("tenant", "beside")))
    return nodes


@pytest.fixture(scope="module")
def expected(library):
    """What brute force says of each query."""
    return {tuple(words): brute_force(library, words) for words in QUERIES}


@pytest.mark.parametrize("words", QUERIES, ids=" ".join)
@pytest.mark.parametrize("reach", [REACH, BELOW], ids=["alone", "below"])
@pytest.mark.parametrize("limits", [SearchLimits(), SearchLimits(3, 100), SearchLimits(200, 3000)])
def test_a_search_of_a_large_store_tells_no_lie(shared_engine, expected, words, reach, limits):
    result = search(shared_engine, words, reach, limits=limits)
    tells_no_lie(result, expected[tuple(words)])
    assert len(result.hits) >= min(limits.least, len(expected[tuple(words)]))


@pytest.mark.parametrize("words", QUERIES, ids=" ".join)
def test_the_best_of_a_large_store_are_certain(shared_engine, expected, words):
    result = search(shared_engine, words, limits=SearchLimits(20, least=20))
    assert certain(result) >= min(20, len(expected[tuple(words)]))
    everything = search(shared_engine, words, limits=EVERYTHING)
    assert everything.bound == 0
    equal_hits(everything.hits, expected[tuple(words)])


def test_a_small_budget_is_told_by_the_bound(shared_engine, expected):
    bounds = {}
    for words in map(tuple, QUERIES):
        result = search(shared_engine, words, limits=SearchLimits(20, 300))
        bounds[words] = certain(result) < min(20, len(expected[words]))
    assert set(bounds.values()) == {True, False}


def test_a_search_of_a_large_store_can_be_filtered(shared_engine, library):
    filters = Filters(tags=("tag3",))
    expected = {n.id for n in library if "tag3" in n.tags and "word0" in n.text.split()}
    assert set(found(shared_engine, ["word0"], filters=filters)) == expected


@pytest.mark.usefixtures("library")
def test_recall_says_whether_a_better_answer_may_be_left_out(shared_engine, clock, monkeypatch):
    memory = open_memory(shared_engine, clock, HOME)
    assert memory.recall("word0").exact
    assert memory.recall("word1900 word1901").exact
    assert memory.recall("word1 word2 word3 word4", k=100).exact
    monkeypatch.setattr(match, "SearchLimits", partial(SearchLimits, budget=50))
    result = memory.recall("word1 word2 word3 word4", k=100)
    assert not result.exact
    assert len(result.hits) == 100
