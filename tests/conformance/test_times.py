"""Questions about other times: what held then, what was known then, and never anything later."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.conformance.builders import START, later

from evomem import Add, MemoryNode, NotFoundError, Remove, Status, Supersede

pytestmark = pytest.mark.promise("recall.head")

LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
def tick(clock):
    """Let a day pass, and return the last moment before it."""

    def advance():
        before = clock.now
        clock.advance(days=1)
        return before

    return advance


def shown(memory, query="rate", **times):
    """Texts of the answers; recall and search of the same things agree."""
    hits = memory.recall(query, **times).hits
    assert memory.search(query, **times).hits == hits
    return [hit.node.text for hit in hits]


def statuses(memory, node_id, **times):
    return [(n.text, n.status.value) for n in memory.history(node_id, **times)]


def listed(memory, status="active", **times):
    return sorted(n.text for n in memory.list(status=status, **times))


def in_force(memory, memory_id, **times):
    return memory.read(memory_id, **times).node.text


@pytest.fixture
def rates(memory, tick):
    """Three rates, a day apart: their nodes, and a moment in the time of each."""
    nodes: list[MemoryNode] = []
    moments = []
    for text in ("The rate is one.", "The rate is two.", "The rate is three."):
        old = {"supersedes": nodes[-1].id} if nodes else {}
        nodes.append(memory.remember(text, **old).node)
        moments.append(tick())
    return nodes, moments


@pytest.mark.parametrize("ask", ["as_of", "known_at"])
def test_every_question_is_answered_with_what_held_then(memory, rates, ask):
    nodes, moments = rates
    for place, (node, when) in enumerate(zip(nodes, moments, strict=True)):
        for at in (when, when + timedelta(hours=23)):
            times = {ask: at}
            for query in ("rate", "one", ""):
                assert shown(memory, query, **times) == [node.text]
            assert listed(memory, **times) == [node.text]
            assert in_force(memory, node.memory_id, **times) == node.text
            assert memory.get_node(node.id, **times).status is Status.ACTIVE
            if place:
                assert memory.get_node(nodes[0].id, **times).status is Status.SUPERSEDED
            assert statuses(memory, nodes[0].id, **times)[0] == (node.text, "active")
            assert len(statuses(memory, nodes[0].id, **times)) == place + 1
    assert shown(memory) == shown(memory, known_at=later(days=99)) == [nodes[2].text]


def test_a_version_holds_from_its_first_microsecond(memory, rates):
    nodes, moments = rates
    for ask in ("as_of", "known_at"):
        assert shown(memory, **{ask: moments[1] - MICROSECOND}) == [nodes[0].text]
        assert shown(memory, **{ask: moments[1]}) == [nodes[1].text]


def test_the_words_of_a_later_version_lead_to_what_held_then_but_are_not_known_then(memory, rates):
    nodes, moments = rates
    assert shown(memory, "three", as_of=moments[0]) == [nodes[0].text]
    assert shown(memory, "three", known_at=moments[0]) == []
    hit = memory.recall("three", as_of=moments[0]).hits[0]
    assert hit.matched.node_id == nodes[2].id
    assert memory.recall("one", as_of=moments[1]).hits[0].supersedes[0].id == nodes[0].id


def test_a_memory_is_read_as_it_was_known(memory, rates):
    nodes, moments = rates
    versions = [
        (
            record.version,
            record.node.text,
            record.status.value,
            [(step.version, step.op.value, step.status.value) for step in record.history],
        )
        for record in (
            memory.read(nodes[0].memory_id, known_at=when, include_history=True) for when in moments
        )
    ]
    assert versions == [
        (1, "The rate is one.", "active", [(1, "ADD", "active")]),
        (
            2,
            "The rate is two.",
            "active",
            [(1, "ADD", "superseded"), (2, "SUPERSEDE", "active")],
        ),
        (
            3,
            "The rate is three.",
            "active",
            [
                (1, "ADD", "superseded"),
                (2, "SUPERSEDE", "superseded"),
                (3, "SUPERSEDE", "active"),
            ],
        ),
    ]
    then = memory.read(nodes[0].memory_id, as_of=moments[0], include_history=True)
    # What held then, but the version that a write expects today.
    assert (then.version, then.node.text, len(then.history)) == (3, "The rate is one.", 1)


def test_a_node_tells_its_links_as_they_were_known(memory, rates):
    nodes, moments = rates
    then = memory.get_node(nodes[0].id, known_at=moments[0])
    assert (then.superseded_by, then.memory_version) == ((), 1)
    then = memory.get_node(nodes[0].id, known_at=moments[1])
    assert (then.superseded_by, then.memory_version) == ((nodes[1].id,), 2)
    hit = memory.recall("rate", known_at=moments[1], include_history=True).hits[0]
    assert [n.id for n in hit.history] == [nodes[0].id]
    assert hit.node.superseded_by == ()


@pytest.mark.parametrize("ask", ["as_of", "known_at"])
@pytest.mark.parametrize("when", [START - MICROSECOND, START - timedelta(days=900), LONG_AGO])
def test_before_the_first_note_there_is_nothing(memory, rates, ask, when):
    nodes, _ = rates
    times = {ask: when}
    for query in ("rate", "one three", ""):
        assert shown(memory, query, **times) == []
        assert memory.recall(query, **times).insufficient
    assert listed(memory, **times) == []
    with pytest.raises(NotFoundError, match=r"begins later|recorded later"):
        memory.read(nodes[0].memory_id, **times)
    if ask == "as_of":
        assert listed(memory, "scheduled", **times) == sorted(n.text for n in nodes)
        assert memory.get_node(nodes[0].id, **times).status is Status.SCHEDULED
        assert memory.history(nodes[2].id, **times) == []
    else:
        assert listed(memory, "all", **times) == []
        for ask_node in (memory.get_node, memory.history):
            with pytest.raises(NotFoundError):
                ask_node(nodes[0].id, **times)


@pytest.mark.parametrize("ask", ["as_of", "known_at"])
def test_in_an_empty_memory_there_is_nothing_at_any_time(memory, ask):
    for when in (LONG_AGO, START, later(days=9)):
        assert shown(memory, "", **{ask: when}) == shown(memory, **{ask: when}) == []
        assert listed(memory, "all", **{ask: when}) == []


def test_a_naive_time_is_utc(memory, rates):
    nodes, moments = rates
    naive = moments[1].replace(tzinfo=None)
    for when in (naive, naive.isoformat(), moments[1].timestamp(), f"{naive.isoformat()}+00:00"):
        for ask in ("as_of", "known_at"):
            assert shown(memory, **{ask: when}) == [nodes[1].text]
            assert listed(memory, **{ask: when}) == [nodes[1].text]
            assert in_force(memory, nodes[0].memory_id, **{ask: when}) == nodes[1].text
            assert memory.get_node(nodes[1].id, **{ask: when}).status is Status.ACTIVE
            assert len(memory.history(nodes[0].id, **{ask: when})) == 2
    east = (moments[1] + timedelta(hours=5, minutes=30)).replace(tzinfo=None).isoformat() + "+05:30"
    assert shown(memory, as_of=east) == [nodes[1].text]


def test_a_back_dated_version_holds_in_its_own_time_but_was_not_known_then(memory, tick):
    first = memory.remember("The rate is one.", valid_from=later(days=-10)).node
    memory.remember("The rate is three.", supersedes=first.id)
    then = tick()
    late = memory.remember("The rate is two.", supersedes=first.id, valid_from=later(days=-5)).node
    asked = later(days=-4)
    assert shown(memory) == ["The rate is three."]
    assert shown(memory, as_of=asked) == ["The rate is two."]
    assert shown(memory, as_of=asked, known_at=then) == ["The rate is one."]
    assert shown(memory, "two", known_at=then) == []
    assert listed(memory, as_of=asked) == ["The rate is two."]
    assert listed(memory, as_of=asked, known_at=then) == ["The rate is one."]
    assert in_force(memory, first.memory_id, as_of=asked) == "The rate is two."
    assert in_force(memory, first.memory_id, as_of=asked, known_at=then) == "The rate is one."
    assert in_force(memory, first.memory_id) == "The rate is three."
    assert memory.get_node(late.id, as_of=asked).status is Status.ACTIVE
    assert memory.get_node(late.id).status is Status.SUPERSEDED
    with pytest.raises(NotFoundError):
        memory.get_node(late.id, known_at=then)
    assert [n for n, _ in statuses(memory, first.id, as_of=asked)] == [
        "The rate is two.",
        "The rate is one.",
    ]


def test_a_scheduled_version_is_told_before_it_takes_force(memory, clock, tick):
    now = memory.remember("The rate is one.").node
    unknown = tick()
    begins, ends = later(days=5), later(days=8)
    soon = memory.remember(
        "The rate is two.", supersedes=now.id, valid_from=begins, valid_to=ends
    ).node
    scheduled_at = tick()
    for times in ({}, {"as_of": begins - MICROSECOND}, {"known_at": scheduled_at}):
        (hit,) = memory.recall("two", **times).hits
        assert (hit.node.id, hit.scheduled) == (now.id, (soon.id,))
        assert memory.read(now.memory_id, **times).scheduled == (soon.id,)
        assert listed(memory, "scheduled", **times) == [soon.text]
        assert memory.get_node(soon.id, **times).status is Status.SCHEDULED
    for times in ({"as_of": begins}, {"as_of": ends - MICROSECOND}):
        (hit,) = memory.recall("one", **times).hits
        assert (hit.node.id, hit.scheduled) == (soon.id, ())
        assert in_force(memory, now.memory_id, **times) == soon.text
    for times in ({"as_of": ends}, {"as_of": later(days=900)}):
        assert shown(memory, **times) == listed(memory, **times) == []
    for times in ({"known_at": unknown}, {"known_at": unknown, "as_of": begins}):
        (hit,) = memory.recall("rate", **times).hits
        assert (hit.node.id, hit.scheduled) == (now.id, ())
        assert memory.read(now.memory_id, **times).scheduled == ()
    clock.now = begins
    (hit,) = memory.recall("one").hits
    assert (hit.node.id, hit.scheduled) == (soon.id, ())
    assert shown(memory, known_at=scheduled_at) == [now.text]
    assert shown(memory, as_of=begins, known_at=scheduled_at) == [soon.text]


def test_a_note_that_only_begins_later_never_stands_in_for_what_held(memory):
    later_note = memory.remember("The rate is two.", valid_from=later(days=5)).node
    (hit,) = memory.recall("rate").hits
    assert (hit.node.id, hit.node.status) == (later_note.id, Status.SCHEDULED)
    for when in (START, later(days=4)):
        assert shown(memory, as_of=when) == []
        assert listed(memory, as_of=when) == []
        with pytest.raises(NotFoundError, match="begins later"):
            memory.read(later_note.memory_id, as_of=when)
    assert shown(memory, as_of=later(days=5)) == [later_note.text]
    assert memory.read(later_note.memory_id).status is Status.SCHEDULED


@pytest.mark.parametrize("how", ["forget", "apply"])
def test_what_was_forgotten_later_was_known_before(memory, tick, how):
    old = memory.remember("The rate is one.").node
    node = memory.remember("The rate is two.", supersedes=old.id).node
    before = tick()
    if how == "forget":
        memory.forget(node.id)
    else:
        event = memory.record_event("user", "Go.").id
        memory.apply([Remove(node.memory_id, 2)], evidence=event)
    after = tick()
    for query in ("rate", "one", "two", ""):
        assert shown(memory, query, known_at=before) == [node.text]
        assert shown(memory, query) == shown(memory, query, known_at=after) == []
    assert listed(memory, known_at=before) == [node.text]
    assert listed(memory) == listed(memory, known_at=after) == []
    assert memory.get_node(node.id, known_at=before).status is Status.ACTIVE
    assert memory.get_node(node.id, known_at=after).status is Status.FORGOTTEN
    assert memory.read(node.memory_id, known_at=before).version == 2
    assert memory.read(node.memory_id, known_at=after).status is Status.FORGOTTEN
    hit = memory.recall("rate", known_at=before, include_history=True).hits[0]
    assert [n.id for n in hit.history] == [n.id for n in hit.supersedes] == [old.id]
    # World time alone asks what is known today.
    assert shown(memory, as_of=before) == []


def test_what_was_purged_is_missing_at_every_time(memory, tick):
    node = memory.remember("The rate is two.").node
    before = tick()
    memory.forget(node.id, purge=True)
    for times in ({}, {"known_at": before}, {"as_of": before}, {"include_removed": True}):
        assert shown(memory, "two", **times) == []
    with pytest.raises(NotFoundError, match="purged"):
        memory.get_node(node.id, known_at=before)
    assert all(n.text == "" for n in memory.history(node.id, known_at=before))


def test_a_link_holds_from_when_it_was_made_until_it_was_undone(memory, tick):
    old, new = (memory.remember(text).node for text in ("The rate is one.", "The rate is two."))
    alone = tick()
    memory.link(new.id, supersedes=old.id)
    linked = tick()
    memory.unlink(new.id, old.id)
    undone = tick()
    both = [old.text, new.text]
    for when, texts in ((alone, both), (linked, [new.text]), (undone, both)):
        assert sorted(shown(memory, known_at=when)) == texts
        assert listed(memory, known_at=when) == texts
    assert memory.get_node(old.id, known_at=linked).superseded_by == (new.id,)
    assert memory.get_node(old.id, known_at=undone).superseded_by == ()
    assert len(memory.history(old.id, known_at=linked)) == 2
    assert len(memory.history(old.id, known_at=undone)) == 1
    assert memory.read(old.memory_id, known_at=linked).heads == (new.id,)
    versions = [memory.read(old.memory_id, known_at=w).version for w in (alone, linked, undone)]
    assert versions == [1, 2, 3]


def test_marks_hold_from_when_they_were_made_and_begin(memory, tick):
    plan = memory.remember("Deploys run on Fridays at noon.").node
    plain = tick()
    part = memory.remember("At ten.", amends={"id": plan.id, "part": "at noon"}).node
    amended = tick()
    local = memory.remember("Never in the EU.", scope="eu", overrides=plan.id).node
    overridden = tick()
    memory.unlink(part.id, plan.id)
    memory.unlink(local.id, plan.id)
    tick()

    def marks(**times):
        hits = memory.recall("deploys fridays", scope="eu", **times).hits
        hit = next(h for h in hits if h.node.id == plan.id)
        node = memory.get_node(plan.id, **times)
        assert hit.node.relations == node.relations
        return [by for by, _ in hit.amended], list(hit.overridden), node.relations

    both = {"amended_by": (part.id,), "overridden_by": (local.id,)}
    assert marks(known_at=plain) == ([], [], {})
    assert marks(known_at=amended) == ([part.id], [], {"amended_by": (part.id,)})
    assert marks(known_at=overridden) == ([part.id], [local.id], both)
    assert marks() == ([], [], {})
    # Known by now, but not yet begun then.
    assert marks(known_at=overridden, as_of=amended) == (
        [part.id],
        [],
        {"amended_by": (part.id,)},
    )
    assert marks(known_at=overridden, as_of=plain) == ([], [], {})


def test_a_scheduled_mark_marks_nothing_before_it_begins(memory):
    plan = memory.remember("Deploys run on Fridays at noon.").node
    begins = later(days=3)
    options = {"amends": {"id": plan.id, "part": "at noon"}, "valid_from": begins}
    part = memory.remember("At ten.", **options).node
    for times, expected in (({}, ()), ({"as_of": begins}, ((part.id, "at noon"),))):
        (first, *others) = memory.recall("fridays", **times).hits
        assert (first.node.id, first.amended) == (plan.id, expected)
        assert [h.node.id for h in others] == [by for by, _ in expected]


def test_suggestions_are_those_of_then(engine, memory, clock, tick):
    from dataclasses import replace

    from evomem import Abstain, Memory, Suggestion

    class Asks:
        name = "asks/1"

        def gate(self, note):
            return None

        def decide(self, note, candidates):
            asked = [Suggestion(c.node_id, c.text, "alike", 0.5) for c in candidates]
            return Abstain(tuple(asked), "unsure")

    asking = Memory(replace(memory._context, linking="suggest", linker=Asks()))
    old = asking.remember("The rate is one.").node
    before = tick()
    new = asking.remember("The rate is two.").node
    asked = tick()
    memory.forget(new.id)
    tick()

    def questioned(**times):
        hits = memory.recall("one", **times).hits
        return next(h.questioned for h in hits if h.node.id == old.id)

    assert questioned(known_at=before) == ()
    assert questioned(known_at=asked) == (new.id,)
    assert questioned(known_at=asked, as_of=before) == ()
    assert questioned() == ()


def test_as_of_the_future_tells_what_will_hold_as_far_as_is_known(memory, rates):
    nodes, moments = rates
    memory.remember("The rate is four.", supersedes=nodes[2].id, valid_from=later(days=50))
    far = later(days=400)
    assert shown(memory, as_of=far) == listed(memory, as_of=far) == ["The rate is four."]
    assert in_force(memory, nodes[0].memory_id, as_of=far) == "The rate is four."
    assert statuses(memory, nodes[0].id, as_of=far)[0] == ("The rate is four.", "active")
    assert shown(memory, as_of=far, known_at=moments[0]) == [nodes[0].text]
    assert shown(memory, as_of=later(days=49)) == [nodes[2].text]


def test_a_rollback_is_known_from_its_time_on(memory, rates, tick):
    nodes, moments = rates
    patch_id = memory.changes()[-1].patch_id
    memory.rollback(patch_id)
    tick()
    assert shown(memory) == ["The rate is two."]
    assert shown(memory, known_at=moments[2]) == ["The rate is three."]
    assert memory.read(nodes[0].memory_id, known_at=moments[2]).version == 3


def test_what_was_forgotten_and_brought_back_is_told_as_of_each_time(memory, tick):
    node = memory.remember("The rate is one.").node
    before = tick()
    gone = memory.forget(node.id)
    between = tick()
    memory.rollback(gone.patch_id)
    after = tick()
    for when, texts, status in (
        (before, [node.text], Status.ACTIVE),
        (between, [], Status.FORGOTTEN),
        (after, [node.text], Status.ACTIVE),
    ):
        for query in ("rate", ""):
            assert shown(memory, query, known_at=when) == texts
        assert listed(memory, known_at=when) == texts
        assert memory.get_node(node.id, known_at=when).status is status
        assert memory.read(node.memory_id, known_at=when).status is status
    assert shown(memory) == shown(memory, as_of=between) == [node.text]


def test_operations_are_known_like_notes(memory, tick):
    event = memory.record_event("user", "Go.").id
    recorded = tick()
    added = memory.apply([Add("rates", "The rate is one.")], evidence=event)
    key = added.operations[0].memory_id
    first = tick()
    memory.apply([Supersede(key, 1, "The rate is two.")], evidence=event)
    tick()
    assert shown(memory, known_at=recorded) == []
    assert shown(memory, known_at=first) == ["The rate is one."]
    assert shown(memory) == ["The rate is two."]
    assert memory.search("rates", known_at=first).hits[0].node.memory_version == 1


def test_a_page_goes_on_at_the_same_time(memory, tick):
    for n in range(5):
        memory.remember(f"The rate of {n}.")
    then = tick()
    for node in memory.list(limit=2):
        memory.remember(f"Replaced: {node.text}", supersedes=node.id)
    found, cursor = [], None
    while True:
        page = memory.list(limit=2, cursor=cursor, known_at=then)
        found += [node.text for node in page]
        if (cursor := page.cursor) is None:
            break
    assert found == [f"The rate of {n}." for n in range(4, -1, -1)]


@pytest.mark.promise("namespace.wall")
def test_commits_elsewhere_do_not_change_what_was_known_here(memory, tick):
    node = memory.remember("The rate is one.").node
    then = tick()
    memory.within("below").remember("The rate is nine.")
    tick()
    assert shown(memory, known_at=then) == shown(memory) == [node.text]
    assert shown(memory.within("below"), known_at=then) == []
    both = memory.recall("rate", include_children=True).hits
    assert len(both) == 2
    assert len(memory.recall("rate", include_children=True, known_at=then).hits) == 1
