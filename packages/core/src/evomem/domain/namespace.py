"""Namespaces: the wall around a tenant, a user or an agent.

A namespace is a tuple of labels, outermost first. Paths are compared label by label, never as
joined text, so `("tenant", "acme")` has nothing in common with `("tenant", "acme-corp")`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evomem.errors import InvalidRequestError, shown

Namespace = tuple[str, ...]

DEFAULT_NAMESPACE: Namespace = ("default",)
MAX_LABELS = 16
MAX_LABEL_CHARS = 200
ANY_LABEL = "*"


def parse_namespace(value: object, *, base: Namespace = ()) -> Namespace:
    """Read a namespace below `base`: a path such as `team/ada`, or a sequence of labels.

    Only in a path does `/` part labels; a label of a sequence may hold one.

    Raises:
        InvalidRequestError: No label, an empty label, or one with control characters.
    """
    if isinstance(value, bytes) or not isinstance(value, str | Sequence):
        message = f"{shown(value)} is no namespace: pass a label, or a sequence of labels."
        raise InvalidRequestError(message, field="namespace")
    labels = value.split("/") if isinstance(value, str) else tuple(value)
    path = (*base, *labels)
    if not labels or len(path) > MAX_LABELS:
        message = f"A namespace has 1 to {MAX_LABELS} labels; got {len(path)}."
        raise InvalidRequestError(message, field="namespace")
    for label in labels:
        _check_label(label)
    return path


def parse_labels(value: object, field: str) -> tuple[str, ...]:
    """Read labels to compare with; `*` stands for any one, and nothing or no label for all paths.

    Raises:
        InvalidRequestError: As in `parse_namespace`; it names `field`.
    """
    if value is None or value == () or value == []:
        return ()
    try:
        return parse_namespace(value)
    except InvalidRequestError as error:
        message = f"{field}: {error.message}"
        raise InvalidRequestError(message, field=field) from error


def choose(
    paths: Iterable[Namespace],
    *,
    prefix: Sequence[str] = (),
    suffix: Sequence[str] = (),
    max_depth: int | None = None,
) -> list[Namespace]:
    """Return the paths that begin and end so, cut to `max_depth` labels, sorted, each once."""
    chosen = (p for p in paths if _fit(p, prefix) and _fit(p[::-1], suffix[::-1]))
    return sorted({path[:max_depth] for path in chosen})


def _fit(path: Sequence[str], labels: Sequence[str]) -> bool:
    pairs = zip(path, labels, strict=False)
    return len(path) >= len(labels) and all(asked in {ANY_LABEL, own} for own, asked in pairs)


def _check_label(label: object) -> None:
    good = isinstance(label, str) and label.strip() and len(label) <= MAX_LABEL_CHARS
    if not good or any(unicodedata.category(c) in {"Cc", "Cs"} for c in str(label)):
        message = (
            f"{label!r} is no namespace label: use 1 to {MAX_LABEL_CHARS} printable characters."
        )
        raise InvalidRequestError(message, field="namespace")


@dataclass(frozen=True, slots=True)
class Reach:
    """What a read may see: one namespace, and those below it only when asked."""

    namespace: Namespace
    include_children: bool = False
