"""The search index is in step with the nodes, whatever happened."""

import itertools
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from tests.conformance.builders import BELOW, HOME, Clock, note, open_memory, removal, store
from tests.conformance.histories import STEPS, play

from evomem.domain.analysis import ANALYSIS_VERSION, tokens
from evomem.domain.facets import facets_of
from evomem.domain.ranking import graded, rounded_length
from evomem.engines.sqlite import sql


def definition():
    return next(s for s in sql.statements(sql.schema()) if "VIRTUAL TABLE search_index" in s)


def vocabulary(connection):
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab(main, search_index, instance)"
    )
    return sorted(connection.execute("SELECT term, doc FROM temp.word").fetchall())


def rebuilt(documents):
    """Return what a new index over the same documents holds."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE search_doc (row INTEGER PRIMARY KEY, tokens)")
        connection.executemany("INSERT INTO search_doc VALUES (?, ?)", documents)
        connection.execute(definition())
        connection.execute("INSERT INTO search_index (search_index) VALUES ('rebuild')")
        return vocabulary(connection)


def expected_documents(record, row):
    """Terms of a note by grade, each with all its facets behind."""
    about = (record.subject, record.slot, *record.tags, str(record.extraction.change))
    terms = graded(tokens("\n".join(filter(None, about))), tokens(record.text))
    facets = facets_of(record.tags, record.session, record.metadata)
    return [(row << 10 | grade, " ".join((*held, *facets))) for grade, held in terms.items()]


def check(engine):
    assert engine.verify() == []
    with engine.read() as reader, engine._pool.reader() as connection:
        documents = connection.execute("SELECT row, tokens FROM search_doc").fetchall()
        assert vocabulary(connection) == rebuilt(documents)
        # A forgotten node stays: it is searched as of before, and if it is asked for.
        kept = connection.execute(
            "SELECT id, row FROM node "
            "WHERE row NOT IN (SELECT node FROM tombstone WHERE purged IS NOT NULL)"
        ).fetchall()
        records = reader.records(BELOW, [node_id for node_id, _ in kept])
        expected = [expected_documents(records[node_id], row) for node_id, row in kept]
        assert sorted(documents) == sorted(itertools.chain(*expected))
        counts = connection.execute(
            "SELECT id, n_documents, n_tokens, last_node FROM namespace"
        ).fetchall()
        for space, n_documents, n_tokens, last_node in counts:
            lengths = {d[0] >> 10: rounded_length(d[0]) for d in documents if d[0] >> 42 == space}
            assert n_documents == len(lengths)
            assert n_tokens == sum(lengths.values())
            assert last_node >= max([row & (2**32 - 1) for row in lengths], default=0)
        versions = connection.execute("SELECT DISTINCT analysis FROM search_doc").fetchall()
        assert versions in ([], [(ANALYSIS_VERSION,)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_the_index_equals_one_built_anew_after_random_histories(engine, steps):
    clock = Clock()
    memory = open_memory(engine, clock, HOME)
    play(engine, memory, clock, steps)
    check(engine)


TRICKY = [
    "C++ and node.js, foo_bar; 'quoted' \"twice\" a|b {c} [d] 100% ~e~",
    "账本 データ ไทย e\u0301 🚀👩\u200d🔬",
    "!!! ... ---",
    "x" * 5000,
    "tab\tnew\nline\u2028para\u00a0nbsp",
    "\x01\x02 controls",
    "a" * 70 + "." + "b" * 70,
]


@pytest.mark.parametrize("text", TRICKY)
def test_the_index_holds_the_tokens_of_any_text(engine, text):
    (node,) = store(
        engine, text, subject=text, slot=text, tags=(text, "tag"), metadata={text: text}
    )
    check(engine)
    engine.commit(removal(node, purge=True))
    check(engine)
    with engine._pool.reader() as connection:
        assert vocabulary(connection) == []


def test_the_index_is_checked_for_what_it_lost(engine):
    store(engine, "zebra", "horse")
    with engine._pool.writer() as connection:
        connection.execute("DELETE FROM search_doc WHERE tokens = 'zebra'")
    problems = engine.verify()
    assert any("search index" in problem for problem in problems)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE search_doc SET tokens = 'other words'",
        "UPDATE namespace SET n_documents = n_documents + 1",
        "UPDATE namespace SET n_tokens = n_tokens + 1",
        "UPDATE namespace SET n_counted = 1",
        "INSERT INTO term_count SELECT id, 'zebra', 1 FROM namespace",
        "INSERT INTO search_index (search_index) VALUES ('delete-all')",
        "INSERT INTO tombstone (node, sequence, purged) SELECT row, sequence, sequence FROM node",
    ],
)
def test_what_is_out_of_step_is_named(engine, damage):
    store(engine, "zebra", "horse")
    assert engine.verify() == []
    with engine._pool.writer() as connection:
        connection.execute(damage)
    assert engine.verify() != []


def test_a_verification_changes_nothing(engine):
    store(engine, "zebra", "horse")
    with engine._pool.writer() as connection:
        before, changes = list(connection.iterdump()), connection.total_changes
        engine.verify()
        assert list(connection.iterdump()) == before
        assert not connection.in_transaction
        assert changes <= connection.total_changes <= changes + 1


def test_namespaces_are_apart_in_the_index(engine):
    for n in range(3):
        store(engine, "zebra", namespace=("t", str(n)))
    with engine._pool.reader() as connection:
        rows = connection.execute("SELECT row FROM search_doc").fetchall()
    assert len({row >> 42 for (row,) in rows}) == 3
    assert note("x").namespace == HOME
