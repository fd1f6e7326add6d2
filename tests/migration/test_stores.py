"""Stores of every released schema, as its version wrote them."""

import shutil

import pytest
from tests.migration.make_store import STORES, make_store, newest, open_store

from evomem.domain.patch import Op
from evomem.engines.sqlite import sql

KEPT = sorted(STORES.glob("schema_*.db"))


@pytest.fixture(params=KEPT, ids=lambda path: path.stem)
def store(request, tmp_path):
    return shutil.copy(request.param, tmp_path / "store.db")


def test_there_is_a_small_store_of_the_present_schema_without_a_log():
    assert newest() in KEPT
    assert {item.suffix for item in STORES.iterdir()} == {".db"}
    assert all(path.stat().st_size < 200_000 for path in KEPT)


def test_the_store_of_the_present_schema_can_be_made_again(tmp_path):
    paths = [tmp_path / "one.db", tmp_path / "two.db"]
    for path in paths:
        make_store(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert not list(tmp_path.glob("*-wal"))


def test_a_kept_store_opens_and_verifies_clean(store):
    with open_store(store) as memory:
        assert memory._context.engine.verify() == []
        assert memory.stats().schema_version == len(sql.migrations())


@pytest.mark.promise("recall.head")
def test_a_kept_store_answers_with_the_head(store):
    with open_store(store) as memory:
        (hit, *_) = memory.recall("postgres ledger", include_history=True).hits
        assert hit.node.text == "The ledger lives in SQLite."
        assert hit.node.status == "active"
        assert [old.status.value for old in hit.history] == ["refined", "superseded"]
        assert hit.history[1].metadata == {"n": 1, "näme": ["é", None]}
        assert [h.node.text for h in memory.recall("trunk").hits] == ["trunk"]
        assert memory.recall("rumour secret").hits == ()
        assert memory.recall("blue question").hits == ()
        assert [h.node.text for h in memory.recall("colour").hits] == ["The colour is green."]


def test_a_kept_store_can_be_written(store):
    with open_store(store) as memory:
        old = memory.recall("ledger").hits[0].node
        new = memory.remember("The ledger moved to DuckDB.", supersedes=old.id).node
        assert (new.memory_id, new.version) == (old.memory_id, old.version + 1)
        assert memory.remember("The ledger lives in SQLite.", supersedes=new.id).node.version == 5
        assert memory._context.engine.verify() == []


def test_a_kept_store_keeps_its_statuses(store):
    with open_store(store) as memory:
        assert dict(memory.stats().nodes) == {
            "active": 11,
            "refined": 1,
            "superseded": 6,
            "forgotten": 2,
            "scheduled": 1,
        }


def test_a_kept_store_tells_what_was_done_and_on_what_evidence(store):
    with open_store(store) as memory:
        changes = memory.changes()
        assert {step.op for change in changes for step in change.operations} == set(Op)
        undone, undoing = (memory.patch(change.patch_id) for change in changes[-2:])
        assert (undone.rolled_back_by, undoing.rollback_of) == (undoing.patch_id, undone.patch_id)
        (said,) = undone.evidence
        assert memory.get_event(said).content == "Ship on Mondays."
        assert memory.record_event("user", "Ship on Mondays.", external_id="msg-1").id == said


def test_a_kept_store_answers_as_of_an_earlier_time(store):
    with open_store(store) as memory:
        first = memory.changes(limit=1)[0].recorded_at
        (hit,) = memory.recall("ledger", known_at=first).hits
        assert (hit.node.text[:23], hit.node.status) == ("We picked Postgres for ", "active")
        (found,) = memory.search("rumour", include_removed=True).hits
        assert found.node.status == "forgotten"


def test_a_kept_store_can_be_read_without_being_written(store):
    with open_store(store, read_only=True) as memory:
        assert memory.recall("ledger").hits
        assert len(memory.within("user-7").list()) == 1
