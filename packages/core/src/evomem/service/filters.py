"""From the conditions of a question to what an engine checks."""

from __future__ import annotations

from evomem.domain.question import Conditions
from evomem.engines.base import Filters


def filters_of(conditions: Conditions, *, removed: bool = False) -> Filters:
    """Return the filters of a question; scope and status are of heads, which come later."""
    return Filters(
        tags=conditions.tags,
        tags_any=conditions.tags_any,
        tags_none=conditions.tags_none,
        session=conditions.session,
        metadata=conditions.filter,
        relation=conditions.relation,
        since=conditions.since,
        until=conditions.until,
        removed=removed,
    )
