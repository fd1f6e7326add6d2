"""Scopes: where inside a namespace a decision holds (`production`, `staging/eu`).

A scope is a path; `staging/eu` lies inside `staging`. None holds everywhere. Scopes are compared
without case and surrounding blanks, as people write them either way.
"""

from __future__ import annotations

from collections.abc import Iterable

from evomem.errors import InvalidRequestError

MAX_SCOPE_CHARS = 200


def parse_scope(value: str | None) -> str | None:
    """Normalise a scope; blank means None, everywhere."""
    if value is None:
        return None
    if len(value) > MAX_SCOPE_CHARS:
        message = f"A scope has at most {MAX_SCOPE_CHARS} characters; got {len(value)}."
        raise InvalidRequestError(message, field="scope")
    parts = (" ".join(part.split()).casefold() for part in value.split("/"))
    return "/".join(part for part in parts if part) or None


def contains(outer: str | None, inner: str | None) -> bool:
    """Tell whether everything in `inner` lies in `outer`; equal scopes contain each other."""
    if outer is None or outer == inner:
        return True
    return inner is not None and inner.startswith(outer + "/")


def common(scopes: Iterable[str | None]) -> str | None:
    """Return the narrowest scope that contains all of `scopes`."""
    paths = [scope.split("/") if scope else [] for scope in scopes]
    shared: list[str] = []
    for labels in zip(*paths, strict=False):
        if len(set(labels)) > 1:
            break
        shared.append(labels[0])
    return "/".join(shared) or None
