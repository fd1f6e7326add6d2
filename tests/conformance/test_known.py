"""A view of an earlier commit answers as the store did then."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from tests.conformance.builders import (
    BELOW,
    HOME,
    NO_FILTERS,
    REACH,
    START,
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
from tests.conformance.story import Story, said

from evomem.domain.analysis import tokens
from evomem.domain.edge import AMENDS, OVERRIDES, Edge
from evomem.domain.namespace import Reach
from evomem.domain.patch import Op, SuggestedLink
from evomem.domain.text import digest
from evomem.engines.base import Filters

MICROSECOND = timedelta(microseconds=1)
ALL = Filters(removed=True)
ASIDE = ("tenant", "aside")
SLOTS = [("branch", None), ("ledger/db", None)]


def told(lineage):
    links = {n: (lineage.successors(n), lineage.predecessors(n)) for n in lineage.facts}
    return lineage.facts, links


def found(view, words, filters=NO_FILTERS, reach=REACH):
    return {hit.node_id for hit in view.search(reach, words, filters).hits}


def everything(view, ids, words, names, reach=REACH):
    """All that the methods of a view answer, those that are of the present left out."""
    memories = {record.memory_id for record in view.records(reach, ids).values()}
    patches = view.log(reach, 0, 1000)
    events = view.events(reach, names)
    places = range(60)
    return {
        "hits": found(view, words, reach=reach),
        "all hits": found(view, words, ALL, reach),
        "recent": view.recent(reach, NO_FILTERS, after=None, limit=1000),
        "page": view.recent(reach, NO_FILTERS, after=ids[0], limit=3),
        "lineage": [told(view.lineage(reach, ids, later(days=d))) for d in (-6, 0, 6)],
        "story": told(view.story(reach, ids)),
        "records": view.records(reach, ids),
        "edges": view.edges(reach, ids),
        "marks": view.marks(reach, ids),
        "memories": view.memories(reach, memories),
        "steps": {memory_id: view.steps(reach, memory_id) for memory_id in memories},
        "expand": {n: view.expand(reach, n[:7], 5) for n in (*ids, *memories, *names)},
        "expand patches": [view.expand(reach, c.patch.id[:7], 5) for c in patches],
        "suggestions": view.suggestions(reach),
        "about": view.suggestions(reach, ids),
        "log": patches,
        "newest": view.log(reach, 2, 3, newest_first=True),
        "commits": view.commits(reach, [commit.patch.id for commit in patches]),
        "patch ids": view.patch_ids(reach, places),
        "later": view.later_patches(reach, memories, 1),
        "events": events,
        "event of": [view.event_of(reach, e.external_id or "") for e in events.values()],
        "last": view.last_commit(reach.namespace),
        **{f"values {d}": view.slot_values(reach, SLOTS, later(days=d)) for d in (-6, 0, 6)},
        "namespaces": view.namespaces(reach),
        "standing": view.recent(reach, Filters(standing=later()), after=None, limit=1000),
    }


class Watched:
    """An engine that remembers all that a reach showed after each of its commits."""

    def __init__(self, engine, reach):
        self.engine, self.reach = engine, reach
        self.seen = {}

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def commit(self, patch):
        receipt = self.engine.commit(patch)
        with self.engine.read() as reader:
            self.seen[receipt.sequence] = asked(reader, self.reach)
        return receipt


def asked(view, reach):
    ids = view.recent(reach, NO_FILTERS, after=None, limit=1000)
    texts = [record.text for record in view.records(reach, ids).values()]
    words = sorted({word for text in texts for word in tokens(text)})
    names = [event.id for commit in view.log(reach, 0, 1000) for event in commit.patch.events]
    return (ids, words, names, everything(view, ids or [""], words, names, reach))


def same_as_then(engine, seen, reach=REACH):
    """Ask each view for what the store showed then, and for what came later as well."""
    last = max(seen, default=0)
    for sequence, (ids, words, names, then) in seen.items():
        with engine.read() as reader:
            view = reader.before(sequence + 1)
            assert everything(view, ids or [""], words, names, reach) == then
            # What came later is unknown, whoever asks for it.
            late_ids, late_words, late_names, _ = seen[last]
            assert set(view.records(reach, late_ids)) == set(ids)
            assert set(view.lineage(reach, late_ids, later()).facts) <= set(ids)
            assert set(view.story(reach, late_ids).facts) <= set(ids)
            assert {e.new for e in view.edges(reach, late_ids)} <= set(ids)
            assert {e.new for e in view.marks(reach, late_ids)} <= set(ids)
            assert found(view, late_words, ALL, reach) <= set(ids)
            assert set(view.events(reach, late_names)) == set(names)
            late = {n for n in (*late_ids, *late_names) if view.expand(reach, n, 1)}
            assert late == {*ids, *names}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(STEPS)
def test_a_view_of_any_commit_answers_as_the_store_did_after_it(fresh, clock, steps):
    watched = Watched(fresh(), REACH)
    kept = [{**step, "purge": False} if step["step"] == "forget" else step for step in steps]
    play(watched, open_memory(watched, clock, HOME), clock, kept)
    same_as_then(watched.engine, watched.seen)


@pytest.mark.parametrize("reach", [REACH, BELOW])
def test_a_view_of_any_patch_answers_as_the_store_did_after_it(engine, reach):
    """Up to the first purge: what that deleted is missing in earlier views too."""
    watched = Watched(engine, reach)
    for number, patch in enumerate(Story().until("revived again")):
        watched.commit(patch)
        if number % 3 == 0:
            below = (*HOME, str(number % 2))
            watched.commit(patch_of(note("zebra below", namespace=below), namespace=below))
    same_as_then(engine, watched.seen, reach)


def test_a_view_hides_the_rollback_that_came_later(engine):
    undone = patch_of(note("one"))
    first = engine.commit(undone).sequence
    engine.commit(patch_of(rollback_of=undone.id))
    with engine.read() as reader:
        (commit,) = reader.before(first + 1).commits(REACH, [undone.id])
    assert commit.rolled_back_by is None


def test_a_purge_deletes_the_text_in_every_view(engine):
    story = Story()
    sequences = {n: engine.commit(patch).sequence for n, patch in story.patches.items()}
    secret = story.nodes["secret"].id
    with engine.read() as reader:
        view = reader.before(sequences["told"] + 1)
        assert view.records(REACH, [secret])[secret].text == ""
        assert view.records(REACH, [secret])[secret].purged
        assert not view.lineage(REACH, [secret], later()).facts[secret].removed
        assert found(view, ["swordfish"], ALL) == set()
        (commit,) = view.commits(REACH, [story.patches["secret"].id])
        assert secret in view.recent(REACH, NO_FILTERS, after=None, limit=99)
        shown = repr((view.edges(REACH, [secret]), view.suggestions(REACH), commit))
        assert "swordfish" not in shown


def known(engine, when, node, reach=REACH):
    with engine.read() as reader:
        return node.id in reader.known_by(when).records(reach, [node.id])


def test_a_commit_is_known_from_its_time_on(engine):
    engine.commit(patch_of(note("before"), recorded_at=later(hours=-1)))
    node = note("one")
    engine.commit(patch_of(node, recorded_at=later(microseconds=1)))
    engine.commit(patch_of(note("after"), recorded_at=later(hours=1)))
    assert not known(engine, START, node)
    assert known(engine, later(microseconds=1), node)
    assert known(engine, later(microseconds=2), node)
    assert known(engine, later(days=900), node)


@pytest.mark.parametrize(
    "when", [datetime(1, 1, 1, tzinfo=UTC), START - MICROSECOND, datetime(1970, 1, 1, tzinfo=UTC)]
)
def test_before_the_first_commit_nothing_is_known(engine, when):
    node = note("one")
    event = said("said", external_id="msg")
    engine.commit(patch_of(node, events=(event,), idempotency_key="k"))
    with engine.read() as reader:
        view = reader.known_by(when)
        shown = everything(view, [node.id], ["one"], [event.id])
        assert view.event_of(REACH, "msg") is None
    last, lineages, story = shown.pop("last"), shown.pop("lineage"), shown.pop("story")
    assert (last.sequence, last.recorded_at) == (0, datetime(1970, 1, 1, tzinfo=UTC))
    assert [*lineages, story] == [({}, {})] * 4
    assert not any(shown.pop("expand").values())
    assert not any(shown.values())


def test_in_an_empty_store_nothing_was_ever_known(engine):
    with engine.read() as reader:
        for view in (reader.known_by(START), reader.before(0), reader.before(5)):
            assert view.log(REACH, 0, 9) == []
            assert view.recent(REACH, NO_FILTERS, after=None, limit=9) == []


def test_of_several_commits_at_one_time_all_are_known_or_none(engine):
    nodes = [note(f"note {n}") for n in range(5)]
    for node in nodes:
        engine.commit(patch_of(node))
    assert not any(known(engine, START - MICROSECOND, node) for node in nodes)
    assert all(known(engine, START, node) for node in nodes)


def test_a_clock_that_goes_back_hides_nothing_that_was_known(engine):
    first, second, third = (note(f"note {n}") for n in range(3))
    times = (later(hours=2), later(hours=-9), later(hours=1))
    for node, moment in zip((first, second, third), times, strict=True):
        engine.commit(patch_of(node, recorded_at=moment))
    for moment in (later(hours=-9), later(hours=1), later(hours=2) - MICROSECOND):
        assert not any(known(engine, moment, node) for node in (first, second, third))
    assert all(known(engine, later(hours=2), node) for node in (first, second, third))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 31])
def test_the_commit_is_found_among_any_number(engine, count):
    nodes = [note(f"note {n}") for n in range(count)]
    for n, node in enumerate(nodes):
        engine.commit(patch_of(node, recorded_at=later(minutes=2 * n)))
    with engine.read() as reader:
        for n in range(count):
            for seconds in (0, 1, 119):
                view = reader.known_by(later(minutes=2 * n, seconds=seconds))
                shown = view.recent(REACH, NO_FILTERS, after=None, limit=99)
                assert shown == [node.id for node in reversed(nodes[: n + 1])]


def test_commits_of_other_namespaces_count_for_the_time_and_show_nothing(engine):
    own = note("own")
    engine.commit(patch_of(own))
    aside = note("aside", namespace=ASIDE)
    engine.commit(patch_of(aside, namespace=ASIDE, recorded_at=later(hours=1)))
    assert known(engine, later(hours=1), own)
    assert not known(engine, later(hours=1), aside)
    assert known(engine, later(hours=1), aside, Reach(ASIDE))
    assert not known(engine, later(minutes=59), aside, Reach(ASIDE))


def test_a_view_of_a_view_never_knows_more(engine):
    nodes = [note(f"note {n}") for n in range(3)]
    for n, node in enumerate(nodes):
        engine.commit(patch_of(node, recorded_at=later(hours=n)))
    with engine.read() as reader:
        first = reader.before(2)
        for view in (first, first.known_by(later(days=1)), first.before(3), first.before(99)):
            assert view.recent(REACH, NO_FILTERS, after=None, limit=9) == [nodes[0].id]
        latest = reader.known_by(later(hours=1)).before(2)
        assert latest.recent(REACH, NO_FILTERS, after=None, limit=9) == [nodes[0].id]


def test_a_reader_and_its_views_do_not_change_each_other(engine):
    store(engine, "one", "two")
    with engine.read() as reader:
        view = reader.before(2)
        for _ in range(2):
            assert len(reader.recent(REACH, NO_FILTERS, after=None, limit=9)) == 2
            assert len(view.recent(REACH, NO_FILTERS, after=None, limit=9)) == 1


def test_a_forgotten_note_is_found_as_of_before_or_if_asked_for(engine):
    kept, gone = store(engine, "zebra", "zebra gone")
    forgot = engine.commit(removal(gone)).sequence
    with engine.read() as reader:
        before, after = reader.before(forgot), reader.before(forgot + 1)
        assert found(before, ["zebra"]) == found(before, ["zebra"], ALL) == {kept.id, gone.id}
        for view in (after, reader):
            assert found(view, ["zebra"]) == {kept.id}
            assert found(view, ["zebra"], ALL) == {kept.id, gone.id}
            assert found(view, ["zebra"], Filters(removed=True), BELOW) == {kept.id, gone.id}
            assert found(view, ["zebra"], NO_FILTERS, BELOW) == {kept.id}


def test_a_note_that_came_back_was_forgotten_only_in_between(engine):
    (node,) = store(engine, "zebra")
    first = engine.commit(removal(node)).sequence
    back = patch_of(also=(step(Op.RESTORE, node, 3),), revived=(node.id,))
    again = engine.commit(back).sequence
    second = engine.commit(removal(node, 4)).sequence
    third = patch_of(also=(step(Op.RESTORE, node, 5),), revived=(node.id,))
    last = engine.commit(third).sequence
    forgotten = {first: False, again: True, second: False, last: True, last + 1: False}
    with engine.read() as reader:
        for sequence, gone in forgotten.items():
            view = reader.before(sequence)
            assert view.lineage(REACH, [node.id], later()).facts[node.id].removed is gone
            assert view.story(REACH, [node.id]).facts[node.id].removed is gone
            assert found(view, ["zebra"]) == (set() if gone else {node.id})
            assert found(view, ["zebra"], ALL) == {node.id}
        assert list(reader.twins(REACH, [digest(node.text, None, None)]).values()) == [(node.id,)]
        figures = reader.figures(HOME, later())
        assert (dict(figures.statuses), list(figures.unplain)) == ({"active": 1}, [])


def test_other_filters_hold_for_the_forgotten_too(engine):
    tagged, plain = note("zebra", tags=("red",), session="s"), note("zebra")
    engine.commit(patch_of(tagged, plain))
    for node in (tagged, plain):
        engine.commit(removal(node))
    with engine.read() as reader:
        for filters in (Filters(tags=("red",)), Filters(session="s")):
            assert found(reader, ["zebra"], filters) == set()
            assert found(reader, ["zebra"], replace(filters, removed=True)) == {tagged.id}


def test_twins_slots_and_keys_are_of_the_present_in_every_view(engine):
    old = note("main", slot="branch")
    engine.commit(patch_of(old, idempotency_key="k", payload_digest=b"d", replay={}))
    new = next_version(old, "trunk", slot="branch")
    engine.commit(patch_of(new, edges=(replaces(new, old),)))
    with engine.read() as reader:
        for view in (reader, reader.before(1), reader.before(2)):
            assert view.slots(REACH, [("branch", None)]) == {("branch", None): new.id}
            assert view.replay(HOME, "k") is not None
            assert view.figures(HOME, later()).texts == 2


def test_marks_suggestions_and_closed_links_are_those_of_then(engine):
    old, over = note("everywhere"), note("in the EU", scope="eu")
    links = (Edge(OVERRIDES, over.id, old.id), Edge(AMENDS, over.id, old.id, part="every"))
    asks = (SuggestedLink(over.id, old.id, "alike", 0.5, "heuristic/1"),)
    engine.commit(patch_of(old))
    made = engine.commit(patch_of(over, edges=links, suggestions=asks)).sequence
    gone = engine.commit(patch_of(also=(step(Op.UNLINK, over, 2),), closed=links)).sequence
    with engine.read() as reader:
        counts = [
            [len(view.marks(REACH, [old.id])), len(view.edges(REACH, [old.id]))]
            for view in map(reader.before, (made, made + 1, gone + 1))
        ]
        assert counts == [[0, 0], [2, 2], [0, 0]]
        assert reader.before(made).suggestions(REACH, [old.id]) == []
        assert len(reader.before(made + 1).suggestions(REACH, [old.id])) == 1


def test_a_view_ends_with_the_reader(engine):
    """What is committed meanwhile is in no view, not even in one of a later time."""
    store(engine, "one")
    writer = threading.Thread(target=engine.commit, args=(patch_of(note("two")),))
    with engine.read() as reader:
        assert reader.last_commit(HOME).sequence == 1
        writer.start()
        # A memory-only store lets the writer wait.
        writer.join(0.3)
        for view in (reader.known_by(later(days=9)), reader.before(10**6)):
            assert len(view.recent(REACH, NO_FILTERS, after=None, limit=9)) == 1
    writer.join(30)
