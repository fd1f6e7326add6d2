"""Whoever changes what was committed is found out: no column and no row changes unseen."""

import itertools
import sqlite3
from contextlib import closing, contextmanager

import pytest
from tests.conformance.builders import note, patch_of, removal
from tests.engine_sqlite.sealing import faults, sealed, told

from evomem.domain.seal import seal
from evomem.domain.text import digest
from evomem.engines.sqlite import sql
from evomem.engines.sqlite.engine import SqliteEngine

TRUTH = (
    "namespace",
    "text",
    "patch",
    "event",
    "evidence",
    "node",
    "edge",
    "operation",
    "tombstone",
    "reseal",
)

DERIVED = {
    ("namespace", "n_documents"),
    ("namespace", "n_tokens"),
    ("namespace", "n_events"),
    ("namespace", "n_patches"),
    ("namespace", "n_counted"),
    ("namespace", "analysis"),
    ("namespace", "analysis_before"),
    ("namespace", "n_before"),
    ("namespace", "last_node"),
    ("namespace", "last_sequence"),
    ("namespace", "last_recorded"),
    # Nothing refers to it.
    ("edge", "id"),
}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """A store with every kind of patch, open for tampering."""
    path = tmp_path_factory.mktemp("sealed") / "store.db"
    engine = SqliteEngine(path)
    told(engine)
    engine.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


@contextmanager
def undone(connection):
    """What is done inside leaves no trace; NULL, foreign keys and checks bind no tamperer."""
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def columns():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(sql.schema())
        for table in TRUTH:
            for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})"):
                if (table, name) not in DERIVED:
                    yield pytest.param(table, name, kind, id=f"{table}.{name}")


OTHER = {
    "INTEGER": "coalesce({0}, 0) + 1",
    "REAL": "{0} / 2 + 0.01",
    "TEXT": "coalesce({0}, '') || 'x'",
    "BLOB": "CAST(coalesce({0}, x'') || x'00' AS BLOB)",
}


def keys_of(connection, table):
    names = [n for _, n, *_, key in connection.execute(f"PRAGMA table_info({table})") if key]
    where = " AND ".join(f"{name} IS ?" for name in names)
    return where, connection.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()  # noqa: S608


@pytest.mark.parametrize(("table", "column", "kind"), list(columns()))
def test_no_column_of_any_row_changes_unseen(ledger, table, column, kind):
    assert faults(ledger) == []
    where, keys = keys_of(ledger, table)
    changed = 0
    for values in keys:
        with undone(ledger):
            statement = f"UPDATE {table} SET {column} = {OTHER[kind].format(column)} WHERE {where}"  # noqa: S608
            try:
                done = ledger.execute(statement, values).rowcount
            except sqlite3.IntegrityError:
                continue
            assert done == 1
            assert faults(ledger), values
            changed += 1
    assert changed


@pytest.mark.parametrize("table", TRUTH)
def test_no_row_vanishes_unseen(ledger, table):
    where, keys = keys_of(ledger, table)
    for values in keys:
        with undone(ledger):
            ledger.execute(f"DELETE FROM {table} WHERE {where}", values)  # noqa: S608
            assert faults(ledger), values


FORGED = [
    "INSERT INTO edge (kind, new, old, sequence, linked_by, confidence) "
    "SELECT 'supersedes', new, old, {0}, 'caller', 1 FROM edge WHERE kind <> 'supersedes' LIMIT 1",
    "INSERT INTO event SELECT 'eforged', namespace_id, {0}, 'user', text_id, 0, NULL, NULL "
    "FROM event WHERE text_id IS NOT NULL LIMIT 1",
    "INSERT INTO evidence SELECT {0}, id FROM event ORDER BY id DESC LIMIT 1",
    "INSERT INTO operation SELECT {0}, 99, 'REMOVE', memory_id, 99, row FROM node LIMIT 1",
    "INSERT INTO tombstone (node, sequence) SELECT row, {0} FROM node "
    "WHERE row NOT IN (SELECT node FROM tombstone) LIMIT 1",
    "INSERT INTO node SELECT row + 5000, 'nforged', memory_id, 99, {0}, text_id, fields, cronista, "
    "digest, subject, slot, scope, session, tags, metadata, created_at, valid_from, valid_to, "
    "backdated, searchable FROM node LIMIT 1",
    "INSERT INTO reseal SELECT 1, {0}, digest FROM patch WHERE sequence = {0}",
    "UPDATE tombstone SET revived = {0} WHERE revived IS NULL AND sequence < {0}",
    "UPDATE edge SET closed_by = {0} WHERE closed_by IS NULL AND sequence < {0}",
]


@pytest.mark.parametrize("forged", FORGED, ids=lambda sql: " ".join(sql.split()[:3]))
def test_no_row_is_added_to_a_patch_unseen(ledger, forged):
    (count,) = ledger.execute("SELECT max(sequence) FROM patch").fetchone()
    seen = 0
    for sequence in range(1, count + 1):
        with undone(ledger):
            try:
                done = ledger.execute(forged.format(sequence)).rowcount
            except sqlite3.IntegrityError:
                continue
            if done:
                assert faults(ledger), sequence
                seen += 1
    assert seen > 3


def test_patches_do_not_change_places_unseen(ledger):
    (count,) = ledger.execute("SELECT max(sequence) FROM patch").fetchone()
    swapped = ("digest", "hash", "salt", "recorded_at", "id")
    for one, two in itertools.pairwise(range(1, count + 1)):
        for column in swapped:
            with undone(ledger):
                values = dict(ledger.execute(f"SELECT sequence, {column} FROM patch"))  # noqa: S608
                if values[one] == values[two]:
                    continue
                for place, value in ((one, "none"), (two, values[one]), (one, values[two])):
                    ledger.execute(
                        f"UPDATE patch SET {column} = ? WHERE sequence = ?",  # noqa: S608
                        (value, place),
                    )
                assert faults(ledger), (column, one)


def test_what_a_purge_left_is_not_put_back_unseen(engine):
    """The patch that purged has sealed what it left: another text does not fit any more."""
    secret = note("swordfish")
    engine.commit(patch_of(secret))
    engine.commit(removal(secret, purge=True))
    with engine._pool.writer() as connection:
        connection.execute("INSERT INTO text VALUES (77, 'forged', 0)")
        connection.execute(
            "UPDATE node SET text_id = 77, digest = ?", (digest("forged", None, None),)
        )
        assert faults(connection)
        (_, facts, _), *_ = sealed(connection)
        own = seal(b"own salt", facts)
        connection.execute("UPDATE patch SET salt = ? WHERE sequence = 1", (b"own salt",))
        connection.execute("UPDATE reseal SET digest = ?", (own,))
        assert faults(connection) == ["2 was changed"]
