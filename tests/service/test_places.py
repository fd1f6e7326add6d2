"""Reading by address: what slots hold, and which namespaces hold anything."""

import sqlite3
from datetime import timedelta

import pytest
from tests.conformance.builders import HOME, Clock, open_memory

import evomem
from evomem.engines.sqlite.engine import SqliteEngine


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(clock):
    engine = SqliteEngine(":memory:")
    yield open_memory(engine, clock, HOME)
    assert engine.verify() == []
    engine.close()


def told(memory, slots, **options):
    return {slot: node.text for slot, node in memory.get_slots(slots, **options).items()}


def test_what_was_forgotten_last_is_told_only_when_asked_for(memory):
    memory.remember("first", slot="s")
    memory.forget(memory.remember("second", slot="s").node.id)
    assert memory.get_slots("s") == {}
    (found,) = memory.get_slots("s", include_removed=True).values()
    assert (found.text, found.status) == ("second", "forgotten")
    memory.remember("third", slot="s")
    assert told(memory, "s", include_removed=True) == {"s": "third"}


def test_a_slot_tells_what_is_in_force_in_exactly_its_scope(memory):
    memory.remember("main", slot="branch")
    memory.remember("trunk", slot="branch")
    memory.remember("haupt", slot="branch", scope="eu")
    assert told(memory, "branch") == {"branch": "trunk"}
    assert told(memory, "branch", scope="EU") == {"branch": "haupt"}
    assert told(memory, "branch", scope="eu/de") == {}
    node = memory.get_slots("branch")["branch"]
    assert node == memory.get_node(node.id)


def test_a_slot_that_holds_nothing_is_missing(memory, clock):
    kept = memory.remember("kept", slot="forgotten").node.id
    memory.forget(kept)
    memory.remember("short", slot="ended", valid_to=clock.now + timedelta(hours=1))
    memory.remember("to come", slot="later", valid_from=clock.now + timedelta(days=1))
    memory.remember("here", slot="here")
    clock.advance(hours=2)
    asked = ["never", "forgotten", "ended", "later", "here"]
    assert told(memory, asked) == {"here": "here"}
    clock.advance(days=2)
    assert told(memory, asked) == {"later": "to come", "here": "here"}


def test_a_scheduled_value_leaves_the_one_before_in_force(memory, clock):
    memory.remember("now", slot="s")
    memory.remember("then", slot="s", valid_from=clock.now + timedelta(days=1))
    assert told(memory, "s") == {"s": "now"}
    clock.advance(days=1)
    assert told(memory, "s") == {"s": "then"}


def test_a_slot_is_told_as_of_a_time_and_as_known_at_one(memory, clock):
    begun = clock.now
    for text in ("one", "two", "three"):
        clock.advance(hours=1)
        memory.remember(text, slot="s")
    clock.advance(hours=1)
    memory.remember("long ago", slot="s", valid_from=begun)
    times = [begun + timedelta(hours=n, minutes=30) for n in range(5)]
    by_world = [told(memory, "s", as_of=time).get("s") for time in times]
    assert by_world == ["long ago", "one", "two", "three", "three"]
    by_knowledge = [told(memory, "s", known_at=time).get("s") for time in times]
    assert by_knowledge == [None, "one", "two", "three", "three"]
    memory.forget(memory.get_slots("s")["s"].id)
    assert told(memory, "s") == {}
    clock.advance(hours=1)
    memory.remember("again", slot="s")
    known = [told(memory, "s", known_at=time).get("s") for time in times]
    assert known == [None, "one", "two", "three", None]


def test_what_a_merge_replaced_held_the_slot_before(memory, clock):
    memory.remember("in the slot", slot="s")
    other = memory.remember("elsewhere").node.id
    before = clock.now
    clock.advance(hours=1)
    memory.remember("both", slot="s", supersedes=other)
    assert told(memory, "s", as_of=before) == {"s": "in the slot"}
    assert told(memory, "s") == {"s": "both"}


def test_what_replaced_a_value_is_the_value_and_the_latest_part_after_a_split(memory):
    value = memory.remember("whole", slot="s").node.id
    memory.remember("whole again", supersedes=value)
    assert told(memory, "s") == {"s": "whole again"}
    parts = [{"text": text, "supersedes": value} for text in ("left", "right")]
    split = memory.remember_many(parts)
    latest = memory.history(value)[0]
    assert latest.id in {part.node.id for part in split}
    assert memory.get_slots("s")["s"].id == latest.id
    memory.forget(latest.id)
    (rest,) = {"left", "right"} - {latest.text}
    assert told(memory, "s") == {"s": rest}


def test_slots_are_named_as_they_were_asked_for(memory):
    memory.remember("v", slot=" a b ")
    assert told(memory, [" a b", "a b", "a_b", "a%"]) == {" a b": "v", "a b": "v"}
    assert told(memory, []) == {}


