"""Evidence is read once: who said what, and when."""

from datetime import UTC, datetime
from typing import get_type_hints

import pytest

from evomem import InvalidRequestError, TooLargeError
from evomem.domain.event import (
    EVENT_ARGUMENTS,
    ROLES,
    EventOptions,
    EventRecord,
    EventRequest,
    parse_event,
)
from evomem.domain.text import MAX_TEXT_BYTES

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(**given):
    return parse_event({"role": "user", "content": "x", **given})


@pytest.mark.parametrize("role", ROLES)
def test_only_a_role_and_a_content_are_needed(role):
    read = parse_event({"role": role, "content": " as received \n"})
    assert read == EventRequest(role=role, content=" as received \n", source="python")


def test_every_field_of_a_request_can_be_given():
    fields = set(EventRequest.__dataclass_fields__) - {"warnings"}
    assert set(EVENT_ARGUMENTS) == fields
    assert set(get_type_hints(EventOptions)) == fields - {"role", "content"}


def test_all_arguments_are_read():
    read = event(
        external_id=" msg-7 ",
        session=" s ",
        occurred_at="2026-03-01T13:00:00+01:00",
        actor="ada",
        source="cli",
    )
    assert read == EventRequest("user", "x", "msg-7", "s", NOON, "ada", "cli")


def test_a_blank_name_counts_as_not_given():
    read = event(external_id=" ", session="", actor="\n", source=" ")
    assert read == EventRequest("user", "x", source="python")


def test_the_source_is_the_way_the_call_came_unless_given():
    given = {"role": "user", "content": "x"}
    assert parse_event(given, source="mcp").source == "mcp"
    assert parse_event({**given, "source": "import"}, source="mcp").source == "import"


@pytest.mark.parametrize(
    "occurred_at", ["2026-03-01T12:00", NOON, NOON.replace(tzinfo=None), NOON.timestamp()]
)
def test_a_time_may_be_written_in_many_ways(occurred_at):
    assert event(occurred_at=occurred_at).occurred_at == NOON


@pytest.mark.parametrize("role", [None, "", "human", "users", 7, True, b"user", ["user"]], ids=repr)
def test_any_other_role_is_refused_with_the_list_of_roles(role):
    with pytest.raises(InvalidRequestError, match=", ".join(ROLES)) as refusal:
        event(role=role)
    assert refusal.value.details == {"field": "role"}


@pytest.mark.parametrize(
    ("role", "meant"), [("User", "user"), ("ASSISTANT", "assistant"), (" tool ", "tool")]
)
def test_a_role_in_other_letters_is_refused_with_the_one_meant(role, meant):
    with pytest.raises(InvalidRequestError, match=f"did you mean '{meant}'") as refusal:
        event(role=role)
    assert refusal.value.details == {"field": "role", "did_you_mean": meant}


def test_a_role_is_needed():
    with pytest.raises(InvalidRequestError, match="who said it"):
        parse_event({"content": "x"})


@pytest.mark.parametrize("content", [None, "", " \n\t", 7, b"bytes", ["x"]], ids=repr)
def test_what_is_no_statement_is_refused(content):
    with pytest.raises(InvalidRequestError, match="content is") as refusal:
        event(content=content)
    assert refusal.value.details == {"field": "content"}


def test_a_content_is_needed():
    with pytest.raises(InvalidRequestError, match="content is empty"):
        parse_event({"role": "user"})


def test_a_content_may_have_a_mebibyte():
    assert event(content="é" * (MAX_TEXT_BYTES // 2)).content
    with pytest.raises(TooLargeError) as refusal:
        event(content="é" * (MAX_TEXT_BYTES // 2) + "x")
    assert refusal.value.details["size_bytes"] == MAX_TEXT_BYTES + 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("external_id", 7),
        ("external_id", "x" * 1001),
        ("session", ["s"]),
        ("actor", b"ada"),
        ("source", True),
        ("occurred_at", "soon"),
        ("occurred_at", True),
        ("occurred_at", []),
        ("occurred_at", float("nan")),
        ("occurred_at", float("inf")),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_cannot_be_meant_is_refused(name, value):
    with pytest.raises(InvalidRequestError, match=name) as refusal:
        event(**{name: value})
    assert refusal.value.details["field"] == name


@pytest.mark.promise("raw.kept")
def test_what_no_store_can_hold_is_replaced_and_said():
    read = event(content="a\0b\ud83dc", session="s\0")
    assert (read.content, read.session) == ("a\ufffdb\ufffdc", "s\ufffd")
    assert "2 unstorable" in read.warnings[0]
    assert read.warnings[1:] == ("session: unstorable character(s) became U+FFFD.",)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("externalId", "external_id"),
        ("Role", "role"),
        ("contents", "content"),
        ("occured_at", "occurred_at"),
    ],
)
@pytest.mark.parametrize("tolerant", [False, True])
def test_an_argument_close_to_a_real_one_is_refused_with_its_name(name, meant, tolerant):
    given = {"role": "user", "content": "x", name: "y"}
    with pytest.raises(InvalidRequestError, match=f"did you mean '{meant}'"):
        parse_event(given, tolerate_unknown=tolerant)


def test_any_other_unknown_argument_is_refused_or_named():
    with pytest.raises(InvalidRequestError, match="'zzz'"):
        event(zzz=1)
    read = parse_event({"role": "user", "content": "x", "zzz": 1}, tolerate_unknown=True)
    assert read.warnings == ("Unknown argument 'zzz' was ignored.",)


def test_a_record_is_written_as_json_values():
    record = EventRecord("e1", "user", "x", NOON, NOON, None, "msg-7", "p1")
    assert record.to_dict() == {
        "id": "e1",
        "role": "user",
        "content": "x",
        "occurred_at": "2026-03-01T12:00:00+00:00",
        "recorded_at": "2026-03-01T12:00:00+00:00",
        "session": None,
        "external_id": "msg-7",
        "patch_id": "p1",
        "replayed": False,
        "warnings": [],
    }
