import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.ranking import (
    FOCUS_WEIGHT,
    GRADE_BITS,
    GRADE_MASK,
    K1,
    Corpus,
    Document,
    Scorer,
    graded,
    rounded_length,
)

LEVELS = (1, 2, 3, 6, 12, 24, 48, 96)
"""What a weighted count is rounded down to."""

WORDS = st.sampled_from("abcdefg")
TEXTS = st.lists(WORDS, max_size=12) | st.builds(
    lambda words, n: words * n, st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 60)
)
DOCUMENTS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)
TERMS = st.lists(WORDS, min_size=1, max_size=4, unique=True)
COUNTS = st.builds(
    lambda n, tokens, held: Corpus(n, tokens, {t: min(n, k) for t, k in held.items()}),
    st.integers(0, 10_000),
    st.integers(0, 10**7),
    st.dictionaries(WORDS, st.integers(0, 10_000)),
)


def length(pair):
    """Lengths are rounded to a seventh of a doubling, on a scale that ends at 127 of them."""
    tokens = len(pair[0]) + len(pair[1])
    steps = round(7 * math.log2(tokens)) if tokens > 1 else 0
    return round(2 ** (min(steps, 127) / 7))


def corpus_of(documents, terms):
    held = {t: sum(t in focus or t in body for focus, body in documents) for t in terms}
    return Corpus(len(documents), sum(map(length, documents)), held)


def document(number, pair):
    terms = graded(*pair)
    return Document(str(number), number, {grade: " ".join(held) for grade, held in terms.items()})


def bm25(documents, terms, pair):
    """Robertson and Zaragoza (2009), equation 3.15, with a weighted field, counts in steps."""
    focus, body = pair
    mean = sum(map(length, documents)) / len(documents)
    total = 0.0
    for term in terms:
        n = sum(term in f or term in b for f, b in documents)
        idf = math.log((len(documents) - n + 0.5) / (n + 0.5) + 1)
        count = body.count(term) + FOCUS_WEIGHT * focus.count(term)
        tf = max([level for level in LEVELS if level <= count], default=0)
        total += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length(pair) / mean))
    return total


@given(DOCUMENTS, TERMS)
def test_scores_are_bm25_in_steps(documents, terms):
    scorer = Scorer(terms, corpus_of(documents, terms))
    for number, pair in enumerate(documents):
        hit = scorer.score(document(number, pair))
        assert hit.score == pytest.approx(bm25(documents, terms, pair))
        assert hit.node_id == str(number)
        assert [term for term, _ in hit.terms] == [t for t in terms if t in pair[0] + pair[1]]
        assert hit.score == sum(added for _, added in hit.terms)
        assert all(added > 0 for _, added in hit.terms)


@given(DOCUMENTS, TERMS)
def test_a_score_is_what_the_postings_add_up_to(documents, terms):
    scorer = Scorer(terms, corpus_of(documents, terms))
    for number, pair in enumerate(documents):
        grades = {term: grade for grade, held in graded(*pair).items() for term in held}
        added = {t: scorer.idf[t] * scorer.saturation[grades[t]] for t in terms if t in grades}
        assert dict(scorer.score(document(number, pair)).terms) == added


@given(DOCUMENTS, TERMS)
def test_the_coverage_is_that_of_the_terms_met_weighted_by_rarity(documents, terms):
    corpus = corpus_of(documents, terms)
    scorer = Scorer(terms, corpus)
    whole = sum(map(corpus.damped_idf, terms))
    for number, pair in enumerate(documents):
        hit = scorer.score(document(number, pair))
        met = sum(corpus.damped_idf(term) * added / corpus.idf(term) for term, added in hit.terms)
        assert hit.coverage == pytest.approx(met / whole)
        assert 0 <= hit.coverage <= K1 + 1
        assert (hit.coverage > 0) == bool(hit.terms)


@given(TEXTS, TEXTS)
def test_grades_part_the_terms_of_a_document(focus, body):
    terms = graded(focus, body)
    assert Counter(term for held in terms.values() for term in held) == Counter({*focus, *body})
    assert terms
    assert all(terms.values()) or not (focus or body)
    assert all(0 <= grade < 1 << GRADE_BITS for grade in terms)
    assert {rounded_length(grade) for grade in terms} == {length((focus, body))}


