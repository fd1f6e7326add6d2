"""Chains of decisions: no ring, no loose end, one head."""

import json
import multiprocessing
import runpy
from pathlib import Path

import pytest

import evomem
from evomem import InvalidRequestError, NotFoundError, Status

ROUNDS = 20


@pytest.mark.promise("resolve.total")
def test_a_node_cannot_replace_itself_or_its_own_replacement(memory, refused, found):
    """SUP-001: Self-supersession and two-node cycle."""
    first = memory.remember("one").node.id
    second = memory.remember("two", supersedes=first).node.id
    with refused(memory, InvalidRequestError, "already replaces"):
        memory.link(first, supersedes=second)
    with refused(memory, InvalidRequestError, "cannot replace itself"):
        memory.link(first, supersedes=first)
    assert found(memory, "one") == [second]


@pytest.mark.promise("resolve.total")
def test_a_ring_of_three_is_refused(memory, refused, found):
    """SUP-001: the same by way of others, within one memory and across memories."""
    first = memory.remember("one").node.id
    second = memory.remember("two", supersedes=first).node.id
    third = memory.remember("three").node.id
    memory.link(third, supersedes=second)
    for node_id in (second, third):
        with refused(memory, InvalidRequestError, "already replaces"):
            memory.link(first, supersedes=node_id)
    assert found(memory, "one") == [third]


@pytest.mark.promise("resolve.total")
@pytest.mark.timeout(3)
def test_what_was_merged_cannot_replace_the_other_half():
    """SUP-001: the tip of the named node may be what replaces the new one."""
    with evomem.open(":memory:", linking="off") as memory:
        first = memory.remember("one").node.id
        second = memory.remember("two").node.id
        merged = memory.remember("three", supersedes=[first, second]).node.id
        with pytest.raises(InvalidRequestError, match="replaces"):
            memory.link(second, supersedes=first)
        assert [hit.node.id for hit in memory.recall("one two three").hits] == [merged]
        assert memory.stats().patches == 3


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize("argument", ["supersedes", "refines", "overrides", "relations", "amends"])
def test_an_unknown_id_refuses_the_whole_note(memory, refused, argument):
    """SUP-002: Unknown id in supersedes."""
    known = memory.remember("old").node.id
    unknown = "00000000-dead"
    named = {
        "relations": {"caused_by": [known, unknown]},
        "amends": [{"id": unknown, "part": "old"}],
    }.get(argument, [known, unknown])
    with refused(memory, NotFoundError, f"{unknown}.*nothing was written") as caught:
        memory.remember("new", scope="eu", **{argument: named})
    assert caught.value.details["id"] == unknown


def test_an_id_of_another_namespace_is_as_unknown_as_any(memory, refused):
    """SUP-002: typo, other namespace, prefix: all are refused alike."""
    foreign = memory.within("other").remember("foreign").node.id
    own = memory.remember("own").node
    for wrong in (foreign, own.id[:8], own.memory_id, own.id.upper(), own.id + "x"):
        with refused(memory, NotFoundError, f"{wrong}.*nothing was written"):
            memory.remember("new", supersedes=wrong)


@pytest.mark.promise("head.cas", "resolve.total", "read.own-write")
@pytest.mark.subprocess
def test_two_agents_replace_one_decision_and_one_head_stands(open_memory, tmp_path, found):
    """SUP-003: Two agents replace the same decision at the same time."""
    location = tmp_path / "race.db"
    memory = open_memory(location)
    olds = [memory.remember(f"deploy round{i} on Fridays").node.id for i in range(ROUNDS)]
    outcomes = _race(
        location,
        {
            day: [
                {"text": f"deploy round{i} on {day}", "supersedes": old}
                for i, old in enumerate(olds)
            ]
            for day in ("Mondays", "Tuesdays")
        },
    )
    for i, old in enumerate(olds):
        written = [outcomes[day][i] for day in outcomes]
        chain = memory.history(old)
        assert [node.id for node in chain if node.status is Status.ACTIVE] == [chain[0].id]
        assert found(memory, f"round{i}")[0] == chain[0].id
        assert {node.id for node in chain} == {old, *(outcome["id"] for outcome in written)}
        later = next(outcome for outcome in written if outcome["id"] == chain[0].id)
        assert later["moved"] == [[old, chain[1].id]]


