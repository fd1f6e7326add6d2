"""Reading a caller's arguments: once, at the edge, into values that need no further checks."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from evomem.domain.identifiers import parse_id
from evomem.domain.text import UNSTORABLE
from evomem.domain.time import parse_time
from evomem.errors import InvalidRequestError, TooLargeError, shown

MAX_ITEMS = 1000
MAX_NAME_CHARS = 1000
MAX_METADATA_BYTES = 1 << 18
# SQLite and PostgreSQL read JSON far deeper, Python and most clients do not.
MAX_DEPTH = 64
# Up to here every JSON reader keeps a whole number exact.
MAX_VERSION = 2**53


def check_names(
    given: Iterable[object], known: Sequence[str], *, tolerate: bool
) -> tuple[str, ...]:
    """Refuse arguments nobody reads.

    Args:
        given: Names of the arguments the caller passed.
        known: Names that have a meaning.
        tolerate: Ignore a name that is close to none of `known`, as clients add their own.

    Returns:
        One warning for each ignored name.

    Raises:
        InvalidRequestError: An unknown name that looks like a known one, or any if not `tolerate`.
    """
    warnings = []
    for name in given:
        if name in known:
            continue
        if not isinstance(name, str):
            message = f"Argument names are texts; got {name!r}. Nothing was done."
            raise InvalidRequestError(message, argument=repr(name))
        close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.75)
        if close:
            message = f"Unknown argument {name!r}: did you mean {close[0]!r}? Nothing was done."
            raise InvalidRequestError(message, argument=name, did_you_mean=close[0])
        if not tolerate:
            message = f"Unknown argument {name!r}. Known: {', '.join(known)}. Nothing was done."
            raise InvalidRequestError(message, argument=name)
        warnings.append(f"Unknown argument {name!r} was ignored.")
    return tuple(warnings)


def text_or_none(value: object, field: str, limit: int = MAX_NAME_CHARS) -> str | None:
    """Read an optional short text; blank means None."""
    if value is None:
        return None
    if not isinstance(value, str):
        message = f"{field}={shown(value)} is not a text."
        raise InvalidRequestError(message, field=field)
    if len(value) > limit:
        message = f"{field} has {len(value)} characters, more than the {limit} allowed."
        raise TooLargeError(message, field=field)
    return UNSTORABLE.sub("\ufffd", value).strip() or None


def name(given: Mapping[str, Any], field: str) -> str | None:
    """Read an optional short text by its name; blank means None."""
    return text_or_none(given.get(field), field)


def time(given: Mapping[str, Any], field: str) -> datetime | None:
    """Read an optional time by its name."""
    value = given.get(field)
    return None if value is None else parse_time(value, field)


def moments(as_of: object, known_at: object) -> tuple[datetime | None, datetime | None]:
    """Read the two times of a question: of the world, and of what was known."""
    given = {"as_of": as_of, "known_at": known_at}
    return time(given, "as_of"), time(given, "known_at")


def origin(reason: object, actor: object, source: object) -> dict[str, str | None]:
    """Read why a change is made, by whom, and by which way it came."""
    given = {"reason": reason, "actor": actor, "source": source}
    return {field: name(given, field) for field in given}


def period(given: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    """Read `valid_from` and `valid_to`; a period that ends before it begins is refused."""
    begins, ends = time(given, "valid_from"), time(given, "valid_to")
    if begins and ends and ends <= begins:
        message = f"valid_to={ends.isoformat()} is not after valid_from={begins.isoformat()}."
        raise InvalidRequestError(message, field="valid_to")
    return begins, ends


def text_list(value: object, field: str) -> tuple[str, ...]:
    """Read one text or a sequence of texts; blanks and repeats are dropped, order is kept."""
    if value is None:
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, Sequence | set | frozenset):
        message = f"{field}={shown(value)} is neither a text nor a list of texts."
        raise InvalidRequestError(message, field=field)
    if len(items) > MAX_ITEMS:
        message = f"{field} has {len(items)} entries, more than the {MAX_ITEMS} allowed."
        raise TooLargeError(message, field=field)
    if any(item is None for item in items):
        message = f"{field} holds None where a text is meant."
        raise InvalidRequestError(message, field=field)
    read = (text_or_none(item, field) for item in items)
    return tuple(dict.fromkeys(item for item in read if item))


def id_list(value: object, field: str) -> tuple[str, ...]:
    """Read one id or a sequence of ids; unlike labels, a blank one is refused and not dropped."""
    if value is None:
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, Sequence):
        message = f"{field}={shown(value)} is neither an id nor a list of ids."
        raise InvalidRequestError(message, field=field)
    if len(items) > MAX_ITEMS:
        message = f"{field} has {len(items)} entries, more than the {MAX_ITEMS} allowed."
        raise TooLargeError(message, field=field)
    return tuple(dict.fromkeys(parse_id(item, field) for item in items))


def truth(value: object, field: str) -> bool:
    """Read a truth value; a text such as "no" is refused, as it would count as true."""
    if not isinstance(value, bool):
        message = f"{field}={shown(value)} must be true or false."
        raise InvalidRequestError(message, field=field)
    return value


def one_of(given: object, field: str, known: Sequence[str]) -> str:
    """Check that a word is one of those that are known.

    Raises:
        InvalidRequestError: It is none of them.
    """
    if not isinstance(given, str) or given not in known:
        message = f"{field}={shown(given)} is none of {', '.join(known)}."
        raise InvalidRequestError(message, field=field)
    return given


def whole_number(value: object, field: str, low: int, high: int) -> int:
    """Read a whole number between `low` and `high`, both included."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        message = f"{field}={shown(value)} must be a whole number from {low} to {high}."
        raise InvalidRequestError(message, field=field)
    return value


