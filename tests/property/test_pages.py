"""Pages: of any sizes they make up the whole, each node once, in one order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.builders import HOME, NO_FILTERS, Clock, open_memory

import evomem
from evomem.domain.namespace import Reach
from evomem.engines.sqlite.engine import SqliteEngine

WORDS = ["ledger", "postgres", "sqlite", "deploy", "friday", "backup"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
HOURS = st.sampled_from([None, None, None, -30, -1, 5])
REACH = Reach(HOME)

NOTES = st.lists(
    st.tuples(
        TEXTS,
        st.sampled_from(["new", "linked", "slot", "supersedes", "refines", "amends", "overrides"]),
        st.integers(0, 50),
        HOURS,
    ),
    min_size=4,
    max_size=30,
)
SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def written(notes):
    """A memory in which some notes replace, amend or override others, and a few are forgotten."""
    clock = Clock()
    memory = open_memory(SqliteEngine(":memory:"), clock, HOME)
    ids: list[str] = []
    for number, (text, kind, target, hours) in enumerate(notes):
        clock.advance(hours=1)
        begins = None if hours is None else clock.now + timedelta(hours=hours)
        options: dict[str, Any] = {"valid_from": begins}
        if kind == "slot":
            options["slot"] = "s"
        old = memory.history(ids[target % len(ids)])[0] if ids else None
        if old and kind not in {"new", "linked", "slot"}:
            named = {"id": old.id, "part": old.text.split()[0]} if kind == "amends" else old.id
            options[kind] = named
            if kind == "overrides":
                options["scope"] = f"{old.scope or 'eu'}/x"
        ids.append(memory.remember(f"{text} {number}", **options).node.id)
        if old and kind == "linked" and old.scope is None:
            # What was said before replaces what was said after it.
            memory.link(old.id, supersedes=ids[-1])
        if target == 50:
            memory.forget(ids[0])
    return memory


def answers(memory, query, k, offset, **options):
    hits = memory.recall(query, k=k, offset=offset, **options).hits
    return [hit.node.id for hit in hits if hit.matched.by != "amends"]


def paged(sizes, page):
    found: list[str] = []
    at = 0
    for number in range(200):
        size = sizes[number % len(sizes)]
        more = page(size, at)
        if not more:
            return found
        found, at = found + more, at + size
    raise AssertionError


@settings(max_examples=40)
@given(NOTES, SIZES, st.sampled_from(["", "ledger", "sqlite postgres", "friday 3 backup"]))
def test_pages_of_a_recall_make_up_a_larger_one(notes, sizes, query):
    memory = written(notes)
    for options in ({}, {"scope": "eu/x"}, {"status": "active"}, {"include_removed": True}):
        whole = answers(memory, query, 100, 0, **options)
        pages = paged(sizes, lambda k, at, given=options: answers(memory, query, k, at, **given))
        assert pages == whole
        assert len(set(whole)) == len(whole)


@settings(max_examples=40)
@given(NOTES, SIZES, st.sampled_from(["active", "all", "superseded", "scheduled"]))
def test_pages_of_a_list_make_up_the_whole(notes, sizes, status):
    memory = written(notes)
    whole = [node.id for node in memory.list(limit=1000, status=status)]

    def page(size, at, cursor=None):
        found = memory.list(limit=size, offset=at, status=status, cursor=cursor)
        return [node.id for node in found]

    assert paged(sizes, page) == whole
    if whole:
        behind = whole[len(whole) // 2]
        rest = whole[len(whole) // 2 + 1 :]
        assert paged(sizes, lambda size, at: page(size, at, behind)) == rest


@pytest.mark.promise("resolve.total")
@settings(max_examples=60)
@given(NOTES, st.booleans())
def test_leaving_out_what_was_replaced_changes_no_answer(notes, earlier):
    """A list and a blank recall against every node, resolved one by one."""
    memory = written(notes)
    clock = memory._context.clock
    at = clock.now - timedelta(hours=len(notes) // 2 if earlier else 0)
    options = {"known_at": at} if earlier else {}
    with memory._context.engine.read() as latest:
        reader = latest.known_by(at) if earlier else latest
        ids = reader.recent(REACH, NO_FILTERS, after=None, limit=10_000)
        lineage = reader.lineage(REACH, ids, at)
    active = [n for n in ids if lineage.status(n, at) == "active"]
    assert [node.id for node in memory.list(limit=1000, **options)] == active
    changed: dict[str, str] = {}
    for node_id in ids:
        for head in lineage.first_heads(node_id, at):
            changed.setdefault(head, node_id)
    shown = [h for h in changed if lineage.status(h, at) in {"active", "scheduled"}]
    hits = memory.recall("", k=100, **options).hits
    told = [(h.node.id, h.matched.node_id) for h in hits if h.matched.by == "recent"]
    assert told == [(head, changed[head]) for head in shown]


def by_letters(texts, *, query):
    """A vector says how often some letters stand in a text: many are equal."""
    return [[1.0, *(float(text.count(letter)) for letter in "abdeg")] for text in texts]


def many(count, embedder=None):
    """Some namespaces full of notes that score alike, a few of which state the same."""
    memory = evomem.open(":memory:", namespace="home", linking="off", embedder=embedder)
    places = [memory.within(f"home/n{number}") for number in range(5)]
    for number in range(count):
        text = f"ledger item {'backup ' * (number % 3)}{number % (count * 4 // 5)}"
        tags = ["odd"] if number % 2 else []
        places[number % 7 % 5].remember(text, tags=tags)
    return memory


@pytest.fixture(scope="module")
def crowd():
    with many(400, by_letters) as memory:
        yield memory


CROWDED: Any = {"include_children": True}


@pytest.mark.parametrize("ranking", ["lexical", "vector", "hybrid"])
@pytest.mark.parametrize("options", [{}, {"tags": ["odd"]}, {"tags_none": ["odd"]}], ids=str)
@settings(max_examples=8)
@given(sizes=st.lists(st.integers(1, 100), min_size=1, max_size=4).filter(lambda s: sum(s) > 30))
def test_pages_over_namespaces_full_of_equals_make_up_a_larger_one(crowd, ranking, options, sizes):
    asked = {**CROWDED, **options, "ranking": ranking}

    def page(k, at):
        return answers(crowd, "ledger backup", k, at, **asked)

    pages = paged(sizes, page)
    assert len(set(pages)) == len(pages)
    assert pages == paged([100], page)
    assert pages[: len(first := page(100, 0))] == first
    stated = {(n.namespace, n.text) for n in everything(crowd, **CROWDED, **options)}
    assert len(pages) == len(stated)


def everything(memory, **options):
    found: list[Any] = []
    while more := memory.list(limit=1000, offset=len(found), **options):
        found += more
    return found


def test_pages_of_equals_in_many_namespaces_share_nothing():
    memory = evomem.open(":memory:", namespace="home", linking="off")
    places = [memory.within(f"home/n{number}") for number in range(10)]
    for number in range(1200):
        places[number % 10].remember(f"ledger item {number}")
    pages = [memory.recall("ledger", k=100, offset=at, **CROWDED) for at in range(0, 1200, 100)]
    assert len({hit.node.id for page in pages for hit in page.hits}) == 1200
    assert all(page.exact for page in pages)
