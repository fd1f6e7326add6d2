"""Vectors on the write path: in the same commit, in time, and never at the cost of a note."""

import hashlib
import itertools
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

import evomem
from evomem import Supersede
from evomem.domain.patch import Patch
from evomem.engines.base import StaleError
from evomem.service import embedding, opening
from evomem.service import reindex as reindexing

REMEDY = "evomem reindex"


class Words:
    """Hashes words into a vector: what shares words is near. It does as told, and counts."""

    def __init__(self, name="words/1", dimension=16):
        self.name = name
        self.dimension = dimension
        self.asked = []
        self.answer = None

    def embed(self, texts, *, query):
        self.asked += [] if query else texts
        if isinstance(self.answer, Exception):
            raise self.answer
        rows = [self.row(text) for text in texts]
        return rows if self.answer is None else self.answer(texts, rows)

    def row(self, text):
        row = [0.01] * self.dimension
        for word in text.lower().split():
            row[hashlib.sha256(word.encode()).digest()[0] % self.dimension] += 1.0
        return row


@pytest.fixture
def words():
    return Words()


@pytest.fixture(params=["file", "memory"])
def memory(request, tmp_path, words):
    path = ":memory:" if request.param == "memory" else tmp_path / "store.db"
    with evomem.open(path, embedder=words, linking="off") as opened:
        yield opened
        assert opened.doctor().ok


def stored(memory):
    """Every vector in the store, by node."""
    with memory._context.engine._pool.reader() as connection:
        rows = connection.execute(
            "SELECT node.id, vector.value FROM vector JOIN node ON node.row = vector.node"
        )
        return dict(rows.fetchall())


def ids(result):
    return [hit.node.id for hit in result.hits]


def test_a_note_and_its_vector_are_one_commit(memory, words):
    result = memory.remember("The ledger runs on Postgres.", subject="ledger database")
    assert words.asked == ["ledger database\nThe ledger runs on Postgres."]
    assert stored(memory).keys() == {result.node.id}
    assert (result.warnings, memory.stats().missing_vectors) == ((), 0)
    assert memory.stats().embedder == "words/1"
    assert ids(memory.recall("Postgres runs", ranking="vector")) == [result.node.id]


def test_every_write_of_a_text_has_a_vector(memory):
    first = memory.remember("one")
    memory.remember_many(["two", "three"])
    event = memory.record_event("user", "say four")
    patch = memory.apply(
        [
            evomem.Add(subject="s", content="four"),
            Supersede(memory_id=first.node.memory_id, expected_version=1, new_content="five"),
        ],
        evidence=[event.id],
    )
    undone = memory.rollback(patch.patch_id)
    assert (patch.warnings, undone.warnings) == ((), ())
    stats = memory.stats()
    assert len(stored(memory)) == stats.texts == 6
    assert stats.missing_vectors == 0


@pytest.mark.parametrize("off", ["none", None])
def test_without_an_embedder_nothing_is_missing(tmp_path, off):
    with evomem.open(tmp_path / "store.db", embedder=off) as memory:
        assert memory.remember("one").warnings == ()
        stats = memory.stats()
        assert (stats.missing_vectors, stats.embedder) == (0, None)
        assert memory.reindex() == evomem.ReindexResult()


def nothing(texts, rows):
    return rows[:-1]


def not_a_number(texts, rows):
    return [[float("nan")] * len(row) for row in rows]


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize(
    "answer",
    [RuntimeError("no model"), nothing, not_a_number, lambda t, r: None, lambda t, r: [[0.0]]],
    ids=["raises", "fewer", "nan", "none", "zero"],
)
def test_an_embedder_that_fails_costs_the_vector_and_not_the_note(memory, words, answer):
    words.answer = answer
    result = memory.remember("The ledger runs on Postgres.")
    assert REMEDY in result.warnings[0]
    assert "words/1" in result.warnings[0]
    assert (memory.stats().missing_vectors, stored(memory)) == (1, {})
    assert ids(memory.recall("ledger", ranking="lexical")) == [result.node.id]
    event = memory.record_event("user", "say")
    change = Supersede(memory_id=result.node.memory_id, expected_version=1, new_content="new")
    patch = memory.apply([change], evidence=[event.id])
    assert REMEDY in patch.warnings[-1]
    # The rollback restores the text as a new version.
    assert REMEDY in memory.rollback(patch.patch_id).warnings[0]


@pytest.mark.promise("raw.kept")
def test_an_embedder_that_hangs_delays_a_note_by_the_deadline_alone(memory, words, monkeypatch):
    monkeypatch.setattr(embedding, "PATIENCE_S", 0.2)
    hanging = threading.Event()
    words.answer = lambda texts, rows: hanging.wait(30) and rows
    try:
        begun = time.monotonic()
        first = memory.remember("one")
        second = memory.remember("two")
        assert time.monotonic() - begun < 5
    finally:
        hanging.set()
    assert "did not answer within" in first.warnings[0]
    assert "busy" in second.warnings[0]
    assert memory.stats().missing_vectors == 2


