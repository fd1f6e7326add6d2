"""Processes that change one thing at once; each has planned on the same state when they commit."""

import itertools

import pytest
from tests.concurrency.processes import assert_sound, ids_in_order, race, remembers

import evomem

pytestmark = pytest.mark.subprocess


@pytest.mark.promise("head.cas", "resolve.total")
def test_racing_successors_of_one_note_stand_in_one_line(path, memory):
    root = memory.remember("The ledger runs on Postgres.").node.id
    texts = [f"The ledger runs on engine {n}." for n in range(6)]
    told = race(path, *([remembers(t, supersedes=root)] for t in texts), meet="commit")
    landed = sorted((note for (note,) in told), key=lambda note: note["version"])
    story = memory.history(root)
    assert [node.id for node in story] == [*(note["id"] for note in reversed(landed)), root]
    assert [node.version for node in story] == [7, 6, 5, 4, 3, 2, 1]
    assert {node.text for node in story[:-1]} == set(texts)
    assert [node.status.value for node in story] == ["active"] + ["superseded"] * 6
    # Whoever was first met the note it had named; every other was told what it extended instead.
    assert landed[0]["moved"] == []
    for before, note in itertools.pairwise(landed):
        assert note["moved"] == [{"named": root, "current": before["id"]}]
    assert [hit.node.id for hit in memory.recall("postgres").hits] == [landed[-1]["id"]]
    assert_sound(path)


@pytest.mark.promise("head.cas")
def test_of_six_that_expect_a_version_one_wins_and_the_others_are_told_the_current_state(
    path, memory
):
    root = memory.remember("The ledger runs on Postgres.").node
    call = {"supersedes": root.id, "expected_version": 1}
    told = race(path, *([remembers(f"engine {n}", **call)] for n in range(6)), meet="commit")
    (winner,) = [note for (note,) in told if "id" in note]
    losers = [note for (note,) in told if "code" in note]
    assert [loser["code"] for loser in losers] == ["VERSION_CONFLICT"] * 5
    for loser in losers:
        assert loser["details"]["current"]["node_id"] == winner["id"]
        assert loser["details"]["current"]["version"] == 2
    assert [node.id for node in memory.history(root.id)] == [winner["id"], root.id]
    assert memory.stats().patches == 2
    assert_sound(path)


@pytest.mark.promise("head.cas")
@pytest.mark.parametrize("before", ["never set", "forgotten"])
def test_of_six_that_claim_an_empty_slot_one_wins(path, memory, before):
    if before == "forgotten":
        memory.forget(memory.remember("engine", slot="ledger/engine").node.id)
    call = {"slot": "ledger/engine", "expected_version": 0}
    told = race(path, *([remembers(f"engine {n}", **call)] for n in range(6)), meet="commit")
    (winner,) = [note for (note,) in told if "id" in note]
    losers = [note for (note,) in told if "code" in note]
    assert [loser["code"] for loser in losers] == ["VERSION_CONFLICT"] * 5
    assert {loser["details"]["current"]["node_id"] for loser in losers} == {winner["id"]}
    assert memory.get_slots("ledger/engine")["ledger/engine"].id == winner["id"]
    assert_sound(path)


def test_the_same_text_from_ten_processes_is_one_note(path, memory):
    told = race(
        path, *([remembers("The ledger runs on SQLite.")] for _ in range(10)), meet="commit"
    )
    assert len({note["id"] for (note,) in told}) == 1
    assert sorted(note["deduplicated"] for (note,) in told) == [False] + [True] * 9
    assert memory.stats().nodes["active"] == memory.stats().patches == 1
    assert_sound(path)


@pytest.mark.promise("write.idempotent")
def test_one_key_from_six_processes_is_one_patch_that_the_others_replay(path, memory):
    root = memory.remember("The ledger runs on Postgres.").node.id
    call = remembers("The ledger runs on SQLite.", supersedes=root, idempotency_key="move")
    told = race(path, *([call] for _ in range(6)), meet="commit")
    assert len({(note["id"], note["patch_id"]) for (note,) in told}) == 1
    assert sorted(note["replayed"] for (note,) in told) == [False] + [True] * 5
    assert memory.stats().patches == 2
    assert [node.version for node in memory.history(root)] == [2, 1]
    assert_sound(path)


@pytest.mark.promise("write.idempotent")
def test_of_different_calls_under_one_key_one_is_kept_and_the_others_conflict(path, memory):
    calls = [[remembers(f"engine {n}", idempotency_key="move")] for n in range(4)]
    told = race(path, *calls, meet="commit")
    (kept,) = [note for (note,) in told if "id" in note]
    codes = [note["code"] for (note,) in told if "code" in note]
    assert codes == ["IDEMPOTENCY_CONFLICT"] * 3
    assert ids_in_order(memory) == [kept["id"]]
    assert_sound(path)


@pytest.mark.promise("resolve.total")
def test_a_slot_first_written_by_six_processes_holds_one_line(path, memory):
    texts = [f"engine {n}" for n in range(6)]
    told = race(path, *([remembers(t, slot="ledger/database")] for t in texts), meet="commit")
    landed = sorted((note for (note,) in told), key=lambda note: note["version"])
    story = memory.history(landed[0]["id"])
    assert [node.id for node in story] == [note["id"] for note in reversed(landed)]
    assert [node.version for node in story] == [6, 5, 4, 3, 2, 1]
    assert {node.text for node in story} == set(texts)
    assert [node.id for node in memory.list()] == [landed[-1]["id"]]
    assert_sound(path)


@pytest.mark.promise("head.cas", "resolve.total")
def test_processes_that_replace_each_others_notes_again_and_again_keep_one_line(path):
    with evomem.open(path, linking="off") as memory:
        root = memory.remember("version 1").node.id
    calls = [
        [remembers(f"process {p} round {n}", supersedes=root) for n in range(15)] for p in range(4)
    ]
    told = race(path, *calls)
    with evomem.open(path, linking="off") as memory:
        story = memory.history(root)
    assert [node.version for node in story] == list(range(61, 0, -1))
    assert {node.id for node in story[:-1]} == {note["id"] for one in told for note in one}
    assert [node.status.value for node in story] == ["active"] + ["superseded"] * 60
    assert_sound(path)
