"""From any node to what is in force, at any time, as known at any commit."""

import itertools
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from tests.conformance.builders import (
    HOME,
    REACH,
    heads,
    later,
    next_version,
    note,
    open_memory,
    patch_of,
    removal,
    replaces,
    step,
    store,
)
from tests.conformance.histories import STEPS, play

from evomem import InvalidRequestError, Status
from evomem.domain.edge import REFINES
from evomem.domain.namespace import Reach
from evomem.domain.patch import Op

counter = itertools.count()


def remember(memory, text, **options):
    return memory.remember(text, **options).node.id


def chain(memory, length, **options):
    ids = [remember(memory, "version 0", **options)]
    for n in range(1, length):
        ids.append(remember(memory, f"version {n}", supersedes=ids[-1]))
    return ids


def statuses(memory, *ids):
    return [node.status.value for node in map(memory.get_node, ids)]


@pytest.mark.promise("resolve.total")
def test_every_version_of_a_chain_resolves_to_the_last(engine, memory, clock):
    ids = chain(memory, 6)
    assert {tuple(heads(engine, n, clock.now)) for n in ids} == {(ids[-1],)}
    assert statuses(memory, *ids) == ["superseded"] * 5 + ["active"]


@pytest.mark.promise("resolve.total")
def test_a_chain_of_thousands_of_versions_resolves(engine):
    nodes = [note("version 1")]
    for n in range(2, 3001):
        nodes.append(next_version(nodes[-1], f"version {n}"))
    edges = tuple(replaces(new, old) for old, new in itertools.pairwise(nodes))
    engine.commit(patch_of(*nodes, edges=edges))
    assert heads(engine, nodes[0].id, later()) == [nodes[-1].id]
    with engine.read() as reader:
        lineage = reader.lineage(REACH, [n.id for n in nodes], later())
        assert all(lineage.heads(n.id, later()) == [nodes[-1].id] for n in nodes[::500])
        assert len(reader.story(REACH, [nodes[1500].id]).facts) == 3000


@pytest.mark.promise("resolve.total")
def test_both_sides_of_a_merge_resolve_to_it(engine, memory, clock):
    a, b = remember(memory, "one"), remember(memory, "two")
    merged = remember(memory, "both", supersedes=[a, b])
    assert heads(engine, a, clock.now) == heads(engine, b, clock.now) == [merged]
    assert statuses(memory, a, b, merged) == ["superseded", "superseded", "active"]


@pytest.mark.promise("resolve.total")
def test_a_split_of_one_patch_has_both_parts_as_heads(engine, memory, clock):
    whole = remember(memory, "whole")
    parts = memory.remember_many([{"text": t, "supersedes": whole} for t in ("left", "right")])
    ids = [part.node.id for part in parts]
    assert set(heads(engine, whole, clock.now)) == set(ids)
    assert statuses(memory, whole, *ids) == ["superseded", "active", "active"]


@pytest.mark.promise("resolve.total", "head.cas")
def test_no_second_head_appears_when_an_old_version_is_replaced_again(engine, memory, clock):
    first, second = chain(memory, 2)
    result = memory.remember("version 2", supersedes=first)
    assert [tuple(moved) for moved in result.moved] == [(first, second)]
    assert heads(engine, first, clock.now) == [result.node.id]


def test_a_link_after_the_fact_leads_across_memories(engine, memory, clock):
    a, b = remember(memory, "one"), remember(memory, "two")
    memory.link(b, supersedes=[a])
    assert heads(engine, a, clock.now) == [b]
    newer = remember(memory, "three", supersedes=a)
    assert heads(engine, a, clock.now) == heads(engine, b, clock.now) == [newer]
    assert memory.get_node(newer).memory_id == memory.get_node(b).memory_id


def test_an_unlink_in_the_middle_leaves_two_lines(engine, memory, clock):
    ids = chain(memory, 4)
    memory.unlink(ids[2], ids[1])
    assert [heads(engine, n, clock.now) for n in ids] == [[ids[1]], [ids[1]], [ids[3]], [ids[3]]]
    assert statuses(memory, *ids) == ["superseded", "active", "superseded", "active"]
    memory.link(ids[2], supersedes=[ids[1]])
    assert heads(engine, ids[0], clock.now) == [ids[3]]