def test_once_it_answers_again_a_commit_adds_what_is_missing(memory, words):
    words.answer = RuntimeError("down")
    memory.remember_many([f"note {n}" for n in range(40)])
    words.answer = None
    assert memory.remember("back").warnings == ()
    assert memory.stats().missing_vectors == 40 - embedding.FILLED
    memory.remember("again")
    assert memory.stats().missing_vectors == 0
    words.asked.clear()
    memory.remember("quiet")
    assert words.asked == ["quiet"]


def test_what_cannot_be_filled_is_left_to_reindex_and_costs_later_notes_nothing(memory, words):
    words.answer = lambda texts, rows: rows if "poison" not in " ".join(texts) else None
    memory.remember("poison")
    assert memory.remember("fine").warnings == ()
    words.asked.clear()
    assert memory.remember("fine too").warnings == ()
    assert words.asked == ["fine too"]
    assert memory.stats().missing_vectors == 1


def test_vectors_of_another_dimension_are_refused_with_a_warning(tmp_path):
    path = tmp_path / "store.db"
    with evomem.open(path, embedder=Words()) as memory:
        memory.remember("one")
    with evomem.open(path, embedder=Words(dimension=5)) as memory:
        result = memory.remember("two")
        assert "vectors of 5 numbers" in result.warnings[0]
        found = memory.reindex()
        assert (found.embedded, found.missing) == (0, 1)
        assert "vectors of 5 numbers" in str(found.failure)
        assert memory.recall("one", ranking="vector").hits == ()
        assert memory.doctor().ok


def test_a_plan_that_is_outdated_is_made_anew_without_embedding_again(memory, words, monkeypatch):
    engine = memory._context.engine
    commit, tries = engine.commit, []

    def outdated(patch: Patch):
        tries.append(patch)
        if len(tries) < 4:
            raise StaleError
        return commit(patch)

    monkeypatch.setattr(engine, "commit", outdated)
    result = memory.remember("one")
    assert len(tries) == 4
    assert words.asked == ["one"]
    assert stored(memory).keys() == {result.node.id}


def test_a_failure_is_not_waited_for_again_in_the_attempts_of_one_write(memory, words, monkeypatch):
    engine = memory._context.engine
    commit, tries = engine.commit, []

    def outdated(patch: Patch):
        tries.append(patch)
        if len(tries) < 4:
            raise StaleError
        return commit(patch)

    monkeypatch.setattr(engine, "commit", outdated)
    words.answer = RuntimeError("down")
    assert REMEDY in memory.remember("one").warnings[0]
    assert words.asked == ["one"]


def test_equal_texts_are_embedded_once(memory, words):
    memory.remember_many([{"text": "same", "scope": str(n)} for n in range(3)])
    assert words.asked == ["same"]
    assert len(stored(memory)) == 3


def test_the_vectors_kept_for_retries_are_few(memory, monkeypatch):
    monkeypatch.setattr(embedding, "_KEPT", 5)
    memory.remember_many([f"note {n}" for n in range(20)])
    assert len(memory._context.recent_vectors._kept) == 5
    assert memory.stats().missing_vectors == 0


def test_a_purge_leaves_no_byte_of_a_vector(tmp_path, words):
    path = tmp_path / "store.db"
    with evomem.open(path, embedder=words) as memory:
        kept, gone = memory.remember("kept words here"), memory.remember("secret matter of anna")
        vectors = stored(memory)
        memory.forget(gone.node.id, purge=True)
        assert stored(memory).keys() == {kept.node.id}
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        held = path.read_bytes()
        assert vectors[kept.node.id] in held
        assert vectors[gone.node.id] not in held
        assert memory.stats().missing_vectors == 0


def test_a_note_purged_and_a_repair_leave_doctor_content(memory):
    memory.remember("one")
    memory.forget(memory.remember("two").node.id, purge=True)
    memory._context.engine.rebuild()
    assert memory.doctor().ok
    assert len(stored(memory)) == 1


def test_a_new_embedder_compares_nothing_old_and_reindex_fills_it(tmp_path):
    path = tmp_path / "store.db"
    with evomem.open(path, embedder=Words()) as memory:
        memory.remember_many([f"note {n}" for n in range(100)])
    seen = []
    with evomem.open(path, embedder=Words("words/2", 8)) as memory:
        assert memory.stats().missing_vectors == 100
        blind = memory.recall("note 7", ranking="vector")
        assert (blind.hits, blind.exact) == ((), False)
        assert "100 notes have no vector by words/2" in blind.warnings[0]
        result = memory.reindex(progress=lambda done, total: seen.append((done, total)))
        assert (result.embedded, result.missing, result.failure) == (100, 0, None)
        assert result.embedder == "words/2"
        assert seen[-1] == (100, 100)
        assert [done for done, _ in seen] == sorted({done for done, _ in seen})
        assert memory.recall("note 7", ranking="vector").hits
        assert memory.reindex().embedded == 0
    with evomem.open(path, embedder=Words()) as memory:
        assert memory.stats().missing_vectors == 0


