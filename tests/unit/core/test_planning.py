"""How a request becomes operations on a draft: the rules of writing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evomem import (
    Abstain,
    Amend,
    Extraction,
    InvalidRequestError,
    Link,
    NoLink,
    Override,
    ScopeMismatchError,
    Suggestion,
    VersionConflictError,
    parse_remember,
)
from evomem.domain.draft import Draft, StoreFacts
from evomem.domain.edge import AMENDS, OVERRIDES, REFINES, SUPERSEDES, Edge
from evomem.domain.lineage import Lineage, NodeFacts
from evomem.domain.node import NodeRecord
from evomem.domain.patch import MemoryState, Op
from evomem.domain.planning import note_scope, plan_note
from evomem.domain.text import digest

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIELDS = Extraction("none")


def day(number):
    return NOW + timedelta(days=number)


def record(node_id, **fields: Any):
    given: dict[str, Any] = {
        "memory_id": f"m-{node_id}",
        "version": 1,
        "namespace": ("t",),
        "text": f"The text of {node_id}.",
        "extraction": FIELDS,
        "created_at": day(-9),
        "recorded_at": day(-9),
        "valid_from": day(-9),
    }
    return NodeRecord(id=node_id, **{**given, **fields})


def facts_of(r, removed):
    return NodeFacts(
        id=r.id,
        memory_id=r.memory_id,
        version=r.version,
        sequence=1,
        scope=r.scope,
        valid_from=r.valid_from,
        valid_to=r.valid_to,
        backdated=r.backdated,
        removed=removed,
    )


def draft_of(*records, edges=(), removed=(), named=None):
    """Return a draft on a store that holds these nodes, the latest last."""
    memories: dict[str, MemoryState] = {}
    twins: dict[bytes, tuple[str, ...]] = {}
    slots: dict[tuple[str, str | None], str | None] = {}
    for r in records:
        before = memories.get(r.memory_id)
        latest = max(r.valid_from, before.latest_valid_from) if before else r.valid_from
        memories[r.memory_id] = MemoryState(r.memory_id, r.version, r.id, latest)
        if r.slot:
            slots[r.slot, r.scope] = r.id
        elif r.id not in removed:
            key = digest(r.text, r.scope, None)
            twins[key] = (r.id, *twins.get(key, ()))
    facts = StoreFacts(
        lineage=Lineage([facts_of(r, r.id in removed) for r in records], edges),
        records={r.id: r for r in records if named is None or r.id in named},
        memories=memories,
        edges=tuple(edges),
        twins=twins,
        slots=slots,
    )
    return Draft(("t",), NOW, facts)


def plan(draft, text="A new statement.", decided=None, **options):
    request = parse_remember({"text": text, **options})
    return plan_note(draft, request, FIELDS, decided, "silent/1")


def written(draft):
    """Return the edges and operations of a draft, the new nodes by their place."""
    names = {node.id: f"new{n}" for n, node in enumerate(draft.nodes)}
    edges = [(e.kind, names.get(e.new, e.new), e.old) for e in draft.edges]
    steps = [(s.op, names.get(s.node_id, s.node_id), s.version) for s in draft.operations]
    return edges, steps


def test_a_note_that_replaces_nothing_starts_a_memory():
    draft = draft_of()
    planned = plan(draft, tags=["a"], subject="s", session="x", metadata={"n": 1})
    (node,) = draft.nodes
    assert (node.id, node.version, node.scope, node.valid_from) == (planned.node_id, 1, None, NOW)
    assert (node.tags, node.subject, node.session, node.metadata) == (("a",), "s", "x", {"n": 1})
    assert written(draft) == ([], [(Op.ADD, "new0", 1)])
    assert planned.decision.outcome == "off"
    (event,) = draft.events
    assert (event.role, event.content, event.occurred_at) == ("document", node.text, NOW)


@pytest.mark.parametrize(
    ("kind", "op"),
    [(SUPERSEDES, Op.SUPERSEDE), (REFINES, Op.UPDATE)],
    ids=["supersedes", "refines"],
)
def test_a_replacement_is_the_next_version(kind, op):
    draft = draft_of(record("a"))
    planned = plan(draft, **{kind: "a"})
    assert written(draft) == ([(kind, "new0", "a")], [(op, "new0", 2)])
    assert (draft.nodes[0].memory_id, draft.nodes[0].version) == ("m-a", 2)
    assert (planned.superseded, planned.moved, planned.decision.outcome) == (("a",), (), "explicit")
    assert draft.memories["m-a"] == MemoryState("m-a", 2, planned.node_id, NOW)


@pytest.mark.promise("head.cas")
def test_a_replaced_node_is_extended_at_its_tip_and_that_is_said():
    b = record("b", memory_id="m-a", version=2)
    draft = draft_of(record("a"), b, edges=[Edge(SUPERSEDES, "b", "a")])
    planned = plan(draft, supersedes="a")
    assert written(draft)[0] == [(SUPERSEDES, "new0", "b")]
    assert planned.superseded == ("b",)
    assert [tuple(moved) for moved in planned.moved] == [("a", "b")]
    assert draft.nodes[0].version == 3


def test_naming_two_versions_of_one_line_links_their_tip_once():
    b = record("b", memory_id="m-a", version=2)
    draft = draft_of(record("a"), b, edges=[Edge(SUPERSEDES, "b", "a")])
    planned = plan(draft, supersedes=["a", "b"])
    assert written(draft)[0] == [(SUPERSEDES, "new0", "b")]
    assert planned.superseded == ("b",)


def test_a_merge_continues_the_first_and_counts_on_the_others():
    draft = draft_of(record("a"), record("b"), record("c"))
    planned = plan(draft, supersedes=["b", "a", "c"])
    edges, steps = written(draft)
    assert set(edges) == {(SUPERSEDES, "new0", n) for n in "abc"}
    assert draft.nodes[0].memory_id == "m-b"
    assert steps[0] == (Op.SUPERSEDE, "new0", 2)
    assert steps[1:] == [(Op.LINK, "new0", 2)] * 2
    assert {m.id: (m.version, m.tip) for m in draft.memories.values()} == {
        "m-a": (2, "a"),
        "m-b": (2, planned.node_id),
        "m-c": (2, "c"),
    }
    assert planned.superseded == ("b", "a", "c")


def test_edges_are_made_in_the_order_named():
    draft = draft_of(record("a"), record("b"))
    plan(draft, supersedes=["a", "b"])
    assert [edge.old for edge in draft.edges] == ["a", "b"]


def test_two_notes_of_one_patch_that_replace_one_node_split_it():
    draft = draft_of(record("a"))
    plan(draft, "Left.", supersedes="a")
    plan(draft, "Right.", supersedes="a")
    left, right = draft.nodes
    assert written(draft)[0] == [(SUPERSEDES, "new0", "a"), (SUPERSEDES, "new1", "a")]
    assert (left.memory_id, left.version) == ("m-a", 2)
    assert right.memory_id not in ("m-a", left.memory_id)
    assert right.version == 1
    assert set(draft.lineage.heads("a", NOW)) == {left.id, right.id}


def test_replacing_a_node_that_was_split_names_its_parts():
    parts = [record("b", memory_id="m-a", version=2), record("c")]
    draft = draft_of(
        record("a"), *parts, edges=[Edge(SUPERSEDES, "b", "a"), Edge(SUPERSEDES, "c", "a")]
    )
    with pytest.raises(InvalidRequestError, match="split into") as refusal:
        plan(draft, supersedes="a")
    assert set(refusal.value.details["heads"]) == {"b", "c"}
    assert draft.is_empty


@pytest.mark.parametrize(
    ("old", "asked", "scope"),
    [
        (["eu"], None, "eu"),
        ([None], None, None),
        (["eu/de", "eu/fr"], None, "eu"),
        (["eu", "us"], None, None),
        (["eu/de"], "eu", "eu"),
        (["eu"], "EU ", "eu"),
    ],
)
def test_a_replacement_holds_wherever_the_old_ones_did(old, asked, scope):
    records = [record(f"n{n}", scope=s) for n, s in enumerate(old)]
    draft = draft_of(*records)
    plan(draft, supersedes=[r.id for r in records], scope=asked)
    assert draft.nodes[0].scope == scope


@pytest.mark.parametrize(
    ("old", "asked"), [(None, "eu"), ("eu", "eu/de"), ("eu", "us"), ("eu", "eu-west")]
)
def test_a_narrower_or_other_scope_cannot_replace_wholly(old, asked):
    draft = draft_of(record("a", scope=old))
    with pytest.raises(ScopeMismatchError, match="overrides") as refusal:
        plan(draft, supersedes="a", scope=asked)
    assert refusal.value.code == "SCOPE_MISMATCH"
    assert draft.is_empty


def test_force_begins_now_but_never_before_what_it_replaces():
    draft = draft_of(record("a", valid_from=day(3)), record("b"))
    plan(draft, supersedes=["b", "a"])
    assert draft.nodes[0].valid_from == day(3)
    assert not draft.nodes[0].backdated


def test_force_begins_when_it_was_said():
    draft = draft_of(record("a"))
    plan(draft, "One.", created_at=day(-2))
    plan(draft, "Two.", created_at=day(2))
    plan(draft, "Three.", created_at=day(-30), supersedes="a")
    assert [node.valid_from for node in draft.nodes] == [day(-2), NOW, day(-9)]
    assert [node.created_at for node in draft.nodes] == [day(-2), day(2), day(-30)]


def test_an_earlier_beginning_is_marked_as_backdated():
    draft = draft_of(record("a"))
    planned = plan(draft, supersedes="a", valid_from=day(-20))
    assert draft.nodes[0].backdated
    assert draft.memories["m-a"] == MemoryState("m-a", 2, planned.node_id, day(-9))
    assert draft.lineage.heads("a", NOW) == ["a"]


def test_a_later_beginning_is_said_in_a_warning():
    draft = draft_of(record("a"))
    planned = plan(draft, supersedes="a", valid_from=day(7))
    assert any("2026-03-08T12:00:00+00:00" in warning for warning in planned.warnings)
    assert draft.lineage.heads("a", NOW) == ["a"]


def test_a_note_cannot_end_before_it_begins():
    with pytest.raises(InvalidRequestError, match="valid_to"):
        plan(draft_of(), valid_to=day(-1))
    with pytest.raises(InvalidRequestError, match="valid_to"):
        plan(draft_of(record("a", valid_from=day(3))), supersedes="a", valid_to=day(2))


def test_a_slot_replaces_its_value_in_the_same_scope():
    draft = draft_of(record("a", slot="branch"), record("b", slot="branch", scope="eu"))
    planned = plan(draft, slot="branch")
    assert (planned.superseded, planned.decision.outcome) == (("a",), "link")
    assert draft.slots["branch", None] == planned.node_id
    second = plan(draft, slot="branch")
    assert (second.superseded, second.deduplicated) == ((planned.node_id,), False)
    first = plan(draft, slot="other")
    assert (first.superseded, first.decision.outcome) == ((), "no_link")


def test_a_slot_keeps_one_value_whatever_else_its_note_replaces():
    draft = draft_of(record("a", slot="branch"), record("b"))
    planned = plan(draft, slot="branch", supersedes="b")
    assert set(planned.superseded) == {"a", "b"}
    assert draft.lineage.heads("a", NOW) == draft.lineage.heads("b", NOW) == [planned.node_id]


def test_an_equal_active_note_is_reused_and_what_was_dropped_is_named():
    draft = draft_of(record("a", text="Said twice."))
    planned = plan(draft, "Said  twice.", tags=["x"], metadata={"n": 1})
    assert (planned.node_id, planned.deduplicated, draft.is_empty) == ("a", True, True)
    assert "tags, metadata" in planned.warnings[0]


@pytest.mark.parametrize("scope", ["eu", None])
def test_a_note_of_another_scope_is_not_equal(scope):
    draft = draft_of(record("a", text="Said twice.", scope=None if scope else "eu"))
    assert not plan(draft, "Said twice.", scope=scope).deduplicated


def test_an_equal_note_that_is_over_or_forgotten_is_not_reused():
    over = record("a", text="Said twice.", valid_to=day(-1))
    assert not plan(draft_of(over), "Said twice.").deduplicated
    gone = record("a", text="Said twice.")
    assert not plan(draft_of(gone, removed=["a"]), "Said twice.").deduplicated


def test_equal_notes_of_one_batch_are_one():
    draft = draft_of()
    first, second = plan(draft, "Said twice."), plan(draft, "Said twice.")
    assert (second.deduplicated, second.node_id) == (True, first.node_id)
    assert len(draft.nodes) == 1


def test_an_equal_note_replaces_what_is_named_but_not_itself():
    draft = draft_of(record("a", text="Said twice."), record("b"))
    planned = plan(draft, "Said twice.", supersedes=["b", "a"])
    assert (planned.node_id, planned.superseded) == ("a", ("b",))
    assert written(draft) == ([(SUPERSEDES, "a", "b")], [(Op.LINK, "a", 2)])


def test_an_amendment_quotes_the_words_it_replaces():
    draft = draft_of(record("a", text="We deploy  on\nFriday at noon."))
    planned = plan(draft, amends={"id": "a", "part": "on Friday"})
    (edge,) = draft.edges
    assert (edge.kind, edge.old, edge.part) == (AMENDS, "a", "on Friday")
    assert (planned.superseded, planned.decision.outcome) == ((), "explicit")
    with pytest.raises(InvalidRequestError, match="not in the text"):
        plan(draft, "Another.", amends={"id": "a", "part": "on Monday"})


def test_an_override_needs_a_scope_inside_the_old_one():
    draft = draft_of(record("a"), record("b", scope="eu"))
    plan(draft, overrides="a", scope="eu")
    plan(draft, "Another.", overrides="b", scope="eu/de")
    assert [edge.kind for edge in draft.edges] == [OVERRIDES, OVERRIDES]
    for old, scope in (("b", "eu"), ("b", "us")):
        with pytest.raises(ScopeMismatchError, match="supersedes"):
            plan(draft_of(record("b", scope="eu")), "More.", overrides=old, scope=scope)


def test_relations_are_edges_to_the_nodes_named():
    b = record("b", memory_id="m-a", version=2)
    draft = draft_of(record("a"), b, edges=[Edge(SUPERSEDES, "b", "a")])
    plan(draft, relations={"caused_by": ["a"], "depends_on": "b"})
    assert written(draft)[0] == [("caused_by", "new0", "a"), ("depends_on", "new0", "b")]


@pytest.mark.promise("head.cas")
def test_an_expected_version_is_that_of_the_named_memory():
    plan(draft_of(record("a", version=4)), supersedes="a", expected_version=4)
    b = record("b", memory_id="m-a", version=2)
    draft = draft_of(record("a"), b, edges=[Edge(SUPERSEDES, "b", "a")])
    with pytest.raises(VersionConflictError, match="version 2") as refusal:
        plan(draft, supersedes="a", expected_version=1)
    current = {"memory_id": "m-a", "version": 2, "node_id": "b"}
    assert refusal.value.details == {"expected_version": 1, "current": current}
    assert draft.is_empty
    plan(draft, supersedes="a", expected_version=2)


@pytest.mark.promise("head.cas")
def test_a_memory_that_another_replaced_is_at_no_expected_version():
    draft = draft_of(record("a"), record("b"), edges=[Edge(SUPERSEDES, "b", "a")])
    with pytest.raises(VersionConflictError) as refusal:
        plan(draft, supersedes="a", expected_version=1)
    assert refusal.value.details["current"]["memory_id"] == "m-b"


@pytest.mark.promise("link.never-guess")
@pytest.mark.parametrize(
    ("decided", "outcome", "edges"),
    [
        (None, "off", []),
        (NoLink("nothing alike"), "no_link", []),
        (Link(("a",), "sure", 0.9), "link", [(SUPERSEDES, "new0", "a")]),
        (Amend("a", "text", "a part", 0.8), "amend", [(AMENDS, "new0", "a")]),
        (Abstain((Suggestion("a", "text", "maybe", 0.6),), "not sure"), "abstain", []),
    ],
    ids=["off", "no_link", "link", "amend", "abstain"],
)
def test_a_decision_of_the_linker_is_carried_out(decided, outcome, edges):
    draft = draft_of(record("a"))
    planned = plan(draft, decided=decided)
    assert planned.decision.outcome == outcome
    assert written(draft)[0] == edges
    assert all((e.linked_by, e.confidence < 1) == ("silent/1", True) for e in draft.edges)


def test_a_linker_may_let_a_note_win_in_its_scope():
    draft = draft_of(record("a"))
    planned = plan(draft, decided=Override("a", "narrower", 0.9), scope="eu")
    assert planned.decision.outcome == "override"
    assert [(e.kind, e.linked_by) for e in draft.edges] == [(OVERRIDES, "silent/1")]


def test_what_the_linker_would_ask_is_kept_for_review():
    draft = draft_of(record("a"))
    suggestion = Suggestion("a", "text", "maybe", 0.6)
    planned = plan(draft, decided=Abstain((suggestion,), "not sure"))
    (kept,) = draft.suggestions
    assert (kept.new, kept.old, kept.confidence, kept.linker) == (
        planned.node_id,
        "a",
        0.6,
        "silent/1",
    )
    assert (planned.candidates, planned.decision.confidence) == ((suggestion,), 0.6)


def test_the_caller_wins_over_the_linker():
    draft = draft_of(record("a"), record("b"))
    planned = plan(draft, decided=Link(("a",), "sure", 0.9), supersedes="b")
    assert (planned.superseded, planned.decision.outcome) == (("b",), "explicit")
    assert draft.edges[0].linked_by == "caller"


def test_the_scope_a_note_will_have_is_known_before_it_is_planned():
    lineage = draft_of(record("a", scope="eu/de"), record("b", scope="eu/fr")).lineage

    def of(linked=(), **options):
        return note_scope(lineage, parse_remember({"text": "x", **options}), linked)

    assert of() is None
    assert of(scope="us") == "us"
    assert of(supersedes="a") == "eu/de"
    assert of(supersedes=["a", "b"]) == "eu"
    assert of(linked=["b"]) == "eu/fr"
    assert of(linked=["b"], supersedes="a") == "eu/de"
