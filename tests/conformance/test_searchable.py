"""What a question may find: a node always, until it is replaced, or never."""

from datetime import timedelta
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import (
    HOME,
    NO_FILTERS,
    REACH,
    START,
    Clock,
    next_version,
    note,
    open_memory,
    patch_of,
    purge_of,
    removal,
    replaces,
    store,
)
from tests.conformance.histories import STEPS, play
from tests.conformance.test_reanalyse import upgraded

import evomem
from evomem import InvalidRequestError
from evomem.domain.edge import OVERRIDES, REFINES, Edge
from evomem.domain.patch import Op, Operation
from evomem.domain.question import STATUSES
from evomem.engines.base import Filters, SearchLimits
from evomem.engines.sqlite import counting
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.reanalyse import Reanalysis

EVERYTHING = SearchLimits(depth=10_000)
KINDS = st.sampled_from(["always", "tip", "tip", "never"])


def hits(engine, *words):
    """What is found, with scores: these show every count there is."""
    with engine.read() as reader:
        result = reader.search(REACH, words, NO_FILTERS, EVERYTHING)
    return {hit.node_id: hit.score for hit in result.hits}


def well(engine, *words):
    """A doctor finds nothing, and making all anew changes nothing."""
    assert [check for check in engine.diagnose() if not check.ok] == []
    before = hits(engine, *words)
    engine.rebuild()
    assert hits(engine, *words) == before
    assert [check for check in engine.diagnose() if not check.ok] == []
    return set(before)


def about(op, edge, version):
    """An operation on the memory of an edge's older node; it names the newer one."""
    new, old = edge
    return Operation(op, old.memory_id, version, new.id)


@pytest.fixture(params=[0, 500], ids=["counted at once", "left to the index"])
def batches(request, monkeypatch):
    monkeypatch.setattr(counting, "_FEWEST", request.param)


pytestmark = pytest.mark.usefixtures("batches")


@pytest.fixture
def beside(engine):
    """Notes that share words with the others, so that counts matter."""
    return store(engine, "zebra stripes", "zebra crossing", "a lone ostrich")


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("kind", ["supersedes", "refines"])
def test_a_tip_is_found_until_it_is_replaced(engine, kind):
    (old,) = store(engine, "zebra one", searchable="tip")
    assert well(engine, "one") == {old.id}
    new = next_version(old, "zebra two", searchable="tip")
    engine.commit(patch_of(new, edges=(replaces(new, old, kind),)))
    assert well(engine, "one") == set()
    assert well(engine, "two") == {new.id}
    assert old.id not in well(engine, "zebra")


@pytest.mark.usefixtures("beside")
def test_marks_and_relations_replace_nothing(engine):
    (old,) = store(engine, "zebra one", searchable="tip")
    new = note("zebra two", scope="eu")
    edges = (Edge(OVERRIDES, new.id, old.id), Edge("caused_by", new.id, old.id))
    engine.commit(patch_of(new, edges=edges))
    assert well(engine, "one") == {old.id}


@pytest.mark.usefixtures("beside")
def test_what_is_added_and_replaced_in_one_patch_is_never_found(engine):
    old = note("zebra one", searchable="tip")
    new = next_version(old, "zebra two", searchable="always")
    engine.commit(patch_of(old, new, edges=(replaces(new, old),)))
    assert well(engine, "one", "two") == {new.id}


@pytest.mark.usefixtures("beside")
def test_what_nothing_replaces_any_more_comes_back(engine):
    (old,) = store(engine, "zebra one", searchable="tip")
    first, second = (note(f"zebra new {n}", searchable="tip") for n in range(2))
    links = (replaces(first, old), replaces(second, old, REFINES))
    engine.commit(patch_of(first, second, edges=links))
    for number, link in enumerate(links):
        assert well(engine, "one") == set()
        also = (about(Op.UNLINK, ((first, second)[number], old), 2 + number),)
        engine.commit(patch_of(also=also, closed=(link,)))
    assert well(engine, "one") == {old.id}
    # A link closed and made anew in one patch leaves things as they are.
    again = [about(Op.LINK, (first, old), version) for version in (4, 5)]
    engine.commit(patch_of(also=(again[0],), edges=links[:1]))
    engine.commit(patch_of(also=(again[1],), closed=links[:1], edges=links[:1]))
    assert well(engine, "one") == set()


