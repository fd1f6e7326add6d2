"""Facets: what filters ask of a node, as tokens that an index keeps beside the words.

A facet is a digest behind a mark that no token of a text has. It only narrows a search: whether a
node passes is decided on the node itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evomem.domain.plain import to_sorted_json

_MARK: Final = "~"
# A node with more of them bears the bare mark instead, and is looked at under every filter.
_MOST: Final = 32
_GROUPS: Final = 8
_HUGE: Final = 1 << 63


def facets_of(
    tags: Iterable[str], session: str | None, metadata: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the facets of a node."""
    found = dict.fromkeys([*map(_tag, tags), *_others(session, metadata)])
    return tuple(found) if len(found) <= _MOST else (_MARK,)


def is_facet(token: str) -> bool:
    """Tell facets from the terms of a text."""
    return token.startswith(_MARK)


def narrowing(
    tags: Iterable[str], tags_any: Iterable[str], session: str | None, metadata: Mapping[str, Any]
) -> list[list[str]]:
    """Return groups of facets; a node that passes the filters has one of each group.

    Only so many as narrow a search well.
    """
    needed = [[facet] for facet in (*map(_tag, tags), *_others(session, metadata))]
    if some := [_tag(tag) for tag in tags_any]:
        needed.append(some)
    return [[*group, _MARK] for group in needed[-_GROUPS:]]


def _others(session: str | None, metadata: Mapping[str, Any]) -> Iterable[str]:
    if session is not None:
        yield _facet("session", session)
    for key, value in metadata.items():
        yield _facet("metadata", to_sorted_json([key, _plain(value)]))


def _plain(value: object) -> object:
    """Write numbers as SQLite compares them: 1.0 as 1, and huge integers as floats."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _HUGE:
        return int(value)
    if isinstance(value, int) and abs(value) >= _HUGE:
        return float(value) if abs(value) < _HUGE**16 else value
    return value


def _tag(tag: str) -> str:
    return _facet("tag", tag)


def _facet(kind: str, value: str) -> str:
    written = f"{kind}\x00{value}".encode("utf-8", "surrogatepass")
    return _MARK + hashlib.blake2b(written, digest_size=8).hexdigest()
