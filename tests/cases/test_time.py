"""Times: always UTC, whoever writes them, wherever the machine stands."""

import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from evomem import InvalidRequestError

TIMES = ("created_at", "recorded_at", "valid_from")


@pytest.fixture
def local_zone(monkeypatch):
    def move(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def test_times_are_utc_in_every_local_zone(open_memory, tmp_path, local_zone):
    """TIM-001: Times written in one fixed local zone."""
    local_zone("Asia/Kolkata")
    memory = open_memory(tmp_path / "memory.db")
    written = memory.remember("x", created_at="2026-03-01T00:30:00+05:30")
    local_zone("America/Los_Angeles")
    again = open_memory(tmp_path / "memory.db")
    views = [
        written.to_dict()["node"],
        again.recall("x").to_dict()["hits"][0]["node"],
        again.list().to_dict()["nodes"][0],
        again.recall("").to_dict()["hits"][0]["node"],
    ]
    assert {view["created_at"] for view in views} == {"2026-02-28T19:00:00+00:00"}
    assert all(view[name].endswith("+00:00") for view in views for name in TIMES)
    assert all(view == views[0] for view in views)
    assert again.get_node(written.node.id) == written.node
    assert "| 2026-02-28]" in again.recall("x").to_text()


def test_a_naive_time_is_utc_in_every_local_zone(memory, local_zone):
    """TIM-001: the zone of the machine plays no part."""
    for i, zone in enumerate(("Asia/Kolkata", "America/Los_Angeles", "UTC")):
        local_zone(zone)
        naive = datetime(2026, 1, 5, 10)  # noqa: DTZ001  naive on purpose
        for text, given in ((f"a{i}", "2026-01-05T10:00:00"), (f"b{i}", naive)):
            node = memory.remember(text, created_at=given).node
            assert node.created_at.isoformat() == "2026-01-05T10:00:00+00:00"


def test_naive_and_aware_times_are_ordered(memory):
    """TIM-002: Naive and aware times compared."""
    memory.remember("a", created_at="2026-01-05T10:00:00")
    memory.remember("b", created_at="2026-01-05T10:00:00+02:00")
    ordered = sorted(memory.list(), key=lambda node: node.created_at)
    assert [(node.text, node.created_at.hour) for node in ordered] == [("b", 8), ("a", 10)]


def test_naive_and_aware_times_meet_in_one_note(memory):
    """TIM-002: no comparison fails in the middle of a save."""
    options = {"valid_from": "2026-01-05T10:00:00", "valid_to": "2026-01-05T10:00:00-02:00"}
    node = memory.remember("a", **options).node
    assert node.valid_to - node.valid_from == timedelta(hours=2)
    newer = memory.remember("b", supersedes=node.id, created_at="2026-01-05T09:00:00").node
    assert newer.valid_from >= node.valid_from


@pytest.mark.parametrize("name", TIMES[::2])
@pytest.mark.parametrize(
    ("given", "instant"),
    [
        (1700000000, "2023-11-14T22:13:20+00:00"),
        (1700000000000, "2023-11-14T22:13:20+00:00"),
        (1700000000.5, "2023-11-14T22:13:20.500000+00:00"),
        (0, "1970-01-01T00:00:00+00:00"),
        (-1, "1969-12-31T23:59:59+00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
        ("2026-01-01 10:00", "2026-01-01T10:00:00+00:00"),
        (" 2026-01-01 ", "2026-01-01T00:00:00+00:00"),
        ("20260101T100000Z", "2026-01-01T10:00:00+00:00"),
        ("2026-W01-4", "2026-01-01T00:00:00+00:00"),
        ("2026-01-01T10:00:00,123456Z", "2026-01-01T10:00:00.123456+00:00"),
        (datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=14))), "2025-12-31T10:00:00+00:00"),
        (datetime(2026, 1, 1, microsecond=1, tzinfo=UTC), "2026-01-01T00:00:00.000001+00:00"),
    ],
    ids=str,
)
def test_odd_dates_that_can_be_meant_are_read_right(open_memory, name, given, instant):
    """TIM-103: Odd date inputs, accepted with the right instant."""
    memory = open_memory(":memory:")
    node = memory.remember("a note", **{name: given}).node
    assert getattr(node, name).isoformat() == instant
    assert getattr(memory.get_node(node.id), name).isoformat() == instant


@pytest.mark.parametrize(
    "given",
    [
        *("2026-02-29T00:00:00Z", "2026-01-01T24:00:01Z", "2016-12-31T23:59:60Z", "2026-13-01"),
        *(
            "",
            " ",
            "yesterday",
            "0000-01-01",
            "10000-01-01",
            "12/31/2026",
            "\ud83d",
            "2026-01-01\0",
        ),
        *("0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "1700000000"),
        *(float("nan"), float("inf"), 1e300, 10**30, -(10**30), 10**400, True, b"2026-01-01"),
        *([], {}, Decimal(1), timedelta(1)),
        pytest.param(object(), id="object"),
    ],
    ids=ascii,
)
def test_odd_dates_that_cannot_be_meant_are_refused(open_memory, refused, given):
    """TIM-103: Odd date inputs, rejected with a reason."""
    memory = open_memory(":memory:")
    for name in ("created_at", "valid_from", "valid_to"):
        with refused(memory, InvalidRequestError, f"{name}=.* is not a time.*ISO 8601") as caught:
            memory.remember("a note", **{name: given})
        assert caught.value.details["field"] == name


@pytest.mark.parametrize(
    ("given", "instant"),
    [
        ("2026-01-01T24:00:00Z", "2026-01-02T00:00:00+00:00"),
        (date(2026, 1, 2), "2026-01-02T00:00:00+00:00"),
    ],
    ids=str,
)
def test_dates_that_some_pythons_read_are_read_right_or_refused(memory, given, instant):
    """TIM-103: 24:00 is the next day, a date is its midnight."""
    try:
        node = memory.remember("a note", created_at=given).node
    except InvalidRequestError as refusal:
        error = refusal
        node = None
    if node is None:
        assert error.details["field"] == "created_at"
    else:
        assert node.created_at.isoformat() == instant


def test_no_time_given_is_now(timed, clock):
    """TIM-103: null is the present."""
    node = timed.remember("a note", created_at=None, valid_from=None, valid_to=None).node
    assert (node.created_at, node.recorded_at, node.valid_from) == (clock.now,) * 3
    assert node.valid_to is None


@pytest.mark.promise("resolve.total")
def test_a_clock_that_steps_back_reorders_nothing(timed, clock, found):
    """TIM-103: DESIGN section 4: a new version never begins before the memory's latest."""
    first = timed.remember("limit ten").node
    clock.advance(hours=-2)
    second = timed.remember("limit twenty", supersedes=first.id).node
    assert second.valid_from >= first.valid_from
    clock.advance(hours=3)
    assert found(timed, "limit") == [second.id]