@pytest.mark.promise("recall.head")
def test_no_old_version_stands_in_for_a_forgotten_head(engine, memory, clock):
    old, head = chain(memory, 2)
    memory.forget(head)
    assert heads(engine, old, clock.now) == [head]
    assert statuses(memory, old, head) == ["superseded", "forgotten"]
    assert memory.recall("version").hits == ()
    reopened = remember(memory, "version 2", supersedes=head)
    assert heads(engine, old, clock.now) == [reopened]


def test_forgetting_an_older_version_leaves_the_head_in_force(engine, memory, clock):
    old, head = chain(memory, 2)
    memory.forget(old, purge=True)
    assert heads(engine, old, clock.now) == [head]
    assert statuses(memory, head) == ["active"]


def test_a_scheduled_version_takes_force_without_a_write(engine, memory, clock):
    old = remember(memory, "until then")
    new = remember(memory, "from then", supersedes=old, valid_from=later(days=7))
    assert heads(engine, old, clock.now) == heads(engine, new, clock.now) == [old]
    assert statuses(memory, old, new) == ["active", "scheduled"]
    clock.advance(days=7)
    assert heads(engine, old, clock.now) == heads(engine, new, clock.now) == [new]
    assert statuses(memory, old, new) == ["superseded", "active"]


def test_a_line_that_has_not_begun_has_no_head(engine, memory, clock):
    node = remember(memory, "some day", valid_from=later(days=7))
    assert heads(engine, node, clock.now) == []
    assert statuses(memory, node) == ["scheduled"]


def test_a_backdated_version_is_in_force_only_until_the_later_one_begins(engine, memory):
    now = remember(memory, "since yesterday", valid_from=later(days=-1))
    before = remember(memory, "the days before", supersedes=now, valid_from=later(days=-5))
    assert heads(engine, now, later()) == heads(engine, before, later()) == [now]
    assert heads(engine, now, later(days=-3)) == heads(engine, before, later(days=-3)) == [before]
    assert statuses(memory, now, before) == ["active", "superseded"]


def test_of_two_versions_that_begin_together_the_later_one_is_in_force(engine, memory, clock):
    first = remember(memory, "first", valid_from=later(days=-1))
    second = remember(memory, "second", supersedes=first, valid_from=later(days=-1))
    assert heads(engine, first, clock.now) == [second]


def test_a_clock_that_steps_back_reorders_nothing(engine, memory, clock):
    old = remember(memory, "before the step")
    clock.advance(days=-2)
    new = remember(memory, "after the step", supersedes=old)
    assert heads(engine, old, later(minutes=1)) == [new]
    assert memory.get_node(new).valid_from == memory.get_node(old).valid_from


@pytest.mark.promise("resolve.total")
def test_a_merge_that_begins_before_one_of_its_sides_leaves_neither_without_a_head(engine, memory):
    a = remember(memory, "one", valid_from=later(days=-3))
    b = remember(memory, "two", valid_from=later(days=-2))
    merged = remember(memory, "both", supersedes=[a, b], valid_from=later(days=-5))
    assert heads(engine, a, later()) == heads(engine, merged, later()) == [a]
    assert heads(engine, b, later()) == [a]
    assert memory.recall("two").hits[0].node.id == a


