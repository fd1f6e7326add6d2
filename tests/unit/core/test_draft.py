"""A draft keeps its picture of the store in step with what it will write."""

import pytest
from tests.unit.core.test_planning import NOW, day, draft_of, plan, record, written

from evomem import InvalidRequestError, ScopeMismatchError, Status
from evomem.domain.edge import AMENDS, SUPERSEDES, Edge
from evomem.domain.links import plan_link
from evomem.domain.patch import MemoryState, Op
from evomem.domain.text import digest


def test_an_untouched_draft_writes_nothing():
    draft = draft_of(record("a"))
    assert draft.is_empty
    patch = draft.build()
    assert (patch.nodes, patch.edges, patch.operations, patch.events) == ((), (), (), ())
    assert draft.memories == {}


def test_a_patch_expects_all_that_the_plan_took_for_granted():
    a, b = record("a", version=3), record("b", slot="branch", scope="eu")
    draft = draft_of(a, b)
    plan(draft, supersedes="a")
    plan(draft, "main", slot="branch", scope="eu")
    expects = draft.build().expects
    assert expects.versions == {"m-a": 3, "m-b": 1}
    assert expects.twins == {digest(a.text, None, None): "a"}
    assert expects.slots == {("branch", "eu"): "b"}


def test_a_patch_carries_who_asked_and_why():
    draft = draft_of(record("a"))
    planned = plan(draft, supersedes="a")
    patch = draft.build(
        actor="ada",
        source="cli",
        reason="why",
        idempotency_key="k",
        payload_digest=b"d",
        replay={"notes": []},
    )
    assert (patch.actor, patch.source, patch.reason) == ("ada", "cli", "why")
    assert (patch.idempotency_key, patch.payload_digest, patch.replay) == ("k", b"d", {"notes": []})
    assert (patch.namespace, patch.recorded_at) == (("t",), NOW)
    assert [node.id for node in patch.nodes] == [planned.node_id]
    assert draft.memories == {"m-a": MemoryState("m-a", 2, planned.node_id, NOW)}
    assert len(patch.events) == 1
    assert draft.build().id != patch.id


def test_removing_a_node_counts_on_its_memory():
    draft = draft_of(record("a"))
    draft.remove("a", purge=True)
    assert (draft.removed, draft.purged) == (["a"], ["a"])
    assert draft.lineage.status("a", NOW) is Status.FORGOTTEN
    assert [(s.op, s.version, s.node_id) for s in draft.operations] == [(Op.REMOVE, 2, "a")]
    assert draft.memories["m-a"] == MemoryState("m-a", 2, "a", day(-9))


def test_purging_a_forgotten_node_does_not_remove_it_twice():
    draft = draft_of(record("a"), removed=["a"])
    draft.remove("a", purge=True)
    assert (draft.removed, draft.purged) == ([], ["a"])


def test_operations_on_one_memory_count_on():
    draft = draft_of(record("a"), record("b"))
    plan(draft, supersedes="a")
    draft.touch(draft.memory_of("a"), Op.LINK, "b")
    draft.remove("a", purge=False)
    assert [step.version for step in draft.operations] == [2, 3, 4]
    assert draft.memories["m-a"].version == 4
    assert draft.memories["m-a"].tip == draft.nodes[0].id


def test_the_tip_is_that_before_the_patch_for_what_was_named():
    draft = draft_of(record("a"))
    plan(draft, "Left.", supersedes="a")
    assert draft.tip("a") == "a"
    unnamed = draft_of(record("a"), named=[])
    planned = plan(unnamed, "Left.", supersedes="a")
    assert unnamed.tip("a") == planned.node_id


def test_the_tip_of_a_split_node_is_refused_with_its_parts():
    edges = [Edge(SUPERSEDES, "b", "a"), Edge(SUPERSEDES, "c", "a")]
    draft = draft_of(record("a"), record("b"), record("c"), edges=edges)
    with pytest.raises(InvalidRequestError, match="split"):
        draft.tip("a")
    assert draft.tip("b") == "b"