@pytest.mark.usefixtures("beside")
def test_what_is_kept_out_is_never_found_and_else_as_any_other(engine, memory):
    hidden = memory.remember("zebra one", searchable="never", tags=["t"]).node
    assert well(engine, "one") == set()
    assert not memory.recall("one", tags=["t"]).hits
    assert [hit.node.id for hit in memory.recall("", tags=["t"]).hits] == [hidden.id]
    assert hidden.id in {node.id for node in memory.list()}
    assert memory.get_node(hidden.id) == hidden
    new = memory.remember("zebra two", supersedes=hidden.id).node
    assert memory.recall("zebra two").hits[0].node.id == new.id
    memory.unlink(new.id, hidden.id)
    assert well(engine, "one") == set()


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("purge", [False, True])
def test_forgetting_changes_nothing_and_purging_leaves_nothing(engine, memory, purge):
    old = memory.remember("zebra one", searchable="tip").node.id
    new = memory.remember("zebra two", searchable="tip", supersedes=old).node.id
    for node_id in (old, new):
        memory.forget(node_id, purge=purge)
        well(engine, "zebra")
    assert (new in hits(engine, "two")) is False
    memory.unlink(new, old)
    assert well(engine, "one", "two") == set()


@pytest.mark.usefixtures("beside")
def test_a_forgotten_tip_comes_back_only_with_its_rollback(engine, memory):
    old = memory.remember("zebra one", searchable="tip").node.id
    forgotten = memory.forget(old)
    assert well(engine, "one") == set()
    memory.rollback(forgotten.patch_id)
    assert well(engine, "one") == {old}


@pytest.mark.usefixtures("beside")
def test_split_and_merge(engine, memory):
    old = memory.remember("zebra whole", searchable="tip").node.id
    notes = [{"text": f"zebra part {n}", "supersedes": old, "searchable": "tip"} for n in "ab"]
    parts = [result.node.id for result in memory.remember_many(notes)]
    assert well(engine, "whole", "part") == set(parts)
    memory.unlink(parts[0], old)
    assert well(engine, "whole") == set()
    memory.unlink(parts[1], old)
    assert well(engine, "whole") == {old}
    merged = memory.remember("zebra sum", supersedes=[old, *parts], searchable="tip").node.id
    assert well(engine, "whole", "part", "sum") == {merged}


def test_a_rollback_restores_and_brings_back(engine, memory):
    old = memory.remember("zebra one", searchable="tip")
    new = memory.remember("zebra two", searchable="always", supersedes=old.node.id)
    undone = memory.rollback(new.patch_id)
    (restored,) = memory.list()
    assert (restored.text, restored.version) == ("zebra one", 3)
    assert well(engine, "one", "two") == {restored.id, new.node.id}
    memory.rollback(undone.patch_id)
    assert restored.id not in well(engine, "one", "two")
    link = memory.remember("zebra three").node.id
    linked = memory.link(link, supersedes=memory.list()[1].id)
    well(engine, "zebra")
    memory.rollback(linked.patch_id)
    well(engine, "zebra")


@pytest.mark.parametrize("searchable", ["always", "tip", "never"])
def test_operations_keep_it_and_remember_says_it(engine, memory, searchable):
    event = memory.record_event("user", "go").id
    first = memory.remember("zebra one", slot="a", searchable=searchable).node
    for number, op in enumerate(("UPDATE", "SUPERSEDE")):
        change = {"memory_id": first.memory_id, "expected_version": number + 1}
        memory.apply([{"op": op, "new_content": f"zebra {op}", **change}], evidence=[event])
    with engine.read() as reader:
        records = reader.records(REACH, reader.recent(REACH, NO_FILTERS, after=None, limit=9))
    assert [record.searchable for record in records.values()] == [searchable] * 3
    assert len(well(engine, "zebra")) == {"always": 3, "tip": 1, "never": 0}[searchable]
    said = memory.remember("zebra two", slot="a").node.id
    with engine.read() as reader:
        assert reader.records(REACH, [said])[said].searchable == "always"


