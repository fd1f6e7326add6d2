"""What overrides or amends a node now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from evomem.domain.lineage import NodeFacts
from evomem.domain.namespace import Reach
from evomem.domain.node import Status
from evomem.engines.base import Reader

Marks = Mapping[tuple[str, str], list[NodeFacts]]
"""By kind and marked node: the nodes in force that mark it."""


def live_marks(reader: Reader, reach: Reach, ids: Iterable[str], at: datetime) -> Marks:
    """Return what overrides or amends `ids` at `at`.

    A mark is resolved like anything else: it counts as long as what it came to be is in force,
    and not once that has replaced the marked node itself.
    """
    found: defaultdict[tuple[str, str], list[NodeFacts]] = defaultdict(list)
    edges = reader.marks(reach, ids)
    if not edges:
        return found
    lineage = reader.lineage(reach, {edge.new for edge in edges}, at)
    for edge in edges:
        for head in lineage.heads(edge.new, at):
            marks = found[edge.kind, edge.old]
            known = head == edge.old or any(mark.id == head for mark in marks)
            if not known and lineage.status(head, at) is Status.ACTIVE:
                marks.append(lineage.facts[head])
    return found
