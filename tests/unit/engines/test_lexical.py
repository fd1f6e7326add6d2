"""A search never claims more than brute force over all documents would confirm."""

import random
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.ranking import (
    GRADE_BITS,
    Corpus,
    Document,
    Scorer,
    SearchHit,
    graded,
    rounded_length,
)
from evomem.engines import lexical
from evomem.engines.base import SearchLimits


class MemoryIndex:
    """An index of texts, each a pair of focus and body; remembers what it was asked.

    Args:
        texts: The documents, the earliest first.
        passing: Rows that pass the filters.
        half: Leave out of the postings what does not pass, of even rows only.
    """

    def __init__(self, texts, passing=None, *, half=False):
        self.documents_by_row = {
            row: Document(str(row), row, {g: " ".join(t) for g, t in graded(*pair).items()})
            for row, pair in enumerate(texts)
        }
        self.passing = set(self.documents_by_row) if passing is None else set(passing)
        self.half = half
        self.lists: dict[str, list[int]] = {}
        for row, document in self.documents_by_row.items():
            for grade, terms in document.terms.items():
                for term in terms.split():
                    self.lists.setdefault(term, []).append(row << GRADE_BITS | grade)
        for postings in self.lists.values():
            postings.sort()
        self.looked_up: list[tuple[int, int]] = []
        self.scored: list[int] = []
        self._scored_by_force: dict[tuple[str, ...], list[SearchHit]] = {}

    def corpus(self, terms):
        documents = self.documents_by_row.values()
        tokens = sum(rounded_length(next(iter(d.terms))) for d in documents)
        return Corpus(len(documents), tokens, {t: len(self.lists.get(t, ())) for t in terms})

    def longest(self):
        rows = self.documents_by_row
        return sum(r % 2 or r in self.passing for r in rows) if self.half else len(rows)

    def postings(self, term, limit, below):
        found = self.lists.get(term, [])
        if below is not None:
            found = found[: bisect_left(found, below)]
        if self.half:
            rows = ((p, p >> GRADE_BITS) for p in found)
            found = [p for p, row in rows if row % 2 or row in self.passing]
        if limit is not None:
            found = found[-limit:]
        self.looked_up.append((len(found), len(self.passing.intersection(self.scored))))
        return found

    def documents(self, rows):
        self.scored += rows
        return [self.documents_by_row[row] for row in rows if row in self.passing]

    def brute_force(self, terms):
        """Score every document that passes, the best first."""
        key = tuple(terms)
        if key not in self._scored_by_force:
            self._scored_by_force[key] = self._score_all(terms)
        return self._scored_by_force[key]

    def _score_all(self, terms):
        scorer = Scorer(terms, self.corpus(terms))
        hits = [scorer.score(self.documents_by_row[row]) for row in sorted(self.passing)[::-1]]
        return sorted((hit for hit in hits if hit.terms), key=lambda hit: -hit.score)


@dataclass(frozen=True)
class Checks(SearchLimits):
    """Limits whose time is up once they were looked at so often."""

    looks: int = 0

    def expired(self):
        object.__setattr__(self, "looks", self.looks - 1)
        return self.looks < 0


def check(index, terms, limits, result):
    """What is certain of any result; `first` of its hits are certain to be the best."""
    expected = index.brute_force(terms)
    scores = {hit.node_id: hit for hit in expected}
    got = [hit.node_id for hit in result.hits]
    assert len(set(got)) == len(got)
    assert all(hit.terms == scores[hit.node_id].terms for hit in result.hits)
    assert [hit.score for hit in result.hits] == pytest.approx([scores[n].score for n in got])
    order = [(-hit.score, -int(hit.node_id)) for hit in result.hits]
    assert order == sorted(order)
    left_out = max((hit.score for hit in expected if hit.node_id not in set(got)), default=0.0)
    assert left_out <= result.bound + 1e-9
    first = certain(result)
    assert [hit.score for hit in result.hits[:first]] == pytest.approx(
        [hit.score for hit in expected[:first]]
    )
    if result.bound == 0:
        assert len(got) == len(expected)
    if not result.partial:
        assert len(got) >= min(limits.least, limits.depth, len(expected))
    return first


def certain(result):
    return sum(hit.score >= result.bound for hit in result.hits)


