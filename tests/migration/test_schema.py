"""The schema of a new store is what its migrations lead to."""

import re
import sqlite3
from contextlib import closing

import pytest

from evomem.engines.sqlite import sql
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.migrate import APPLICATION_ID, FORMAT, migrate


def tables(connection):
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return sorted(
        (kind, name, table, re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", text or "")).strip())
        for kind, name, table, text in rows
    )


def made_from(scripts):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, scripts)
    return connection


def test_the_whole_schema_is_what_the_replayed_migrations_make():
    with closing(made_from(None)) as whole, closing(made_from(sql.migrations())) as replayed:
        assert tables(whole) == tables(replayed)
        for pragma in ("user_version", "application_id"):
            (one,), (two,) = (c.execute(f"PRAGMA {pragma}").fetchone() for c in (whole, replayed))
            assert one == two


def test_a_new_store_says_what_it_is(tmp_path):
    SqliteEngine(tmp_path / "store.db").close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(sql.migrations()),)
        meta = dict(connection.execute("SELECT key, value FROM meta"))
    assert meta["format"] == FORMAT
    assert re.fullmatch("[0-9a-f]{32}", meta["store_id"])


def test_every_store_has_an_identity_of_its_own_and_keeps_it(tmp_path):
    seen = []
    for name in ("one.db", "two.db", "one.db"):
        SqliteEngine(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            seen += connection.execute("SELECT value FROM meta WHERE key = 'store_id'").fetchall()
    assert seen[0] == seen[2] != seen[1]


def test_migrations_are_numbered_without_a_gap():
    folder = sql._FOLDER.joinpath("migrations")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


@pytest.mark.parametrize("script", [sql.schema(), *sql.migrations()])
def test_every_script_is_cut_into_whole_statements(script):
    bare = re.sub(r"--[^\n]*", "", script)
    assert len(sql.statements(script)) == bare.count("CREATE ")
    assert all(sqlite3.complete_statement(statement) for statement in sql.statements(script))


def test_a_script_that_breaks_off_is_not_cut_short_silently():
    """A migration whose last statement lacks its semicolon must not lose that statement."""
    script = "CREATE TABLE a (x);\nCREATE TABLE b (x)"
    assert [s.rstrip(";") for s in sql.statements(script)] == [
        "CREATE TABLE a (x)",
        "CREATE TABLE b (x)",
    ]
