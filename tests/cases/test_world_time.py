"""Decisions that begin later, began earlier, or are over: no write is needed for it."""

from datetime import timedelta

import pytest

from evomem import Status

pytestmark = pytest.mark.promise("resolve.total")


def statuses(memory, node_id):
    return [(node.text, node.status.value) for node in memory.history(node_id)]


def test_a_scheduled_decision_takes_force_by_itself(timed, clock, found):
    old = timed.remember("rate is ten").node.id
    begins = clock.now + timedelta(days=1)
    result = timed.remember("rate is twenty", supersedes=old, valid_from=begins)
    new = result.node.id
    assert result.node.status is Status.SCHEDULED
    assert "takes force at" in result.warnings[0]
    patches = timed.stats().patches
    for query in ("ten", "twenty", ""):
        (hit,) = timed.recall(query).hits
        assert (hit.node.id, hit.scheduled) == (old, (new,))
    assert [node.id for node in timed.list()] == [old]
    clock.now = begins - timedelta(microseconds=1)
    assert found(timed, "twenty") == [old]
    clock.now = begins
    assert found(timed, "ten") == [new]
    assert statuses(timed, old) == [("rate is twenty", "active"), ("rate is ten", "superseded")]
    assert timed.stats().patches == patches


@pytest.mark.promise("recall.head")
def test_a_scheduled_decision_takes_nothing_out_of_force_yet(timed, clock):
    old = timed.remember("rate is ten").node.id
    result = timed.remember(
        "rate is twenty", supersedes=old, valid_from=clock.now + timedelta(days=1)
    )
    assert timed.get_node(old).status is Status.ACTIVE
    assert result.superseded == ()


def test_a_decision_scheduled_alone_is_shown_as_scheduled(timed, clock):
    begins = clock.now + timedelta(days=1)
    node_id = timed.remember("office moves", valid_from=begins).node.id
    (hit,) = timed.recall("office").hits
    assert (hit.node.id, hit.node.status) == (node_id, Status.SCHEDULED)
    assert timed.list().nodes == ()
    clock.now = begins
    assert timed.recall("office").hits[0].node.status is Status.ACTIVE


def test_a_back_dated_version_does_not_outrank_a_later_one(timed, clock, found):
    old = timed.remember("rate is ten").node.id
    earlier = clock.now - timedelta(days=9)
    result = timed.remember("rate was five", supersedes=old, valid_from=earlier)
    assert found(timed, "five ten") == [old]
    assert statuses(timed, old) == [("rate was five", "superseded"), ("rate is ten", "active")]
    assert result.superseded == ()


def test_a_note_written_down_late_takes_force_when_it_was_said(timed, clock):
    said = clock.now - timedelta(days=9)
    node = timed.remember("rate was five", created_at=said).node
    assert (node.valid_from, node.recorded_at) == (said, clock.now)


def test_a_decision_that_is_over_is_not_shown_and_nothing_old_returns(timed, clock, found):
    old = timed.remember("rate is ten").node.id
    ends = clock.now + timedelta(days=1)
    new = timed.remember("rate is twenty", supersedes=old, valid_to=ends).node.id
    assert found(timed, "rate") == [new]
    clock.now = ends - timedelta(microseconds=1)
    assert found(timed, "rate") == [new]
    clock.now = ends
    assert found(timed, "rate ten twenty") == []
    assert found(timed, "") == []
    assert timed.list().nodes == ()
    assert timed.remember("rate is thirty", supersedes=new).superseded in {(), (new,)}
    assert [node.text for node in timed.list()] == ["rate is thirty"]


def test_an_equal_note_that_is_over_is_no_duplicate(timed, clock):
    timed.remember("freeze", valid_to=clock.now + timedelta(days=1))
    clock.advance(days=2)
    assert not timed.remember("freeze").deduplicated


def test_counts_follow_the_clock(timed, clock):
    old = timed.remember("rate is ten").node.id
    timed.remember("rate is twenty", supersedes=old, valid_from=clock.now + timedelta(days=1))
    timed.remember("freeze", valid_to=clock.now + timedelta(days=2))
    seen = []
    for _ in range(3):
        seen.append([timed.stats().nodes[s] for s in ("active", "scheduled", "superseded")])
        clock.advance(days=1)
    assert seen == [[2, 1, 0], [2, 0, 1], [1, 0, 2]]
