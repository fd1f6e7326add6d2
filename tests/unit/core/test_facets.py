"""A node that passes the filters has a facet of every group that narrows the search."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.analysis import terms, tokens
from evomem.domain.facets import facets_of, is_facet, narrowing

TAGS = st.lists(st.sampled_from(["red", "Red", "re", "", "~", "é", "\ud800", '"']), unique=True)
SESSIONS = st.none() | st.sampled_from(["s1", "s", "", "red", "\ud800"])
NUMBERS = st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -0.0, 2.0, 1e15, 2**53 + 1, -1.0])
SCALARS = st.none() | st.booleans() | NUMBERS | st.sampled_from(["1", "true", "null", "", "red"])
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.just("k"), SCALARS)
METADATA = st.dictionaries(st.sampled_from(["k", "K", "", "tag", "session"]), VALUES, max_size=3)


def may_pass(facets, groups):
    return all(set(facets) & set(group) for group in groups)


@given(TAGS, SESSIONS, METADATA, st.data())
def test_what_passes_is_never_left_out(tags, session, metadata, data):
    asked_tags = data.draw(st.lists(st.sampled_from(tags), unique=True)) if tags else []
    asked_any = [*data.draw(TAGS), *asked_tags[:1]] if asked_tags else []
    asked_session = data.draw(st.sampled_from([None, session]))
    keys = data.draw(st.lists(st.sampled_from(sorted(metadata)), unique=True)) if metadata else []
    asked = {key: metadata[key] for key in keys}
    groups = narrowing(asked_tags, asked_any, asked_session, asked)
    assert may_pass(facets_of(tags, session, metadata), groups)


@pytest.mark.parametrize(("stored", "asked"), [(1, 1.0), (1.0, 1), (0, -0.0), (10**15, 1e15)])
def test_equal_numbers_have_one_facet(stored, asked):
    assert may_pass(facets_of((), None, {"n": stored}), narrowing((), (), None, {"n": asked}))


DIFFERENT = [1, True, "1", "true", None, "null", 0, False, "", [], {}, [1], {"a": 1}, 1.5, "[]"]


def test_different_values_have_different_facets():
    for stored, asked in itertools.permutations(DIFFERENT, 2):
        facets = facets_of((), None, {"n": stored})
        assert not may_pass(facets, narrowing((), (), None, {"n": asked})), (stored, asked)


def test_kinds_are_not_mistaken_for_each_other():
    groups = [
        narrowing(["x"], (), None, {}),
        narrowing((), (), "x", {}),
        narrowing((), (), None, {"x": "x"}),
    ]
    facets = [facets_of(["x"], None, {}), facets_of((), "x", {}), facets_of((), None, {"x": "x"})]
    for (i, held), (j, asked) in itertools.product(enumerate(facets), enumerate(groups)):
        assert may_pass(held, asked) == (i == j)


def test_one_of_several_tags_is_enough():
    groups = narrowing((), ["red", "blue"], None, {})
    assert len(groups) == 1
    assert may_pass(facets_of(["blue", "green"], None, {}), groups)
    assert not may_pass(facets_of(["green"], None, {}), groups)
    assert not may_pass(facets_of((), None, {}), groups)


def test_nothing_asked_narrows_nothing():
    assert narrowing((), (), None, {}) == []
    assert facets_of((), None, {}) == ()


@pytest.mark.parametrize("count", [31, 32, 33, 10_000])
def test_a_node_with_many_facets_is_looked_at_under_every_filter(count):
    tags = [f"tag{n}" for n in range(count)]
    held = facets_of(tags, None, {})
    assert len(held) <= 32
    for groups in (
        narrowing(tags, (), None, {}),
        narrowing([], tags[-1:], None, {}),
    ):
        assert may_pass(held, groups)
    assert may_pass(held, narrowing(["other"], (), "s", {"k": 1})) == (count > 32)


def test_equal_tags_count_once():
    assert facets_of(["red"] * 100, None, {}) == facets_of(["red"], None, {})


@given(st.text() | st.text("~abc- "))
def test_no_token_of_a_text_is_a_facet(text):
    assert not any(map(is_facet, [*tokens(text), *terms(text)]))


@given(TAGS, SESSIONS, METADATA)
def test_a_facet_is_one_printable_word(tags, session, metadata):
    facets = facets_of(tags, session, metadata)
    assert all(map(is_facet, facets))
    assert all(facet.isascii() and facet.isprintable() and " " not in facet for facet in facets)
    assert len(set(facets)) == len(facets)