def json_object(value: object, field: str) -> dict[str, Any]:
    """Read a JSON object whose values come back equal.

    Raises:
        InvalidRequestError: A value that JSON cannot carry; the message names its key.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        message = f"{field}={shown(value)} is not an object of names and values."
        raise InvalidRequestError(message, field=field)
    read = {_json_key(key, field): _json_value(key, item, field) for key, item in value.items()}
    size = len(json.dumps(read))
    if size > MAX_METADATA_BYTES:
        message = f"{field} has {size} bytes as JSON, more than the {MAX_METADATA_BYTES} allowed."
        raise TooLargeError(message, field=field)
    return read


def _json_key(key: object, field: str) -> str:
    if not isinstance(key, str) or UNSTORABLE.search(key):
        message = f"{field} has the key {key!r}: keys must be plain text."
        raise InvalidRequestError(message, field=field, key=repr(key))
    return key


def _json_value(key: object, item: object, field: str) -> object:
    if _depth(item) > MAX_DEPTH:
        message = f"{field}[{key!r}] is nested more than {MAX_DEPTH} levels deep."
        raise InvalidRequestError(message, field=field, key=str(key))
    clean = _clean(item)
    try:
        read = json.loads(json.dumps(clean, allow_nan=False))
        equal = read == clean
    except (TypeError, ValueError, RecursionError) as error:
        place, _ = _culprit(item)
        message = f"{field}[{key!r}]{place} does not survive JSON: {error}. Pass JSON values only."
        raise InvalidRequestError(message, field=field, key=str(key)) from error
    if not equal:
        place, wrong = _culprit(item)
        message = f"{field}[{key!r}]{place}={shown(wrong)} does not come back equal from JSON."
        raise InvalidRequestError(message, field=field, key=str(key))
    return clean


def _culprit(item: object) -> tuple[str, object]:
    """Return the way to the innermost value that JSON cannot carry, and the value."""
    inner: Iterable[tuple[object, object]] = ()
    if isinstance(item, Mapping):
        inner = item.items()
    elif isinstance(item, list):
        inner = enumerate(item)
    for place, value in inner:
        if not _survives(value):
            way, wrong = _culprit(value)
            return f"[{place!r}]{way}", wrong
    return "", item


def _survives(item: object) -> bool:
    try:
        return bool(json.loads(json.dumps(item, allow_nan=False)) == item)
    except (TypeError, ValueError, RecursionError):
        return False


def _depth(item: object) -> int:
    """Return how deep a JSON value is nested, counting no further than needed."""
    level, depth = [item], 0
    while level and depth <= MAX_DEPTH:
        level, depth = [inner for outer in level for inner in _items(outer)], depth + 1
    return depth


def _items(item: object) -> Iterable[object]:
    if isinstance(item, Mapping):
        return item.values()
    return item if isinstance(item, list | tuple) else ()


def _clean(item: object) -> object:
    """Replace what no store can hold in all texts of a JSON value."""
    if not holds_unstorable(item):
        return item
    if isinstance(item, str):
        return UNSTORABLE.sub("\ufffd", item)
    if isinstance(item, Mapping):
        return {_clean(key): _clean(value) for key, value in item.items()}
    return [_clean(value) for value in item] if isinstance(item, list) else item


def holds_unstorable(value: object) -> bool:
    """Tell whether a text in a value, at any depth, has a character that no store can hold."""
    waiting = [value]
    for _ in range(MAX_METADATA_BYTES):
        if not waiting:
            return False
        item = waiting.pop()
        if isinstance(item, str):
            if UNSTORABLE.search(item):
                return True
        elif isinstance(item, Mapping):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += item
    return False


def repairs(given: Mapping[str, Any], *, but: str = "") -> tuple[str, ...]:
    """Return a warning for each argument in which characters are replaced, except `but`."""
    return tuple(
        f"{field}: unstorable character(s) became U+FFFD."
        for field, value in given.items()
        if field != but and holds_unstorable(value)
    )