@pytest.mark.parametrize("bad", [None, 7, [""], ["a", None], [["a"]], b"a", {"a"}])
def test_what_is_no_slot_is_refused(memory, bad):
    with pytest.raises(evomem.InvalidRequestError, match="slot"):
        memory.get_slots(bad)


def test_so_many_slots_at_most_are_read_at_once(memory):
    names = [f"s{n}" for n in range(1000)]
    memory.remember_many([{"text": f"value {n}", "slot": n} for n in names])
    assert told(memory, names) == {n: f"value {n}" for n in names}
    with pytest.raises(evomem.TooLargeError, match="1001 entries"):
        memory.get_slots([*names, "one more"])


@pytest.mark.promise("namespace.wall")
def test_slots_of_other_namespaces_are_not_read(memory):
    for where in ("below", ("home",)):
        memory.within(where).remember("theirs", slot="s")
    assert told(memory, "s") == {}
    assert told(memory.within("below"), "s") == {"s": "theirs"}


def statements(memory, call):
    """How many statements a call runs, and the steps of SQLite's machine they take, in hundreds."""
    ran: list[str] = []
    steps = [0]
    with memory._context.engine.read() as reader:
        connection: sqlite3.Connection = reader._connection

    def count():
        steps[0] += 1

    connection.set_trace_callback(ran.append)
    connection.set_progress_handler(count, 100)
    try:
        call()
    finally:
        connection.set_trace_callback(None)
        connection.set_progress_handler(None, 0)
    return len(ran), steps[0]


def fill(memory, slot, count):
    for start in range(0, count, 500):
        end = min(count, start + 500)
        memory.remember_many([{"text": f"v{n}", "slot": slot} for n in range(start, end)])


def test_a_slot_costs_the_same_whatever_it_held_before(memory):
    fill(memory, "short", 100)
    fill(memory, "long", 3000)
    short = statements(memory, lambda: memory.get_slots("short"))
    long = statements(memory, lambda: memory.get_slots("long"))
    many = statements(memory, lambda: memory.get_slots(["short", "long", *map(str, range(50))]))
    assert short[0] == long[0] == many[0]
    assert long[1] <= 2 * short[1] + 5


@pytest.mark.parametrize("read", ["list", "recall"])
def test_old_versions_are_passed_over_in_one_statement(memory, read):
    calls = {"list": lambda m: m.list(limit=10), "recall": lambda m: m.recall("", k=10)}
    counts = []
    for name, versions in (("short", 100), ("long", 3000)):
        below = memory.within(name)
        below.remember_many([f"Note {n}." for n in range(100)])
        fill(below, "s", versions)
        below.recall("")
        counts.append(statements(memory, lambda handle=below: calls[read](handle))[0])
    assert counts[0] == counts[1]


def test_an_empty_slot_is_claimed_once(memory, clock):
    first = memory.remember("mine", slot="s", expected_version=0).node
    with pytest.raises(evomem.VersionConflictError) as refused:
        memory.remember("theirs", slot="s", expected_version=0)
    state = {"memory_id": first.memory_id, "version": 1, "node_id": first.id}
    assert refused.value.details["current"] == state
    memory.remember("elsewhere", slot="s", scope="eu", expected_version=0)
    memory.forget(first.id)
    for stale in (1, 3):
        with pytest.raises(evomem.VersionConflictError, match="at version 2"):
            memory.remember("stale", slot="s", expected_version=stale)
    again = memory.remember("again", slot="s", expected_version=0).node
    assert (again.memory_id, again.version) == (first.memory_id, 3)
    assert told(memory, "s") == {"s": "again"}
    assert memory.stats().texts == 3


def test_a_forgotten_slot_is_opened_again_by_the_version_that_counts_it(memory):
    memory.forget(memory.remember("mine", slot="s").node.id)
    assert memory.remember("again", slot="s", expected_version=2).node.version == 3


def test_what_ends_frees_its_slot_and_what_is_to_come_holds_it(memory, clock):
    memory.remember("short", slot="a", valid_to=clock.now + timedelta(hours=1))
    memory.remember("to come", slot="b", valid_from=clock.now + timedelta(days=1))
    clock.advance(hours=2)
    memory.remember("next", slot="a", expected_version=0)
    assert told(memory, ["a", "b"]) == {"a": "next"}
    with pytest.raises(evomem.VersionConflictError, match="at version 1"):
        memory.remember("mine", slot="b", expected_version=0)


def test_a_split_slot_is_neither_free_nor_at_a_version(memory):
    value = memory.remember("whole", slot="s").node.id
    memory.remember_many([{"text": t, "supersedes": value} for t in ("left", "right")])
    for expected in (0, 1, 2):
        with pytest.raises(evomem.VersionConflictError) as refused:
            memory.remember("mine", slot="s", expected_version=expected)
        assert refused.value.details["current"]["node_id"] == memory.get_slots("s")["s"].id