def test_reindex_stays_behind_the_wall(tmp_path, words):
    path = tmp_path / "store.db"
    for namespace in ("a", "a/x", "b"):
        with evomem.open(path, namespace=tuple(namespace.split("/"))) as memory:
            memory.remember(f"note of {namespace}")

    def missing():
        counts = []
        for namespace in ("a", "a/x", "b"):
            with evomem.open(path, namespace=tuple(namespace.split("/")), embedder=words) as m:
                counts.append(m.stats().missing_vectors)
        return counts

    with evomem.open(path, namespace="a", embedder=words) as memory:
        assert memory.reindex(include_children=False).embedded == 1
        assert missing() == [0, 1, 1]
        assert memory.reindex().embedded == 1
        assert missing() == [0, 0, 1]
    assert words.asked == ["note of a", "note of a/x"]


def test_a_text_that_cannot_be_embedded_does_not_cost_the_others(memory, words):
    words.answer = RuntimeError("down")
    memory.remember_many([f"note {n}" for n in range(70)] + ["poison"])
    words.answer = lambda texts, rows: rows if "poison" not in texts else None
    result = memory.reindex()
    assert (result.embedded, result.missing) == (70, 1)
    assert "words/1" in result.failure


def test_reindex_gives_up_when_it_is_not_the_texts(memory, words):
    words.answer = RuntimeError("down")
    memory.remember_many([f"note {n}" for n in range(200)])
    words.asked.clear()
    result = memory.reindex()
    assert (result.embedded, result.missing) == (0, 200)
    assert "down" in result.failure
    assert len(words.asked) < 80


def test_reindex_needs_a_store_that_may_be_written(tmp_path, words):
    path = tmp_path / "store.db"
    with evomem.open(path) as memory:
        memory.remember("one")
    with (
        evomem.open(path, embedder=words, read_only=True) as memory,
        pytest.raises(evomem.ReadOnlyError),
    ):
        memory.reindex()


def test_writers_go_on_while_reindex_runs(tmp_path, words, monkeypatch):
    monkeypatch.setattr(reindexing, "PAGE", 4)
    path = tmp_path / "store.db"
    with evomem.open(path, linking="off") as memory:
        memory.remember_many([f"old {n}" for n in range(100)])
    with (
        evomem.open(path, embedder=words, linking="off") as one,
        evomem.open(path, embedder=Words(), linking="off") as other,
    ):
        with ThreadPoolExecutor(4) as pool:
            jobs = [pool.submit(m.reindex) for m in (one, other)]
            writes = [pool.submit(one.remember, f"new {n}") for n in range(20)]
            results = [job.result() for job in jobs]
            assert all(write.result().warnings == () for write in writes)
        assert sum(result.embedded for result in results) == 100
        assert all(result.failure is None for result in results)
        assert one.stats().missing_vectors == 0
        assert len(stored(one)) == 120
        assert one.doctor().ok


SLOW_REINDEX = """
import sys, time, evomem
from evomem.service import reindex
reindex.PAGE = 4
def embed(texts):
    time.sleep(0.02)
    return [[1.0, float(len(text))] for text in texts]
embed.name = "slow/1"
with evomem.open(sys.argv[1], embedder=embed) as memory:
    memory.reindex(progress=lambda done, total: print(done, flush=True))
"""


@pytest.mark.subprocess
def test_a_killed_reindex_goes_on_where_it_was(tmp_path):
    path = tmp_path / "store.db"
    with evomem.open(path, linking="off") as memory:
        memory.remember_many([f"note {n}" for n in range(200)])
    command = [sys.executable, "-c", SLOW_REINDEX, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        seen = [int(line) for line in itertools.islice(process.stdout or (), 3)]
        process.kill()
    assert seen == [4, 8, 12]

    with evomem.open(path, embedder=Words("slow/1", 2)) as memory:
        left = memory.stats().missing_vectors
        assert 0 < left <= 188
        result = memory.reindex()
        assert (result.embedded, result.missing) == (left, 0)
        assert memory.doctor().ok


def test_without_numpy_the_extra_is_named(tmp_path, words, monkeypatch):
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(evomem.MissingExtraError, match=r"evomem-core\[vectors\]"):
        evomem.open(tmp_path / "store.db", embedder=words)
    assert not (tmp_path / "store.db").exists()


def test_an_unknown_embedder_is_refused_before_a_store_is_made(tmp_path):
    with pytest.raises(evomem.InvalidRequestError, match="embedder"):
        evomem.open(tmp_path / "store.db", embedder="word2vec")
    assert not (tmp_path / "store.db").exists()
