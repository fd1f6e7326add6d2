"""What an embedder answered, checked and packed: unit vectors of little-endian float32."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable
from typing import Any


class AnswerError(Exception):
    """An answer is not what the port asks for; the message continues "The embedder NAME"."""


def packed(answer: object, count: int, dimension: int | None) -> list[bytes]:
    """Return each vector at unit length as little-endian float32.

    Args:
        answer: What an embedder returned.
        count: How many vectors there should be.
        dimension: How many numbers each should have; None takes that of the first.

    Raises:
        AnswerError: It is not what the port asks for.
    """
    rows = [_numbers(row) for row in _plain(answer)]
    if len(rows) != count:
        message = f"answered {len(rows)} vectors for {count} texts"
        raise AnswerError(message)
    for row in rows:
        dimension = len(row) if dimension is None else dimension
        if len(row) != dimension:
            message = f"answered a vector of {len(row)} numbers, not {dimension} as before"
            raise AnswerError(message)
    return [_unit(row) for row in rows]


def _plain(value: object) -> Iterable[Any]:
    """Return the elements; arrays of numpy and torch turn into lists, which are read far faster."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, str | bytes | bytearray | dict) or not isinstance(plain, Iterable):
        message = f"answered {type(value).__name__} where a list should be"
        raise AnswerError(message)
    return plain


def _numbers(row: object) -> array[float]:
    try:
        return array("d", _plain(row))
    except TypeError as error:
        message = f"answered something in a vector that is no number ({error})"
        raise AnswerError(message) from error


def _unit(row: array[float]) -> bytes:
    length = math.hypot(*row)
    if not math.isfinite(length):
        message = "answered a vector with numbers that are not finite"
        raise AnswerError(message)
    if length == 0:
        message = "answered a vector without any number but zero"
        raise AnswerError(message)
    unit = array("f", [number / length for number in row])
    if sys.byteorder == "big":
        unit.byteswap()
    return unit.tobytes()
