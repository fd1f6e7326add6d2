"""What the case tests share: stores that are checked when a test ends, a clock, refusals."""

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import evomem

FIGURES = ("nodes", "events", "texts", "patches", "pending_reviews")


class Clock:
    """A clock that only a test moves."""

    def __init__(self):
        self.now = datetime(2026, 7, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.now

    def advance(self, **duration):
        self.now += timedelta(**duration)


def every_node(memory):
    nodes = []
    cursor = None
    while True:
        page = memory.list(status="all", limit=1000, cursor=cursor)
        nodes += page.nodes
        if (cursor := page.cursor) is None:
            return nodes


def picture(memory):
    stats = memory.stats()
    return [getattr(stats, name) for name in FIGURES], every_node(memory)


def check_soundness(memory):
    """The index is in step, counts agree with listings, and no link leads nowhere or in a ring."""
    assert memory._context.engine.verify() == []
    nodes = {node.id: node for node in every_node(memory)}
    counted = {status: n for status, n in memory.stats().nodes.items() if n}
    assert counted == Counter(node.status.value for node in nodes.values())
    for node in nodes.values():
        named = {*node.supersedes, *node.superseded_by}
        named |= {one for ids in node.relations.values() for one in ids}
        assert named <= nodes.keys()
    for node in nodes.values():
        seen = set()
        waiting = [node.id]
        while waiting:
            later = nodes[waiting.pop()].superseded_by
            waiting += [one for one in later if one not in seen]
            seen |= {*later}
        assert node.id not in seen


@pytest.fixture
def open_memory():
    """Open stores with linking off unless asked; they are checked and closed at the end."""
    opened = []

    def open_one(path, *, clock=None, **options):
        memory = evomem.open(path, **{"linking": "off", **options})
        if clock is not None:
            memory = evomem.Memory(replace(memory._context, clock=clock))
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        with memory:
            check_soundness(memory)


@pytest.fixture(params=["in a file", "in memory"])
def location(request, tmp_path):
    return tmp_path / "store" / "memory.db" if request.param == "in a file" else ":memory:"


@pytest.fixture
def memory(open_memory, location):
    return open_memory(location)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def timed(open_memory, location, clock):
    """A memory on the test's clock."""
    return open_memory(location, clock=clock)


@pytest.fixture
def found():
    """Ids of the hits of a query, the best first."""

    def find(memory, query, **options):
        return [hit.node.id for hit in memory.recall(query, **options).hits]

    return find


@pytest.fixture
def refused():
    """Expect a refusal of exactly this class that says something useful and changes nothing."""

    @contextmanager
    def refusal(memory, error, match):
        before = picture(memory)
        with pytest.raises(error, match=match) as caught:
            yield caught
        assert type(caught.value) is error
        plain = json.loads(json.dumps(caught.value.to_dict()))
        assert plain["code"] == error.code
        assert plain["message"] == caught.value.message
        assert picture(memory) == before

    return refusal


@pytest.fixture
def notes():
    """The notes of real people, in the order in which they were written."""
    return json.loads(Path(__file__).with_name("notes.json").read_text("ascii"))