def test_a_batch_counts_what_its_earlier_notes_put_in_a_slot(memory):
    with pytest.raises(evomem.VersionConflictError):
        memory.remember_many([{"text": t, "slot": "s", "expected_version": 0} for t in "ab"])
    assert told(memory, "s") == {}
    memory.remember_many(
        [{"text": "a", "slot": "s"}, {"text": "b", "slot": "s", "expected_version": 1}]
    )
    assert told(memory, "s") == {"s": "b"}


@pytest.mark.parametrize("more", [{}, {"slot": "s", "supersedes": "x"}, {"refines": "x"}])
def test_version_zero_is_of_a_slot_alone(memory, more):
    more = {name: memory.remember("x").node.id if v == "x" else v for name, v in more.items()}
    with pytest.raises(evomem.InvalidRequestError, match="slot holds nothing"):
        memory.remember("y", expected_version=0, **more)
    with pytest.raises(evomem.InvalidRequestError, match="from 0"):
        memory.remember("y", expected_version=-1, slot="s")


LABELS = [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("b", "%"), ("b", "_"), ("b", "x/y")]


@pytest.fixture
def spread(memory):
    for path in LABELS:
        memory.within(path).remember("here")
    return memory


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ({}, LABELS),
        ({"prefix": "a"}, LABELS[:3]),
        ({"prefix": ("a", "*")}, LABELS[1:3]),
        ({"prefix": "*/b"}, LABELS[1:3]),
        ({"suffix": "b"}, [("a", "b")]),
        ({"suffix": ("*", "b")}, [("a", "b")]),
        ({"suffix": ("*", "*", "*")}, [("a", "b", "c")]),
        ({"prefix": "a", "suffix": "c"}, [("a", "b", "c")]),
        ({"prefix": "%"}, []),
        ({"suffix": "_"}, [("b", "_")]),
        ({"suffix": ["x/y"]}, [("b", "x/y")]),
        ({"prefix": "b", "max_depth": 1}, [("b",)]),
        ({"max_depth": 2}, [*LABELS[:2], *LABELS[3:]]),
        ({"max_depth": 1, "limit": 1, "offset": 1}, [("ab",)]),
        ({"limit": 2, "offset": 6}, [("b", "x/y")]),
        ({"offset": 7}, []),
        ({"prefix": (), "suffix": []}, LABELS),
    ],
    ids=str,
)
def test_namespaces_below_are_chosen_cut_and_paged(spread, asked, right):
    assert spread.namespaces(**asked) == sorted(right)


def test_a_namespace_is_named_as_seen_from_the_handle(spread):
    assert spread.within("a").namespaces() == [("b",), ("b", "c")]
    assert spread.within(("a", "b", "c")).namespaces() == []
    for path in spread.namespaces():
        assert len(spread.within(path).list()) == 1


def test_a_namespace_whose_memories_are_forgotten_is_not_listed(memory):
    below = memory.within("below")
    first = below.remember("one", slot="s").node.id
    second = below.remember("two", slot="s").node.id
    other = below.remember("three").node.id
    below.record_event("user", "said")
    assert memory.namespaces() == [("below",)]
    below.forget(first)
    below.forget(other)
    assert memory.namespaces() == [("below",)]
    below.forget(second)
    assert memory.namespaces() == []
    below.remember("again", slot="s")
    assert memory.namespaces() == [("below",)]
    memory.within("said").record_event("user", "nothing kept")
    assert memory.namespaces() == [("below",)]


@pytest.mark.parametrize(
    "bad",
    [
        {"prefix": [""]},
        {"suffix": "a//b"},
        {"prefix": 7},
        {"max_depth": 0},
        {"limit": 0},
        {"limit": 10_001},
        {"offset": -1},
        {"offset": True},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(memory, bad):
    with pytest.raises(evomem.InvalidRequestError) as refused:
        memory.namespaces(**bad)
    assert refused.value.details["field"] == next(iter(bad))


@pytest.mark.promise("namespace.wall")
def test_no_namespace_above_or_beside_is_listed(clock):
    engine = SqliteEngine(":memory:")
    root = open_memory(engine, clock, ("t",))
    names = ["acme", "acme-corp", "acm", "acme_", "acmé", "ACME", "acme/x", "%", "_", "*", "日本"]
    for name in names:
        root.within([name]).remember("here")
        root.within([name, "in"]).remember("here")
    for name in names:
        assert root.within([name]).namespaces() == [("in",)]
        assert root.within([name]).namespaces(prefix="*") == [("in",)]
    every = sorted([(n,) for n in names] + [(n, "in") for n in names])
    assert root.namespaces() == every
    assert root.namespaces(prefix=["acme"]) == [("acme",), ("acme", "in")]
    assert root.namespaces(prefix=["%"]) == [("%",), ("%", "in")]
    engine.close()
