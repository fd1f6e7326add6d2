"""Arguments are read once, at the edge, into values that need no further checks."""

from datetime import UTC, datetime
from typing import get_type_hints

import pytest

from evomem import (
    InvalidQueryError,
    InvalidRequestError,
    TooLargeError,
    parse_list,
    parse_recall,
    parse_remember,
)
from evomem.domain.question import ListOptions, ListRequest, RecallOptions, RecallRequest
from evomem.domain.request import Amendment, RememberOptions, RememberRequest
from evomem.domain.text import MAX_TEXT_BYTES

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
LATER = datetime(2026, 3, 2, 12, tzinfo=UTC)


def remember(**given):
    return parse_remember({"text": "x", **given})


def test_only_a_text_is_needed():
    assert parse_remember({"text": " as received \n"}) == RememberRequest(
        text=" as received \n", source="python"
    )
    assert parse_recall({"query": ""}) == RecallRequest(query="")
    assert parse_list({}) == ListRequest()


@pytest.mark.parametrize(
    ("options", "request_type", "own"),
    [
        (RememberOptions, RememberRequest, {"text", "warnings"}),
        (RecallOptions, RecallRequest, {"query", "warnings"}),
        (ListOptions, ListRequest, set()),
    ],
)
def test_every_field_of_a_request_can_be_given(options, request_type, own):
    fields = set(request_type.__dataclass_fields__)
    assert set(get_type_hints(options)) == fields - own


@pytest.mark.parametrize("searchable", ["always", "tip", "never"])
def test_what_is_searchable_is_one_of_three(searchable):
    assert remember(searchable=searchable).searchable == searchable


def test_all_arguments_are_read():
    request = remember(
        tags=[" a ", "b", "a", ""],
        session=" s ",
        scope="EU / De",
        subject="ledger",
        supersedes="n1",
        refines=["n2", " n2 ", "n3"],
        amends=[{"id": " n4 ", "part": "the words"}],
        overrides=("n5",),
        relations={"caused_by": "n6", "depends_on": ["n7", "n8"]},
        expected_version=3,
        idempotency_key=" k ",
        valid_from="2026-03-01",
        valid_to=1772452800,
        created_at=datetime(2026, 2, 1, tzinfo=UTC),
        metadata={"n": [1, {"x": None}]},
        actor="ada",
        source="cli",
    )
    assert request.tags == ("a", "b")
    assert (request.session, request.scope, request.subject) == ("s", "eu/de", "ledger")
    assert (request.supersedes, request.refines, request.overrides) == (
        ("n1",),
        ("n2", "n3"),
        ("n5",),
    )
    assert request.amends == (Amendment("n4", "the words"),)
    assert request.relations == (
        ("caused_by", "n6"),
        ("depends_on", "n7"),
        ("depends_on", "n8"),
    )
    assert request.targets == ("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8")
    assert (request.expected_version, request.idempotency_key) == (3, "k")
    assert request.valid_from == datetime(2026, 3, 1, tzinfo=UTC)
    assert request.valid_to == datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert request.created_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert request.metadata == {"n": [1, {"x": None}]}
    assert (request.actor, request.source) == ("ada", "cli")


@pytest.mark.parametrize("text", [None, "", " \n\t", 7, b"bytes", ["x"]])
def test_what_is_no_statement_is_refused(text):
    with pytest.raises(InvalidRequestError, match="text"):
        parse_remember({"text": text})


