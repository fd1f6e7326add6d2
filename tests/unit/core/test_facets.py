"""A node that passes the filters has a facet of every group that narrows the search."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.analysis import terms, tokens
from evomem.domain.facets import facets_of, is_facet, narrowing
from evomem.domain.metadata import matches

TAGS = st.lists(st.sampled_from(["red", "Red", "re", "", "~", "é", "\ud800", '"']), unique=True)
SESSIONS = st.none() | st.sampled_from(["s1", "s", "", "red", "\ud800"])
NUMBERS = st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -0.0, 2.0, 1e15, 2**53 + 1, -1.0])
SCALARS = st.none() | st.booleans() | NUMBERS | st.sampled_from(["1", "true", "null", "", "red"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("kab"), inner, max_size=2)
    ),
    max_leaves=5,
)
METADATA = st.dictionaries(st.sampled_from(["k", "K", "", "tag", "session"]), VALUES, max_size=3)


@st.composite
def wanted_of(draw, metadata):
    """A filter that the metadata passes."""
    wanted = {}
    for key, value in metadata.items():
        kind = draw(st.sampled_from(["left out", "same", "$eq", "inside"]))
        if kind == "inside" and isinstance(value, dict):
            wanted[key] = draw(wanted_of(value))
        elif kind == "$eq":
            wanted[key] = {"$eq": value}
        elif kind != "left out":
            wanted[key] = value
    return wanted


def may_pass(facets, groups):
    return all(set(facets) & set(group) for group in groups)


@given(TAGS, SESSIONS, METADATA, st.data())
def test_what_passes_is_never_left_out(tags, session, metadata, data):
    asked_tags = data.draw(st.lists(st.sampled_from(tags), unique=True)) if tags else []
    asked_any = [*data.draw(TAGS), *asked_tags[:1]] if asked_tags else []
    asked_session = data.draw(st.sampled_from([None, session]))
    asked = data.draw(wanted_of(metadata))
    groups = narrowing(asked_tags, asked_any, asked_session, asked)
    assert matches(metadata, asked)
    assert may_pass(facets_of(tags, session, metadata), groups)


@given(METADATA, METADATA)
def test_what_matches_is_never_left_out(metadata, asked):
    groups = narrowing((), (), None, asked)
    assert not matches(metadata, asked) or may_pass(facets_of((), None, metadata), groups)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [(1, 1.0), (1.0, 1), (0, -0.0), (10**15, 1e15), (10**22, 1e22), (int(1e308), 1e308)],
)
def test_equal_numbers_have_one_facet(stored, asked):
    assert may_pass(facets_of((), None, {"n": stored}), narrowing((), (), None, {"n": asked}))


DIFFERENT = [1, True, "1", "true", "null", 0, False, "", 1.5, "[]"]


def test_different_values_have_different_facets():
    for stored, asked in itertools.permutations(DIFFERENT, 2):
        for held, wanted in (({"n": stored}, {"n": asked}), ({"n": [stored]}, {"n": asked})):
            assert not may_pass(facets_of((), None, held), narrowing((), (), None, wanted)), held


def test_facets_tell_the_whole_path_of_a_value():
    paths: list[dict[str, Any]] = [
        {"a": 1},
        {"b": {"a": 1}},
        {"b": {"b": {"a": 1}}},
        {"a.b": 1},
        {"a": {"b": 1}},
    ]
    for stored, asked in itertools.product(paths, repeat=2):
        groups = narrowing((), (), None, asked)
        assert may_pass(facets_of((), None, stored), groups) == (stored == asked)


def test_what_may_differ_in_what_matches_has_no_facets():
    for asked in (None, [], {}, [1], {"$gt": 1}, {"$ne": 1}, {"$eq": None}, {"$eq": [1]}):
        assert narrowing((), (), None, {"n": asked}) == []
    assert narrowing((), (), None, {"n": {"$eq": 1.0}}) == narrowing((), (), None, {"n": 1})
    assert facets_of((), None, {"a": None, "b": [1], "c": {}, "d": {"e": None}}) == ()


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


@pytest.mark.parametrize("count", [31, 32, 33, 10_000])
def test_values_inside_objects_count_as_well(count):
    held = facets_of((), None, {"a": {f"k{n}": n for n in range(count)}})
    assert len(held) == (count if count <= 32 else 1)
    assert may_pass(held, narrowing((), (), None, {"a": {"k0": 0, f"k{count - 1}": count - 1}}))
    assert may_pass(held, narrowing((), (), None, {"a": {"k0": 1}})) == (count > 32)


@pytest.mark.parametrize(("values", "most"), [(29, True), (30, False)])
def test_tags_session_and_values_count_together(values, most):
    held = facets_of(["a", "b", "a"], "s", {str(n): n for n in range(values)})
    assert len(held) == (values + 3 if most else 1)


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
