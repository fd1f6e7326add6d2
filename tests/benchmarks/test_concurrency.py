import json
import random
import shutil
import sqlite3
import sys
from contextlib import closing

import pytest
from typer.testing import CliRunner

import evomem
import evomem_bench.concurrency.peers
import evomem_bench.main
from evomem_bench.concurrency import run
from evomem_bench.concurrency.crash import crash
from evomem_bench.concurrency.inspection import inspect
from evomem_bench.concurrency.peers import Peer, install_langgraph, install_server_memory
from evomem_bench.concurrency.race import texts_of_server_memory
from evomem_bench.concurrency.roundtrip import measure_round_trips
from evomem_bench.concurrency.run import Sizes, run_concurrency
from evomem_bench.concurrency.worker import write_all

TINY = Sizes(vocabulary=500, writers=2, writes=5, box_s=30, notes=10, calls=3, peers=False)


@pytest.fixture(scope="module")
def report():
    return run_concurrency(TINY, seed=3)


def race_of(report):
    return {row["system"]: row for row in report.rows if "not_begun" in row}


@pytest.mark.subprocess
def test_every_write_of_the_race_is_accounted_for(report):
    race = race_of(report)
    assert list(race) == ["EvoMem", "sqlite3, BEGIN IMMEDIATE, 30 s", "sqlite3, BEGIN, 5 s"]
    for row in race.values():
        assert row["acknowledged"] + row["refused"] + row["not_begun"] == 10
        assert row["stored"] == row["acknowledged"] - row["lost"]
        assert row["worst_ms"] >= row["p99_ms"] >= row["p50_ms"] > 0
        assert row["sound"] is True


@pytest.mark.subprocess
def test_evomem_refuses_and_loses_nothing(report):
    own = race_of(report)["EvoMem"]
    assert (own["acknowledged"], own["stored"], own["lost"], own["refused"]) == (10, 10, 0, 0)


@pytest.mark.subprocess
def test_round_trips_of_both_kinds_are_timed(report):
    trips = [row for row in report.rows if "call" in row]
    assert {(row["call"], row["calls"], row["notes"]) for row in trips} == {
        ("remember", 3, 10),
        ("recall", 3, 10),
    }
    assert all(row["p99_ms"] >= row["p50_ms"] > 0 for row in trips)
    assert all("answered" in row for row in trips if row["call"] == "recall")