def zipf(rng, documents, vocabulary, longest):
    """Texts of words of which a few are in nearly all."""
    words = [f"w{n}" for n in range(vocabulary)]
    weights = list(accumulate(1 / (n + 1) for n in range(vocabulary)))

    def words_of(most):
        return rng.choices(words, cum_weights=weights, k=rng.randint(0, most))

    return [(words_of(2), words_of(longest)) for _ in range(documents)]


TUNING = st.fixed_dictionaries(
    {
        "_CHEAP_LIST": st.sampled_from([0, 5, 800]),
        "_POSTINGS_A_SCORE": st.sampled_from([1, 4, 40]),
        "_PAGE": st.sampled_from([1, 3, 32]),
        "_MOST_SCORED": st.sampled_from([1, 10, 320]),
    }
)
LIMITS = st.builds(
    SearchLimits,
    depth=st.sampled_from([1, 2, 5, 20, 500]),
    budget=st.sampled_from([0, 1, 3, 10, 30, 100, 1000, 50_000]),
    least=st.sampled_from([1, 2, 5]),
)


@st.composite
def searches(draw):
    """An index, the terms of a query, and how far the search may go."""
    rng = random.Random(draw(st.integers(0, 2**32)))  # noqa: S311  repeatable, no secret
    vocabulary = draw(st.sampled_from([1, 2, 5, 30]))
    texts = zipf(rng, draw(st.integers(0, 120)), vocabulary, draw(st.sampled_from([1, 5, 40])))
    words = [f"w{n}" for n in range(vocabulary)] + ["nowhere"]
    terms = draw(st.lists(st.sampled_from(words), max_size=8, unique=True))
    return rng, texts, terms, draw(LIMITS), draw(TUNING)


def run(index, terms, limits, tuning):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in tuning.items():
            patch.setattr(lexical, name, value)
        return lexical.search(index, terms, limits)


@given(searches())
def test_a_search_tells_no_lie(searched):
    _, texts, terms, limits, tuning = searched
    index = MemoryIndex(texts)
    result = run(index, terms, limits, tuning)
    assert not result.partial
    check(index, terms, limits, result)


@given(searches(), st.sampled_from([0.0, 0.02, 0.3, 0.9]), st.booleans())
def test_a_filter_never_leaves_fewer_than_were_asked_for(searched, share, half):
    rng, texts, terms, limits, tuning = searched
    passing = [row for row in range(len(texts)) if rng.random() < share]
    index = MemoryIndex(texts, passing, half=half)
    check(index, terms, limits, run(index, terms, limits, tuning))


@given(searches(), st.integers(0, 12))
def test_a_search_cut_short_says_so_and_tells_no_lie(searched, looks):
    _, texts, terms, limits, tuning = searched
    index = MemoryIndex(texts)
    limits = Checks(limits.depth, limits.budget, limits.least, looks=looks)
    result = run(index, terms, limits, tuning)
    assert result.partial == (limits.looks < 0)
    check(index, terms, limits, result)
    if result.partial:
        assert certain(result) == 0 or not result.bound


@given(searches())
def test_nothing_is_scored_or_looked_up_twice(searched):
    _, texts, terms, limits, tuning = searched
    index = MemoryIndex(texts)
    run(index, terms, limits, tuning)
    assert len(set(index.scored)) == len(index.scored)
    assert sum(count for count, _ in index.looked_up) <= sum(map(len, index.lists.values()))


@given(searches(), st.sampled_from([0.05, 1.0]))
def test_the_budget_is_exceeded_only_while_too_little_was_found(searched, share):
    rng, texts, terms, limits, tuning = searched
    index = MemoryIndex(texts, [row for row in range(len(texts)) if rng.random() < share])
    run(index, terms, limits, tuning)
    spent = 0
    # A budget below the number of terms still buys a posting of each.
    for count, found in index.looked_up:
        spent += count
        if spent > max(limits.budget, len(terms)):
            assert found < limits.least


def large():
    return MemoryIndex(zipf(random.Random(7), 6000, 2000, 30))  # noqa: S311  repeatable


@pytest.fixture(scope="module")
def library():
    return large()


QUERIES = [
    ["w0"],
    ["w0", "w1", "w2"],
    ["w0", "w900"],
    ["w1", "w40", "w700", "nowhere"],
    ["w3", "w4", "w5", "w6", "w7", "w8"],
    ["w300", "w301", "w302", "w303"],
    [f"w{n}" for n in range(0, 60, 3)],
]


