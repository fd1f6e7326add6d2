"""doctor and export on the command line."""

import json
import sqlite3
from contextlib import closing

import pytest

import evomem
from evomem.cli import session

CHECKS = ["integrity", "index", "memories", "heads", "orphans", "audit"]


@pytest.fixture
def damage(db):
    def execute(statement):
        with closing(sqlite3.connect(db)) as connection, connection:
            connection.execute(statement)

    return execute


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(session, "on_terminal", lambda: True)


def test_a_sound_store_is_well(run, run_json, db, note):
    note("We picked Postgres.")
    out = run("doctor").stdout
    assert [line.split() for line in out.splitlines()[: len(CHECKS)]] == [["ok", c] for c in CHECKS]
    found = run_json("doctor")
    assert (found["ok"], found["path"], found["location"]) == (True, str(db), "argument")
    anchor = f"{found['last_sequence']}:{found['last_hash']}"
    assert f"{anchor}\n" in out
    assert "elsewhere" in out
    assert "ok  anchor" in run("doctor", "--anchor", anchor).stdout


def test_a_problem_is_named_and_exits_with_one(run, run_json, note, damage):
    note("We picked Postgres.")
    damage("UPDATE text SET body = 'We picked SQLite.'")
    out = run("doctor", exit_code=1).stdout
    assert "problem  audit  patch 1 (p" in out
    assert "restore a backup" in out
    assert "--fix" not in out
    assert run_json("doctor", exit_code=1)["ok"] is False
    assert run_json("doctor", "--fix", "--yes", exit_code=1)["repaired"] == []


def test_a_history_cut_short_is_found_by_its_anchor(run, run_json, note):
    note("We picked Postgres.")
    found = run_json("doctor")
    digits = found["last_hash"][:16]
    assert run_json("doctor", "--anchor", f"1:{digits}")["ok"] is True
    assert "cut off" in run("doctor", "--anchor", f"2:{digits}", exit_code=1).stdout
    assert "SEQUENCE:HASH" in run("doctor", "--anchor", digits, exit_code=1).stderr


def test_a_repair_needs_yes_without_a_terminal(run, run_json, note, damage, db):
    note("We picked Postgres.")
    damage("UPDATE memory SET version = 7")
    out = run("doctor", exit_code=1).stdout
    assert f"evomem doctor --fix --db {db}" in out.replace('"', "")
    refused = run("doctor", "--fix", exit_code=1, input="y\n")
    assert "Would make anew: the version" in refused.stderr
    assert "--yes" in refused.stderr
    assert run_json("doctor", "--fix", exit_code=1)["error"]["code"] == "INVALID_REQUEST"
    assert "Made anew: the version" in run("doctor", "--fix", "--yes").stdout
    assert "anew" not in run("doctor", "--fix").stdout


@pytest.mark.usefixtures("terminal")
def test_a_repair_is_asked_for_on_a_terminal(run, run_json, note, damage):
    note("We picked Postgres.")
    damage("DELETE FROM search_doc")
    assert "nothing was done" in run("doctor", "--fix", exit_code=1, input="n\n").stderr
    assert run_json("recall", "postgres")["hits"] == []
    assert "Made anew: the search index" in run("doctor", "--fix", input="y\n").stdout
    assert run_json("recall", "postgres")["hits"]


def test_a_store_that_may_not_be_written_is_looked_at(run, run_json, note, db, monkeypatch):
    note("We picked Postgres.")

    def refused(*_, **__):
        message = "read-only"
        raise evomem.ReadOnlyError(message)

    monkeypatch.setattr(session.Session, "open", refused)
    found = run_json("doctor")
    assert (found["ok"], found["read_only"]) == (True, True)
    assert "read-only" in run("doctor").stdout


def test_what_cannot_be_opened_is_said(run, db):
    assert "no store" in run("doctor", exit_code=1).stderr
    assert not db.exists()
    db.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4080)
    assert "Error: " in run("doctor", exit_code=1).stderr


def test_export_writes_the_audit(run, run_json, note, db):
    note("We picked Postgres.")
    target = db.with_name("audit.json")
    assert run("export", target).stdout == f"Exported  {target}  patches 1, events 1\n"
    document = json.loads(target.read_text("utf-8"))
    assert document["format"] == "evomem-audit/1"
    assert "--force" in run("export", target, exit_code=1).stderr
    assert run_json("export", target, "--force")["last_sequence"] == 1


def test_export_of_another_kind_or_of_no_store_is_refused(run, db, note):
    assert "no store" in run("export", "audit.json", exit_code=1).stderr
    note("We picked Postgres.")
    for name in ("audit.jsonl", "audit", db):
        assert ".json" in run("export", name, exit_code=1).stderr