def test_a_text_may_have_a_mebibyte():
    assert parse_remember({"text": "é" * (MAX_TEXT_BYTES // 2)}).text
    with pytest.raises(TooLargeError) as refusal:
        parse_remember({"text": "é" * (MAX_TEXT_BYTES // 2) + "x"})
    assert refusal.value.details["size_bytes"] == MAX_TEXT_BYTES + 1


@pytest.mark.promise("raw.kept")
def test_what_no_store_can_hold_is_replaced_and_said():
    request = parse_remember({"text": "a\0b\ud83dc", "tags": ["t\0"], "subject": "\udfff!"})
    assert request.text == "a\ufffdb\ufffdc"
    assert (request.tags, request.subject) == (("t\ufffd",), "\ufffd!")
    assert "2 unstorable" in request.warnings[0]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("supersede", "supersedes"),
        ("supercedes", "supersedes"),
        ("Supersedes", "supersedes"),
        ("tag", "tags"),
        ("validfrom", "valid_from"),
        ("idempotencyKey", "idempotency_key"),
        ("meta_data", "metadata"),
    ],
)
@pytest.mark.parametrize("tolerant", [False, True])
def test_an_argument_close_to_a_real_one_is_refused_with_its_name(name, meant, tolerant):
    with pytest.raises(InvalidRequestError, match=f"did you mean '{meant}'") as refusal:
        parse_remember({"text": "x", name: "n1"}, tolerate_unknown=tolerant)
    assert refusal.value.details["did_you_mean"] == meant


def test_any_other_unknown_argument_is_refused_or_named():
    with pytest.raises(InvalidRequestError, match="'zzz'"):
        remember(zzz=1)
    request = parse_remember({"text": "x", "zzz": 1}, tolerate_unknown=True)
    assert request.warnings == ("Unknown argument 'zzz' was ignored.",)
    recall = parse_recall({"query": "x", "zzz": 1}, tolerate_unknown=True)
    assert recall.warnings == ("Unknown argument 'zzz' was ignored.",)
    with pytest.raises(InvalidRequestError):
        parse_list({"zzz": 1})


@pytest.mark.parametrize(
    "given",
    [
        {"tags": 7},
        {"tags": [7]},
        {"tags": {"a": 1}},
        {"session": 7},
        {"supersedes": [None]},
        {"supersedes": 7},
        {"amends": "n1"},
        {"amends": [{"id": "n1"}]},
        {"amends": [{"id": "n1", "part": ""}]},
        {"amends": [{"id": "n1", "part": "x", "more": 1}]},
        {"amends": 7},
        {"relations": ["n1"]},
        {"relations": {"supersedes": "n1"}},
        {"relations": {"Caused By": "n1"}},
        {"relations": {"": "n1"}},
        {"expected_version": 0, "supersedes": "n1"},
        {"expected_version": True, "supersedes": "n1"},
        {"expected_version": "1", "supersedes": "n1"},
        {"expected_version": 1},
        {"expected_version": 0},
        {"expected_version": 0, "slot": "a", "refines": "n1"},
        {"expected_version": -1, "slot": "a"},
        {"valid_from": "soon"},
        {"valid_from": []},
        {"valid_to": {}},
        {"created_at": True},
        {"valid_from": "2026-03-02", "valid_to": "2026-03-02"},
        {"overrides": "n1"},
        {"supersedes": "n1", "refines": "n1"},
        {"supersedes": "n1", "overrides": "n1", "scope": "eu"},
        {"refines": "n1", "overrides": "n1", "scope": "eu"},
        {"metadata": [1]},
        {"metadata": {1: 2}},
        {"metadata": {"x": {1, 2}}},
        {"metadata": {"x": float("nan")}},
        {"metadata": {"x": (1, 2)}},
        {"metadata": {"x": {1: 2}}},
        {"metadata": {"x": datetime(2026, 3, 1, tzinfo=UTC)}},
        {"metadata": {"\ud800": 1}},
        {"idempotency_key": 7},
        {"scope": 7},
        {"scope": "x" * 201},
        {"relations": {7: "n1"}},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(given):
    with pytest.raises(InvalidRequestError):
        remember(**given)


def test_a_value_that_json_cannot_carry_is_refused_by_its_key():
    with pytest.raises(InvalidRequestError, match="bad") as refusal:
        remember(metadata={"good": 1, "bad": {1, 2}})
    assert refusal.value.details["key"] == "bad"


def test_lists_and_metadata_have_bounds():
    with pytest.raises(TooLargeError):
        remember(tags=[str(n) for n in range(1001)])
    with pytest.raises(TooLargeError):
        remember(tags=["x" * 1001])
    with pytest.raises(TooLargeError):
        remember(metadata={"x": "y" * (1 << 18)})
    with pytest.raises(TooLargeError):
        parse_recall({"query": "x" * ((1 << 20) + 1)})


@pytest.mark.parametrize("query", [None, 7, b"x", ["x"]])
def test_a_query_is_a_text(query):
    with pytest.raises(InvalidQueryError) as refusal:
        parse_recall({"query": query})
    assert refusal.value.code == "INVALID_QUERY"


@pytest.mark.promise("query.text")
def test_a_query_is_kept_as_it_is():
    assert parse_recall({"query": ' "x" AND (y* \0\ud800'}).query == ' "x" AND (y* \0\ud800'


def test_recall_options_are_read():
    request = parse_recall(
        {
            "query": "x",
            "k": 100,
            "scope": "EU",
            "tags": "a",
            "session": "s",
            "filter": {"n": 1},
            "include_history": True,
            "history_depth": 0,
            "include_children": True,
            "as_of": "2026-03-01",
            "known_at": LATER.timestamp(),
            "include_removed": True,
            "tags_any": ["b", " "],
            "tags_none": "c",
            "relation": "caused_by",
            "since": MARCH,
            "until": LATER.isoformat(),
            "status": "active",
            "ranking": "lexical",
            "max_tokens": 100,
            "deadline_ms": 50,
            "explain": True,
        }
    )
    assert request == RecallRequest(
        "x",
        k=100,
        scope="eu",
        tags=("a",),
        tags_any=("b",),
        tags_none=("c",),
        session="s",
        filter={"n": 1},
        relation="caused_by",
        since=MARCH,
        until=LATER,
        include_children=True,
        as_of=MARCH,
        known_at=LATER,
        status="active",
        ranking="lexical",
        include_history=True,
        history_depth=0,
        include_removed=True,
        max_tokens=100,
        deadline_ms=50,
        explain=True,
    )


def read_times(**given):
    recall = parse_recall({"query": "x", **given})
    listed = parse_list(given)
    assert (recall.as_of, recall.known_at) == (listed.as_of, listed.known_at)
    return recall.as_of, recall.known_at


def test_the_two_times_of_a_question_are_read_apart():
    assert read_times() == (None, None)
    assert read_times(as_of=None, known_at=None) == (None, None)
    assert read_times(as_of=MARCH) == (MARCH, None)
    assert read_times(known_at=MARCH) == (None, MARCH)
    assert read_times(known_at=MARCH, as_of="2026-03-02T12:00Z") == (LATER, MARCH)
    assert read_times(known_at=LATER, as_of=MARCH) == (MARCH, LATER)


@pytest.mark.parametrize("name", ["as_of", "known_at"])
@pytest.mark.parametrize("value", ["soon", "", True, [], {}, float("nan")], ids=repr)
def test_what_is_no_time_is_refused(name, value):
    for parse in (parse_list, lambda given: parse_recall({"query": "x", **given})):
        with pytest.raises(InvalidRequestError, match="is not a time") as refusal:
            parse({name: value})
        assert refusal.value.details == {"field": name}


@pytest.mark.parametrize("name", ["asof", "as-of", "knownAt", "known", "include_remove"])
def test_a_time_by_another_name_is_refused(name):
    with pytest.raises(InvalidRequestError, match="did you mean"):
        parse_recall({"query": "x", name: MARCH}, tolerate_unknown=True)


@pytest.mark.parametrize(
    "given",
    [
        {"k": 0},
        {"k": 101},
        {"k": True},
        {"k": 1.0},
        {"k": "5"},
        {"history_depth": -1},
        {"history_depth": 101},
        {"include_removed": "no"},
        {"include_removed": 1},
        {"include_removed": None},
        {"filter": 7},
        {"tags": 7},
        {"tags_any": 7},
        {"tags_none": [1]},
        {"relation": "Not A Kind"},
        {"since": "soon"},
        {"since": "2026-03-02", "until": "2026-03-01"},
        {"status": "superseded"},
        {"status": ["active"]},
        {"ranking": "best"},
        {"max_tokens": 0},
        {"deadline_ms": 0.5},
        {"explain": "yes"},
    ],
    ids=str,
)
def test_recall_options_out_of_bounds_are_refused(given):
    with pytest.raises(InvalidRequestError):
        parse_recall({"query": "x", **given})


@pytest.mark.parametrize("given", [{"status": "gone"}, {"limit": 0}, {"limit": 1001}], ids=str)
def test_list_options_out_of_bounds_are_refused(given):
    with pytest.raises(InvalidRequestError):
        parse_list(given)
    assert parse_list({"status": "all", "limit": 1000}).limit == 1000
