import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem import InvalidRequestError
from evomem.domain.scope import MAX_SCOPE_CHARS, common, contains, parse_scope

LABELS = st.sampled_from(["eu", "eu-west", "us", "staging", "é"])
SCOPES = st.none() | st.lists(LABELS, min_size=1, max_size=3).map("/".join)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, None),
        ("", None),
        (" / // ", None),
        ("Staging", "staging"),
        (" staging / EU ", "staging/eu"),
        ("/staging//eu/", "staging/eu"),
        ("two  words", "two words"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
    ],
)
def test_a_scope_is_read_without_case_and_blanks(written, read):
    assert parse_scope(written) == read


def test_a_scope_that_is_too_long_is_refused():
    assert parse_scope("x" * MAX_SCOPE_CHARS)
    with pytest.raises(InvalidRequestError, match="at most"):
        parse_scope("x" * (MAX_SCOPE_CHARS + 1))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (None, None, True),
        (None, "eu", True),
        ("eu", None, False),
        ("eu", "eu", True),
        ("eu", "eu/de", True),
        ("eu/de", "eu", False),
        ("eu", "eu-west", False),
        ("eu", "eux/de", False),
        ("de", "eu/de", False),
    ],
)
def test_a_scope_contains_what_lies_inside_it(outer, inner, expected):
    assert contains(outer, inner) is expected


@given(SCOPES)
def test_reading_a_scope_twice_changes_nothing(scope):
    assert parse_scope(parse_scope(scope)) == parse_scope(scope)


@given(st.lists(SCOPES, min_size=1, max_size=4), SCOPES)
def test_the_common_scope_is_the_narrowest_that_contains_all(scopes, other):
    shared = common(scopes)
    assert all(contains(shared, scope) for scope in scopes)
    if all(contains(other, scope) for scope in scopes):
        assert contains(other, shared)


@given(SCOPES, SCOPES, SCOPES)
def test_containing_is_an_order(a, b, c):
    assert contains(a, a)
    if contains(a, b) and contains(b, c):
        assert contains(a, c)
    if contains(a, b) and contains(b, a):
        assert a == b
