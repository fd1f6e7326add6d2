import itertools
import json
import sqlite3
from contextlib import closing

import pytest

import evomem
from evomem.domain import analysis, ranking
from evomem.engines.sqlite import sql
from evomem_bench.corpus import Corpus
from evomem_bench.scale import batches, stores
from evomem_bench.scale.stores import Contents, cache_folder, prepare
from evomem_bench.speed.baseline import RawStore

SMALL = Contents(seed=3, vocabulary=400, notes=40, batch=10)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    folder = tmp_path / "cache"
    monkeypatch.setenv(stores.CACHE_VARIABLE, str(folder))
    return folder


def held(made):
    """Return what both files hold, in order."""
    with closing(sqlite3.connect(made.path)) as connection:
        own = connection.execute(
            "SELECT body, version, dense_rank() OVER (ORDER BY first) FROM ("
            " SELECT node.row, body, version, min(node.row) OVER (PARTITION BY memory_id) AS first"
            " FROM node JOIN text ON text.id = text_id) ORDER BY row"
        ).fetchall()
    with closing(sqlite3.connect(made.raw)) as connection:
        raw = connection.execute("SELECT * FROM node ORDER BY row").fetchall()
    return own, raw


def failing(function, calls):
    """Return the function; after so many calls it is interrupted instead."""
    left = itertools.count(calls, -1)

    def call(*arguments):
        if next(left) <= 0:
            raise KeyboardInterrupt
        return function(*arguments)

    return call


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_each_version_is_in_the_batch_after_the_one_before_it(size):
    notes = Corpus(5, 300).notes(200)
    cut = list(batches.staged(notes, size))
    place = {note: number for number, batch in enumerate(cut) for note in batch}
    assert len(place) == sum(map(len, cut)) == len(notes)
    assert set(place) == set(notes)
    assert max(map(len, cut)) <= size
    chains = {(note.chain, note.version): number for note, number in place.items()}
    for (chain, version), number in chains.items():
        if version > 1:
            assert number == chains[chain, version - 1] + 1


def test_notes_are_drawn_only_as_they_are_needed():
    drawn = []

    def watched():
        for note in Corpus(5, 300).stream(10**12):
            drawn.append(note)
            yield note

    assert len(next(batches.staged(watched(), 20))) == 20
    assert len(drawn) < 100


def test_the_stream_draws_the_notes_of_the_corpus():
    assert list(Corpus(5, 300).stream(50)) == Corpus(5, 300).notes(50)


def test_both_stores_hold_the_notes_and_the_linked_chains_are_one_memory(monkeypatch):
    monkeypatch.setattr(batches, "LINKED_EVERY", 2)
    made = prepare(SMALL)
    own, raw = held(made)
    notes = SMALL.corpus().notes(SMALL.notes)
    assert sorted(text for text, _, _ in own) == sorted(note.text for note in notes)
    assert [row[5] for row in raw] == [text for text, _, _ in own]
    placed = {text: (version, memory) for text, version, memory in own}
    for chain, versions in itertools.groupby(notes, key=lambda note: note.chain):
        texts = [note.text for note in versions]
        lines = {placed[text][1] for text in texts}
        if chain % batches.LINKED_EVERY == 0:
            assert [placed[text][0] for text in texts] == list(range(1, len(texts) + 1))
            assert len(lines) == 1
        else:
            assert len(lines) == len(texts)
    with evomem.open(made.path, read_only=True) as memory:
        assert memory.stats().nodes["superseded"] > 0


def test_stores_in_the_cache_are_used_as_they_are(monkeypatch):
    made = prepare(SMALL)
    before = [path.stat().st_mtime_ns for path in (made.path, made.raw)]
    assert {row["cached"] for row in made.loading} == {False}
    monkeypatch.setattr(Contents, "corpus", lambda _: pytest.fail("drawn again"))
    again = prepare(SMALL)
    assert (again.path, again.raw) == (made.path, made.raw)
    assert [path.stat().st_mtime_ns for path in (made.path, made.raw)] == before
    assert {row["cached"] for row in again.loading} == {True}
    assert [row["notes_per_s"] for row in again.loading] == [
        row["notes_per_s"] for row in made.loading
    ]


@pytest.mark.parametrize(
    "other",
    [
        Contents(4, SMALL.vocabulary, 10, 10),
        Contents(3, 500, 10, 10),
        Contents(3, SMALL.vocabulary, 12, 10),
        Contents(3, SMALL.vocabulary, 10, 5),
    ],
)
def test_other_contents_are_another_store(other):
    one = prepare(Contents(3, SMALL.vocabulary, 10, 10))
    assert prepare(other).path.parent != one.path.parent


def test_a_store_of_another_analysis_is_not_used(monkeypatch):
    made = prepare(SMALL)
    monkeypatch.setattr(analysis, "ANALYSIS_VERSION", analysis.ANALYSIS_VERSION + 1)
    again = prepare(SMALL)
    assert again.path != made.path
    assert {row["cached"] for row in again.loading} == {False}


def test_a_store_with_other_grades_is_not_used(monkeypatch):
    made = prepare(SMALL)
    monkeypatch.setattr(ranking, "_LEVELS", (1, 3, 9, 27))
    assert prepare(SMALL).path != made.path


def test_a_store_of_another_schema_is_not_used(monkeypatch):
    made = prepare(SMALL)
    changed = sql.schema() + "\nCREATE INDEX extra ON text (evidence);\n"
    monkeypatch.setattr(sql, "schema", lambda: changed)
    again = prepare(SMALL)
    assert again.path != made.path
    with closing(sqlite3.connect(again.path)) as connection:
        assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'extra'").fetchone()


@pytest.mark.parametrize("calls", [0, 2])
@pytest.mark.parametrize(("owner", "name"), [(evomem.Memory, "remember_many"), (RawStore, "load")])
def test_an_interrupted_build_goes_on_where_it_stopped(monkeypatch, cache, owner, name, calls):
    whole = held(prepare(SMALL))
    monkeypatch.setenv(stores.CACHE_VARIABLE, str(cache.with_name("other")))
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, failing(getattr(owner, name), calls))
        with pytest.raises(KeyboardInterrupt):
            prepare(SMALL)
    assert [folder.suffix for folder in cache_folder().iterdir()] == [".partial"]
    resumed = prepare(SMALL)
    assert held(resumed) == whole
    assert [folder.suffix for folder in cache_folder().iterdir()] == [""]
    loaded = {row["system"].split(",")[0]: row["loaded"] for row in resumed.loading}
    ahead = (calls + 1 if name == "load" else calls) * SMALL.batch
    assert loaded["raw"] == SMALL.notes - calls * SMALL.batch
    assert loaded["remember_many"] == SMALL.notes - ahead


def test_a_folder_with_something_else_in_it_is_refused(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(RawStore, "load", failing(RawStore.load, 1))
        with pytest.raises(KeyboardInterrupt):
            prepare(SMALL)
    (partial,) = cache_folder().iterdir()
    with closing(RawStore(partial / "raw.db")) as raw:
        raw.load(SMALL.corpus().notes(3), 3)
    with pytest.raises(RuntimeError, match="Delete it"):
        prepare(SMALL)


def test_the_rates_of_the_load_are_kept_beside_the_stores():
    made = prepare(SMALL)
    kept = json.loads((made.path.parent / "loading.json").read_text("utf-8"))
    assert [row["loaded"] for row in kept] == [SMALL.notes, SMALL.notes]
    assert kept[0]["ratio"] == 1
    assert kept[1]["chains_linked"] == f"1 of {batches.LINKED_EVERY}"