@pytest.mark.promise("head.cas")
@pytest.mark.subprocess
def test_of_two_agents_that_expect_a_version_exactly_one_wins(open_memory, tmp_path):
    """SUP-003: with a version expected, the other gets the current state."""
    location = tmp_path / "race.db"
    memory = open_memory(location)
    olds = [memory.remember(f"deploy round{i} on Fridays").node.id for i in range(ROUNDS)]
    outcomes = _race(
        location,
        {
            day: [
                {"text": f"round{i} on {day}", "supersedes": old, "expected_version": 1}
                for i, old in enumerate(olds)
            ]
            for day in ("Mondays", "Tuesdays")
        },
    )
    for i, old in enumerate(olds):
        written = [outcomes[day][i] for day in outcomes]
        (winner,) = [outcome for outcome in written if "id" in outcome]
        (loser,) = [outcome for outcome in written if "code" in outcome]
        assert [node.id for node in memory.history(old)] == [winner["id"], old]
        assert loser["code"] == "VERSION_CONFLICT"
        assert loser["details"]["current"]["node_id"] == winner["id"]
        assert loser["details"]["current"]["version"] == 2


def _race(location, rounds):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(rounds))
    reports = {name: location.with_name(f"{name}.json") for name in rounds}
    racers = [
        context.Process(
            target=runpy.run_path,
            args=(str(Path(__file__).with_name("racer.py")),),
            kwargs={
                "init_globals": {
                    "location": str(location),
                    "barrier": barrier,
                    "rounds": arguments,
                    "report": str(reports[name]),
                },
                "run_name": "__racer__",
            },
        )
        for name, arguments in rounds.items()
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
    assert [racer.exitcode for racer in racers] == [0] * len(racers)
    return {name: json.loads(report.read_text("utf-8")) for name, report in reports.items()}


@pytest.mark.promise("head.cas", "resolve.total")
def test_a_note_that_names_an_old_version_goes_on_top_of_the_chain(memory):
    """SUP-004: Superseding an already superseded note."""
    first = memory.remember("v1").node.id
    second = memory.remember("v2", supersedes=first).node.id
    result = memory.remember("v3", supersedes=first)
    assert result.superseded == (second,)
    assert result.moved == ((first, second),)
    assert [node.id for node in memory.history(result.node.id)] == [result.node.id, second, first]
    assert result.node.version == 3


@pytest.mark.promise("recall.head", "resolve.total")
def test_a_forgotten_head_brings_nothing_old_back(memory, found):
    """SUP-005: Head of a chain is forgotten."""
    first = memory.remember("limit 10").node.id
    second = memory.remember("limit 20", supersedes=first).node.id
    memory.forget(second)
    assert found(memory, "limit") == []
    assert found(memory, "10") == []
    assert [node.status for node in memory.history(first)] == [
        Status.FORGOTTEN,
        Status.SUPERSEDED,
    ]
    third = memory.remember("limit 30", supersedes=second).node
    assert found(memory, "limit 10") == [third.id]
    assert third.version == 4


def test_forgetting_an_older_version_only_stops_it_from_matching(memory, found):
    """SUP-005: DESIGN section 8: the head stays."""
    first = memory.remember("limit ten").node.id
    second = memory.remember("limit twenty", supersedes=first).node.id
    assert found(memory, "ten") == [second]
    memory.forget(first)
    assert found(memory, "ten") == []
    assert found(memory, "limit") == [second]
    assert memory.get_node(second).status is Status.ACTIVE


@pytest.mark.promise("resolve.total", "link.never-guess")
def test_undoing_a_link_in_the_middle_of_a_chain_erases_nothing(memory):
    """SUP-105: Undo of a supersede after a later change."""
    first = memory.remember("v1").node.id
    second = memory.remember("v2", supersedes=first).node.id
    third = memory.remember("v3", supersedes=second).node.id
    assert memory.unlink(second, first).restored == (first,)
    assert {node_id: memory.get_node(node_id).text for node_id in (first, second, third)} == {
        first: "v1",
        second: "v2",
        third: "v3",
    }
    assert memory.get_node(first).status is Status.ACTIVE
    assert memory.get_node(second).status is Status.SUPERSEDED
    assert [node.id for node in memory.history(third)] == [third, second]
    assert [node.id for node in memory.history(first)] == [first]


@pytest.mark.promise("recall.head")
def test_a_link_may_be_turned_round(memory):
    """SUP-105: undo, then state the opposite: the old version is in force again."""
    first = memory.remember("limit ten").node.id
    second = memory.remember("limit twenty", supersedes=first).node.id
    memory.unlink(second, first)
    result = memory.link(first, supersedes=second)
    assert result.superseded == (second,)
    assert memory.get_node(second).status is Status.SUPERSEDED
    assert [node.id for node in memory.list()] == [first]
