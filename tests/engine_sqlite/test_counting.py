"""How many documents hold a term is right after whatever was written, and keeps no purged word."""

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import (
    HOME,
    NO_FILTERS,
    next_version,
    note,
    patch_of,
    purge_of,
    removal,
    replaces,
    store,
)
from tests.engine_sqlite.processes import let_go, output, workers

from evomem.domain.facets import is_facet
from evomem.domain.namespace import Reach
from evomem.domain.ranking import rounded_length
from evomem.engines.base import SearchLimits
from evomem.engines.sqlite import counting
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.search import SqliteIndex
from evomem.engines.sqlite.sql import QUERIES

WORDS = [f"word{n}" for n in range(8)]
OTHERS = [(*HOME, "below"), ("tenant", "beside")]


def spaces(connection):
    return dict(connection.execute("SELECT path, id FROM namespace"))


def index_of(connection, ids):
    def query(name, **values):
        return connection.execute(QUERIES[name], values).fetchall()

    return SqliteIndex(query, ids, NO_FILTERS, {})


def recounted(connection, ids, words):
    """Count documents, tokens and those that hold each term, from the documents themselves."""
    lengths: dict[int, int] = {}
    held: Counter[str] = Counter()
    for row, tokens in connection.execute("SELECT row, tokens FROM search_doc"):
        if row >> 42 in ids:
            lengths[row >> 10] = rounded_length(row)
            held.update(token for token in tokens.split() if not is_facet(token))
    return len(lengths), sum(lengths.values()), {word: held[word] for word in words}


def check_counts(connection, words=(*WORDS, "none", "nowhere", "~", "~word0")):
    every = list(spaces(connection).values())
    for ids in (*([space] for space in every), every):
        corpus = index_of(connection, ids).corpus(words)
        got = (corpus.documents, corpus.tokens, dict(corpus.frequency))
        assert got == recounted(connection, ids, words)


def check(engine):
    assert engine.verify() == []
    with engine._snapshot() as connection:
        check_counts(connection)


class Author:
    def __init__(self, engine, rng):
        self.engine, self.rng = engine, rng
        self.standing, self.forgotten = [], []

    def act(self):
        acts = [self.add, self.add, self.add]
        acts += [self.replace, self.forget, self.purge] if self.standing else []
        acts += [self.purge_forgotten] if self.forgotten else []
        self.rng.choice(acts)()

    def text(self):
        return " ".join(self.rng.choices(WORDS, k=self.rng.randint(1, 6)))

    def add(self):
        namespace = self.rng.choice([HOME, HOME, *OTHERS])
        nodes = [note(self.text(), namespace=namespace, tags=("word0",)) for _ in range(2)]
        self.engine.commit(patch_of(*nodes, namespace=namespace))
        self.standing += nodes

    def replace(self):
        old = self.take()
        new = next_version(old, self.text())
        self.engine.commit(patch_of(new, namespace=new.namespace, edges=(replaces(new, old),)))
        self.standing.append(new)

    def forget(self):
        self.forgotten.append(self.take())
        self.engine.commit(removal(self.forgotten[-1]))

    def purge(self):
        self.engine.commit(removal(self.take(), purge=True))

    def purge_forgotten(self):
        self.engine.commit(purge_of(self.forgotten.pop()))

    def take(self):
        return self.standing.pop(self.rng.randrange(len(self.standing)))


@pytest.fixture(params=[0, 3], ids=["counted at once", "counted by fours"])
def batches(request, monkeypatch):
    monkeypatch.setattr(counting, "_FEWEST", request.param)
    monkeypatch.setattr(counting, "_PAGE", 2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 25))
@pytest.mark.usefixtures("batches")
def test_counts_are_those_of_the_documents_after_any_history(seed, length):
    engine = SqliteEngine(":memory:")
    author = Author(engine, random.Random(seed))  # noqa: S311  repeatable, no secret
    for _ in range(length):
        author.act()
        with engine._snapshot() as connection:
            check_counts(connection)
    check(engine)
    engine.rebuild()
    check(engine)
    author.act()
    check(engine)
    engine.close()


@pytest.mark.usefixtures("batches")
def test_terms_are_counted_in_batches(engine):
    store(engine, *["word0"] * 9)
    with engine._snapshot() as connection:
        ((counted,),) = connection.execute("SELECT n_counted FROM namespace")
        kept = dict(connection.execute("SELECT term, n FROM term_count"))
    assert counted in {8, 9}
    assert kept["word0"] == counted


def test_few_documents_are_left_to_the_index(engine):
    store(engine, *["word0"] * 9)
    with engine._snapshot() as connection:
        assert connection.execute("SELECT * FROM term_count").fetchall() == []
    check(engine)


@pytest.mark.parametrize("uncounted", [500, 501])
def test_it_is_time_to_count_when_searches_would_feel_it(uncounted):
    assert counting.is_due(uncounted, 100) == (uncounted > 500)
    assert not counting.is_due(uncounted, 64 * 501)


@pytest.mark.usefixtures("batches")
def test_a_batch_in_one_patch_is_counted(engine):
    engine.commit(patch_of(*[note("word1 word1", tags=("word1",)) for _ in range(50)]))
    with engine._snapshot() as connection:
        kept = dict(connection.execute("SELECT term, n FROM term_count"))
    assert kept["word1"] == 50
    check(engine)


