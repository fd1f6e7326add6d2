"""The settings that durability and speed rest on, and that reading writes nothing."""

import sqlite3
from contextlib import closing

import pytest
from tests.conformance.builders import HOME, Clock, note, open_memory, patch_of

from evomem.domain.analysis import TOKEN_PUNCTUATION
from evomem.engines.sqlite import pool, sql
from evomem.engines.sqlite.connection import BUSY_TIMEOUT_S, connect
from evomem.engines.sqlite.engine import SqliteEngine


def pragma(connection, name):
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def settings(connection):
    names = ("foreign_keys", "synchronous", "journal_mode", "busy_timeout", "temp_store")
    return {name: pragma(connection, name) for name in names}


EXPECTED = {
    "foreign_keys": 1,
    "synchronous": 2,
    "journal_mode": "wal",
    "busy_timeout": BUSY_TIMEOUT_S * 1000,
    "temp_store": 2,
}


@pytest.mark.promise("write.durable")
def test_the_writer_and_every_reader_have_the_settings(engine):
    with engine._pool.writer() as writer:
        assert settings(writer) == EXPECTED
    with engine._pool.reader() as one, engine._pool.reader() as two:
        assert settings(one) == settings(two) == EXPECTED


@pytest.mark.promise("write.durable")
def test_a_store_opened_again_has_the_settings(engine, path):
    engine.close()
    again = SqliteEngine(path)
    with again._pool.writer() as writer, again._pool.reader() as reader:
        assert settings(writer) == settings(reader) == EXPECTED
    again.close()


def test_a_restored_copy_in_another_journal_mode_does_not_let_readers_block_writers(engine, path):
    """`VACUUM INTO` and some tools leave a file that is not in WAL mode."""
    engine.close()
    with closing(sqlite3.connect(path)) as connection:
        assert pragma(connection, "journal_mode = DELETE") == "delete"
    again = SqliteEngine(path)
    with again._pool.writer() as writer:
        assert pragma(writer, "journal_mode") == "wal"
    again.close()


@pytest.mark.parametrize("mode", ["ro", "immutable"])
def test_a_connection_for_reading_cannot_write(engine, path, mode):
    engine.close()
    with closing(connect(path, mode=mode)) as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM node")


def test_every_write_takes_the_lock_at_once(engine):
    seen: list[str] = []
    with engine._pool.writer() as connection:
        connection.set_trace_callback(seen.append)
    engine.commit(patch_of(note("zebra")))
    first = next(text for text in seen if not text.startswith("PRAGMA busy_timeout"))
    assert first.startswith("BEGIN IMMEDIATE")
    assert seen[-1].startswith("COMMIT")
    assert sum(text.startswith(("BEGIN", "COMMIT")) for text in seen) == 2


@pytest.fixture
def traced(monkeypatch):
    """Return what every connection made from now on is told to do."""
    seen: list[str] = []

    def connect_traced(*args, **options):
        connection = connect(*args, **options)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(pool, "connect", connect_traced)
    return seen


WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "VACUUM", "REINDEX")


def test_opening_and_reading_write_nothing(memory, engine, path, traced):
    old = memory.remember("The ledger runs on Postgres.").node.id
    new = memory.remember("The ledger runs on SQLite.", supersedes=old).node.id
    memory.remember("Now and then.", valid_from="2020-01-01", valid_to="2021-01-01")
    engine.close()
    before = path.read_bytes()
    del traced[:]
    with closing(sqlite3.connect(path)) as watcher:
        version = pragma(watcher, "data_version")
        again = SqliteEngine(path)
        reading = open_memory(again, Clock(), HOME)
        assert reading.recall("postgres", include_history=True).hits[0].node.id == new
        reading.recall("")
        reading.get_node(old[:8])
        reading.history(new)
        reading.list(status="all")
        reading.review()
        reading.stats()
        with again._pool.writer() as writer:
            assert writer.total_changes == 0
        again.close()
        assert pragma(watcher, "data_version") == version
    assert [text for text in traced if text.lstrip().upper().startswith(WRITES)] == []
    assert len(traced) > 10
    assert path.read_bytes() == before


def test_no_look_up_reads_every_note(engine, memory):
    """The plans of the look-ups by id, digest, slot and memory use an index."""
    for n in range(50):
        memory.remember(f"note {n}", slot=f"slot {n}")
    with engine._pool.reader() as reader:
        for name in ("lineage", "records", "edges", "memories", "story", "slot", "twins", "expand"):
            names = ("ids", "spaces", "at", "known", "low", "high", "digest", "slot", "scope")
            given = dict.fromkeys((*names, "prefix", "limit"), "[]")
            plan = reader.execute(f"EXPLAIN QUERY PLAN {sql.QUERIES[name]}", given).fetchall()
            scans = [row[-1] for row in plan if row[-1].startswith("SCAN ")]
            whole = [
                s for s in scans if s.split()[1] in {"node", "edge", "memory", "text", "wanted"}
            ]
            assert whole == [], name


def test_every_character_of_a_token_is_one_to_the_index():
    line = next(row for row in sql.schema().splitlines() if "tokenchars" in row)
    characters = line[line.index("tokenchars '") + 12 : line.rindex("'")]
    assert set(TOKEN_PUNCTUATION) <= set(characters)
    assert " " not in characters
