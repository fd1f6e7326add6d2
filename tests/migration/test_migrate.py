"""Making and upgrading a store: once, whole, and by whoever comes first."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from tests.engine_sqlite.processes import answers, let_go, workers
from tests.migration.make_store import make_store, open_store
from tests.migration.test_schema import tables

from evomem.engines.sqlite import migrate as migrating
from evomem.engines.sqlite import sql
from evomem.engines.sqlite.connection import connect
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.migrate import migrate, schema_version
from evomem.errors import EngineError, SchemaVersionError

EXTRA = "CREATE TABLE extra (x);\nINSERT INTO extra VALUES (1);\nALTER TABLE extra ADD COLUMN y;\n"


@pytest.fixture
def store(tmp_path):
    make_store(tmp_path / "store.db")
    return tmp_path / "store.db"


@pytest.mark.subprocess
@pytest.mark.promise("write.durable", "read.own-write")
def test_processes_that_make_the_same_store_at_once_all_succeed(tmp_path):
    path = tmp_path / "deep" / "fresh.db"
    with workers(*(("write_one", path, f"note of process {n}") for n in range(8))) as started:
        let_go(started)
        made = {answers(process)[0] for process in started}
    assert len(made) == 8
    with open_store(path) as memory:
        assert {node.id for node in memory.list(status="all")} == made
        assert memory._context.engine.verify() == []


@pytest.mark.subprocess
def test_processes_that_upgrade_the_same_store_at_once_do_it_once(store):
    with workers(*(("add_migration", store, EXTRA) for _ in range(6))) as started:
        let_go(started)
        versions = [answers(process) for process in started]
    assert versions == [[str(len(sql.migrations()) + 1)]] * 6
    with closing(connect(store)) as connection:
        assert schema_version(connection) == len(sql.migrations()) + 1
        assert connection.execute("SELECT x, y FROM extra").fetchall() == [(1, None)]


def test_a_store_that_appears_while_another_process_looks_is_taken_for_what_it_is(
    tmp_path, monkeypatch
):
    """Another process may commit the schema between any two statements of the check."""
    path, look = tmp_path / "store.db", migrating.schema_version

    def look_after_another_made_it(connection):
        monkeypatch.setattr(migrating, "schema_version", look)
        SqliteEngine(path).close()
        return look(connection)

    monkeypatch.setattr(migrating, "schema_version", look_after_another_made_it)
    engine = SqliteEngine(path)
    assert engine.verify() == []
    engine.close()


def test_an_upgrade_keeps_what_was_there(store):
    with closing(connect(store)) as connection:
        before = connection.execute("SELECT count(*) FROM node").fetchone()
        identity = connection.execute("SELECT * FROM meta").fetchall()
        assert migrate(connection, [*sql.migrations(), EXTRA]) == len(sql.migrations()) + 1
        assert connection.execute("SELECT count(*) FROM node").fetchone() == before
        assert connection.execute("SELECT * FROM meta").fetchall() == identity


def test_a_store_at_the_newest_schema_is_left_alone(store):
    before = store.read_bytes()
    with closing(connect(store)) as connection:
        changes = connection.total_changes
        assert migrate(connection) == len(sql.migrations())
        assert connection.total_changes == changes
    assert store.read_bytes() == before


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize(
    "broken",
    [
        "CREATE TABLE extra (x);\nINSERT INTO nowhere VALUES (1);",
        "DROP TABLE suggestion;\nCREATE TABLE node (x);",
        "DELETE FROM search_doc;\nINSERT INTO meta VALUES ('store_id', 'twice');",
        "CREATE TABLE extra (x);\nno statement at all;",
    ],
)
def test_an_interrupted_upgrade_leaves_the_old_schema(store, broken):
    with closing(connect(store)) as connection:
        before = tables(connection)
        with pytest.raises(sqlite3.Error):
            migrate(connection, [*sql.migrations(), broken])
        assert not connection.in_transaction
        assert tables(connection) == before
        assert schema_version(connection) == len(sql.migrations())
    with open_store(store) as memory:
        assert memory._context.engine.verify() == []
        memory.remember("It still works.")


def test_a_failed_first_schema_leaves_an_empty_file(tmp_path):
    with closing(connect(tmp_path / "store.db")) as connection:
        with pytest.raises(sqlite3.Error):
            migrate(connection, ["CREATE TABLE meta (key, value);\nSELECT nothing FROM nowhere;"])
        assert tables(connection) == []
        assert schema_version(connection) == 0
    SqliteEngine(tmp_path / "store.db").close()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_store_is_refused_untouched(store, read_only):
    known = len(sql.migrations())
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(f"PRAGMA user_version = {known + 1}")
    before = store.read_bytes()
    with pytest.raises(SchemaVersionError) as refusal:
        SqliteEngine(store, read_only=read_only)
    assert (refusal.value.details["store"], refusal.value.details["known"]) == (known + 1, known)
    assert f"schema {known + 1}" in refusal.value.message
    assert str(known) in refusal.value.message
    assert store.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_program_is_refused_untouched(tmp_path, read_only):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(EngineError, match="another program"):
        SqliteEngine(path, read_only=read_only)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize("mark", ["user_version = 1", "application_id = 77"])
def test_an_empty_database_marked_by_another_program_is_refused(tmp_path, mark):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA {mark}")
    before = path.read_bytes()
    with pytest.raises(EngineError, match="another program"):
        SqliteEngine(path)
    assert path.read_bytes() == before


def test_an_older_store_is_not_upgraded_by_a_reader(store, monkeypatch):
    from evomem.engines.sqlite import engine as opening

    newer = [*sql.migrations(), EXTRA]
    monkeypatch.setattr(opening, "migrations", lambda: newer)
    before = store.read_bytes()
    with pytest.raises(SchemaVersionError, match="older schema"):
        SqliteEngine(store, read_only=True)
    assert store.read_bytes() == before


def test_a_store_is_a_copy_of_its_file(store, tmp_path):
    copy = shutil.copy(store, tmp_path / "copy.db")
    with open_store(store) as one, open_store(copy) as two:
        assert [n.id for n in one.list(status="all")] == [n.id for n in two.list(status="all")]
        assert one.stats().store_id == two.stats().store_id