@given(st.integers(0, 400_000), st.integers(0, 400_000))
def test_a_grade_fits_its_bits_and_is_near_however_long_the_document(n_focus, n_body):
    (grade,) = graded(["a"] * n_focus, ["a"] * n_body)
    assert 0 <= grade <= GRADE_MASK
    tokens = n_focus + n_body
    if 1 < tokens <= 250_000:
        # Half a seventh of a doubling, and half a token for short ones.
        assert abs(rounded_length(grade) - tokens) <= 0.051 * tokens + 0.5


def test_a_longer_document_never_counts_as_a_shorter_one():
    lengths = [rounded_length(next(iter(graded([], ["a"] * n)))) for n in range(3000)]
    assert lengths == sorted(lengths)
    assert lengths[:5] == [1, 1, 2, 3, 4]


@given(COUNTS, WORDS, st.integers(0, GRADE_MASK))
def test_no_posting_adds_more_than_its_bound(corpus, term, grade):
    scorer = Scorer([term], corpus)
    assert 0 < scorer.idf[term] * scorer.saturation[grade] <= scorer.bound([term])
    assert scorer.bound([term]) == pytest.approx(corpus.idf(term) * (K1 + 1))


@given(DOCUMENTS, TERMS, st.data())
def test_no_document_scores_above_the_bound_of_the_terms_it_holds(documents, terms, data):
    left_out = data.draw(st.lists(st.sampled_from(terms), unique=True))
    scorer = Scorer(terms, corpus_of(documents, terms))
    for number, pair in enumerate(documents):
        hit = scorer.score(document(number, pair))
        kept = sum(added for term, added in hit.terms if term not in left_out)
        assert hit.score <= kept + scorer.bound(left_out) + 1e-9


def test_a_rarer_term_weighs_more_and_every_term_weighs_something():
    corpus = Corpus(100, 1000, {"rare": 1, "common": 60, "everywhere": 100})
    weights = [corpus.idf(term) for term in ("unseen", "rare", "common", "everywhere")]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_no_count_makes_a_term_weigh_less_than_nothing():
    corpus = Corpus(3, 10, {"a": 9})
    assert corpus.idf("a") >= 0
    assert Scorer(["a"], corpus).score(document(1, split(("", "a")))).score >= 0


def test_a_word_in_the_focus_says_more_and_a_long_text_less():
    scorer = Scorer(["a"], Corpus(10, 100, {"a": 3}))
    pairs = [("a", "bbb"), ("", "abbb"), ("", "a" + "b" * 50)]
    in_focus, in_text, in_long = (scorer.score(document(1, p)).score for p in map(split, pairs))
    assert in_focus > in_text > in_long > 0


def split(pair):
    return list(pair[0]), list(pair[1])


def test_a_word_repeated_counts_ever_less():
    scorer = Scorer(["a"], Corpus(10, 100, {"a": 3}))
    one, three, six = (
        scorer.score(document(1, split(("", "a" * n + "b" * (20 - n))))).score for n in (1, 3, 6)
    )
    assert one < three < 3 * one
    assert six - three < 2 * (three - one)


def test_one_term_is_not_taken_for_a_part_of_another():
    scorer = Scorer(["sql", "lite"], Corpus(3, 9, {"sql": 1, "lite": 1}))
    assert scorer.score(document(1, (["sqlite"], ["mysql", "lite-fs"]))).terms == ()


def test_an_empty_corpus_scores_without_failing():
    empty = Corpus(0, 0, {})
    assert Scorer(["a"], empty).score(document(1, split(("", "a")))).score > 0
    nothing = Scorer([], empty).score(document(1, split(("", "a"))))
    assert (nothing.score, nothing.coverage, nothing.terms) == (0, 0, ())
    assert Scorer(["a"], Corpus(3, 0, {})).bound([]) == 0
    assert Scorer(["a"], empty).score(document(1, ([], []))).terms == ()