@pytest.mark.promise("erase.bytes")
@pytest.mark.usefixtures("batches")
def test_a_word_that_only_purged_texts_held_is_kept_nowhere(engine, path):
    swordfish, kept = store(engine, "swordfish word0", "word0", *["word1"] * 8)[:2]
    with engine._snapshot() as connection:
        assert dict(connection.execute("SELECT term, n FROM term_count"))["swordfish"] == 1
    engine.commit(removal(swordfish, purge=True))
    with engine._snapshot() as connection:
        counts = dict(connection.execute("SELECT term, n FROM term_count"))
    assert "swordfish" not in counts
    assert counts["word0"] == 1
    check(engine)
    engine.commit(removal(kept, purge=True))
    with engine._snapshot() as connection:
        assert "word0" not in dict(connection.execute("SELECT term, n FROM term_count"))


@pytest.mark.usefixtures("batches")
def test_a_word_that_another_text_holds_stays_counted(engine):
    first, *_ = store(engine, *["swordfish"] * 10)
    engine.commit(removal(first, purge=True))
    check(engine)
    with engine._snapshot() as connection:
        assert index_of(connection, [1]).corpus(["swordfish"]).frequency == {"swordfish": 9}


TAMPERED = [
    "UPDATE term_count SET n = n + 1 WHERE term = 'word0'",
    "UPDATE term_count SET n = 'x' WHERE term = 'word0'",
    "UPDATE term_count SET term = 'another' WHERE term = 'word0'",
    "DELETE FROM term_count WHERE term = 'word0'",
    "DELETE FROM term_count",
    "INSERT INTO term_count SELECT namespace_id, 'ghost', 1 FROM term_count LIMIT 1",
    "UPDATE namespace SET n_counted = 0",
    "UPDATE namespace SET n_counted = n_counted - 1",
    "UPDATE namespace SET n_counted = last_node + 1",
    "UPDATE namespace SET n_counted = 'x'",
]


@pytest.mark.parametrize("damage", TAMPERED)
@pytest.mark.usefixtures("batches")
def test_a_count_that_was_changed_is_found_and_made_right(engine, damage):
    store(engine, *["word0 word1"] * 9)
    with engine._pool.writer() as connection:
        connection.execute(damage)
    (found,) = [check for check in engine.diagnose() if not check.ok]
    assert (found.name, found.fixable) == ("index", True)
    assert "word" not in found.detail
    engine.rebuild()
    check(engine)


class Metered:
    """Counts what a search asks of SQLite: rows returned, and steps of its machine by tens."""

    def __init__(self, connection):
        self.connection, self.rows, self.steps = connection, 0, 0

    def __call__(self, name, **values):
        def step():
            self.steps += 1
            return 0

        self.connection.set_progress_handler(step, 10)
        try:
            found = self.connection.execute(QUERIES[name], values).fetchall()
        finally:
            self.connection.set_progress_handler(None, 0)
        self.rows += len(found)
        return found


def cost(engine, space, words=WORDS):
    with engine._snapshot() as connection:
        query = Metered(connection)
        index = SqliteIndex(query, [space], NO_FILTERS, {})
        index.corpus(words)
        for word in words:
            index.postings(word, None, None)
            index.postings(word, 5, None)
    return query.rows, query.steps


@pytest.mark.parametrize("first", [True, False], ids=["before", "behind"])
def test_a_small_tenant_does_not_pay_for_the_notes_of_a_large_one(engine, first):
    small, large = ("small",), ("large",)
    store(engine, "word0", namespace=small if first else large)
    store(engine, *["word0 word1"] * 5, namespace=small)
    own, other = (1, 2) if first else (2, 1)
    rows, steps = cost(engine, own)
    for _ in range(4):
        nodes = [note(" ".join(WORDS), namespace=large) for _ in range(700)]
        engine.commit(patch_of(*nodes, namespace=large))
    now = cost(engine, own)
    assert now[0] == rows < 100
    # The index has a few more parts by now, but none of the neighbour's postings is walked through.
    assert now[1] < 4 * steps
    assert cost(engine, other)[1] > 10 * now[1]


SEARCHES = 40


def test_frequencies_are_right_while_others_write(path):
    SqliteEngine(path).close()
    calls = [("write_for_ever", path, f"writer{n}") for n in range(2)]
    with workers(*calls) as writers, closing(Reading(path)) as reading:
        let_go(writers)
        for writer in writers:
            assert output(writer).readline()
        seen = [reading.look() for _ in range(SEARCHES)]
    assert seen == sorted(seen)
    assert seen[-1] > seen[0] > 0
    with closing(sqlite3.connect(path)) as connection:
        check_counts(connection, ("note", "writer0", "writer1", "1", "7"))
    engine = SqliteEngine(path)
    assert engine.verify() == []
    engine.close()


class Reading:
    """Looks at a store that others write, each time in one snapshot."""

    def __init__(self, path: Path) -> None:
        self.engine = SqliteEngine(path)

    def look(self) -> int:
        with self.engine._snapshot() as connection:
            check_counts(connection, ("note", "writer0", "writer1", "1", "7"))
            ((documents,),) = connection.execute("SELECT sum(n_documents) FROM namespace")
        with self.engine.read() as reader:
            hits = reader.search(
                Reach(("default",)), ["note"], NO_FILTERS, SearchLimits(10**6, 10**9)
            ).hits
        assert len(hits) >= documents
        return len(hits)

    def close(self) -> None:
        self.engine.close()
