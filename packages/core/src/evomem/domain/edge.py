"""Edges: append-only links between nodes, closed by a later patch, never deleted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evomem.errors import InvalidRequestError

SUPERSEDES = "supersedes"
REFINES = "refines"
AMENDS = "amends"
OVERRIDES = "overrides"
RESTORES = "restores"

SUCCESSION = frozenset({SUPERSEDES, REFINES})
"""The kinds that move the head: the old node is no longer the wording in force."""

MARKING = frozenset({AMENDS, OVERRIDES})
"""The kinds that leave the old node in force and mark it."""

RESERVED = SUCCESSION | MARKING | {RESTORES}

_RELATION = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed link from a newer node to an older one.

    Attributes:
        kind: One of the reserved kinds, or a free relation such as `caused_by`.
        new: Id of the node that makes the statement.
        old: Id of the node it is about.
        sequence: Commit that made the edge; 0 until committed.
        part: For `amends`, the quoted part of the old text.
        reason: Why it was linked, one line.
        linked_by: `caller`, or the linker's name and version.
        confidence: 0 to 1; 1 when a caller said so.
    """

    kind: str
    new: str
    old: str
    sequence: int = 0
    part: str | None = None
    reason: str | None = None
    linked_by: str = "caller"
    confidence: float = 1.0


def parse_relation(kind: object) -> str:
    """Check the name of a free relation.

    Raises:
        InvalidRequestError: Not a lower-case name, or a kind that has an argument of its own.
    """
    if not isinstance(kind, str):
        message = f"{kind!r} is no relation name: use a text such as caused_by."
        raise InvalidRequestError(message, field="relations")
    if kind in RESERVED:
        message = f"{kind!r} is an argument of its own: pass {kind}=[...] instead of a relation."
        raise InvalidRequestError(message, field="relations")
    if not _RELATION.fullmatch(kind):
        message = (
            f"{kind!r} is no relation name: use lower-case letters, digits and '_', "
            "for example caused_by."
        )
        raise InvalidRequestError(message, field="relations")
    return kind