def test_what_was_known_at_an_earlier_commit_is_answered(engine):
    old, other = note("old"), note("other")
    begun = engine.commit(patch_of(old, other)).sequence
    new = next_version(old, "new")
    linked = engine.commit(patch_of(new, edges=(replaces(new, old),))).sequence
    closed = engine.commit(
        patch_of(also=(step(Op.UNLINK, new, 3),), closed=(replaces(new, old),))
    ).sequence
    removed = engine.commit(removal(old, 4)).sequence
    assert heads(engine, old.id, later(), begun - 1) == []
    assert heads(engine, old.id, later(), begun) == [old.id]
    assert heads(engine, old.id, later(), linked) == [new.id]
    assert heads(engine, old.id, later(), closed) == heads(engine, old.id, later()) == [old.id]
    assert heads(engine, new.id, later(), begun) == []

    def status(known):
        with engine.read() as reader:
            view = reader if known is None else reader.before(known + 1)
            return view.lineage(REACH, [old.id], later()).status(old.id, later())

    assert [status(k) for k in (begun, linked, closed, removed, None)] == [
        Status.ACTIVE,
        Status.SUPERSEDED,
        Status.ACTIVE,
        Status.FORGOTTEN,
        Status.FORGOTTEN,
    ]


def test_refinements_are_told_from_replacements(memory):
    first = remember(memory, "we use sqlite")
    second = remember(memory, "We use SQLite 3.", refines=first)
    third = remember(memory, "We use Postgres.", supersedes=second)
    assert statuses(memory, first, second, third) == ["superseded", "superseded", "active"]
    memory.unlink(third, second)
    assert statuses(memory, first, second, third) == ["refined", "active", "active"]


def test_relations_decide_nothing(engine, memory, clock):
    old = remember(memory, "one")
    remember(memory, "two", relations={"caused_by": old})
    assert heads(engine, old, clock.now) == [old]
    assert statuses(memory, old) == ["active"]


@pytest.mark.timeout(3)
@pytest.mark.promise("resolve.total")
def test_a_merged_node_cannot_come_to_replace_what_it_was_merged_into(memory):
    a, b = remember(memory, "one"), remember(memory, "two")
    merged = remember(memory, "both", supersedes=[a, b])
    with pytest.raises(InvalidRequestError):
        memory.link(b, supersedes=[a])
    assert statuses(memory, a, b, merged) == ["superseded", "superseded", "active"]


def test_a_story_holds_all_that_is_connected(engine):
    left, right, beside = store(engine, "left", "right", "beside")
    merged = next_version(left, "merged")
    reworded = next_version(merged, "reworded")
    edges = (
        replaces(merged, left),
        replaces(merged, right),
        replaces(reworded, merged, REFINES),
    )
    engine.commit(patch_of(merged, reworded, edges=edges))
    with engine.read() as reader:
        for node in (left, right, merged, reworded):
            assert set(reader.story(REACH, [node.id]).facts) == {
                left.id,
                right.id,
                merged.id,
                reworded.id,
            }
        assert set(reader.story(REACH, [beside.id]).facts) == {beside.id}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
@pytest.mark.promise("resolve.total")
def test_one_node_is_loaded_with_all_that_decides_about_it(engine, clock, steps):
    memory = open_memory(engine, clock, (*HOME, str(next(counter))))
    reach = Reach(memory.namespace)
    ids = play(engine, memory, clock, steps)
    with engine.read() as reader:
        for days in (-6, -2, 0, 2, 6):
            at = clock.now + timedelta(days=days)
            whole = reader.story(reach, ids)
            for node_id in ids:
                alone = reader.lineage(reach, [node_id], at)
                assert alone.heads(node_id, at) == whole.heads(node_id, at)
                assert alone.status(node_id, at) == whole.status(node_id, at)
                assert alone.tips(node_id) == whole.tips(node_id)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
@pytest.mark.promise("resolve.total")
def test_whatever_happened_a_node_that_began_resolves_to_heads_in_force(engine, clock, steps):
    memory = open_memory(engine, clock, (*HOME, str(next(counter))))
    ids = play(engine, memory, clock, steps)
    with engine.read() as reader:
        story = reader.story(Reach(memory.namespace), ids)
    for node_id, days in itertools.product(ids, (-6, -2, 0, 2, 6)):
        at = clock.now + timedelta(days=days)
        found = story.heads(node_id, at)
        assert found or story.facts[node_id].valid_from > at
        assert [story.heads(head, at) for head in found] == [[head] for head in found]
        assert (found == [node_id]) == (node_id in found)
