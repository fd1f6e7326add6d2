"""A search of a large store says what it may have left out, and never leaves out more."""

import random

import pytest
from tests.conformance.builders import BELOW, HOME, NO_FILTERS, REACH, note, open_memory, patch_of
from tests.conformance.test_search import brute_force, equal_hits, found

from evomem.engines.base import Filters

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
    for n in range(5000):
        words = rng.choices(VOCABULARY, weights, k=rng.randint(5, 40))
        nodes.append(note(" ".join(words), tags=(f"tag{n % 7}",) if n % 3 == 0 else ()))
    shared_engine.commit(patch_of(*nodes))
    rest = [note("word0 word1500", namespace=("tenant", "beside")) for _ in range(500)]
    shared_engine.commit(patch_of(*rest, namespace=("tenant", "beside")))
    return nodes


@pytest.mark.parametrize("words", QUERIES, ids=" ".join)
@pytest.mark.parametrize("reach", [REACH, BELOW], ids=["alone", "below"])
def test_no_note_left_out_of_a_large_store_scores_above_the_bound(
    shared_engine, library, words, reach
):
    with shared_engine.read() as reader:
        result = reader.search(reach, words, NO_FILTERS)
    expected = brute_force(library, words)
    if result.bound == 0:
        equal_hits(result.hits, expected)
        return
    scores = {hit.node_id: hit.score for hit in expected}
    got = {hit.node_id: hit.score for hit in result.hits}
    assert got == pytest.approx({node_id: scores[node_id] for node_id in got}, abs=1e-9)
    assert list(got.values()) == sorted(got.values(), reverse=True)
    left_out = [score for node_id, score in scores.items() if node_id not in got]
    assert max(left_out, default=0.0) <= result.bound


@pytest.mark.usefixtures("library")
def test_a_large_store_has_both_exact_and_bounded_searches(shared_engine):
    with shared_engine.read() as reader:
        bounds = [reader.search(REACH, words, NO_FILTERS).bound for words in QUERIES]
    assert 0.0 in bounds
    assert max(bounds) > 0.0


def test_a_search_of_a_large_store_can_be_filtered(shared_engine, library):
    filters = Filters(tags=("tag3",))
    expected = {n.id for n in library if "tag3" in n.tags and "word0" in n.text.split()}
    assert set(found(shared_engine, ["word0"], filters=filters)) == expected


@pytest.mark.usefixtures("library")
def test_recall_says_whether_a_better_answer_may_be_left_out(shared_engine, clock):
    memory = open_memory(shared_engine, clock, HOME)
    assert memory.recall("word0").exact
    assert memory.recall("word1900 word1901").exact
    result = memory.recall("word1 word2 word3 word4", k=100)
    assert not result.exact
    assert len(result.hits) == 100
