"""What a filter asks of metadata: values, objects and lists of such, and comparisons.

Only the keys of the filter itself are always names. Further in, an object whose keys begin with
`$` holds operators, all of which must hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from evomem.errors import InvalidRequestError, shown

Leaf = tuple[tuple[str, ...], Any]
"""The keys that lead to a value, and the value: a text, a number or a truth value."""


def matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether metadata has all that is wanted; a key that it lacks counts as null."""
    return all(_meets(metadata.get(key), asked) for key, asked in wanted.items())


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Refuse what cannot be meant.

    Raises:
        InvalidRequestError: An unknown operator, names among operators, or an operand without an
            order where one is needed.
    """
    for key, asked in wanted.items():
        for comparison in _comparisons(asked):
            for name, operand in comparison.items():
                _check_operator(key, name, operand)


def leaves(metadata: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Yield what metadata holds, inside objects too but not inside lists; nulls are left out."""
    for key, value in metadata.items():
        here = (*path, key)
        if isinstance(value, dict):
            yield from leaves(value, here)
        elif _is_scalar(value):
            yield here, value


def required(wanted: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Yield leaves that all metadata has which matches; a filter may ask for more than that."""
    for key, asked in wanted.items():
        here = (*path, key)
        if isinstance(asked, dict) and not _is_comparison(asked):
            yield from required(asked, here)
            continue
        value = asked.get("$eq") if isinstance(asked, dict) else asked
        if _is_scalar(value):
            yield here, value


def _meets(value: object, asked: object) -> bool:
    if isinstance(asked, dict):
        if _is_comparison(asked):
            return all(_OPERATORS[name](value, operand) for name, operand in asked.items())
        return isinstance(value, dict) and matches(value, asked)
    if isinstance(asked, list):
        if not isinstance(value, list) or len(value) != len(asked):
            return False
        return all(map(_meets, value, asked))
    return _equal(value, asked)


def _equal(one: object, other: object) -> bool:
    """Tell whether two JSON values are the same: 1 is 1.0, but not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _unequal(value: object, operand: object) -> bool:
    return not _equal(value, operand)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def holds(value: object, operand: object) -> bool:
        kind = _order(value)
        return kind is not None and kind is _order(operand) and compare(value, operand)

    return holds


def _order(value: object) -> type | None:
    """Return what a value is compared as; only texts and numbers have an order."""
    if isinstance(value, str):
        return str
    return float if isinstance(value, int | float) and not isinstance(value, bool) else None


_OPERATORS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "$eq": _equal,
    "$ne": _unequal,
    "$gt": _ordered(operator.gt),
    "$gte": _ordered(operator.ge),
    "$lt": _ordered(operator.lt),
    "$lte": _ordered(operator.le),
}


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float)


def _is_comparison(asked: Mapping[str, Any]) -> bool:
    return any(key.startswith("$") for key in asked)


def _comparisons(asked: object) -> Iterator[dict[str, Any]]:
    if isinstance(asked, dict) and _is_comparison(asked):
        yield asked
    elif isinstance(asked, dict | list):
        for inner in asked.values() if isinstance(asked, dict) else asked:
            yield from _comparisons(inner)


def _check_operator(key: str, name: str, operand: object) -> None:
    if name not in _OPERATORS:
        message = (
            f"filter[{key!r}] compares by {name!r}, which is none of {', '.join(_OPERATORS)}. "
            "Operators and names do not mix; an object whose names begin with $ stands under $eq."
        )
    elif name not in {"$eq", "$ne"} and _order(operand) is None:
        message = f"filter[{key!r}] has {name}={shown(operand)}, which is no number and no text."
    else:
        return
    raise InvalidRequestError(message, field="filter", key=key)
