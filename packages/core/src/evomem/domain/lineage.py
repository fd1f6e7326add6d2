"""Resolution: from any node to the node or nodes in force.

A lineage is the part of the graph that decides about some nodes: their facts and the open
succession edges between them. Two questions are answered here and nowhere else:

* the *tip*: where a new version is appended. Time plays no part;
* the *head*: what is in force at a world time. Of the versions of one memory that have begun,
  the greatest `valid_from` wins, ties go to the later version. An edge between memories holds as
  soon as the newer node has begun.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from evomem.domain.edge import REFINES, SUCCESSION, Edge
from evomem.domain.node import Status


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What resolution needs to know of a node.

    Attributes:
        id: The node's id.
        memory_id: Its line of versions.
        version: Its place in the line.
        sequence: Commit that made it.
        scope: Where it holds.
        valid_from: From when it holds.
        valid_to: Until when; None is open.
        backdated: True if an earlier version of the line begins later.
        removed: True if it was forgotten or purged.
    """

    id: str
    memory_id: str
    version: int
    sequence: int
    scope: str | None
    valid_from: datetime
    valid_to: datetime | None
    backdated: bool
    removed: bool


class _Newer(NamedTuple):
    """What has begun after a node.

    `latest` is the greatest `valid_from` among later versions of its memory; `elsewhere` is True
    if something has begun that a link put after it, whose time then does not matter.
    """

    latest: datetime | None
    elsewhere: bool


_NOTHING = _Newer(None, elsewhere=False)


