"""What overrides or amends a node now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from evomem.domain.lineage import NodeFacts
from evomem.domain.namespace import Reach
from evomem.domain.node import Status
from evomem.engines.base import Reader


class Mark(NamedTuple):
    """A node in force that overrides or amends another; `part` is what an amendment quotes."""

    fact: NodeFacts
    part: str | None


Marks = Mapping[tuple[str, str], list[Mark]]
"""By kind and marked node: what marks it."""


def live_marks(reader: Reader, reach: Reach, ids: Iterable[str], at: datetime) -> Marks:
    """Return what overrides or amends `ids` at `at`.

    A mark is resolved like anything else: it counts as long as what it came to be is in force,
    and not once that has replaced the marked node itself.
    """
    found: defaultdict[tuple[str, str], list[Mark]] = defaultdict(list)
    edges = reader.marks(reach, ids)
    if not edges:
        return found
    lineage = reader.lineage(reach, {edge.new for edge in edges}, at)
    for edge in edges:
        for head in lineage.heads(edge.new, at):
            marks = found[edge.kind, edge.old]
            known = head == edge.old or any(mark.fact.id == head for mark in marks)
            if not known and lineage.status(head, at) is Status.ACTIVE:
                marks.append(Mark(lineage.facts[head], edge.part))
    return found