def test_an_ancestor_is_known_along_every_path():
    edges = [Edge(SUPERSEDES, "b", "a"), Edge(SUPERSEDES, "c", "b"), Edge(SUPERSEDES, "c", "x")]
    draft = draft_of(*(record(n) for n in "abcx"), edges=edges)
    assert draft.is_ancestor("a", "c")
    assert draft.is_ancestor("x", "c")
    assert not draft.is_ancestor("c", "a")
    assert not draft.is_ancestor("a", "x")
    assert not draft.is_ancestor("a", "a")


def test_closing_an_edge_that_only_marks_leaves_the_lineage():
    marks = Edge(AMENDS, "b", "a", part="x")
    draft = draft_of(record("a"), record("b"), edges=[marks])
    draft.disconnect(marks)
    assert draft.closed == [marks]
    link = Edge(SUPERSEDES, "b", "a")
    draft = draft_of(record("a"), record("b"), edges=[link])
    draft.disconnect(link)
    assert draft.lineage.heads("a", NOW) == ["a"]


def test_the_latest_active_twin_is_found():
    one, two = record("a", text="same"), record("b", text="same")
    key = digest("same", None, None)
    assert draft_of(one, two).active_twin(key) == "b"
    replaced = draft_of(one, two, record("c"), edges=[Edge(SUPERSEDES, "c", "b")])
    assert replaced.active_twin(key) == "a"
    assert draft_of(one, removed=["a"]).active_twin(key) is None
    assert draft_of().active_twin(key) is None


def test_a_node_added_with_an_earlier_beginning_keeps_the_latest_of_its_memory():
    draft = draft_of(record("a", valid_from=day(-1)))
    plan(draft, supersedes="a", valid_from=day(-20))
    plan(draft, "Third.", supersedes=draft.nodes[0].id)
    assert draft.nodes[1].valid_from == NOW
    assert draft.memories["m-a"].latest_valid_from == NOW


def test_a_link_after_the_fact_moves_nothing():
    draft = draft_of(record("a"), record("b"))
    assert plan_link(draft, "b", ["a"]) == (["a"], [])
    assert written(draft) == ([(SUPERSEDES, "b", "a")], [(Op.LINK, "b", 2)])
    assert draft.memories == {"m-a": MemoryState("m-a", 2, "a", day(-9))}


def test_a_link_that_is_there_is_not_made_twice():
    draft = draft_of(record("a"), record("b"), edges=[Edge(SUPERSEDES, "b", "a")])
    assert plan_link(draft, "b", ["a", "a"]) == ([], [])
    assert draft.is_empty


def test_a_link_to_what_was_replaced_takes_its_tip():
    b = record("b", memory_id="m-a", version=2)
    draft = draft_of(record("a"), b, record("c"), edges=[Edge(SUPERSEDES, "b", "a")])
    done, moved = plan_link(draft, "c", ["a"])
    assert (done, [tuple(m) for m in moved]) == (["b"], [("a", "b")])


@pytest.mark.promise("resolve.total")
def test_no_node_comes_to_replace_itself():
    edges = [Edge(SUPERSEDES, "b", "a"), Edge(SUPERSEDES, "c", "b")]
    draft = draft_of(record("a"), record("b"), record("c"), edges=edges)
    for new, old in (("a", "a"), ("a", "b"), ("a", "c"), ("b", "c")):
        with pytest.raises(InvalidRequestError):
            plan_link(draft, new, [old])
    assert draft.is_empty


@pytest.mark.promise("resolve.total")
def test_a_merged_node_does_not_come_to_replace_the_merge():
    """Its tip is the merge, which comes after the node that would replace it."""
    c = record("c", memory_id="m-a", version=2)
    edges = [Edge(SUPERSEDES, "c", "a"), Edge(SUPERSEDES, "c", "b")]
    draft = draft_of(record("a"), record("b"), c, edges=edges)
    with pytest.raises(InvalidRequestError):
        plan_link(draft, "b", ["a"])


def test_a_link_keeps_the_rule_of_scopes():
    draft = draft_of(record("a"), record("b", scope="eu"))
    with pytest.raises(ScopeMismatchError):
        plan_link(draft, "b", ["a"])
    assert plan_link(draft, "a", ["b"]) == (["b"], [])
