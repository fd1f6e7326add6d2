"""Many processes write to one file: nothing is refused, nothing is lost."""

import itertools
import json
import subprocess
import sys
import threading

import pytest
from tests.concurrency.processes import assert_sound, ids_in_order, race, remembers
from tests.mcp.wire import Wire

import evomem

pytestmark = pytest.mark.subprocess

WRITERS = 8
NOTES = 60


@pytest.mark.promise("write.durable", "write.atomic", "read.own-write")
def test_eight_processes_write_at_once_and_every_note_is_kept(path, memory):
    """CON-001, CON-002."""
    told = race(path, *([remembers(f"w{w} n{n}") for n in range(NOTES)] for w in range(WRITERS)))
    assert [len(one) for one in told] == [NOTES] * WRITERS
    assert [note for one in told for note in one if "code" in note] == []
    made = {note["id"]: w for w, one in enumerate(told) for note in one}
    assert len(made) == WRITERS * NOTES
    order = ids_in_order(memory)
    assert set(order) == made.keys()
    for one in told:
        own = {note["id"] for note in one}
        assert [i for i in order if i in own] == [note["id"] for note in one]
    assert memory.recall("w7 n59", k=1).hits[0].node.id == told[7][59]["id"]
    assert_sound(path)
    # They did write at once: all were at it together, and took turns.
    assert max(one[0]["began"] for one in told) < min(one[-1]["ended"] for one in told)
    assert sum(made[a] != made[b] for a, b in itertools.pairwise(order)) > WRITERS


@pytest.mark.promise("write.durable")
def test_eight_processes_make_one_store_at_once(path):
    told = race(path, *([remembers(f"note {w}")] for w in range(8)), meet="start")
    with evomem.open(path, linking="off") as memory:
        assert set(ids_in_order(memory)) == {note["id"] for (note,) in told}
        assert memory.stats().nodes["active"] == 8
    assert_sound(path)


@pytest.mark.promise("read.own-write")
def test_two_servers_the_command_line_and_a_handle_share_one_file(path, memory, compiled):
    """Servers and handles alone: tests/mcp/test_several.py."""
    made: dict[str, str] = {}
    barrier = threading.Barrier(4)

    def serve():
        with Wire("--db", path, "--linking", "off", env=compiled) as wire:
            wire.hello()
            name = f"server {wire.process.pid}"
            barrier.wait(30)
            for n in range(10):
                kept = wire.call("remember", raw_text=f"{name} note {n}")
                made[kept["structuredContent"]["node"]["id"]] = f"{name} note {n}"

    def command():
        barrier.wait(30)
        for n in range(2):
            words = ["--db", str(path), "--json", "remember", f"command note {n}"]
            done = subprocess.run(
                [sys.executable, "-m", "evomem", *words], capture_output=True, check=True, text=True
            )
            made[json.loads(done.stdout)["node"]["id"]] = f"command note {n}"

    def handle():
        barrier.wait(30)
        for n in range(10):
            made[memory.remember(f"handle note {n}").node.id] = f"handle note {n}"

    threads = [threading.Thread(target=each) for each in (serve, serve, command, handle)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(made) == 32
    assert {i: memory.get_node(i).text for i in ids_in_order(memory)} == made
    assert_sound(path)
