"""Namespaces: the wall around a tenant, a user or an agent.

A namespace is a tuple of labels, outermost first. Paths are compared label by label, never as
joined text, so `("tenant", "acme")` has nothing in common with `("tenant", "acme-corp")`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from evomem.errors import InvalidRequestError, shown

Namespace = tuple[str, ...]

DEFAULT_NAMESPACE: Namespace = ("default",)
MAX_LABELS = 16
MAX_LABEL_CHARS = 200


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
