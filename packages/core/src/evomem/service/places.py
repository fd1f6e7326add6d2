"""The places of a memory: what its slots hold, and the namespaces below it."""

from __future__ import annotations

from collections.abc import Sequence

from evomem.domain.arguments import moments, text_or_none, truth, whole_number
from evomem.domain.namespace import MAX_LABELS, Namespace, parse_labels
from evomem.domain.node import MemoryNode
from evomem.domain.question import MAX_LIST_OFFSET, parse_slots
from evomem.domain.scope import parse_scope
from evomem.domain.time import Instant
from evomem.service import reading
from evomem.service.handle import Handle

_MOST_NAMESPACES = 10_000


class Places(Handle):
    """A handle that reads by address."""

    def get_slots(
        self,
        slots: str | Sequence[str],
        *,
        scope: str | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
        include_removed: bool = False,
    ) -> dict[str, MemoryNode]:
        """Return what is in force in slots; one that holds nothing is not in the answer.

        What replaced a slot's value is its value. After a split that is the latest part.

        Args:
            slots: One slot or up to 1000, of this namespace.
            scope: Exactly the one that the slots are in; None is the slots without scope.
            as_of: Tell what held then; default now, or `known_at` if that is given.
            known_at: Tell what was known then.
            include_removed: Also tell what was forgotten last, where nothing is in force.
        """
        asked, where = parse_slots(slots), parse_scope(text_or_none(scope, "scope"))
        times, removed = moments(as_of, known_at), truth(include_removed, "include_removed")
        return reading.get_slots(self._context, asked, where, *times, include_removed=removed)

    def namespaces(
        self,
        *,
        prefix: str | Sequence[str] | None = None,
        suffix: str | Sequence[str] | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Namespace]:
        """Return the namespaces below this one that hold what was not forgotten, sorted.

        Each is what `within` takes to get there.

        Args:
            prefix: Only those that begin so, as `a/b` or labels; `*` stands for any one label.
            suffix: Only those that end so.
            max_depth: Cut each to so many labels, and name it once.
            limit: At most so many, 1 to 10,000.
            offset: How many to leave out before the first.
        """
        if max_depth is not None:
            whole_number(max_depth, "max_depth", 1, MAX_LABELS)
        whole_number(limit, "limit", 1, _MOST_NAMESPACES)
        whole_number(offset, "offset", 0, MAX_LIST_OFFSET)
        ends = {"prefix": parse_labels(prefix, "prefix"), "suffix": parse_labels(suffix, "suffix")}
        found = reading.namespaces(self._context, **ends, max_depth=max_depth)
        return found[offset : offset + limit]
