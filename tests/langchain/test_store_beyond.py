"""What the store does beyond the contract: history, times, versions, races."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import PutOp

import evomem
from langchain_evomem.store import EvoMemStore

TEAM = ("team",)


@pytest.fixture
def memory(tmp_path):
    with evomem.open(tmp_path / "m.db", namespace="app", linking="off") as opened:
        yield opened


@pytest.fixture
def store(memory):
    return EvoMemStore(memory)


def test_a_key_tells_its_history(store):
    store.put(TEAM, "ledger", {"db": "Postgres"})
    store.put(TEAM, "ledger", {"db": "SQLite"})
    story = store.history(TEAM, "ledger")
    assert [(item.version, item.value["db"], str(item.status)) for item in story] == [
        (2, "SQLite", "active"),
        (1, "Postgres", "superseded"),
    ]
    assert [item.key for item in story] == ["ledger", "ledger"]
    assert asyncio.run(store.ahistory(TEAM, "ledger")) == story
    assert store.history(TEAM, "ledger", limit=1) == story[:1]


def test_a_deleted_key_keeps_its_history(store):
    store.put(TEAM, "ledger", {"db": "Postgres"})
    store.delete(TEAM, "ledger")
    (only,) = store.history(TEAM, "ledger")
    assert (only.value, str(only.status)) == ({"db": "Postgres"}, "forgotten")
    assert store.history(TEAM, "unknown") == []


def test_a_key_answers_as_of_a_time(store):
    store.put(TEAM, "ledger", {"db": "Postgres"})
    then = store.get(TEAM, "ledger").updated_at
    time.sleep(0.002)
    store.put(TEAM, "ledger", {"db": "SQLite"})
    assert store.get(TEAM, "ledger", as_of=then).value == {"db": "Postgres"}
    assert store.get(TEAM, "ledger", known_at=then).value == {"db": "Postgres"}
    assert store.get(TEAM, "ledger").value == {"db": "SQLite"}
    assert [i.value["db"] for i in store.search(TEAM, as_of=then)] == ["Postgres"]
    assert asyncio.run(store.aget(TEAM, "ledger", as_of=then)).value == {"db": "Postgres"}
    assert [i.value["db"] for i in asyncio.run(store.asearch(TEAM, known_at=then))] == ["Postgres"]
    assert len(store.history(TEAM, "ledger", known_at=then)) == 1
    with pytest.raises(ValueError, match="leave out as_of"):
        store.search(TEAM, query="ledger", as_of=then)


def test_an_outdated_value_matches_no_search(store):
    store.put(TEAM, "ledger", {"db": "Postgres"})
    store.put(TEAM, "ledger", {"db": "SQLite"})
    assert store.search(TEAM, query="postgres") == []
    assert [item.value["db"] for item in store.search(TEAM, query="sqlite")] == ["SQLite"]


@pytest.mark.promise("head.cas")
def test_a_put_may_expect_a_version(store):
    store.put(TEAM, "plan", {"v": 1}, expected_version=0)
    with pytest.raises(evomem.VersionConflictError):
        store.put(TEAM, "plan", {"v": 2}, expected_version=0)
    seen = store.get(TEAM, "plan").version
    store.put(TEAM, "plan", {"v": 2}, expected_version=seen)
    with pytest.raises(evomem.VersionConflictError) as caught:
        asyncio.run(store.aput(TEAM, "plan", {"v": 3}, expected_version=seen))
    assert caught.value.details["current"]
    assert store.get(TEAM, "plan").value == {"v": 2}
    store.delete(TEAM, "plan")
    store.put(TEAM, "plan", {"v": 4}, expected_version=0)
    assert store.get(TEAM, "plan").value == {"v": 4}


def test_a_deletion_expects_no_version(store):
    store.put(TEAM, "k", {"v": 1})
    gone: Any = None
    with pytest.raises(ValueError, match="deletion"):
        store.put(TEAM, "k", gone, expected_version=1)
    assert store.get(TEAM, "k").value == {"v": 1}


def test_a_version_of_the_past_is_not_that_of_the_present(store):
    store.put(TEAM, "k", {"v": 1})
    then = store.get(TEAM, "k").updated_at
    time.sleep(0.002)
    store.put(TEAM, "k", {"v": 2})
    old = store.get(TEAM, "k", as_of=then)
    assert (old.version, old.value) == (1, {"v": 1})
    with pytest.raises(evomem.VersionConflictError):
        store.put(TEAM, "k", {"v": 3}, expected_version=old.version)


def test_puts_and_deletions_of_one_key_do_not_refuse_each_other(store):
    def work(number):
        for turn in range(25):
            store.put(TEAM, "k", {"by": number, "turn": turn})
            store.delete(TEAM, "k")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert store.get(TEAM, "k") is None


def test_a_key_that_another_replaced_does_not_stand_for_it(memory, store):
    store.put(TEAM, "a", {"v": "a"})
    store.put(TEAM, "b", {"v": "b"})
    a, b = store.get(TEAM, "a"), store.get(TEAM, "b")
    memory.within("team").link(b.node_id, supersedes=[a.node_id])
    assert store.get(TEAM, "a") is None
    store.delete(TEAM, "a")
    assert store.get(TEAM, "b").value == {"v": "b"}


def test_what_is_found_survives_a_checkpoint(store):
    store.put(TEAM, "k", {"v": 1})
    serializer = JsonPlusSerializer(
        allowed_msgpack_modules=[
            ("langchain_evomem.items", "StoredItem"),
            ("langchain_evomem.items", "FoundItem"),
        ]
    )
    for item in (store.get(TEAM, "k"), *store.search(TEAM, query="v")):
        again = serializer.loads_typed(serializer.dumps_typed(item))
        assert again == item
        assert (type(again), again.version, again.status) == (type(item), 1, "active")


def test_a_large_value_of_many_leaves_is_stored(store):
    value = {"k" * 1000: [1] * 2000, "rows": [{"n": n, "tags": ["a", "b"]} for n in range(500)]}
    store.put(TEAM, "k", value)
    assert store.get(TEAM, "k").value == value
    assert len(store.search(TEAM, query="tags")) == 1


@pytest.mark.promise("head.cas")
def test_of_two_racing_agents_one_wins_and_none_is_lost(store):
    """Each adds one to a counter, trying again when another was first."""
    store.put(TEAM, "counter", {"n": 0})
    tries = 15

    def count(_):
        for _ in range(tries):
            while True:
                item = store.get(TEAM, "counter")
                try:
                    store.put(
                        TEAM, "counter", {"n": item.value["n"] + 1}, expected_version=item.version
                    )
                    break
                except evomem.VersionConflictError:
                    continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    assert store.get(TEAM, "counter").value == {"n": 4 * tries}
    assert len(store.history(TEAM, "counter")) == 4 * tries + 1


def test_racing_puts_all_land_and_created_at_is_the_first(store):
    start = threading.Barrier(4)

    def write(number):
        start.wait()
        for turn in range(10):
            store.put(TEAM, "shared", {"by": number, "turn": turn})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    story = store.history(TEAM, "shared")
    assert len(story) == 40
    assert len({item.created_at for item in story}) == 1
    assert [str(item.status) for item in story].count("active") == 1


def test_a_key_written_often_stays_fast(store):
    """The cost of a put and of a search must not grow with the versions of a key."""
    store.batch([PutOp(TEAM, f"other{n}", {"text": f"other {n}"}) for n in range(50)])

    def cost(times):
        began = time.perf_counter()
        for n in range(times):
            store.put(TEAM, "hot", {"text": f"hot value {n}"})
            store.search(TEAM, query="hot value", limit=3)
            store.get(TEAM, "hot")
        return (time.perf_counter() - began) / times

    cost(20)
    early = min(cost(20) for _ in range(3))
    cost(200)
    late = min(cost(20) for _ in range(3))
    assert late < 2.5 * early


def test_a_slot_written_by_other_hands_is_no_item_until_it_is_put(memory, store):
    memory.within("team").remember("We use Postgres.", slot="ledger")
    memory.within("team").remember("Odd.", slot='"odd', metadata={"value": {"a": 1}})
    assert store.get(TEAM, "ledger") is None
    assert store.search(TEAM) == []
    store.delete(TEAM, "ledger")
    assert len(memory.within("team").list()) == 2
    store.put(TEAM, "ledger", {"db": "SQLite"})
    assert store.get(TEAM, "ledger").value == {"db": "SQLite"}
    assert [item.value for item in store.history(TEAM, "ledger")] == [{"db": "SQLite"}]


def test_a_slot_that_is_promised_to_a_later_value_is_refused_at_once(memory, store):
    memory.within("team").remember("From then on.", slot="ledger", valid_from="2099-01-01")
    with pytest.raises(evomem.VersionConflictError):
        store.put(TEAM, "ledger", {"db": "SQLite"})
    assert store.get(TEAM, "ledger") is None


def test_items_are_notes_to_the_memory(memory, store):
    store.put(TEAM, "ledger", {"content": "We moved the ledger to SQLite."})
    (hit,) = memory.within("team").recall("ledger").hits
    assert hit.node.text == "content: We moved the ledger to SQLite."
    assert hit.node.slot == "ledger"


def test_a_batch_of_one_namespace_is_one_patch(memory, store):
    store.batch([PutOp(TEAM, f"k{n}", {"n": n}) for n in range(10)])
    (change,) = memory.within("team").changes()
    assert len(change.operations) == 10
    assert change.source == "langgraph"


def test_many_threads_share_one_store(store):
    def work(number):
        for n in range(10):
            store.put((*TEAM, str(number)), f"k{n}", {"text": f"note {n} of {number}"})
            assert store.search((*TEAM, str(number)), query=f"note {n}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(store.search(TEAM, limit=1000)) == 80
    assert len(store.list_namespaces()) == 8


def test_an_async_memory_serves_as_well(tmp_path):
    async def play():
        async with evomem.aopen(tmp_path / "a.db") as memory:
            store = EvoMemStore(memory)
            await store.aput(TEAM, "k", {"v": 1})
            return await store.aget(TEAM, "k")

    assert asyncio.run(play()).value == {"v": 1}


def test_something_else_than_a_memory_is_refused():
    wrong: Any = "memory.db"
    with pytest.raises(TypeError, match=r"evomem\.open"):
        EvoMemStore(wrong)


def test_a_read_only_store_says_so(tmp_path, memory, store):
    store.put(TEAM, "k", {"v": 1})
    with evomem.open(memory.path, namespace="app", read_only=True) as reader:
        view = EvoMemStore(reader)
        assert [item.value for item in view.search(TEAM)] == [{"v": 1}]
        with pytest.raises(evomem.ReadOnlyError):
            view.put(TEAM, "k", {"v": 2})
