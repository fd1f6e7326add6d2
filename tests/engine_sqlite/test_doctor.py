"""What a doctor finds: any change of what patches wrote, and any derived row that is wrong."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import evomem
from evomem.domain.diagnosis import parse_anchor
from evomem.domain.seal import GENESIS, chain, seal
from evomem.domain.time import from_micros
from evomem.engines.sqlite import audit, doctor
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.log import sealed_items
from evomem.engines.sqlite.search import Query
from evomem.engines.sqlite.sql import QUERIES, schema, statements

TRUTH = (
    "text",
    "event",
    "evidence",
    "node",
    "edge",
    "patch",
    "operation",
    "tombstone",
    "reseal",
    "namespace",
)
COUNTS = ("n_documents", "n_tokens", "n_events", "n_patches")
LATEST = ("last_node", "last_sequence", "last_recorded")
INDEXED = ("n_counted", "analysis", "analysis_before", "n_before")
UNSEALED = {
    ("edge", "id"),
    ("text", "evidence"),
    *(("namespace", name) for name in (*COUNTS, *LATEST, *INDEXED)),
}
"""Columns outside the seals, as docs/audit.md lists them."""

WORDS = ("Postgres", "ledger", "secret")


def run(
    connection: sqlite3.Connection, statement: str, values: Sequence[object] = (), **names: str
) -> list[Any]:
    """Run a statement in which tables and columns stand as {names}."""
    return connection.execute(statement.format(**names), values).fetchall()


def key_of(connection: sqlite3.Connection, table: str) -> str:
    found = run(connection, "PRAGMA table_info({table})", table=table)
    return ", ".join(row[1] for row in found if row[5])


def picture(connection: sqlite3.Connection) -> list[list[Any]]:
    """Everything but the insides of the index, and how far its terms were counted."""
    tables = ("memory", "search_doc", *TRUTH)
    kept = [(t, ", ".join(c for c in columns(t) if c != "n_counted")) for t in tables]
    return [run(connection, "SELECT {columns} FROM {t}", t=t, columns=c) for t, c in kept]


def columns(table: str) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements(schema()):
            connection.execute(statement)
        return [row[1] for row in run(connection, "PRAGMA table_info({table})", table=table)]


COLUMNS = [(table, column) for table in TRUTH for column in columns(table)]


def fill(path: Path) -> None:
    """Make a store with rows in every table."""
    with evomem.open(path, linking="suggest") as memory:
        old = memory.remember(
            "We picked Postgres for the ledger because it scales.",
            tags=["db"],
            session="s1",
            scope="production",
            subject="ledger",
            metadata={"ticket": 7},
            actor="ada",
            idempotency_key="k1",
        ).node
        new = memory.remember("We moved the ledger to SQLite.", supersedes=old.id).node
        said = memory.record_event("user", "Let us use DuckDB.", external_id="m7", session="s1")
        move = evomem.Supersede(memory_id=new.memory_id, expected_version=2, new_content="DuckDB.")
        moved = memory.apply([move], evidence=[said.id], reason="asked", idempotency_key="k2")
        memory.remember("v1", slot="ledger/db", valid_from="2020-01-01", valid_to="2021-01-01")
        retries = memory.remember("Retries are 3.").node
        more = memory.remember("Retries are 5.", amends=[{"id": retries.id, "part": "are 3"}]).node
        secret = memory.remember("A secret ledger.", relations={"caused_by": [more.id]}).node
        memory.remember("Not so.", amends=[{"id": secret.id, "part": "secret"}])
        memory.link(secret.id, supersedes=[retries.id], reason="a secret reason")
        memory.unlink(secret.id, retries.id)
        memory.forget(secret.id, purge=True, reason="asked")
        for node_id in (more.id, retries.id):
            gone = memory.forget(node_id)
        memory.rollback(gone.patch_id or "")
        memory.rollback(moved.patch_id or "")
        memory.within("user-7").remember("Other words.")
        first = memory.remember("Blue.", searchable="tip").node
        memory.remember("Green.", searchable="never", supersedes=first.id)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("doctor") / "store.db"
    fill(path)
    return path


@pytest.fixture
def store(filled: Path) -> Iterator[sqlite3.Connection]:
    """A copy of the store in memory, to be changed by hand."""
    with closing(sqlite3.connect(filled)) as source:
        copy = sqlite3.connect(":memory:", isolation_level=None)
        source.backup(copy)
    yield copy
    copy.close()


@pytest.fixture
def engine(filled: Path, tmp_path: Path) -> Iterator[SqliteEngine]:
    """The same store in a file of its own."""
    path = tmp_path / "store.db"
    path.write_bytes(filled.read_bytes())
    engine = SqliteEngine(path)
    yield engine
    engine.close()


def problems(connection: sqlite3.Connection, anchor: str | None = None) -> dict[str, str]:
    """Names and details of the checks that are not well; no detail ever holds a text."""
    checks = doctor.diagnose(connection, None, parse_anchor(anchor))
    assert not any(word in check.detail for check in checks for word in WORDS)
    return {check.name: check.detail for check in checks if not check.ok}


def asking(connection: sqlite3.Connection) -> Query:
    def query(name: str, **values: Any) -> list[Any]:
        return connection.execute(QUERIES[name], values).fetchall()

    return query


def changed(value: object, others: list[object]) -> list[object]:
    """Other values for a cell, the likeliest to go unnoticed first."""
    near: list[object] = [other for other in others if other not in {value, None}][:1]
    if isinstance(value, bytes):
        return [*near, bytes([value[0] ^ 1]) + value[1:]]
    if isinstance(value, int | float):
        return [*near, value + 1, "x"]
    return [*near, f"{value}x"] if isinstance(value, str) else [*near, 1, "x"]


def tamperings(connection: sqlite3.Connection, table: str, column: str) -> Iterator[str]:
    """Change one cell after the other, in each row, and put it back."""
    key = key_of(connection, table)
    names = {"table": table, "column": column, "key": key}
    cells = run(connection, "SELECT {column}, {key} FROM {table}", **names)
    others = [row[0] for row in cells]
    update = "UPDATE {table} SET {column} = ? WHERE ({key}) = ({marks})"
    for value, *place in cells:
        for other in changed(value, others):
            connection.execute("BEGIN")
            try:
                marks = ", ".join("?" * len(place))
                run(connection, update, [other, *place], **names, marks=marks)
            except sqlite3.IntegrityError:
                continue
            else:
                yield f"{table}.{column}: {value!r} became {other!r}"
            finally:
                connection.execute("ROLLBACK")


def recompute(connection: sqlite3.Connection) -> None:
    """Seal and chain everything anew, as someone who holds the file can."""
    before = GENESIS
    sequences = [row[0] for row in connection.execute("SELECT sequence FROM patch ORDER BY 1")]
    for row, facts in list(sealed_items(asking(connection), sequences)):
        digest = seal(row[11], facts)
        before = chain(before, row[0], from_micros(row[3]), digest)
        connection.execute(
            QUERIES["set_seal"], {"sequence": row[0], "digest": digest, "hash": before}
        )


def test_a_sound_store_is_well(store, engine):
    assert problems(store) == {}
    assert [check.name for check in engine.diagnose()] == [
        "integrity",
        "index",
        "memories",
        "heads",
        "orphans",
        "audit",
    ]
    assert engine.verify() == []
    assert all(picture(store))


@pytest.mark.parametrize(("table", "column"), [c for c in COLUMNS if c not in UNSEALED])
def test_a_change_of_any_cell_breaks_the_audit(store, table, column):
    tried = 0
    for what in tamperings(store, table, column):
        tried += 1
        found = audit.check_audit(asking(store)) or (column == "text_id" and problems(store))
        assert found, what
    assert tried


@pytest.mark.parametrize(("table", "check"), [("text", "orphans"), ("namespace", "index")])
def test_a_change_of_what_follows_from_the_rest_is_found_too(store, table, check):
    for column in [c for t, c in sorted(UNSEALED) if t == table]:
        for what in tamperings(store, table, column):
            assert check in problems(store), what


@pytest.mark.parametrize("table", TRUTH)
def test_a_row_that_is_gone_is_missed(store, table):
    names = {"table": table, "key": key_of(store, table)}
    for place in run(store, "SELECT {key} FROM {table}", **names):
        store.execute("BEGIN")
        marks = ", ".join("?" * len(place))
        run(store, "DELETE FROM {table} WHERE ({key}) = ({marks})", place, **names, marks=marks)
        assert audit.check_audit(asking(store)), place
        store.execute("ROLLBACK")


@pytest.mark.parametrize(
    "row",
    [
        "node SELECT row + 40, 'n', 'm', 1, sequence, text_id, NULL, 'lite/1', NULL, NULL, NULL, "
        "NULL, NULL, '[]', '{}', 0, 0, NULL, 0, 'tip' FROM node LIMIT 1",
        "edge (kind, new, old, sequence, linked_by, confidence) "
        "SELECT 'supersedes', max(row), min(row), 1, 'caller', 1.0 FROM node WHERE row >> 32 = 1",
        "tombstone (node, sequence) SELECT min(row), 1 FROM node",
        "operation SELECT 1, 99, 'UPDATE', memory_id, 9, row FROM node LIMIT 1",
        "operation SELECT 99, 0, 'UPDATE', memory_id, 9, row FROM node LIMIT 1",
        "event SELECT 'e', namespace_id, 1, role, text_id, 0, NULL, NULL FROM event LIMIT 1",
        "evidence SELECT 1, max(id) FROM event",
        "reseal SELECT 1, max(sequence), digest FROM patch WHERE sequence = 1",
    ],
)
def test_a_row_that_no_patch_wrote_is_found(store, row):
    store.execute(f"INSERT INTO {row}")
    assert "audit" in problems(store)


def test_a_seal_is_what_the_documentation_says(store):
    sequence, *values, salt, digest = store.execute(
        "SELECT patch.sequence, patch.id, '[\"default\"]', actor, source, reason, idempotency_key, "
        "payload_digest, replay, rollback_of, salt, digest "
        "FROM patch JOIN event ON event.sequence = patch.sequence WHERE external_id = 'm7'"
    ).fetchone()
    said = store.execute(
        "SELECT event.id, role, body, occurred_at, session, external_id "
        "FROM event JOIN text ON text.id = text_id WHERE sequence = ?",
        [sequence],
    ).fetchone()
    facts = [["patch", *values], ["event", *said]]
    lines = sorted(json.dumps(f, ensure_ascii=False, separators=(",", ":")) for f in facts)
    assert hashlib.sha256(salt + "\n".join(lines).encode()).digest() == digest


def test_the_first_patch_that_does_not_fit_is_named(store):
    (patch_id,) = store.execute("SELECT id FROM patch WHERE sequence = 4").fetchone()
    store.execute("UPDATE patch SET reason = 'another' WHERE sequence IN (4, 6)")
    expected = f"patch 4 ({patch_id}) is the first of 2 not to fit: what it wrote was changed since"
    assert problems(store) == {"audit": expected}


def test_a_patch_cut_out_of_the_middle_is_missed(store):
    store.execute("DELETE FROM patch WHERE sequence = 4")
    assert problems(store)["audit"].startswith(
        "patch 4 is the first of 2 not to fit: it is missing"
    )


def test_patches_that_changed_places_are_found(store):
    for table in ("patch", "event", "node", "edge", "operation"):
        for before, after in [(5, -1), (6, 5), (-1, 6)]:
            move = "UPDATE {table} SET sequence = ? WHERE sequence = ?"
            run(store, move, [after, before], table=table)
    assert problems(store)["audit"].startswith("patch 5 ")


def test_an_end_that_was_cut_off_cleanly_is_found_by_an_anchor_alone(filled, tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes(filled.read_bytes())
    with evomem.open(path) as memory:
        memory.record_event("user", "Last words.")
        found = memory.doctor()
        last, anchor = found.last_sequence, found.anchor
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM event WHERE sequence = ?", [last])
        connection.execute("DELETE FROM text WHERE body = 'Last words.'")
        connection.execute("DELETE FROM patch WHERE sequence = ?", [last])
    with evomem.open(path) as memory:
        assert [c.name for c in memory.doctor().checks if not c.ok] == ["index"]
        assert memory.doctor(fix=True).ok
        found = memory.doctor(anchor=anchor)
    assert [(c.name, "cut off" in c.detail) for c in found.checks if not c.ok] == [("anchor", True)]


def test_a_history_that_was_rewritten_as_a_whole_is_found_by_an_anchor_alone(store):
    sequence, digits = store.execute("SELECT max(sequence), hex(hash) FROM patch").fetchone()
    anchor = f"{sequence}:{digits.lower()[:16]}"
    assert problems(store, anchor) == {}
    store.execute(
        "UPDATE patch SET actor = 'eve' WHERE sequence = (SELECT max(sequence) FROM patch)"
    )
    assert "audit" in problems(store, anchor)
    recompute(store)
    assert problems(store) == {}
    assert "rewritten" in problems(store, anchor)["anchor"]


def test_a_purge_keeps_the_chain_and_a_salt_gone_without_one_breaks_it(engine, store):
    assert store.execute("SELECT count(*) FROM reseal").fetchone()[0] > 1
    store.execute("UPDATE patch SET salt = x'' WHERE sequence = 1")
    assert "patch 1 " in problems(store)["audit"]


def test_a_seal_made_anew_by_a_patch_that_purged_nothing_is_found(store):
    (purge,) = store.execute("SELECT min(by) FROM reseal").fetchone()
    store.execute("UPDATE reseal SET by = 1")
    recompute(store)
    assert "patch 1 " in problems(store)["audit"]
    store.execute("UPDATE reseal SET by = ?", [purge])
    recompute(store)
    assert problems(store) == {}


def test_a_text_that_cannot_be_decoded_is_found_and_not_told(store):
    store.execute("UPDATE text SET body = CAST(x'736563726574ff' AS TEXT) WHERE id = 3")
    assert problems(store)["audit"].startswith("patch ")


def test_the_audit_goes_on_from_window_to_window(store, monkeypatch):
    monkeypatch.setattr(audit, "_WINDOW", 3)
    assert problems(store) == {}
    store.execute("UPDATE patch SET reason = 'x' WHERE sequence IN (3, 4, 9)")
    assert "first of 3 " in problems(store)["audit"]


def test_circles_and_links_across_namespaces_are_found(store):
    first, last, other = store.execute(
        "SELECT min(row), max(row) FILTER (WHERE row >> 32 = 1), max(row) FROM node"
    ).fetchone()
    link = "INSERT INTO edge (kind, new, old, sequence, linked_by, confidence) VALUES "
    store.execute(f"{link} ('refines', ?, ?, 1, 'caller', 1)", [last, first])
    assert "heads" not in problems(store)
    store.execute(f"{link} ('refines', ?, ?, 1, 'caller', 1)", [first, last])
    assert "circle" in problems(store)["heads"]
    store.execute("DELETE FROM edge WHERE kind = 'refines'")
    store.execute(f"{link} ('caused_by', ?, ?, 1, 'caller', 1)", [other, first])
    assert "namespace" in problems(store)["heads"]


ORPHANS = {
    "INSERT INTO text (body, evidence) VALUES ('a secret', 0)": "texts of no node or event",
    "UPDATE node SET text_id = NULL WHERE text_id IS NOT NULL": "nodes without their text",
    "DELETE FROM node WHERE version = 1": "memories without a node",
    "DELETE FROM node": "operation on an unknown node",
    "UPDATE node SET text_id = 1 WHERE text_id IS NULL": "purged nodes with their text",
}


@pytest.mark.parametrize("damage", ORPHANS)
def test_what_belongs_to_nothing_is_found(store, damage):
    store.execute(damage)
    assert ORPHANS[damage] in problems(store)["orphans"]


DERIVED = {
    "UPDATE memory SET version = version + 1": "memories",
    "UPDATE memory SET tip = (SELECT min(row) FROM node)": "memories",
    "UPDATE memory SET latest_valid_from = 0": "memories",
    "UPDATE memory SET namespace_id = 2": "memories",
    "DELETE FROM memory WHERE version = 1": "memories",
    "INSERT INTO memory VALUES ('m', 1, 1, (SELECT max(row) FROM node), 0)": "memories",
    "UPDATE search_doc SET tokens = 'other words'": "index",
    "DELETE FROM search_doc": "index",
    "INSERT INTO search_doc VALUES (7, 1, 'ghost')": "index",
    "INSERT INTO search_index (search_index) VALUES ('delete-all')": "index",
    "UPDATE namespace SET n_counted = last_node": "index",
    "INSERT INTO term_count SELECT id, 'ghost', 1 FROM namespace": "index",
    "UPDATE namespace SET n_documents = n_documents + 1": "index",
    "UPDATE namespace SET n_tokens = n_tokens + 1": "index",
    "UPDATE namespace SET n_events = n_events + 1, n_patches = n_patches - 1": "index",
    "UPDATE namespace SET last_node = last_node + 1": "index",
    "UPDATE namespace SET last_sequence = 1, last_recorded = 1": "index",
}


@pytest.mark.parametrize("damage", DERIVED)
def test_what_is_derived_is_made_anew(engine, damage):
    with engine._pool.writer() as connection:
        before = picture(connection)
        connection.execute(damage)
    (found,) = [check for check in engine.diagnose() if not check.ok]
    assert (found.name, found.fixable) == (DERIVED[damage], True)
    engine.rebuild()
    assert engine.verify() == []
    with engine._pool.writer() as connection:
        assert picture(connection) == before


def test_a_rebuild_changes_nothing_where_all_is_well(engine):
    with engine._pool.writer() as connection:
        before = picture(connection)
        engine.rebuild()
        assert picture(connection) == before


def test_a_commit_meanwhile_is_left_to_the_next_diagnosis(filled, tmp_path, engine):
    def commit() -> None:
        with evomem.open(tmp_path / "store.db") as memory:
            memory.remember("In between.")

    with engine._snapshot() as connection:
        checks = doctor.diagnose(connection, commit, None)
    assert all(check.ok for check in checks)
    assert engine.verify() == []


def test_a_store_that_may_not_be_written_is_looked_at_but_for_its_index(filled):
    engine = SqliteEngine(filled, read_only=True)
    (index,) = [check for check in engine.diagnose() if check.name == "index"]
    assert index.ok
    assert "not compared" in index.detail
    with pytest.raises(evomem.ReadOnlyError):
        engine.rebuild()
    engine.close()


def test_what_is_derived_in_a_damaged_file_is_not_repaired(filled, tmp_path):
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(filled)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'node_digest'"
        ).fetchone()
    content = bytearray(filled.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\x00" * 4096
    path.write_bytes(content)
    engine = SqliteEngine(path)
    with engine._pool.writer() as connection:
        connection.execute("UPDATE memory SET version = version + 1")
    found = {check.name: check for check in engine.diagnose() if not check.ok}
    assert found.keys() >= {"integrity", "memories"}
    assert not any(check.fixable for check in found.values())
    engine.close()


def test_a_store_that_lost_its_name_and_last_hash_is_still_looked_at(engine):
    with engine._pool.writer() as connection:
        connection.execute("DELETE FROM meta")
        connection.execute("UPDATE patch SET hash = 'x'")
    condition = engine.condition()
    assert (condition.store_id, condition.last_hash) == ("", "")
    assert [problem.split(":")[0] for problem in engine.verify()] == ["audit"]


def test_a_store_in_memory_can_be_looked_at_and_repaired():
    with evomem.open(":memory:") as memory:
        memory.remember("We picked Postgres.")
        found = memory.doctor(fix=True)
        memory._context.engine.rebuild()
        assert (found.ok, found.repaired, found.free_bytes) == (True, (), None)
        assert memory.doctor().ok
        assert memory.recall("Postgres").hits
