"""A reader sees the store as of one commit."""

import threading

import pytest
from tests.conformance.builders import (
    NO_FILTERS,
    REACH,
    START,
    heads,
    next_version,
    note,
    patch_of,
    replaces,
    store,
)

from evomem.engines.base import SearchLimits


def seen(reader):
    figures = reader.figures(REACH.namespace, START)
    ids = reader.recent(REACH, NO_FILTERS, after=None, limit=99)
    everything = SearchLimits(depth=10_000)
    hits = [h.node_id for h in reader.search(REACH, ["zebra"], NO_FILTERS, everything).hits]
    return figures.texts, figures.patches, figures.statuses, ids, hits, reader.edges(REACH, ids)


def test_a_reader_does_not_see_what_is_committed_meanwhile(engine):
    """A memory-only store lets the writer wait instead; either way the reader sees one state."""
    (old,) = store(engine, "zebra")
    new = next_version(old, "zebra again")
    writer = threading.Thread(
        target=engine.commit, args=(patch_of(new, edges=(replaces(new, old),)),)
    )
    with engine.read() as reader:
        before = seen(reader)
        writer.start()
        writer.join(0.3)
        assert seen(reader) == before
        assert reader.lineage(REACH, [old.id], START).heads(old.id, START) == [old.id]
        assert reader.records(REACH, [new.id]) == {}
        assert reader.memories(REACH, [old.memory_id])[old.memory_id].version == 1
    writer.join(30)
    assert heads(engine, old.id, START) == [new.id]
    with engine.read() as reader:
        assert seen(reader)[:2] == (2, 2)


@pytest.mark.promise("read.own-write")
def test_a_reader_opened_after_a_commit_sees_it_from_any_thread(engine):
    for n in range(10):
        (node,) = store(engine, f"needle{n}")
        found: list[str] = []

        def look(word=f"needle{n}", found=found):
            with engine.read() as reader:
                found.extend(h.node_id for h in reader.search(REACH, [word], NO_FILTERS).hits)

        thread = threading.Thread(target=look)
        thread.start()
        thread.join(30)
        assert found == [node.id]


@pytest.mark.promise("write.atomic")
def test_readers_never_see_half_of_a_patch(engine):
    """Each patch adds two notes and an edge, so the counts always stand in that proportion."""
    done = threading.Event()
    wrong = []

    def watch():
        while not done.is_set():
            with engine.read() as reader:
                texts, patches, _, ids, hits, edges = seen(reader)
                if not len(ids) == len(hits) == texts == 2 * patches == 2 * len(edges):
                    wrong.append((texts, patches, len(ids), len(hits), len(edges)))

    watchers = [threading.Thread(target=watch) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    for _ in range(25):
        old = note("zebra")
        new = next_version(old, "zebra")
        engine.commit(patch_of(old, new, edges=(replaces(new, old),)))
    done.set()
    for watcher in watchers:
        watcher.join(30)
    assert wrong == []


def test_readers_of_one_thread_may_overlap(engine):
    store(engine, "zebra")
    with engine.read() as one, engine.read() as two:
        assert seen(one) == seen(two)


def test_a_failure_inside_a_reader_leaves_the_engine_usable(engine):
    store(engine, "zebra")
    with pytest.raises(KeyError), engine.read():
        raise KeyError
    store(engine, "zebra")
    with engine.read() as reader:
        assert seen(reader)[0] == 2
