"""Operations, events and undoings that race; each was planned on the same state."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.concurrency import processes

from evomem import Add, EvoMemError, Remove, Supersede, Update, VersionConflictError
from evomem_bench.concurrency.inspection import inspect

SAID = "Let us move the ledger."


@pytest.fixture
def event(memory):
    return memory.record_event("user", "Go ahead.").id


@pytest.fixture
def note(memory):
    return memory.remember("The ledger runs on Postgres.").node


@pytest.fixture
def race(memory, path, monkeypatch):
    """Make calls of a memory at once, in threads or in processes, and return what each was told."""

    def in_threads(*calls):
        engine = memory._context.engine
        commit, barrier, met = engine.commit, threading.Barrier(len(calls)), threading.local()

        def commit_together(patch):
            if not getattr(met, "done", False):
                met.done = True
                barrier.wait(30)
            return commit(patch)

        told: list[Any] = [None] * len(calls)

        def run(place):
            name, arguments = calls[place]
            try:
                told[place] = getattr(memory, name)(**arguments).to_dict()
            except EvoMemError as error:
                told[place] = error.to_dict()

        threads = [threading.Thread(target=run, args=(n,)) for n in range(len(calls))]
        with monkeypatch.context() as patched:
            patched.setattr(engine, "commit", commit_together)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        assert None not in told
        return told

    def in_processes(*calls):
        with monkeypatch.context() as patched:
            patched.setattr(processes, "WORKER", Path(__file__).with_name("applier.py"))
            told = processes.race(path, *([call] for call in calls), meet="commit")
        return [one for (one,) in told]

    return {"threads": in_threads, "processes": in_processes}


WAYS = [
    pytest.param("threads", id="threads"),
    pytest.param("processes", marks=pytest.mark.subprocess, id="processes"),
]
both_ways = pytest.mark.parametrize("way", WAYS)


def plain(operation):
    """An operation as it travels to another process."""
    fields = {name: getattr(operation, name) for name in operation.__dataclass_fields__}
    return {"op": str(operation.op)} | {k: v for k, v in fields.items() if v not in (None, (), {})}


def applies(event, *operations, **options):
    return ("apply", {"operations": list(map(plain, operations)), "evidence": event, **options})


def won(told):
    (winner,) = [one for one in told if "code" not in one]
    return winner, [one for one in told if "code" in one]


def assert_sound(path):
    """The file and its index are in order, and nothing in it is there in part."""
    findings = inspect(path, [])
    assert findings.problems == ()
    # A patch that records an event only has no operation.
    halves = [half for half in findings.half_written if "patch without operation" not in half]
    assert halves == []


def history(memory, memory_id):
    record = memory.read(memory_id, include_history=True)
    return [(step.version, step.op.value, step.content) for step in record.history]


@pytest.mark.promise("head.cas", "write.atomic")
@both_ways
def test_of_two_that_supersede_one_version_one_wins(memory, path, event, note, race, way):
    texts = ["The ledger runs on SQLite.", "The ledger runs on MySQL."]
    operations = [
        (Supersede(note.memory_id, 1, text), Add("beside", f"Beside: {text}")) for text in texts
    ]
    told = race[way](*(applies(event, *pair) for pair in operations))
    winner, (loser,) = won(told)
    text = texts[told.index(winner)]
    assert loser["code"] == "VERSION_CONFLICT"
    assert loser["details"]["item"] == 0
    current = loser["details"]["current"]
    assert (current["content"], current["version"]) == (text, 2)
    assert current["node_id"] == winner["operations"][0]["node_id"]
    # Nothing of the other: neither its version nor what stood beside it.
    assert history(memory, note.memory_id) == [(1, "ADD", note.text), (2, "SUPERSEDE", text)]
    assert {node.text for node in memory.list()} == {text, f"Beside: {text}"}
    assert memory.stats().patches == 3
    assert_sound(path)


@pytest.mark.promise("head.cas", "write.atomic")
def test_of_six_operations_of_every_kind_on_one_version_one_wins(memory, path, event, note, race):
    key = note.memory_id
    operations = [
        Supersede(key, 1, "The ledger runs on SQLite."),
        Update(key, 1, "Postgres runs the ledger."),
        Remove(key, 1),
        Supersede(key, 1, "SQLite.", part="Postgres"),
        Supersede(key, 1, "The ledger runs on MySQL."),
        Remove(key, 1),
    ]
    told = race["threads"](*(applies(event, operation) for operation in operations))
    winner, losers = won(told)
    assert {loser["code"] for loser in losers} == {"VERSION_CONFLICT"}
    assert {loser["details"]["current"]["version"] for loser in losers} == {2}
    assert memory.read(key).version == 2
    assert memory.stats().patches == 3
    assert memory.patch(winner["patch_id"]).sequence == winner["sequence"]
    assert_sound(path)


@pytest.mark.promise("head.cas")
def test_an_operation_and_a_note_that_race_are_ordered(memory, path, event, note, race):
    told = race["threads"](
        applies(event, Supersede(note.memory_id, 1, "The ledger runs on SQLite.")),
        ("remember", {"text": "The ledger runs on MySQL.", "supersedes": note.id}),
    )
    remembered = told[1]["node"]
    if "code" in told[0]:
        assert told[0]["code"] == "VERSION_CONFLICT"
        assert memory.read(note.memory_id).version == 2
    else:
        assert remembered["version"] == 3
        assert told[1]["moved"][0]["current"] == told[0]["operations"][0]["node_id"]
    assert [node.id for node in memory.list()] == [remembered["id"]]
    assert_sound(path)


@pytest.mark.promise("write.atomic")
def test_operations_on_different_memories_all_land(memory, path, event, race):
    keys = [memory.remember(f"note {n}").node.memory_id for n in range(4)]
    told = race["threads"](*(applies(event, Supersede(k, 1, f"new {k}")) for k in keys))
    assert [one["operations"][0]["version"] for one in told] == [2] * 4
    assert len({one["sequence"] for one in told}) == 4
    assert {node.text for node in memory.list()} == {f"new {k}" for k in keys}
    assert_sound(path)


def test_of_two_that_add_the_same_one_adds_it(memory, path, event, race):
    told = race["threads"](*[applies(event, Add("s", "The ledger runs on SQLite."))] * 2)
    winner, (loser,) = won(told)
    assert loser["code"] == "DUPLICATE"
    assert loser["details"]["current"]["node_id"] == winner["operations"][0]["node_id"]
    assert len(memory.list()) == 1


def test_of_two_that_fill_a_slot_one_fills_it(memory, path, event, race):
    adds = [applies(event, Add("s", text, slot="db")) for text in ("postgres", "sqlite")]
    winner, (loser,) = won(race["threads"](*adds))
    assert loser["code"] == "DUPLICATE"
    current = loser["details"]["current"]
    assert current["node_id"] == winner["operations"][0]["node_id"]
    assert [node.id for node in memory.list()] == [current["node_id"]]


@pytest.mark.promise("write.idempotent")
@both_ways
def test_one_external_id_from_two_is_one_event(memory, path, race, way):
    call = ("record_event", {"role": "user", "content": SAID, "external_id": "msg-7"})
    told = race[way](call, call)
    assert [one.get("code") for one in told] == [None, None]
    assert len({(one["id"], one["patch_id"], one["recorded_at"]) for one in told}) == 1
    assert sorted(one["replayed"] for one in told) == [False, True]
    assert (memory.stats().events, memory.stats().patches) == (1, 1)
    assert_sound(path)


@pytest.mark.promise("write.idempotent")
def test_of_other_events_under_one_external_id_one_is_kept(memory, path, race):
    calls = [
        ("record_event", {"role": "user", "content": f"{SAID} {n}", "external_id": "msg-7"})
        for n in range(3)
    ]
    winner, losers = won(race["threads"](*calls))
    assert [loser["code"] for loser in losers] == ["IDEMPOTENCY_CONFLICT"] * 2
    assert {loser["details"]["event_id"] for loser in losers} == {winner["id"]}
    assert memory.stats().events == 1
    assert_sound(path)


@pytest.mark.promise("write.idempotent")
@both_ways
def test_one_key_from_two_is_one_patch_that_the_other_replays(memory, path, event, note, race, way):
    operations = (Supersede(note.memory_id, 1, "The ledger runs on SQLite."), Add("s", "Beside."))
    call = applies(event, *operations, idempotency_key="move")
    told = race[way](call, call)
    assert [one.get("code") for one in told] == [None, None]
    assert sorted(one["replayed"] for one in told) == [False, True]
    first = next(one for one in told if not one["replayed"])
    assert all({**one, "replayed": False} == first for one in told)
    assert memory.stats().patches == 3
    assert_sound(path)


@pytest.mark.promise("write.idempotent")
def test_of_different_requests_under_one_key_one_is_kept(memory, path, event, race):
    calls = [applies(event, Add("s", f"note {n}"), idempotency_key="k") for n in range(3)]
    winner, losers = won(race["threads"](*calls))
    assert [loser["code"] for loser in losers] == ["IDEMPOTENCY_CONFLICT"] * 2
    assert {loser["details"]["patch_id"] for loser in losers} == {winner["patch_id"]}
    assert len(memory.list()) == 1


@pytest.mark.promise("write.atomic", "head.cas")
def test_of_two_that_undo_a_patch_one_undoes_it(memory, path, note, race):
    patch_id = memory.remember("The ledger runs on SQLite.", supersedes=note.id).patch_id
    told = race["threads"](*[("rollback", {"patch_id": patch_id})] * 2)
    winner, (loser,) = won(told)
    assert loser["code"] == "UNSAFE_ROLLBACK"
    assert loser["details"]["dependents"] == [winner["patch_id"]]
    assert [op for _, op, _ in history(memory, note.memory_id)] == ["ADD", "SUPERSEDE", "RESTORE"]
    assert [node.text for node in memory.list()] == [note.text]
    assert_sound(path)


@pytest.mark.promise("write.atomic", "head.cas")
def test_an_undoing_and_a_change_on_top_never_both_land(memory, path, event, note, race):
    patch_id = memory.remember("The ledger runs on SQLite.", supersedes=note.id).patch_id
    told = race["threads"](
        ("rollback", {"patch_id": patch_id}),
        applies(event, Supersede(note.memory_id, 2, "The ledger runs on MySQL.")),
    )
    winner, (loser,) = won(told)
    expected = "UNSAFE_ROLLBACK" if winner is told[1] else "VERSION_CONFLICT"
    assert loser["code"] == expected
    assert memory.read(note.memory_id).version == 3
    assert_sound(path)


@pytest.mark.promise("head.cas", "resolve.total")
def test_threads_that_read_and_apply_in_turn_keep_one_line(memory, path, event, note):
    """Whoever loses reads again: after n wins the memory is at version n + 1."""

    def work(n):
        for round_ in range(8):
            while True:
                version = memory.read(note.memory_id).version
                operation = Supersede(note.memory_id, version, f"thread {n} round {round_}")
                try:
                    made.append(memory.apply([operation], evidence=event).operations[0].version)
                    break
                except VersionConflictError:
                    continue

    made: list[int] = []
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(made) == list(range(2, 34))
    assert [node.version for node in memory.history(note.id)] == list(range(33, 0, -1))
    assert len(memory.list()) == 1
    assert_sound(path)
