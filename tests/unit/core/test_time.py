from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem import InvalidRequestError
from evomem.domain.time import format_time, from_micros, parse_time, to_micros

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given_time", "expected"),
    [
        (NOON, NOON),
        (datetime(2026, 3, 1, 12), NOON),  # noqa: DTZ001  a naive time is the point
        (datetime(2026, 3, 1, 13, tzinfo=timezone(timedelta(hours=1))), NOON),
        ("2026-03-01T12:00:00Z", NOON),
        ("2026-03-01T12:00:00+00:00", NOON),
        ("2026-03-01T14:30:00+02:30", NOON),
        ("2026-03-01 12:00", NOON),
        ("  2026-03-01T12:00:00  ", NOON),
        ("20260301T120000Z", NOON),
        ("2026-03-01T12:00:00.000001Z", NOON + timedelta(microseconds=1)),
        ("2026-03-01", NOON - timedelta(hours=12)),
        ("2026-W09-7", NOON - timedelta(hours=12)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (1772366400, NOON),
        (1772366400.25, NOON + timedelta(milliseconds=250)),
        (1772366400000, NOON),
        (1772366400250, NOON + timedelta(milliseconds=250)),
    ],
)
def test_a_time_may_be_given_in_many_ways(given_time, expected):
    parsed = parse_time(given_time)
    assert parsed == expected
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize(
    "given_time",
    [
        "",
        "yesterday",
        "2026-13-01",
        "2026-02-30",
        "12:00",
        "1772366400",
        True,
        None,
        [],
        float("nan"),
        float("inf"),
        10**30,
        -(10**18),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        "0001-01-01T00:00:00+01:00",
    ],
)
def test_what_is_no_time_is_refused_by_field(given_time):
    with pytest.raises(InvalidRequestError, match="valid_from=") as refusal:
        parse_time(given_time, "valid_from")
    assert refusal.value.details["field"] == "valid_from"


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_microseconds_are_exact_and_keep_the_order(one, two):
    assert from_micros(to_micros(one)) == one
    assert (to_micros(one) < to_micros(two)) == (one < two)


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda n: timezone(timedelta(minutes=n)))


@given(st.datetimes(timezones=OFFSETS))
def test_what_is_written_is_read_back(moment):
    try:
        written = format_time(moment)
    except OverflowError:
        return
    assert written.endswith("+00:00")
    assert parse_time(written) == moment
