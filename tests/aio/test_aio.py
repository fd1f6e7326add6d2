"""The async handle: same names, any loop, and a cancelled call leaves a whole store."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
import time
from contextlib import closing

import pytest

import evomem
from evomem.service.aio import AsyncMemory


def test_every_public_method_of_the_memory_has_its_async_twin():
    public = {
        name
        for name, value in inspect.getmembers(evomem.Memory)
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    }
    assert public - set(vars(AsyncMemory)) == set()


def test_the_story_runs_inside_a_running_loop(tmp_path):
    async def play():
        async with evomem.aopen(tmp_path / "m.db", namespace="a") as memory:
            old = await memory.remember("We picked Postgres for the ledger.")
            new = await memory.remember("We moved the ledger to SQLite.", supersedes=old.node.id)
            hits = (await memory.recall("ledger postgres")).hits
            story = await memory.history(old.node.id)
            below = await memory.within("b").list()
            return new.node.id, hits, story, len(below)

    new, hits, story, below = asyncio.run(play())
    assert [hit.node.id for hit in hits] == [new]
    assert [node.status for node in story] == ["active", "superseded"]
    assert below == 0


@pytest.mark.promise("read.own-write")
def test_one_handle_serves_two_loops_one_after_the_other(tmp_path):
    memory = asyncio.run(_opened(tmp_path / "m.db"))
    asyncio.run(memory.remember("first loop"))
    found = asyncio.run(memory.recall("first"))
    assert [hit.node.text for hit in found.hits] == ["first loop"]
    asyncio.run(memory.close())


async def _opened(path):
    return await evomem.aopen(path)


def test_the_loop_goes_on_while_a_write_waits_for_the_lock(tmp_path):
    path = tmp_path / "m.db"

    async def run():
        async with evomem.aopen(path) as memory:
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                write = asyncio.create_task(memory.remember("waits for the lock"))
                turns = 0
                while turns < 20:
                    await asyncio.sleep(0.005)
                    turns += 1
                assert not write.done()
                other.execute("ROLLBACK")
            return (await write).node.text, turns

    assert asyncio.run(run()) == ("waits for the lock", 20)


@pytest.mark.promise("write.atomic")
def test_a_cancelled_write_is_there_wholly_or_not_at_all(tmp_path):
    async def run():
        async with evomem.aopen(tmp_path / "m.db") as memory:
            for number in range(30):
                task = asyncio.create_task(memory.remember(f"decision {number}"))
                await asyncio.sleep(0.0005 * (number % 4))
                task.cancel()
                await asyncio.wait([task])

    asyncio.run(run())
    with evomem.open(tmp_path / "m.db") as memory:
        assert memory._context.engine.verify() == []
        for node in memory.list(limit=100):
            assert memory.recall(node.text, k=100).hits


@pytest.mark.promise("write.atomic", "read.own-write")
def test_many_tasks_write_at_once_and_all_is_kept(tmp_path):
    async def run():
        async with evomem.aopen(tmp_path / "m.db") as memory:
            await asyncio.gather(*(memory.remember(f"task {n}") for n in range(60)))
            return (await memory.stats()).nodes["active"]

    assert asyncio.run(run()) == 60


def test_opening_a_folder_is_refused_as_in_the_sync_call(tmp_path):
    async def run():
        await evomem.aopen(tmp_path)

    started = time.monotonic()
    with pytest.raises(evomem.EngineError, match="is a folder"):
        asyncio.run(run())
    assert time.monotonic() - started < 5
