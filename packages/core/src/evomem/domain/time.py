"""Instants: always aware, always UTC, microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from evomem.errors import InvalidRequestError, shown

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Instant = datetime | str | int | float
"""What callers may give for a time: a datetime, ISO 8601 text, or epoch seconds."""

# Epoch numbers past this are milliseconds: as seconds they would lie after the year 5100.
_MILLISECONDS_FROM = 100_000_000_000


def parse_time(value: Instant, field: str = "time") -> datetime:
    """Turn what a caller gave into an aware UTC time; a naive time is UTC.

    Raises:
        InvalidRequestError: The value is no time; the message names `field`.
    """
    try:
        parsed = _read(value)
        if parsed.tzinfo is None:
            return parsed.replace(tzinfo=UTC)
        return parsed.astimezone(UTC)
    except (ValueError, OverflowError, OSError, TypeError) as error:
        message = (
            f"{field}={shown(value)} is not a time. Use ISO 8601, for example "
            "'2026-03-01T09:30:00Z', or epoch seconds."
        )
        raise InvalidRequestError(message, field=field) from error


def _read(value: Instant) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, int | float):
        seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
        return EPOCH + timedelta(seconds=seconds)
    if not isinstance(value, str):
        raise TypeError
    return datetime.fromisoformat(value.strip())


def to_micros(value: datetime) -> int:
    """Return microseconds since the epoch; exact, and ordered like the times."""
    return (value - EPOCH) // timedelta(microseconds=1)


def from_micros(value: int) -> datetime:
    """Return the time `value` microseconds after the epoch."""
    return EPOCH + timedelta(microseconds=value)


def format_time(value: datetime) -> str:
    """Write a time the one way every surface shows it, for example `2026-03-01T09:30:00+00:00`."""
    return value.astimezone(UTC).isoformat()
