"""Facets: what filters ask of a node, as tokens that an index keeps beside the words.

A facet is a digest behind a mark that no token of a text has. It only narrows a search: whether a
node passes is decided on the node itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from evomem.domain.metadata import Leaf, leaves, required
from evomem.domain.plain import to_json

_MARK: Final = "~"
# A node with more of them bears the bare mark instead, and is looked at under every filter.
_MOST: Final = 32
_GROUPS: Final = 8


def facets_of(
    tags: Iterable[str], session: str | None, metadata: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the facets of a node."""
    others = islice(_others(session, leaves(metadata)), _MOST + 1)
    found = dict.fromkeys([*map(_tag, tags), *others])
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
    needed = [[facet] for facet in (*map(_tag, tags), *_others(session, required(metadata)))]
    if some := [_tag(tag) for tag in tags_any]:
        needed.append(some)
    return [[*group, _MARK] for group in needed[-_GROUPS:]]


def _others(session: str | None, values: Iterable[Leaf]) -> Iterator[str]:
    if session is not None:
        yield _facet("session", session)
    for path, value in values:
        yield _facet("metadata", to_json([path, _plain(value)]))


def _plain(value: object) -> object:
    """Write equal numbers alike: 1.0 as 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tag(tag: str) -> str:
    return _facet("tag", tag)


def _facet(kind: str, value: str) -> str:
    written = f"{kind}\x00{value}".encode("utf-8", "surrogatepass")
    return _MARK + hashlib.blake2b(written, digest_size=8).hexdigest()
