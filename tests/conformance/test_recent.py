"""Pages of the latest nodes, stable while others write."""

import pytest
from tests.conformance.builders import (
    BELOW,
    HOME,
    NO_FILTERS,
    REACH,
    later,
    next_version,
    note,
    patch_of,
    removal,
    replaces,
    step,
    store,
)

from evomem.domain.namespace import Reach
from evomem.domain.patch import Op
from evomem.engines.base import Filters


def recent(engine, reach=REACH, filters=NO_FILTERS, after=None, limit=100):
    with engine.read() as reader:
        return reader.recent(reach, filters, after=after, limit=limit)


def test_the_latest_committed_come_first(engine):
    nodes = store(engine, "one", "two", "three")
    pair = [note("four"), note("five")]
    engine.commit(patch_of(*pair))
    assert recent(engine) == [n.id for n in reversed([*nodes, *pair])]


def test_world_time_plays_no_part_in_the_order(engine):
    first = store(engine, "one", valid_from=note("x").valid_from.replace(year=2030))
    second = store(engine, "two", valid_from=note("x").valid_from.replace(year=1990))
    assert recent(engine) == [second[0].id, first[0].id]


def test_forgotten_nodes_are_listed(engine):
    (node,) = store(engine, "one")
    engine.commit(removal(node))
    assert recent(engine) == [node.id]


@pytest.mark.parametrize("size", [1, 3, 7, 30])
def test_pages_hold_every_earlier_node_once_while_writes_go_on(engine, size):
    nodes = store(engine, *(f"note {n}" for n in range(20)))
    pages, after = [], None
    while page := recent(engine, after=after, limit=size):
        pages += page
        after = page[-1]
        store(engine, "written meanwhile")
        engine.commit(removal(nodes.pop()) if size == 7 else patch_of())
    assert pages == [n for n in recent(engine) if n in pages]
    assert len(pages) == len(set(pages)) == 20


def test_a_page_continues_behind_a_node_of_the_same_patch(engine):
    nodes = [note(f"note {n}") for n in range(5)]
    engine.commit(patch_of(*nodes))
    ids = [node.id for node in reversed(nodes)]
    assert [recent(engine, after=n, limit=2) for n in ids] == [ids[i : i + 2] for i in range(1, 6)]


def test_filters_apply_before_the_limit(engine):
    red = [n.id for n in store(engine, "one", "two", "three", tags=("red",))]
    store(engine, *(f"blue {n}" for n in range(10)), tags=("blue",))
    assert recent(engine, filters=Filters(tags=("red",)), limit=2) == red[:0:-1]
    assert recent(engine, filters=Filters(tags=("red",)), after=red[1], limit=2) == red[:1]


def test_a_filter_on_metadata_applies_before_the_limit(engine):
    high = [n.id for n in store(engine, "one", "two", "three", metadata={"deep": {"n": 7}})]
    store(engine, *(f"low {n}" for n in range(10)), metadata={"deep": {"n": 1}})
    for n in (7, 7.0, {"$gt": 1}, {"$ne": 1}):
        filters = Filters(metadata={"deep": {"n": n}})
        assert recent(engine, filters=filters, limit=2) == high[:0:-1]
        assert recent(engine, filters=filters, after=high[1], limit=2) == high[:1]
        assert recent(engine, BELOW, filters=filters, limit=2) == high[:0:-1]


def test_what_a_later_node_replaced_is_left_out_as_far_as_that_is_plain(engine):
    old, scheduled = note("old"), note("of a memory that goes on later")
    engine.commit(patch_of(old, scheduled))
    new = next_version(old, "new")
    to_come = next_version(scheduled, "to come", valid_from=later(days=9))
    links = (replaces(new, old, "refines"), replaces(to_come, scheduled))
    linked = engine.commit(patch_of(new, to_come, edges=links)).sequence
    last = note("committed later, replaced by what was there before")
    also = (step(Op.LINK, new, 3),)
    engine.commit(patch_of(last, edges=(replaces(new, last),), also=also))
    assert recent(engine, filters=Filters(standing=later())) == [
        n.id for n in (last, to_come, new, scheduled)
    ]
    everything = [n.id for n in (last, to_come, new)]
    assert recent(engine, filters=Filters(standing=later(days=9))) == everything
    with engine.read() as reader:
        standing = Filters(standing=later())
        before = reader.before(linked).recent(REACH, standing, after=None, limit=9)
        assert before == [scheduled.id, old.id]
    engine.commit(patch_of(closed=links[:1], also=(step(Op.UNLINK, new, 4),)))
    assert old.id in recent(engine, filters=Filters(standing=later()))


def test_an_earlier_version_that_begins_later_is_not_left_out(engine):
    old = note("old", valid_from=later(days=5))
    engine.commit(patch_of(old))
    new = next_version(old, "new", valid_from=later(days=1), backdated=True)
    engine.commit(patch_of(new, edges=(replaces(new, old),)))
    assert recent(engine, filters=Filters(standing=later(days=6))) == [new.id, old.id]


def test_nodes_below_are_listed_in_commit_order_when_asked(engine):
    spaces = [HOME, (*HOME, "b"), HOME, (*HOME, "a"), (*HOME, "b"), HOME]
    ids = [store(engine, "x", namespace=namespace)[0].id for namespace in spaces]
    assert recent(engine, BELOW) == ids[::-1]
    pages = [recent(engine, BELOW, after=n, limit=1) for n in ids[::-1]]
    assert pages == [[n] for n in ids[-2::-1]] + [[]]
    assert recent(engine) == [ids[5], ids[2], ids[0]]


def test_nothing_lies_behind_an_unknown_node(engine):
    store(engine, "one")
    assert recent(engine, after="nunknownnode") == []


@pytest.mark.promise("namespace.wall")
def test_nothing_lies_behind_a_node_of_another_namespace(engine):
    store(engine, "one")
    (foreign,) = store(engine, "foreign", namespace=("tenant", "beside"))
    assert recent(engine, after=foreign.id) == []


def test_an_empty_namespace_has_no_pages(engine):
    store(engine, "one")
    assert recent(engine, Reach(("nobody",), include_children=True)) == []


def test_lists_page_through_everything_while_writes_go_on(memory):
    ids = [memory.remember(f"note {n}").node.id for n in range(12)]
    seen, cursor = [], None
    while True:
        page = memory.list(limit=5, cursor=cursor)
        seen += [node.id for node in page]
        memory.remember(f"meanwhile {len(seen)}")
        if (cursor := page.cursor) is None:
            break
    assert seen == ids[::-1]
