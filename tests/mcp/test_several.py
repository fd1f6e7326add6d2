"""Several servers and a Python handle on one file."""

import contextlib
import statistics
import threading
import time
from typing import Any

import pytest
from tests.mcp.wire import Wire

import evomem

pytestmark = pytest.mark.subprocess


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared") / "memory.db"


@pytest.fixture(scope="module")
def servers(shared, compiled):
    with contextlib.ExitStack() as stack:
        words = ("--db", shared, "--linking", "off")
        wires = [stack.enter_context(Wire(*words, env=compiled)) for _ in range(4)]
        for wire in wires:
            wire.hello()
        yield wires


def at_once(*tasks):
    failures = []

    def guarded(task):
        try:
            task()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=[task]) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []


def active(wire):
    return wire.call("stats")["structuredContent"]["nodes"]["active"]


def test_four_servers_write_to_one_file_without_a_failure(servers):
    """CON-001: 200 notes, no error, p95 below 2 s, and every server sees all of them."""
    took = []
    before = active(servers[0])

    def write(number, wire):
        for i in range(50):
            started = time.perf_counter()
            text = f"note {number}-{i} about item{number}x{i}"
            assert wire.call("remember", raw_text=text)["isError"] is False
            took.append(time.perf_counter() - started)

    at_once(*(lambda n=n, w=w: write(n, w) for n, w in enumerate(servers)))
    for wire in servers:
        assert active(wire) == before + 200
        (hit, *_) = wire.call("recall", query="item3x49")["structuredContent"]["hits"]
        assert hit["node"]["text"] == "note 3-49 about item3x49"
    assert statistics.quantiles(took, n=20)[-1] < 2


def test_two_servers_and_a_python_handle_lose_nothing(shared, servers):
    """CON-002: success is reported after the commit only; nobody discards another's work."""
    written = []

    def write(number, wire):
        for i in range(20):
            kept = wire.call("remember", raw_text=f"entity {number}-{i}")["structuredContent"]
            written.append(kept["node"]["id"])
            assert memory.get_node(written[-1]).text == f"entity {number}-{i}"

    def write_here():
        written.extend(memory.remember(f"entity here {i}").node.id for i in range(20))

    with evomem.open(shared, linking="off") as memory:
        before = memory.stats().nodes["active"]
        at_once(lambda: write(0, servers[0]), lambda: write(1, servers[1]), write_here)
        assert memory.stats().nodes["active"] - before == len(set(written)) == 60
        for wire in servers:
            assert wire.call("get_node", node_id=written[-1])["isError"] is False


@pytest.mark.promise("head.cas")
def test_two_servers_race_to_replace_one_note_and_both_land_in_order(servers):
    old = servers[0].call("remember", raw_text="We picked Postgres.")["structuredContent"]
    old_id = old["node"]["id"]

    def replace(wire, name):
        kept = wire.call("remember", raw_text=f"It is {name}.", supersedes=[old_id])
        assert kept["isError"] is False

    at_once(lambda: replace(servers[0], "SQLite"), lambda: replace(servers[1], "DuckDB"))
    story = servers[2].call("history", node_id=old_id)["structuredContent"]["nodes"]
    assert [node["version"] for node in story] == [3, 2, 1]
    assert [node["status"] for node in story] == ["active", "superseded", "superseded"]


@pytest.mark.promise("head.cas")
def test_of_two_clients_with_the_same_expected_version_exactly_one_wins(shared, compiled):
    with contextlib.ExitStack() as stack:
        words = ("--db", shared, "--toolset", "patch")
        wires = [stack.enter_context(Wire(*words, env=compiled)) for _ in range(2)]
        for wire in wires:
            wire.hello()
        said = wires[0].call("memory_record_event", role="user", content="Count.")
        evidence = [said["structuredContent"]["id"]]

        def apply(wire, **operation):
            request = {"operations": [operation], "evidence": evidence}
            return wire.call("memory_apply", request=request)["structuredContent"]

        added = apply(wires[0], op="ADD", subject="counter", content="It is at one.")
        step = {"op": "SUPERSEDE", "memory_id": added["operations"][0]["memory_id"]}

        def race(version):
            answers: dict[int, Any] = {}

            def change(number):
                content = f"It is at {version}, by client {number}."
                expected = {"expected_version": version, "new_content": content}
                answers[number] = apply(wires[number], **step, **expected)

            at_once(lambda: change(0), lambda: change(1))
            return answers

        for version in range(1, 11):
            answers = race(version)
            (winner,) = [number for number, answer in answers.items() if answer["ok"]]
            error = answers[1 - winner]["error"]
            assert error["code"] == "VERSION_CONFLICT"
            assert error["details"]["current"]["version"] == version + 1
            assert f"client {winner}" in error["details"]["current"]["content"]
        read = wires[0].call("memory_history", memory_id=step["memory_id"])["structuredContent"]
        assert [v["version"] for v in read["versions"]] == list(range(1, 12))