@pytest.mark.parametrize("terms", QUERIES, ids=" ".join)
@pytest.mark.parametrize("budget", [200, 3000, 50_000])
@pytest.mark.parametrize("depth", [5, 100])
def test_a_search_of_a_large_index_tells_no_lie(library, terms, budget, depth):
    limits = SearchLimits(depth, budget)
    check(library, terms, limits, lexical.search(library, terms, limits))


@pytest.mark.parametrize("terms", QUERIES, ids=" ".join)
def test_the_first_of_a_large_index_are_certain_if_the_budget_holds(library, terms):
    limits = SearchLimits(20)
    result = lexical.search(library, terms, limits)
    assert check(library, terms, limits, result) >= min(20, len(result.hits))


def test_a_rare_term_spares_the_list_of_a_common_one():
    texts = ["common filler"] * 3000 + ["rare common"] * 30
    index = MemoryIndex([([], text.split()) for text in texts])
    result = lexical.search(index, ["common", "rare"], SearchLimits(5))
    assert certain(result) >= 5
    assert sum(count for count, _ in index.looked_up) == 30


def test_few_that_pass_are_found_among_many_that_do_not():
    texts = [(["a"] if n % 3 else [], ["b"] * (1 + n % 9)) for n in range(4000)]
    index = MemoryIndex(texts, [5, 1711, 3998])
    result = lexical.search(index, ["a", "b"], SearchLimits(10, budget=50, least=10))
    assert {hit.node_id for hit in result.hits} == {"5", "1711", "3998"}
    assert result.bound == 0


def test_of_equal_documents_the_latest_come_first():
    index = MemoryIndex([([], ["a"])] * 500)
    for budget in (10, 100, 50_000):
        result = lexical.search(index, ["a"], SearchLimits(5, budget))
        assert [hit.node_id for hit in result.hits[:5]] == ["499", "498", "497", "496", "495"]


def test_time_that_is_up_at_once_leaves_the_best_of_the_rarest_term(library):
    terms = ["w0", "w900"]
    result = lexical.search(library, terms, SearchLimits(5, deadline=0.0))
    assert result.partial
    assert result.bound >= library.brute_force(terms)[0].score
    found = [dict(hit.terms).keys() >= {"w900"} for hit in result.hits]
    assert found
    assert all(found)


def test_time_that_is_up_after_a_lookup_leaves_the_best_of_what_was_seen():
    index = MemoryIndex([([], ["a"] * (1 + n % 7)) for n in range(2000)])
    limits = Checks(10, looks=1)
    result = lexical.search(index, ["a"], limits)
    best = [hit.score for hit in index.brute_force(["a"])[:10]]
    assert [hit.score for hit in result.hits[:10]] == pytest.approx(best)


@given(searches(), st.lists(st.sampled_from([1, 2, 3, 5, 8, 20, 60, 500]), min_size=2, max_size=4))
def test_a_deeper_search_only_appends(searched, depths):
    _, texts, terms, limits, tuning = searched
    index = MemoryIndex(texts * 3)
    whole = run(index, terms, SearchLimits(10_000, 10**6, 10_000), {"_MOST_SCORED": 10**6})
    assert whole.bound == 0
    for depth in depths:
        result = run(index, terms, SearchLimits(depth, limits.budget, depth), tuning)
        first = certain(result)
        assert [h.node_id for h in result.hits[:first]] == [h.node_id for h in whole.hits[:first]]


def test_equal_documents_of_different_words_are_in_one_order():
    # The sums of equal weights, added in other orders, would differ in the last digit.
    words = [f"w{n}" for n in range(7)]
    rng = random.Random(3)  # noqa: S311  repeatable, no secret
    texts: list[tuple[list[str], list[str]]] = [([], rng.sample(words, 4)) for _ in range(700)]
    index = MemoryIndex(texts + [([], rng.sample(words, 7)) for _ in range(700)])
    whole = lexical.search(index, words, SearchLimits(2000, 10**6, 2000)).hits
    assert len({round(hit.score, 6) for hit in whole}) < len({hit.terms for hit in whole})
    for depth in (1, 10, 99, 700, 1100):
        result = lexical.search(index, words, SearchLimits(depth))
        assert [hit.node_id for hit in result.hits[:depth]] == [h.node_id for h in whole[:depth]]
