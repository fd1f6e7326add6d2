"""Another process that holds the store."""

import sqlite3
import threading
import time
from contextlib import closing

import pytest
from tests.conformance.builders import NO_FILTERS, REACH, note, patch_of

from evomem import EngineBusyError
from evomem.engines.sqlite import connection as settings
from evomem.engines.sqlite.engine import SqliteEngine


def texts(engine):
    with engine.read() as reader:
        ids = reader.recent(REACH, NO_FILTERS, after=None, limit=99)
        return [record.text for record in reader.records(REACH, ids).values()]


@pytest.fixture
def other(path, engine):
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        yield other


@pytest.fixture
def impatient(path, monkeypatch):
    monkeypatch.setattr(settings, "BUSY_TIMEOUT_S", 0.1)
    impatient = SqliteEngine(path)
    yield impatient
    impatient.close()


def test_a_write_waits_for_another_writer(engine, other):
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.8, other.execute, ["COMMIT"])
    timer.start()
    began = time.monotonic()
    engine.commit(patch_of(note("zebra")))
    assert time.monotonic() - began > 0.5
    timer.join()
    assert texts(engine) == ["zebra"]


def test_a_write_that_waited_too_long_writes_nothing(impatient, other):
    impatient.commit(patch_of(note("before")))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(EngineBusyError) as refusal:
        impatient.commit(patch_of(note("zebra")))
    assert refusal.value.code == "ENGINE_BUSY"
    assert texts(impatient) == ["before"]
    other.execute("COMMIT")
    impatient.commit(patch_of(note("after")))
    assert sorted(texts(impatient)) == ["after", "before"]


def test_the_message_of_a_busy_store_says_how_long_it_waited(impatient, other):
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(EngineBusyError, match="Retry"):
        impatient.commit(patch_of(note("zebra")))
    other.execute("ROLLBACK")


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_readers_are_not_blocked_by_a_writer(impatient, other, lock):
    impatient.commit(patch_of(note("zebra")))
    other.execute(lock)
    other.execute("UPDATE memory SET version = 7")
    assert texts(impatient) == ["zebra"]
    SqliteEngine(impatient.location, read_only=True).close()
    other.execute("ROLLBACK")


def test_a_writer_is_not_blocked_by_a_reader_of_another_process(impatient, other):
    impatient.commit(patch_of(note("before")))
    other.execute("BEGIN")
    assert other.execute("SELECT count(*) FROM node").fetchone() == (1,)
    impatient.commit(patch_of(note("zebra")))
    assert other.execute("SELECT count(*) FROM node").fetchone() == (1,)
    other.execute("COMMIT")
    assert other.execute("SELECT count(*) FROM node").fetchone() == (2,)


def test_opening_waits_for_whoever_makes_the_store(tmp_path):
    path = tmp_path / "fresh.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.4, other.execute, ["COMMIT"])
        timer.start()
        engine = SqliteEngine(path)
        timer.join()
        engine.commit(patch_of(note("zebra")))
        assert texts(engine) == ["zebra"]
        engine.close()