def test_added_and_replaced_by_one_apply(engine, memory):
    event = memory.record_event("user", "go").id
    first = memory.remember("zebra one", searchable="tip").node
    changes = [
        {"op": op, "memory_id": first.memory_id, "expected_version": n, "new_content": f"zebra {n}"}
        for n, op in enumerate(("SUPERSEDE", "UPDATE", "SUPERSEDE"), 1)
    ]
    done = memory.apply(changes, evidence=[event])
    assert well(engine, "zebra") == {done.operations[-1].node_id}
    memory.rollback(done.patch_id)
    assert len(well(engine, "zebra")) == 1


@pytest.mark.parametrize("given", ["", "Tip", None, 1, ["tip"]])
def test_another_word_is_refused(memory, given):
    with pytest.raises(InvalidRequestError, match="always, tip, never"):
        memory.remember("zebra", searchable=given)
    assert not memory.list()


@pytest.mark.parametrize("before", ["always", "tip"])
def test_an_equal_note_is_returned_as_it_is(engine, memory, before):
    node = memory.remember("zebra one", searchable=before).node
    again = memory.remember("zebra one", searchable="tip")
    assert (again.deduplicated, again.node) == (True, node)
    assert any("searchable" in w for w in again.warnings) is (before == "always")
    assert not memory.remember("zebra one").warnings
    batch = memory.remember_many(["zebra two", {"text": "zebra two", "searchable": "never"}])
    assert "searchable" in batch[1].warnings[0]
    assert well(engine, "two") == {batch[0].node.id}


def test_questions_of_other_times_find_what_is_found_now(engine, memory, clock):
    moments = []
    for number in range(4):
        memory.remember(f"zebra {number}", slot="key", searchable="tip")
        moments.append(clock.now)
        clock.advance(hours=1)
    for when in moments:
        for asked in ({"known_at": when}, {"as_of": when}, {"as_of": when, "known_at": when}):
            for query in ("zebra", "0", ""):
                memory.recall(query, include_history=True, **asked)
    shown = [memory.recall("", known_at=when).hits[0].node.text for when in moments]
    assert shown == [f"zebra {number}" for number in range(4)]
    # Of a time before the tip, its words are those of a node that was not there.
    assert not memory.recall("zebra", known_at=moments[0]).hits
    assert [hit.node.text for hit in memory.recall("zebra", as_of=moments[2]).hits] == ["zebra 2"]
    assert len(memory.history(memory.recall("zebra").hits[0].node.id)) == 4
    well(engine, "zebra")


def test_an_outdated_value_matches_no_question(memory):
    for value in ("green", "blue"):
        memory.remember(f"the favourite colour is {value}", slot="colour", searchable="tip")
    assert not memory.recall("green").hits
    assert [hit.node.text for hit in memory.recall("favourite").hits] == [
        "the favourite colour is blue"
    ]


@pytest.mark.parametrize("steps", [1, 2, 3, 10])
def test_documents_come_and_go_while_they_are_analysed_anew(engine, steps):
    (old,) = store(engine, "Caches expire.", searchable="tip")
    rest = store(engine, "Caches grow.", "Caches shrink.", searchable="never")
    links = []
    with upgraded():
        for number in range(4):
            new = note(f"Caches move {number}", searchable="tip")
            links.append(replaces(new, old))
            engine.commit(patch_of(new, edges=(links[-1],)))
            engine.reanalyse(REACH, steps)
            assert [c for c in engine.diagnose() if not c.ok] == []
            also = (about(Op.UNLINK, (new, old), number + 2),)
            engine.commit(patch_of(also=also, closed=(links[-1],)))
            assert [c for c in engine.diagnose() if not c.ok] == []
        while not engine.reanalyse(REACH, 1).finished:
            assert [c for c in engine.diagnose() if not c.ok] == []
        assert well(engine, "expire", "grow") >= {old.id}
        assert not well(engine, "caches") & {node.id for node in rest}