@pytest.mark.subprocess
def test_out_gets_the_document_a_page_and_a_picture(report, tmp_path):
    report.save(tmp_path)
    assert json.loads((tmp_path / "concurrency.json").read_text("utf-8"))["seed"] == 3
    page = (tmp_path / "concurrency.md").read_text("utf-8")
    assert "| EvoMem | 10 | 10 | 0 | 0 |" in page
    assert report.command in page
    assert (tmp_path / "concurrency.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.subprocess
def test_speed_has_the_race_as_an_option(monkeypatch):
    monkeypatch.setattr(run, "QUICK", TINY)
    words = ["speed", "--concurrency", "--quick", "--json"]
    result = CliRunner().invoke(evomem_bench.main.app, words)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["benchmark"] == "concurrency"


@pytest.mark.subprocess
def test_crash_prints_what_was_acknowledged_and_found(tmp_path):
    words = ["crash", "--rounds", "2", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(evomem_bench.main.app, words)
    assert result.exit_code == 0
    (row,) = [row for row in json.loads(result.stdout)["rows"] if "rounds" in row]
    assert row["rounds"] == 2
    assert row["acknowledged"] == row["found"]
    assert (row["lost"], row["half_written"], row["integrity"]) == (0, 0, "ok in 2 of 2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crash.json", "crash.md"]


def test_a_refusal_is_counted_and_the_time_given_is_kept():
    def write(text):
        if text == "b":
            raise ValueError("locked\nmore")  # noqa: EM101, TRY003

    told = write_all(write, ["a", "b", "b"], 60)
    assert (told["acknowledged"], told["refusals"]) == (["a"], {"locked": 2})
    assert len(told["waits_ms"]) == 1
    assert write_all(write, ["a"], -1)["acknowledged"] == []


def test_a_peer_that_cannot_be_installed_says_so(tmp_path, monkeypatch):
    peers = evomem_bench.concurrency.peers
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert install_server_memory(tmp_path).problem == "not installed: no npm and node here"
    monkeypatch.setattr(peers, "_python", lambda: sys.executable)
    monkeypatch.setattr(peers, "LANGGRAPH", str(tmp_path / "no-such-package"))
    monkeypatch.setattr(peers, "_BOX_S", 0.001)
    missing = install_langgraph(tmp_path)
    assert missing.command == ()
    assert "took longer than" in str(missing.problem)


def test_a_missing_peer_has_a_row_that_says_why(tmp_path, monkeypatch):
    from evomem_bench.concurrency import roundtrip

    monkeypatch.setattr(roundtrip, "find_spec", lambda name: None)
    peer = Peer("server-memory", problem="not installed: offline")
    rows = measure_round_trips(tmp_path, ["a 1"], ["b 2"], ["a"], peer, random.Random(1))  # noqa: S311
    assert [row["system"] for row in rows] == ["server-memory (not installed: offline)"]


def test_a_line_that_was_cut_short_holds_no_note(tmp_path):
    (tmp_path / "m.jsonl").write_text('{"observations": ["a"]}\n{"observ', "utf-8")
    assert texts_of_server_memory(tmp_path / "m.jsonl") == ["a"]
    assert texts_of_server_memory(tmp_path / "none") == []


@pytest.fixture
def told(tmp_path):
    """Return a store, and what its writer was told."""
    path = tmp_path / "m.db"
    with evomem.open(path, linking="off") as memory:
        old = memory.remember("zebra one").node.id
        new = memory.remember("zebra two", supersedes=old).node.id
        gone = memory.remember("zebra three").node.id
        memory.forget(gone)
    return path, [
        {"did": "remember", "id": old, "text": "zebra one"},
        {"did": "supersede", "id": new, "text": "zebra two", "old": old},
        {"did": "remember", "id": gone, "text": "zebra three"},
        {"did": "forget", "id": gone},
    ]


def test_an_untouched_store_is_found_sound(told):
    findings = inspect(*told)
    assert (findings.lost, findings.half_written, findings.problems) == ((), (), ())
    assert findings.patches == 4


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("DELETE FROM text WHERE body = 'zebra one'", "node without text"),
        ("INSERT INTO text (body, evidence) VALUES ('stray', 0)", "text without node or event"),
        ("DELETE FROM patch WHERE sequence = 2", "node without patch"),
        (
            "DELETE FROM operation WHERE sequence = 1; UPDATE event SET sequence = 2",
            "patch without operation",
        ),
        ("DELETE FROM operation WHERE sequence = 1", "node without operation"),
        (
            "DELETE FROM search_doc WHERE row >> 10 = (SELECT min(row) FROM node)",
            "node without index",
        ),
        ("INSERT INTO search_doc VALUES (7000, 1, '')", "index entry without node"),
        ("DELETE FROM edge", "version without link"),
        ("UPDATE edge SET old = 12345", "link without its ends"),
        ("UPDATE memory SET tip = (SELECT min(row) FROM node)", "memory whose tip"),
        ("DELETE FROM memory", "node without memory"),
        ("UPDATE patch SET sequence = 9 WHERE sequence = 4", "gap in the sequence"),
        (
            "INSERT INTO event VALUES ('e', 1, 99, 'user', NULL, 0, NULL, NULL)",
            "event without patch",
        ),
        (
            "INSERT INTO event VALUES ('e', 1, 1, 'user', NULL, 0, NULL, NULL)",
            "event without text",
        ),
    ],
)
def test_what_is_there_in_part_is_found(told, damage, found):
    path, _ = told
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.executescript(damage)
    assert any(text.startswith(found) for text in inspect(path, []).half_written)


@pytest.mark.parametrize(
    "claim",
    [
        {"did": "remember", "id": "n00000000000", "text": "never written"},
        {"did": "forget", "id": "n00000000000"},
    ],
)
def test_what_was_acknowledged_and_is_not_there_is_found(told, claim):
    path, acknowledged = told
    assert inspect(path, [*acknowledged, claim]).lost == (claim,)


def test_another_text_and_a_missing_link_are_losses(told):
    path, (first, second, *_) = told
    wrong = [first | {"text": "zebra 1"}, second | {"old": "n00000000000"}]
    assert list(inspect(path, wrong).lost) == wrong


@pytest.mark.subprocess
def test_the_loss_of_a_note_is_told(tmp_path, monkeypatch):
    from evomem_bench.concurrency import crash as module

    kill_once = module.kill_once
    claim = {"did": "remember", "id": "n00000000000", "text": "never written"}
    monkeypatch.setattr(module, "kill_once", lambda *a: [*kill_once(*a), claim])
    tally = crash(tmp_path, 1, seed=1)
    assert [json.loads(lost) for lost in tally.lost] == [claim]


@pytest.mark.subprocess
def test_a_writer_that_ends_by_itself_is_no_kill(tmp_path, monkeypatch):
    from evomem_bench.concurrency import crash as module

    script = tmp_path / "victim.py"
    script.write_text("print('ready', flush=True)\ninput()\n", "utf-8")
    monkeypatch.setattr(module, "_VICTIM", script)
    (tmp_path / "crash-0.db").touch()
    with pytest.raises(RuntimeError, match="ended by itself, with status 0"):
        crash(tmp_path, 1, seed=1)
