import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.ranking import FOCUS_WEIGHT, Corpus, Document, Scorer, rare_first

WORDS = st.sampled_from("abcdefg")
TEXTS = st.lists(WORDS, max_size=12)
DOCUMENTS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)
TERMS = st.lists(WORDS, min_size=1, max_size=4, unique=True)


def corpus_of(documents, terms):
    held = {t: sum(t in focus or t in body for focus, body in documents) for t in terms}
    return Corpus(len(documents), sum(len(f) + len(b) for f, b in documents), held)


def document(number, pair):
    return Document(str(number), " ".join(pair[0]), " ".join(pair[1]))


def bm25(documents, terms, pair):
    """Robertson and Zaragoza (2009), equation 3.15, with a weighted field."""
    focus, body = pair
    mean = sum(len(f) + len(b) for f, b in documents) / len(documents) or 1.0
    total = 0.0
    for term in terms:
        n = sum(term in f or term in b for f, b in documents)
        idf = math.log((len(documents) - n + 0.5) / (n + 0.5) + 1)
        tf = body.count(term) + FOCUS_WEIGHT * focus.count(term)
        length = len(body) + len(focus)
        total += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean))
    return total


@given(DOCUMENTS, TERMS)
def test_scores_are_bm25(documents, terms):
    scorer = Scorer(terms, corpus_of(documents, terms))
    for number, pair in enumerate(documents):
        hit = scorer.score(document(number, pair))
        assert hit.score == pytest.approx(bm25(documents, terms, pair))
        assert hit.node_id == str(number)
        assert set(hit.terms) == {t for t in terms if t in pair[0] or t in pair[1]}
        assert (hit.score > 0) == bool(hit.terms)


@given(DOCUMENTS, TERMS)
def test_the_share_is_that_of_the_terms_matched(documents, terms):
    corpus = corpus_of(documents, terms)
    scorer = Scorer(terms, corpus)
    for number, pair in enumerate(documents):
        hit = scorer.score(document(number, pair))
        assert hit.share == len(hit.terms) / len(terms)


@given(DOCUMENTS, TERMS, st.data())
def test_no_document_scores_above_the_bound_of_the_terms_it_holds(documents, terms, data):
    left_out = data.draw(st.lists(st.sampled_from(terms), unique=True))
    scorer = Scorer(terms, corpus_of(documents, terms))
    bound = scorer.bound(left_out)
    for number, pair in enumerate(documents):
        hit = scorer.score(document(number, pair))
        if set(hit.terms) <= set(left_out):
            assert hit.score <= bound


@given(st.dictionaries(WORDS, st.integers(0, 50)), st.integers(0, 100))
def test_the_rarest_terms_are_looked_up_within_the_budget(frequency, budget):
    chosen, left_out = rare_first(frequency, budget)
    found = [term for term, count in frequency.items() if count]
    assert sorted(chosen + left_out) == sorted(found)
    counts = [frequency[term] for term in chosen + left_out]
    assert counts == sorted(counts)
    assert bool(chosen) == bool(found)
    if len(chosen) > 1:
        assert sum(frequency[term] for term in chosen) <= budget
    if left_out:
        assert sum(frequency[term] for term in chosen) + frequency[left_out[0]] > budget


def test_a_rarer_term_weighs_more_and_every_term_weighs_something():
    corpus = Corpus(100, 1000, {"rare": 1, "common": 60, "everywhere": 100})
    weights = [corpus.idf(term) for term in ("unseen", "rare", "common", "everywhere")]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_a_word_in_the_focus_says_more_and_a_long_text_less():
    scorer = Scorer(["a"], Corpus(10, 100, {"a": 3}))
    in_focus = scorer.score(Document("1", "a", "b b b")).score
    in_text = scorer.score(Document("2", "", "a b b b")).score
    in_long = scorer.score(Document("3", "", "a" + " b" * 50)).score
    assert in_focus > in_text > in_long > 0


def test_a_word_repeated_counts_ever_less():
    scorer = Scorer(["a"], Corpus(10, 100, {"a": 3}))
    scores = [
        scorer.score(Document("1", "", " ".join("a" * n + "b" * (20 - n)))).score for n in (1, 2, 4)
    ]
    assert scores[0] < scores[1] < 2 * scores[0]
    assert scores[2] - scores[1] < 2 * (scores[1] - scores[0])


def test_an_empty_corpus_scores_without_failing():
    assert Scorer(["a"], Corpus(0, 0, {})).score(Document("1", "", "a")).score > 0
    assert Scorer([], Corpus(0, 0, {})).score(Document("1", "", "a")).score == 0
    assert Scorer(["a"], Corpus(3, 0, {})).bound([]) == 0
