"""Whoever holds the write lock, and for how long: readers go on, writers wait, nothing is lost."""

import signal

import pytest
from tests.concurrency.processes import (
    assert_sound,
    hear,
    ids_in_order,
    race,
    remembers,
    send,
    stop,
    wait_until_stopped,
    workers,
    write_lock,
)
from tests.engine_sqlite.processes import let_go

import evomem
from evomem import EngineBusyError
from evomem.engines.sqlite import connection as settings

pytestmark = pytest.mark.subprocess
stops = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="signals are of POSIX")


@pytest.fixture
def impatient(path, monkeypatch):
    """Return a handle of this process that waits for the lock for a moment only."""
    monkeypatch.setattr(settings, "BUSY_TIMEOUT_S", 0.2)
    with evomem.open(path, linking="off") as opened:
        yield opened


@pytest.mark.promise("recall.head")
def test_readers_of_other_processes_are_not_blocked_by_a_writer(path, memory):
    old = memory.remember("The ledger runs on Postgres.").node.id
    new = memory.remember("The ledger runs on SQLite.", supersedes=old).node.id
    reads = [
        ("recall", {"query": "postgres"}),
        ("list", {"status": "all"}),
        ("history", {"node_id": old}),
    ]
    # They open the store, too, while the lock is held: it is let go only after they have ended.
    with write_lock(path):
        told = race(path, *([reads] * 3), meet="start")
    assert [[call["ids"] for call in one] for one in told] == [[[new], [new, old], [new, old]]] * 3


@stops
def test_a_process_that_is_stopped_between_two_calls_does_not_hold_the_lock(path, impatient):
    calls = [remembers("before the stop"), ("recall", {"query": "stop"})]
    with workers(path, calls, action="do_then_wait") as (process,):
        let_go([process])
        first = hear(process)["id"]
        hear(process)
        stop(process)
        second = impatient.remember("during the stop").node.id
        assert {hit.node.id for hit in impatient.recall("stop").hits} == {first, second}
        process.send_signal(signal.SIGCONT)
        send(process, [("recall", {"query": "stop"}), remembers("after the stop")])
        assert set(hear(process)["ids"]) == {first, second}
        third = hear(process)["id"]
    assert ids_in_order(impatient) == [first, second, third]
    assert_sound(path)


@stops
@pytest.mark.promise("write.atomic", "write.durable")
def test_a_process_stopped_inside_a_commit_makes_others_wait_and_loses_nothing(path, impatient):
    before = impatient.remember("before").node.id
    with workers(path, [remembers("stopped inside")], action="do_and_stop_inside") as (process,):
        let_go([process])
        wait_until_stopped(process)
        for _ in range(2):
            with pytest.raises(EngineBusyError) as refusal:
                impatient.remember("refused")
            assert refusal.value.code == "ENGINE_BUSY"
            assert str(path) in refusal.value.message
        assert ids_in_order(impatient) == [before]
        process.send_signal(signal.SIGCONT)
        stopped = hear(process)["id"]
    after = impatient.remember("after").node.id
    assert ids_in_order(impatient) == [before, stopped, after]
    assert_sound(path)


@stops
@pytest.mark.promise("write.atomic")
def test_a_process_killed_inside_a_commit_leaves_nothing_and_frees_the_lock(path, impatient):
    before = impatient.remember("before").node.id
    calls = [remembers("killed inside", supersedes=before)]
    with workers(path, calls, action="do_and_stop_inside") as (process,):
        let_go([process])
        wait_until_stopped(process)
        process.kill()
        process.wait()
        after = impatient.remember("after").node.id
    assert ids_in_order(impatient) == [before, after]
    assert impatient.get_node(before).status is evomem.Status.ACTIVE
    assert impatient.recall("killed").hits == ()
    assert_sound(path)


@stops
@pytest.mark.promise("write.durable")
def test_who_waits_for_a_stopped_process_goes_on_when_it_does(path, memory):
    with workers(path, [remembers("stopped inside")], action="do_and_stop_inside") as (stopped,):
        let_go([stopped])
        wait_until_stopped(stopped)
        with workers(path, [remembers("waits")]) as (waiting,):
            let_go([waiting])
            stopped.send_signal(signal.SIGCONT)
            first, second = hear(stopped), hear(waiting)
    # The lock was held when the second was let go.
    assert ids_in_order(memory) == [first["id"], second["id"]]
    assert_sound(path)
