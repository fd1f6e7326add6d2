"""The diagnosis that a memory gives, and the audit that it exports."""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import evomem
from evomem import EngineError, InvalidRequestError, Memory
from evomem.domain.time import to_micros
from evomem.service import audit
from evomem.service.patches import patch_record

LINES = "One line.\nAnother.\u2028A third.\x85A fourth.\r\nC++ 账本 🚀"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with evomem.open(tmp_path / "store.db", linking="off") as memory:
        yield memory


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "audit.json"


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def test_a_diagnosis_tells_where_the_store_lies_and_how_far_it_came(memory, tmp_path):
    assert (memory.doctor().last_sequence, memory.doctor().anchor) == (0, None)
    done = memory.remember("We picked Postgres.")
    memory.within("user-7").remember("Elsewhere.")
    found = memory.doctor()
    assert found.ok
    assert (found.path, found.location) == (str(tmp_path / "store.db"), "argument")
    assert found.store_id == memory.stats().store_id
    assert (found.patches, found.last_sequence, found.schema_version) == (2, 2, 1)
    assert found.free_bytes
    assert not found.read_only
    assert memory.doctor(anchor=f"1:{memory.patch(done.patch_id).hash}").ok
    assert memory.doctor(anchor=found.anchor).to_dict()["ok"] is True


def test_the_checks_are_of_all_namespaces_and_of_what_a_handle_below_sees(memory):
    memory.remember("We picked Postgres.")
    whole, below = memory.doctor(), memory.within("user-7").doctor()
    assert below.checks == whole.checks
    assert below.anchor == whole.anchor


@pytest.mark.parametrize(
    "anchor", ["", "1", "1:", "1:abc", "0:" + "a" * 64, "1:" + "a" * 65, "-1:" + "a" * 16, 7]
)
def test_an_anchor_that_is_none_is_refused(memory, anchor):
    with pytest.raises(InvalidRequestError, match="SEQUENCE:HASH"):
        memory.doctor(anchor=anchor)


def test_an_anchor_of_another_history_does_not_hold(memory):
    memory.remember("We picked Postgres.")
    for anchor, why in [("1:" + "0" * 64, "rewritten"), ("2:" + "0" * 64, "cut off")]:
        found = memory.doctor(anchor=anchor)
        (failed,) = [check for check in found.checks if not check.ok]
        assert (found.ok, failed.name, failed.fixable, why in failed.detail) == (
            False,
            "anchor",
            False,
            True,
        )


def test_a_repair_is_planned_first_and_done_when_asked(memory):
    memory.remember("We picked Postgres.")
    with memory._context.engine._pool.writer() as connection:
        connection.execute("UPDATE memory SET version = 9")
        connection.execute("UPDATE namespace SET n_tokens = 0")
    found = memory.doctor()
    assert (found.ok, len(found.planned), found.repaired) == (False, 2, ())
    assert memory.doctor().checks == found.checks
    after = memory.doctor(fix=True)
    assert (after.ok, after.planned, after.repaired) == (True, (), found.planned)
    assert memory.doctor(fix=True).repaired == ()


def test_what_is_no_derived_data_is_never_repaired(memory):
    memory.remember("We picked Postgres.")
    with memory._context.engine._pool.writer() as connection:
        connection.execute("UPDATE text SET body = 'We picked SQLite.'")
    found = memory.doctor(fix=True)
    assert (found.ok, found.planned, found.repaired) == (False, (), ())
    assert [check.name for check in found.checks if not check.ok] == ["audit"]


def test_the_audit_is_a_document_of_patches_and_events(memory, target):
    note = memory.remember(LINES, tags=["db"], actor="ada")
    said = memory.record_event("user", LINES)
    memory.forget(note.node.id, reason="asked")
    report = memory.export_audit(target)
    document = read(target)
    changes = memory.changes()
    assert list(document) == [
        "format",
        "store_id",
        "exported_at",
        "namespace",
        "patches",
        "events",
    ]
    assert (document["format"], document["namespace"]) == ("evomem-audit/1", ["default"])
    assert document["store_id"] == memory.stats().store_id
    assert document["patches"] == [memory.patch(c.patch_id).to_dict() for c in changes]
    events = [e for c in changes for e in memory.patch(c.patch_id).events]
    assert said.id in events
    assert document["events"] == [memory.get_event(e).to_dict() for e in events]
    last = memory.patch(changes[-1].patch_id)
    expected = (str(target), 3, 2, 3, last.hash)
    assert (report.path, report.patches, report.events, *report_end(report)) == expected
    assert f"{report.last_sequence}:{report.last_hash}" == memory.doctor().anchor