@pytest.mark.parametrize("hides", [True, False])
def test_a_change_between_the_two_halves_of_a_step_is_kept(engine, hides):
    """Texts are read before the transaction that replaces their documents."""
    (old,) = store(engine, "Caches expire.", searchable="tip")
    new = note("Caches move.", searchable="tip")
    link = replaces(new, old)
    engine.commit(patch_of(new, edges=() if hides else (link,)))
    opened, closed = ((link,), ()) if hides else ((), (link,))
    also = (about(Op.LINK, (new, old), 2),)
    patches = [patch_of(also=also, edges=opened, closed=closed)]

    def between(_step):
        while patches:
            engine.commit(patches.pop())
        return True

    with upgraded():
        with mock.patch.object(Reanalysis, "needed", property(between)):
            assert engine.reanalyse(REACH, 10).finished
        assert well(engine, "expire") == (set() if hides else {old.id})


def test_a_node_kept_out_counts_for_no_other(engine):
    """A namespace with hidden nodes ranks as one that never had them."""
    shown = [note(f"zebra {'stripes ' * n}") for n in range(1, 4)]
    engine.commit(patch_of(*shown))
    alone = hits(engine, "zebra", "stripes")
    (old,) = store(engine, "zebra stripes stripes", searchable="tip")
    assert hits(engine, "zebra", "stripes") != alone
    new = next_version(old, "zebra", searchable="never")
    engine.commit(patch_of(new, edges=(replaces(new, old),)))
    assert hits(engine, "zebra", "stripes") == pytest.approx(alone)
    engine.commit(removal(new, purge=True))
    engine.commit(removal(old, version=4))
    engine.commit(purge_of(old, version=5))
    assert hits(engine, "zebra", "stripes") == pytest.approx(alone)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None
)
@given(steps=STEPS, kinds=st.lists(KINDS, min_size=4, max_size=12), undo=st.integers(0, 8))
def test_random_histories_have_the_index_that_a_rebuild_makes(steps, kinds, undo):
    engine, clock = SqliteEngine(":memory:"), Clock()
    memory = open_memory(engine, clock, HOME)
    waiting = iter(kinds * 8)
    asked = [
        {**s, "searchable": next(waiting)} if s["step"] in {"remember", "split"} else s
        for s in steps
    ]
    made = play(engine, memory, clock, asked)
    words = ["statement", "part", *map(str, range(len(made) + 1))]
    well(engine, *words)
    with engine.read() as reader:
        commits = reader.log(REACH, 0, 100)
    for commit in commits[undo:][:2]:
        try:
            memory.rollback(commit.patch.id)
        except evomem.EvoMemError:
            continue
        well(engine, *words)
    with engine.read() as reader:
        ids = reader.recent(REACH, NO_FILTERS, after=None, limit=1000)
        records = reader.records(REACH, ids)
        replaced = {e.old for e in reader.edges(REACH, ids) if e.kind in {"supersedes", "refines"}}
    wanted = {
        n
        for n, record in records.items()
        if not record.purged
        and (record.searchable == "always" or (record.searchable == "tip" and n not in replaced))
    }
    with engine.read() as reader:
        words = [*words, *(str(n) for n in range(50))]
        removed = reader.search(REACH, words, Filters(removed=True), EVERYTHING)
    assert {hit.node_id for hit in removed.hits} == wanted
    for when in (START, clock.now - timedelta(hours=2)):
        for status in STATUSES:
            memory.list(status=status, known_at=when)
        memory.recall("statement", known_at=when, include_history=True)
    engine.close()
