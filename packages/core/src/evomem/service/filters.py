"""From the conditions of a question to what an engine checks."""

from __future__ import annotations

from datetime import datetime

from evomem.domain.node import Status
from evomem.domain.question import Conditions
from evomem.engines.base import Filters


def filters_of(
    conditions: Conditions, status: str, at: datetime, *, removed: bool = False
) -> Filters:
    """Return the filters of a question; scope is of heads, which come later.

    Args:
        conditions: Of the question.
        status: Of the heads asked for; those that have not begun match by what has not.
        at: World time.
        removed: Forgotten nodes are wanted too.
    """
    return Filters(
        tags=conditions.tags,
        tags_any=conditions.tags_any,
        tags_none=conditions.tags_none,
        session=conditions.session,
        metadata=conditions.filter,
        relation=conditions.relation,
        begins_after=at if status == Status.SCHEDULED else None,
        since=conditions.since,
        until=conditions.until,
        removed=removed,
    )
