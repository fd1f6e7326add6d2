"""What a filter asks of metadata, and what of it cannot be meant."""

import pytest

from evomem.domain.metadata import check_filter, leaves, matches, required
from evomem.domain.question import parse_list, parse_recall
from evomem.errors import InvalidRequestError

HELD = {
    "n": 1,
    "half": 0.5,
    "flag": True,
    "name": "core",
    "none": None,
    "deep": {"a": {"b": 1, "c": [1, {"x": "y", "z": None}]}, "n": None},
    "list": [1, 2.0, "3"],
    "$odd": "v",
    "$under": {"a": 1},
}
MATCHING = [
    {},
    {"n": 1},
    {"n": 1.0},
    {"half": 0.5, "name": "core"},
    {"flag": True},
    {"none": None},
    {"missing": None},
    {"$odd": "v"},
    {"$under": {"a": 1}},
    {"deep": {}},
    {"deep": {"a": {"b": 1}}},
    {"deep": {"a": {"b": {"$gt": 0}, "missing": None}, "n": None}},
    {"deep": {"a": {"c": [1, {"x": "y"}]}}},
    {"deep": {"a": {"c": [{"$lte": 1}, {"z": None}]}}},
    {"list": [1.0, 2, {"$ne": 3}]},
    {"n": {"$eq": 1.0}},
    {"n": {"$gte": 1, "$lte": 1.0, "$ne": 2, "$gt": 0.5, "$lt": 2**70}},
    {"n": {"$ne": True}},
    {"n": {"$ne": None}},
    {"name": {"$gt": "c", "$lt": "cz"}},
    {"name": {"$lt": "\U0001f600"}},
    {"none": {"$eq": None}},
    {"missing": {"$eq": None}},
    {"missing": {"$ne": 1}},
    {"list": {"$eq": [1, 2, "3"]}},
    {"list": {"$ne": [True, 2, "3"]}},
    {"$under": {"$eq": {"a": 1.0}}},
    {"deep": {"$ne": {"n": None}}},
]
DIFFERING = [
    {"n": 2},
    {"n": True},
    {"n": "1"},
    {"n": None},
    {"n": {}},
    {"n": []},
    {"flag": 1},
    {"flag": False},
    {"none": 0},
    {"none": {}},
    {"missing": {}},
    {"missing": {"x": None}},
    {"n": 1, "name": "Core"},
    {"deep": {"a": {"b": True}}},
    {"deep": {"a": None}},
    {"list": [1, 2]},
    {"list": [1, 2, "3", None]},
    {"list": [2, 1, "3"]},
    {"list": {}},
    {"deep": []},
    {"list": {"$eq": [1, 2]}},
    {"deep": {"$eq": {}}},
    {"$under": {"$eq": {}}},
    {"$under": {"$eq": {"a": {"$gt": 0}}}},
    {"$under": {"$eq": {"a": True}}},
    {"missing": {"$ne": None}},
    {"n": {"$ne": 1.0}},
    {"n": {"$gt": 1}},
    {"n": {"$gt": 0, "$lt": 1}},
    {"n": {"$gt": "0"}},
    {"name": {"$gt": 0}},
    {"name": {"$gte": "d"}},
    {"flag": {"$gte": 0}},
    {"flag": {"$lt": 2}},
    {"none": {"$lt": 1}},
    {"missing": {"$gte": ""}},
    {"list": {"$gt": 0}},
    {"deep": {"$lt": "z"}},
]


@pytest.mark.parametrize("wanted", MATCHING, ids=str)
def test_metadata_match(wanted):
    assert matches(HELD, wanted)
    check_filter(wanted)


@pytest.mark.parametrize("wanted", DIFFERING, ids=str)
def test_metadata_do_not_match(wanted):
    assert not matches(HELD, wanted)
    check_filter(wanted)


def test_whole_numbers_compare_exactly_with_halves():
    assert matches({"n": 10**22}, {"n": 1e22})
    assert not matches({"n": 2**53 + 1}, {"n": float(2**53)})
    assert matches({"n": 2**53 + 1}, {"n": {"$gt": float(2**53)}})
    assert matches({"n": -0.0}, {"n": 0})


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"$regex": "x"}, "'\\$regex'.* \\$eq, \\$ne, \\$gt, \\$gte, \\$lt, \\$lte"),
        ({"$GT": 1}, "'\\$GT'"),
        ({"$": 1}, "'\\$'"),
        ({"$gt": 1, "name": 2}, "'name'.*do not mix"),
        ({"name": 2, "$gt": 1}, "'name'.*do not mix"),
        ({"deep": {"$in": [1]}}, "'\\$in'"),
        ([1, {"$in": [1]}], "'\\$in'"),
        *[({"$gt": operand}, "\\$gt=.*no number") for operand in (None, True, [1], {"a": 1})],
        *[({name: None}, f"\\{name}=None") for name in ("$gte", "$lt", "$lte")],
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(asked, named):
    for parse in (parse_list, lambda given: parse_recall({"query": "x", **given})):
        with pytest.raises(InvalidRequestError, match=f"filter\\['key'\\].*{named}") as refusal:
            parse({"filter": {"fine": 1, "key": asked}})
        assert refusal.value.details == {"field": "filter", "key": "key"}


def test_a_filter_is_kept_as_it_is():
    wanted = {"$gt": 1, "a": {"$eq": {"$x": 1, "y": {"$in": []}}, "$ne": None}}
    assert parse_list({"filter": wanted}).filter == wanted


def test_leaves_are_what_objects_hold():
    assert list(leaves(HELD)) == [
        (("n",), 1),
        (("half",), 0.5),
        (("flag",), True),
        (("name",), "core"),
        (("deep", "a", "b"), 1),
        (("$odd",), "v"),
        (("$under", "a"), 1),
    ]


def test_only_equal_values_are_required():
    wanted = {
        "a": 1,
        "b": {"c": "x", "d": {"e": False, "none": None}, "empty": {}},
        "list": [1],
        "none": None,
        "f": {"$eq": 0.5, "$gt": 0},
        "g": {"$ne": 1, "$gt": 0},
        "h": {"$eq": None},
        "i": {"$eq": {"j": 1}},
        "$k": {"$eq": [1]},
        "$l": "v",
    }
    assert list(required(wanted)) == [
        (("a",), 1),
        (("b", "c"), "x"),
        (("b", "d", "e"), False),
        (("f",), 0.5),
        (("$l",), "v"),
    ]