def report_end(report):
    return report.last_sequence, report.last_hash


def test_an_empty_namespace_has_an_empty_audit(memory, target):
    report = memory.export_audit(target)
    assert (report.patches, report.events, *report_end(report)) == (0, 0, 0, "")
    assert (read(target)["patches"], read(target)["events"]) == ([], [])


@pytest.mark.promise("namespace.wall")
def test_the_audit_holds_its_namespace_alone(memory, target):
    memory.remember("Above.")
    below = memory.within("user-7")
    below.remember("Below.")
    below.within("deep").remember("Deeper.")
    assert below.export_audit(target).patches == 1
    text = target.read_text("utf-8")
    assert "Below." in text
    assert "Above." not in text
    assert "Deeper." not in text


def test_an_audit_of_several_pages_is_whole_and_of_one_snapshot(memory, target, monkeypatch):
    monkeypatch.setattr(audit, "_PAGE", 2)
    for n in range(5):
        memory.remember(f"note {n}")

    def told(*given):
        memory.record_event("user", "Meanwhile.")
        return patch_record(*given)

    monkeypatch.setattr(audit, "patch_record", told)
    report = memory.export_audit(target)
    assert (report.patches, report.events, memory.version()) == (5, 5, 10)
    assert [patch["sequence"] for patch in read(target)["patches"]] == [1, 2, 3, 4, 5]


def test_the_chain_can_be_recomputed_from_the_audit_of_a_store_with_one_namespace(memory, target):
    """As docs/audit.md says it: hash n is SHA-256 of hash n - 1, place, time and digest."""
    note = memory.remember("A secret.").node
    memory.forget(note.id, purge=True)
    memory.remember("Another.")
    memory.export_audit(target)
    before = bytes(32)
    for patch in read(target)["patches"]:
        micros = to_micros(datetime.fromisoformat(patch["recorded_at"]))
        place = patch["sequence"].to_bytes(8, "big") + micros.to_bytes(8, "big", signed=True)
        digest = bytes.fromhex(patch["digest"])
        before = hashlib.sha256(before + place + digest).digest()
        assert before.hex() == patch["hash"]
    assert "secret" not in json.dumps(read(target)["patches"])


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(memory, target):
    memory.remember("We picked Postgres.")
    target.write_text("mine")
    with pytest.raises(InvalidRequestError, match="exists"):
        memory.export_audit(target)
    assert target.read_text() == "mine"
    assert memory.export_audit(target, overwrite=True).patches == 1
    assert read(target)["format"]


def test_only_the_owner_may_read_an_audit(memory, target):
    memory.export_audit(target)
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_the_store_itself_is_never_overwritten(memory, tmp_path, ending):
    memory.remember("We picked Postgres.")
    with pytest.raises(InvalidRequestError, match="belongs to the store"):
        memory.export_audit(tmp_path / f"store.db{ending}", overwrite=True)
    (tmp_path / "other.json").hardlink_to(tmp_path / "store.db")
    with pytest.raises(InvalidRequestError, match="belongs to the store"):
        memory.export_audit(tmp_path / "other.json", overwrite=True)
    assert memory.doctor().ok


@pytest.mark.parametrize("path", ["", "  ", "a\0b.json", 7, None, b"a.json"])
def test_what_is_no_path_is_refused(memory, path):
    with pytest.raises(InvalidRequestError, match="no path"):
        memory.export_audit(path)


def test_a_folder_and_a_missing_folder_are_refused(memory, tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "audit.json"):
        with pytest.raises(InvalidRequestError, match="existing folder"):
            memory.export_audit(path)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_on_the_way_leaves_what_was_there(memory, target, monkeypatch, error):
    memory.remember("We picked Postgres.")
    target.write_text("before")

    def failing(*given):
        raise error

    monkeypatch.setattr(audit, "patch_record", failing)
    with pytest.raises((EngineError, KeyboardInterrupt)):
        memory.export_audit(target, overwrite=True)
    assert target.read_text() == "before"
    assert sorted(item.name for item in target.parent.glob("*audit*")) == ["audit.json"]