class Lineage:
    """The facts and open succession edges around some nodes.

    Whoever loads a lineage must include, for every node asked about, all its descendants, and
    for a back-dated or not yet begun node of it, the earlier versions of the same memory.
    """

    def __init__(self, facts: Iterable[NodeFacts] = (), edges: Iterable[Edge] = ()) -> None:
        self.facts: dict[str, NodeFacts] = {fact.id: fact for fact in facts}
        self._newer: defaultdict[str, list[Edge]] = defaultdict(list)
        self._older: defaultdict[str, list[Edge]] = defaultdict(list)
        self._begun: dict[str, _Newer] = {}
        self._heads: dict[str, frozenset[str]] = {}
        self._refined: dict[str, bool] = {}
        self._known_at: datetime | None = None
        for edge in edges:
            self.connect(edge)

    def __contains__(self, node_id: str) -> bool:
        """Tell whether the node's facts were loaded."""
        return node_id in self.facts

    def add(self, fact: NodeFacts) -> None:
        """Add a node, while a patch is being planned."""
        self.facts[fact.id] = fact

    def connect(self, edge: Edge) -> None:
        """Add an open succession edge; other kinds decide nothing here."""
        if edge.kind in SUCCESSION and edge.new in self.facts and edge.old in self.facts:
            self._newer[edge.old].append(edge)
            self._older[edge.new].append(edge)
            self._known_at = None

    def disconnect(self, edge: Edge) -> None:
        """Close a succession edge, while a patch is being planned."""
        self._newer[edge.old].remove(edge)
        self._older[edge.new].remove(edge)
        self._known_at = None

    def successors(self, node_id: str) -> list[Edge]:
        """Return the open edges from newer nodes to this one."""
        return self._newer.get(node_id, [])

    def predecessors(self, node_id: str) -> list[Edge]:
        """Return the open edges from this node to older ones."""
        return self._older.get(node_id, [])

    def tips(self, node_id: str) -> list[str]:
        """Return the ends of the line: where a new version attaches. Several after a split."""
        later = self._descendants(node_id)
        ends = [n for n in later if not self.successors(n)]
        return sorted(ends or [node_id], key=self._order)

    def heads(self, node_id: str, at: datetime) -> list[str]:
        """Return the node or nodes in force at `at`, oldest first.

        Empty only if nothing of the line has begun by then. A forgotten node in force is
        returned: no older version stands in for it.
        """
        if self._in_force(node_id, at):
            return [node_id]
        found: Iterable[str] = self._heads_after(node_id, at)
        found = found or {n for n in self._around(node_id, at) if self._in_force(n, at)}
        return sorted(found, key=self._order)

    def first_heads(self, node_id: str, at: datetime) -> list[str]:
        """Return the heads at `at`, or for a line that has not begun those it will begin with."""
        if heads := self.heads(node_id, at):
            return heads
        begins = min(self.facts[n].valid_from for n in self._around(node_id, at))
        return self.heads(node_id, begins)

    def status(self, node_id: str, at: datetime) -> Status:
        """Return where the node stands at `at`."""
        fact = self.facts[node_id]
        if fact.removed:
            return Status.FORGOTTEN
        if fact.valid_from > at:
            return Status.SCHEDULED
        if self._in_force(node_id, at):
            over = fact.valid_to is not None and fact.valid_to <= at
            return Status.SUPERSEDED if over else Status.ACTIVE
        return Status.REFINED if self._only_refined(node_id, at) else Status.SUPERSEDED

    def scheduled(self, node_id: str, at: datetime) -> list[str]:
        """Return the versions after this one that take force later than `at`."""
        later = (n for n in self._descendants(node_id) if self.facts[n].valid_from > at)
        return sorted((n for n in later if not self.facts[n].removed), key=self._order)

    def _in_force(self, node_id: str, at: datetime) -> bool:
        fact = self.facts[node_id]
        if fact.valid_from > at:
            return False
        newer = self._begun_after(node_id, at)
        if newer.elsewhere or (newer.latest is not None and newer.latest >= fact.valid_from):
            return False
        if not fact.backdated:
            return True
        # An earlier version that begins later stands before this one, unless a link ended it.
        earlier = (n for n in self._earlier_versions(node_id) if self._standing(n, at))
        return not any(fact.valid_from < self.facts[n].valid_from for n in earlier)

    def _standing(self, node_id: str, at: datetime) -> bool:
        return self.facts[node_id].valid_from <= at and not self._begun_after(node_id, at).elsewhere

    def _begun_after(self, node_id: str, at: datetime) -> _Newer:
        """Sum up the descendants that have begun by `at`."""
        self._ask_at(at)
        for current in self._successors_first(node_id, self._begun):
            self._begun[current] = self._sum_up(current, at)
        return self._begun[node_id]

    def _heads_after(self, node_id: str, at: datetime) -> frozenset[str]:
        """Return the descendants in force at `at`.

        What is in force has nothing in force behind it, so a line hands on one small set.
        """
        self._ask_at(at)
        for current in self._successors_first(node_id, self._heads):
            found: frozenset[str] = frozenset()
            for edge in self.successors(current):
                later = self._heads.get(edge.new, frozenset())
                found |= {edge.new} if self._in_force(edge.new, at) else later
            self._heads[current] = found
        return self._heads[node_id]

    def _ask_at(self, at: datetime) -> None:
        """Forget what was summed up for another time."""
        if self._known_at != at:
            self._begun, self._heads, self._refined, self._known_at = {}, {}, {}, at

    def _successors_first(self, node_id: str, done: Mapping[str, object]) -> Iterator[str]:
        """Yield the nodes from `node_id` on that are not in `done`, the newest first.

        Each is visited once, so that a line of n versions costs n. The caller puts each into
        `done` before it goes on.
        """
        waiting, opened = [node_id], set[str]()
        while waiting:
            current = waiting[-1]
            missing = [e.new for e in self.successors(current) if e.new not in done]
            missing = [n for n in missing if n not in opened]
            opened.add(current)
            if missing and current not in done:
                waiting += missing
            elif waiting.pop() not in done:
                yield current

    def _sum_up(self, node_id: str, at: datetime) -> _Newer:
        latest: list[datetime] = []
        elsewhere = False
        for edge in self.successors(node_id):
            later, fact = self._begun.get(edge.new, _NOTHING), self.facts[edge.new]
            begun = [fact.valid_from] if fact.valid_from <= at else []
            begun += [later.latest] if later.latest is not None else []
            if self._in_line(edge):
                latest += begun
                elsewhere = elsewhere or later.elsewhere
            else:
                elsewhere = elsewhere or later.elsewhere or bool(begun)
        return _Newer(max(latest, default=None), elsewhere)

    def _in_line(self, edge: Edge) -> bool:
        """Tell whether the edge leads from one version of a memory to a later one."""
        newer, older = self.facts[edge.new], self.facts[edge.old]
        return newer.memory_id == older.memory_id and newer.version > older.version

    def _only_refined(self, node_id: str, at: datetime) -> bool:
        """Tell whether only refinements lie between the node and what is in force."""
        self._ask_at(at)
        for current in self._successors_first(node_id, self._refined):
            begun = [e for e in self.successors(current) if self.facts[e.new].valid_from <= at]
            self._refined[current] = all(
                e.kind == REFINES and self._refined.get(e.new, True) for e in begun
            )
        followed = any(self.facts[e.new].valid_from <= at for e in self.successors(node_id))
        return followed and self._refined[node_id]

    def _descendants(self, node_id: str) -> list[str]:
        found: dict[str, None] = {}
        waiting = [node_id]
        while waiting:
            for edge in self.successors(waiting.pop()):
                if edge.new not in found:
                    found[edge.new] = None
                    waiting.append(edge.new)
        return list(found)

    def _around(self, node_id: str, at: datetime) -> set[str]:
        """Return all that may stand in for a node.

        That is what comes after it, and what a version that is back-dated or has not begun
        leaves in force.
        """
        found, waiting = {node_id}, [node_id]
        while waiting:
            current = waiting.pop()
            ends = [edge.new for edge in self.successors(current)]
            if self.facts[current].backdated or self.facts[current].valid_from > at:
                ends += [e.old for e in self.predecessors(current) if self._in_line(e)]
            waiting += [n for n in ends if n not in found]
            found.update(ends)
        return found

    def _earlier_versions(self, node_id: str) -> list[str]:
        found: dict[str, None] = {}
        waiting = [node_id]
        while waiting:
            for edge in self.predecessors(waiting.pop()):
                if self._in_line(edge) and edge.old not in found:
                    found[edge.old] = None
                    waiting.append(edge.old)
        return list(found)

    def _order(self, node_id: str) -> tuple[int, int, str]:
        fact = self.facts[node_id]
        return (fact.sequence or 2**62, fact.version, fact.id)
