"""Heads and statuses against the rules spelled out, over random histories."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem import Status
from evomem.domain.edge import AMENDS, REFINES, SUPERSEDES, Edge
from evomem.domain.lineage import Lineage, NodeFacts

START = datetime(2026, 3, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


@dataclass
class History:
    """Nodes as writers may make them: each attaches to ends of the lines before it."""

    facts: dict[str, NodeFacts] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def after(self, node):
        return {edge.new for edge in self.edges if edge.old == node}

    def descendants(self, node):
        found: set[str] = set()
        waiting = {node}
        while waiting:
            waiting = set().union(*map(self.after, waiting)) - found
            found |= waiting
        return found

    def in_line(self, edge):
        """Tell a next version from a node that a link put after another."""
        newer, older = self.facts[edge.new], self.facts[edge.old]
        return newer.memory_id == older.memory_id and newer.version > older.version

    def versions(self, node, *, later):
        """Return the later or the earlier versions of the same line."""
        steps = [(e.old, e.new) if later else (e.new, e.old) for e in self.edges if self.in_line(e)]
        found: set[str] = set()
        waiting = {node}
        while waiting:
            waiting = {end for start, end in steps if start in waiting} - found
            found |= waiting
        return found

    def elsewhere(self, node):
        """Return what comes after the node by way of at least one link out of its line."""
        line = {node} | self.versions(node, later=True)
        links = [e for e in self.edges if e.old in line and not self.in_line(e)]
        return set().union(*({e.new} | self.descendants(e.new) for e in links))

    def ends(self, node):
        return {n for n in self.descendants(node) if not self.after(n)} or {node}

    def standing_before(self, node, at):
        """Earlier versions that no link has ended by `at`."""
        earlier = self.versions(node, later=False)
        return [n for n in earlier if all(self.facts[e].valid_from > at for e in self.elsewhere(n))]

    def in_force(self, node, at):
        fact = self.facts[node]

        def begun(nodes):
            return [f.valid_from for f in map(self.facts.get, nodes) if f and f.valid_from <= at]

        return (
            fact.valid_from <= at
            and not begun(self.elsewhere(node))
            and all(t < fact.valid_from for t in begun(self.versions(node, later=True)))
            and not (
                fact.backdated
                and any(t > fact.valid_from for t in begun(self.standing_before(node, at)))
            )
        )

    def status(self, node, at):
        fact = self.facts[node]
        if fact.removed:
            return Status.FORGOTTEN
        if fact.valid_from > at:
            return Status.SCHEDULED
        if self.in_force(node, at):
            over = fact.valid_to is not None and fact.valid_to <= at
            return Status.SUPERSEDED if over else Status.ACTIVE
        between, waiting = set(), {node}
        kinds = set()
        while waiting:
            edges = [
                e
                for e in self.edges
                if e.old in waiting and self.facts[e.new].valid_from <= at and e.new not in between
            ]
            kinds |= {e.kind for e in edges}
            waiting = {e.new for e in edges}
            between |= waiting
        return Status.REFINED if kinds == {REFINES} else Status.SUPERSEDED

    def lineage(self):
        return Lineage(self.facts.values(), self.edges)


STEP = st.fixed_dictionaries(
    {
        "old": st.lists(st.integers(0, 9), max_size=2),
        "kind": st.sampled_from([SUPERSEDES, REFINES]),
        "begins": st.integers(0, 6),
        "lasts": st.none() | st.none() | st.integers(1, 3),
        "removed": st.sampled_from([False, False, False, True]),
    }
)


@st.composite
def histories(draw):
    history = History()
    for number, step in enumerate(draw(st.lists(STEP, min_size=1, max_size=9))):
        _add(history, f"n{number}", step)
    for new, old in draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=3)):
        _link(history, new, old)
    if history.edges:
        for index in draw(st.lists(st.integers(0, 9), max_size=1)):
            history.edges.pop(index % len(history.edges))
    return history


def _name(history, index):
    return f"n{index % len(history.facts)}"


def _add(history, node, step):
    targets = []
    if history.facts:
        for index in step["old"]:
            ends = history.ends(_name(history, index))
            if len(ends) == 1:
                targets += [end for end in ends if end not in targets]
    memory = history.facts[targets[0]].memory_id if targets else f"m-{node}"
    line = [f for f in history.facts.values() if f.memory_id == memory]
    begins = day(step["begins"])
    history.facts[node] = NodeFacts(
        id=node,
        memory_id=memory,
        version=len(line) + 1,
        sequence=len(history.facts) + 1,
        scope=None,
        valid_from=begins,
        valid_to=None if step["lasts"] is None else begins + timedelta(days=step["lasts"]),
        backdated=any(f.valid_from > begins for f in line),
        removed=step["removed"],
    )
    history.edges += [Edge(step["kind"], node, target) for target in targets]


def _link(history, new, old):
    new, ends = _name(history, new), history.ends(_name(history, old))
    if len(ends) == 1 and not ends & ({new} | history.descendants(new)):
        history.edges.append(Edge(SUPERSEDES, new, ends.pop()))


DAYS = range(-1, 8)


@given(histories())
def test_statuses_follow_from_the_rules(history):
    lineage = history.lineage()
    for node in history.facts:
        for number in DAYS:
            assert lineage.status(node, day(number)) is history.status(node, day(number))


@given(histories())
@pytest.mark.promise("resolve.total")
def test_heads_are_in_force_and_lie_on_the_line(history):
    lineage = history.lineage()
    for node in history.facts:
        for number in DAYS:
            at = day(number)
            heads = lineage.heads(node, at)
            below = {n for n in history.descendants(node) if history.in_force(n, at)}
            if history.in_force(node, at):
                assert heads == [node]
            elif below:
                assert set(heads) == below
            assert all(history.in_force(head, at) for head in heads)
            assert all(lineage.heads(head, at) == [head] for head in heads)
            assert len(set(heads)) == len(heads)
            order = [history.facts[head].sequence for head in heads]
            assert order == sorted(order)


@given(histories())
@pytest.mark.promise("resolve.total")
def test_a_node_that_began_has_a_head(history):
    lineage = history.lineage()
    for node, fact in history.facts.items():
        for number in DAYS:
            assert lineage.heads(node, day(number)) or fact.valid_from > day(number)


@given(histories())
def test_tips_are_the_ends_of_the_line(history):
    lineage = history.lineage()
    for node in history.facts:
        assert set(lineage.tips(node)) == history.ends(node)


@given(histories(), st.data())
def test_answers_do_not_depend_on_the_order_of_questions_or_rows(history, data):
    facts = data.draw(st.permutations(list(history.facts.values())))
    edges = data.draw(st.permutations(history.edges))
    shuffled = Lineage(facts, edges)
    for number in data.draw(st.permutations(list(DAYS))):
        for node in history.facts:
            fresh = history.lineage()
            assert shuffled.heads(node, day(number)) == fresh.heads(node, day(number))
            assert shuffled.status(node, day(number)) == fresh.status(node, day(number))


@given(histories())
def test_what_is_scheduled_lies_ahead_on_the_line(history):
    lineage = history.lineage()
    for node in history.facts:
        for number in DAYS:
            expected = {
                n
                for n in history.descendants(node)
                if history.facts[n].valid_from > day(number) and not history.facts[n].removed
            }
            assert set(lineage.scheduled(node, day(number))) == expected


def fact(node, memory="m", version=1, begins=0, **fields):
    given = {"scope": None, "valid_to": None, "backdated": False, "removed": False}
    times = {"sequence": version, "valid_from": day(begins)}
    return NodeFacts(id=node, memory_id=memory, version=version, **{**times, **given, **fields})


@pytest.mark.promise("resolve.total")
def test_the_other_side_of_a_merge_that_is_not_yet_over_resolves_to_what_is_in_force():
    """The merge begins before one side of it, so that side stands, for the other side too."""
    facts = [
        fact("a", "ma", 1, begins=2),
        fact("b", "mb", 1, begins=3),
        fact("c", "ma", 2, begins=1, backdated=True),
    ]
    lineage = Lineage(facts, [Edge(SUPERSEDES, "c", "a"), Edge(SUPERSEDES, "c", "b")])
    assert lineage.heads("a", day(5)) == lineage.heads("c", day(5)) == ["a"]
    assert lineage.status("b", day(5)) is Status.SUPERSEDED
    assert lineage.heads("b", day(5)) == ["a"]


def test_links_change_the_answer_while_a_patch_is_planned():
    lineage = Lineage([fact("a")])
    assert lineage.heads("a", day(1)) == ["a"]
    lineage.add(fact("b", version=2))
    edge = Edge(SUPERSEDES, "b", "a")
    lineage.connect(edge)
    assert lineage.heads("a", day(1)) == ["b"]
    lineage.disconnect(edge)
    assert lineage.heads("a", day(1)) == ["a"]
    lineage.connect(edge)
    lineage.add(replace(lineage.facts["b"], removed=True))
    assert lineage.status("b", day(1)) is Status.FORGOTTEN
    assert lineage.heads("a", day(1)) == ["b"]


def test_edges_that_decide_nothing_and_ends_not_loaded_are_left_out():
    edges = [Edge(AMENDS, "b", "a"), Edge("caused_by", "b", "a"), Edge(SUPERSEDES, "x", "a")]
    lineage = Lineage([fact("a"), fact("b", "mb")], edges)
    assert lineage.heads("a", day(1)) == ["a"]
    assert lineage.successors("a") == lineage.predecessors("b") == []


def test_a_line_of_thousands_of_versions_takes_no_deep_stack():
    n = 20_000
    facts = [fact(f"n{i}", version=i + 1, begins=i % 2, backdated=i % 2 == 0) for i in range(n)]
    edges = [Edge(SUPERSEDES, f"n{i + 1}", f"n{i}") for i in range(n - 1)]
    lineage = Lineage(facts, edges)
    assert lineage.heads("n0", day(9)) == [f"n{n - 1}"]
    assert lineage.status("n0", day(9)) is Status.SUPERSEDED
    assert lineage.tips("n0") == [f"n{n - 1}"]


def test_membership_tells_what_was_loaded():
    assert "a" in Lineage([fact("a")])
    assert "b" not in Lineage([fact("a")])


def test_a_part_of_a_split_that_replaces_the_other_part_is_the_only_head():
    """The replaced part is asked about before the part that replaces it."""
    facts = [fact("x", "mx"), fact("a", "mx", 2), fact("b", "mb")]
    edges = [Edge(SUPERSEDES, "a", "x"), Edge(SUPERSEDES, "b", "x"), Edge(SUPERSEDES, "a", "b")]
    for order in (edges, edges[::-1]):
        assert Lineage(facts, order).heads("x", day(1)) == ["a"]
        assert Lineage(facts, order).heads("b", day(1)) == ["a"]


def test_a_line_of_many_versions_is_resolved_in_one_pass():
    facts = [fact(f"n{n}", "m", n + 1) for n in range(20_000)]
    edges = [Edge(SUPERSEDES, f"n{n + 1}", f"n{n}") for n in range(len(facts) - 1)]
    lineage = Lineage(facts, edges)
    last = facts[-1].id
    assert all(lineage.heads(f.id, day(1)) == [last] for f in facts)
