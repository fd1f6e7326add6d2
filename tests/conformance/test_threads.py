"""One handle, many threads."""

import itertools
import threading
from collections import Counter

import pytest
from tests.conformance.builders import HOME, heads

from evomem import VersionConflictError

THREADS = 8


def at_once(work, threads=THREADS):
    """Run `work(n)` in threads that start together; return the results, raise what they raised."""
    barrier = threading.Barrier(threads)
    results, errors = {}, []

    def run(n):
        barrier.wait(30)
        try:
            results[n] = work(n)
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=run, args=(n,)) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(90)
    if errors:
        raise errors[0]
    return [results[n] for n in range(threads)]


@pytest.mark.promise("read.own-write")
def test_threads_share_a_handle(memory):
    def work(n):
        made = []
        for i in range(50):
            node = memory.remember(f"thread{n} note number{n}x{i}").node
            made.append(node.id)
            assert memory.recall(f"number{n}x{i}", k=1).hits[0].node.id == node.id
        return made

    made = [node_id for ids in at_once(work) for node_id in ids]
    assert len(set(made)) == 400
    stats = memory.stats()
    assert (stats.nodes["active"], stats.texts, stats.patches) == (400, 400, 400)


@pytest.mark.promise("head.cas", "resolve.total")
def test_racing_successors_of_one_note_all_land_in_one_line(engine, memory, clock):
    root = memory.remember("the decision").node.id

    def work(n):
        return [memory.remember(f"decision {n} {i}", supersedes=root) for i in range(4)]

    results = [result for one in at_once(work) for result in one]
    line = memory.history(root)
    assert len(line) == 33
    assert {node.memory_id for node in line} == {line[0].memory_id}
    assert [node.version for node in line] == list(range(33, 0, -1))
    for newer, older in itertools.pairwise(line):
        assert (newer.supersedes, older.superseded_by) == ((older.id,), (newer.id,))
    assert Counter(node.status.value for node in line) == {"active": 1, "superseded": 32}
    assert heads(engine, root, clock.now) == [line[0].id]
    told = {result.node.id: result.moved for result in results}
    first = line[-2].id
    assert told.pop(first) == ()
    previous = {node.id: node.supersedes[0] for node in line[:-1]}
    assert all(moved == ((root, previous[node_id]),) for node_id, moved in told.items())


@pytest.mark.promise("head.cas")
def test_of_racing_writers_that_expect_a_version_exactly_one_wins(memory):
    root = memory.remember("the decision").node.id

    def work(n):
        try:
            return memory.remember(f"decision {n}", supersedes=root, expected_version=1).node.id
        except VersionConflictError as conflict:
            return conflict

    results = at_once(work)
    won = [result for result in results if isinstance(result, str)]
    lost = [result for result in results if not isinstance(result, str)]
    assert (len(won), len(lost)) == (1, THREADS - 1)
    state = {"memory_id": memory.get_node(root).memory_id, "version": 2, "node_id": won[0]}
    assert all(conflict.details["current"] == state for conflict in lost)
    assert [node.id for node in memory.history(root)] == [won[0], root]
    assert memory.stats().patches == 2


@pytest.mark.promise("write.idempotent")
def test_racing_calls_with_one_key_write_once(memory):
    results = at_once(lambda _: memory.remember("said once", idempotency_key="k"))
    assert len({(result.node.id, result.patch_id) for result in results}) == 1
    assert Counter(result.replayed for result in results) == {False: 1, True: THREADS - 1}
    assert memory.stats().patches == 1


def test_racing_equal_notes_are_stored_once(memory):
    results = at_once(lambda _: memory.remember("said by all"))
    assert len({result.node.id for result in results}) == 1
    assert Counter(result.deduplicated for result in results) == {False: 1, True: THREADS - 1}


def test_racing_values_of_one_slot_form_one_line(memory):
    at_once(lambda n: memory.remember(f"value {n}", slot="branch"))
    values = memory.list(status="all", limit=100).nodes
    assert [value.version for value in values] == list(range(THREADS, 0, -1))
    assert Counter(v.status.value for v in values) == {"active": 1, "superseded": THREADS - 1}


@pytest.mark.promise("resolve.total")
def test_racing_links_never_close_a_circle(memory):
    a, b = (memory.remember(text).node.id for text in ("one", "two"))

    def work(n):
        new, old = (a, b) if n % 2 else (b, a)
        try:
            return memory.link(new, supersedes=[old]).superseded
        except Exception as refusal:
            return refusal

    at_once(work)
    assert sorted(memory.get_node(n).status.value for n in (a, b)) == ["active", "superseded"]


def test_threads_in_namespaces_of_their_own_do_not_meet(memory):
    def work(n):
        inner = memory.within(f"user-{n}")
        return [inner.remember(f"note {i}").node.id for i in range(10)]

    at_once(work)
    for n in range(THREADS):
        assert memory.within(f"user-{n}").stats().texts == 10
    assert memory.namespace == HOME
