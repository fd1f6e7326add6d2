"""Where a store may lie, and what is refused before anything is written."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.conformance.builders import HOME, NO_FILTERS, REACH, Clock, note, open_memory, patch_of
from tests.engine_sqlite.processes import run

from evomem import EngineError, EvoMemError, InvalidRequestError, ReadOnlyError
from evomem.engines.sqlite.connection import check_driver
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.location import resolve_path


def listed(engine):
    with engine.read() as reader:
        return reader.recent(REACH, NO_FILTERS, after=None, limit=99)


def filled(path):
    """Make a store of one note, closed well, and return the note."""
    engine = SqliteEngine(path)
    node = note("zebra")
    engine.commit(patch_of(node))
    engine.close()
    return node


def opened(given):
    engine = SqliteEngine(given)
    engine.close()
    return Path(engine.location)


@pytest.mark.parametrize(
    "given",
    ["~/a/store.db", "$PLACE/a/store.db", "${PLACE}/a/store.db", "$TILDE/a/store.db", "a/store.db"],
)
def test_a_path_is_expanded_and_its_folders_are_made(tmp_path, monkeypatch, given):
    monkeypatch.setenv("PLACE", str(tmp_path))
    monkeypatch.setenv("TILDE", "~")
    monkeypatch.chdir(tmp_path)
    assert opened(given) == tmp_path / "a" / "store.db"
    assert (tmp_path / "a" / "store.db").stat().st_size > 0


@pytest.mark.parametrize(
    "name",
    ["a b.db", "what?.db", "100%.db", "%41.db", "a#b.db", "é账🚀.db", "a'b\"c.db", "no_suffix"],
)
def test_a_file_may_have_any_name(tmp_path, name):
    assert opened(tmp_path / name) == tmp_path / name
    assert [item.name for item in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "given",
    [
        "$UNSET_PLACE/store.db",
        "${UNSET_PLACE}/store.db",
        "%APPDATA%/store.db",
        "/x/$UNSET_PLACE.db",
    ],
)
def test_a_variable_that_is_not_set_is_refused(tmp_path, monkeypatch, given):
    monkeypatch.delenv("UNSET_PLACE", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequestError, match=r"UNSET_PLACE|APPDATA"):
        SqliteEngine(given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "given", ["", "  ", "a\0b.db", "file:store.db", "postgresql://h/db", "sqlite:///x.db"]
)
def test_what_is_no_path_is_refused(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequestError):
        SqliteEngine(given)
    assert list(tmp_path.iterdir()) == []


def test_the_home_of_an_unknown_user_is_refused():
    with pytest.raises(EvoMemError):
        SqliteEngine("~nosuchuserhere/store.db")


def test_a_variable_may_hold_a_dollar_sign(monkeypatch):
    monkeypatch.setenv("PLACE", "/a$b")
    assert resolve_path("$PLACE/store.db") == Path("/a$b/store.db")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(EngineError, match="folder"):
        SqliteEngine(tmp_path)


def test_a_parent_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(EngineError):
        SqliteEngine(tmp_path / "file" / "store.db")


@pytest.mark.parametrize("content", [b"A diary.\n" * 100, b"SQLite", b"\0" * 100, b"\xff" * 4096])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_another_kind_is_refused_and_left_alone(path, content, read_only):
    path.write_bytes(content)
    with pytest.raises(EngineError, match="not an EvoMem store"):
        SqliteEngine(path, read_only=read_only)
    assert path.read_bytes() == content
    assert [item.name for item in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("kept", [4096 * 3 + 17, 4096, 100, 50])
def test_a_truncated_store_is_refused_as_damaged(path, kept):
    filled(path)
    path.write_bytes(path.read_bytes()[:kept])
    try:
        engine = SqliteEngine(path)
    except EngineError:
        return
    with pytest.raises(EngineError):
        listed(engine)
    engine.close()


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    assert filled(path)
    assert path.stat().st_size > 0


def test_a_missing_file_is_not_made_by_a_reader(tmp_path):
    with pytest.raises(EngineError, match="no store"):
        SqliteEngine(tmp_path / "a" / "store.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux to see open files")
def test_a_failed_opening_holds_no_file_open(path):
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(EngineError) as refusal:
        SqliteEngine(path)
    held = [entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert refusal.value.code == "SCHEMA_VERSION"
    assert path not in held


def test_a_store_opened_for_reading_refuses_every_write(path):
    node = filled(path)
    before = path.read_bytes()
    engine = SqliteEngine(path, read_only=True)
    memory = open_memory(engine, Clock(), HOME)
    for write in (
        lambda: memory.remember("more"),
        lambda: memory.forget(node.id),
        lambda: engine.commit(patch_of(note("more"))),
    ):
        with pytest.raises(ReadOnlyError) as refusal:
            write()
        assert refusal.value.code == "READ_ONLY"
    assert [hit.node.id for hit in memory.recall("zebra").hits] == [node.id]
    assert engine.verify() == []
    engine.close()
    assert path.read_bytes() == before


def test_a_store_opened_for_reading_is_verified_without_being_written(path):
    filled(path)
    engine = SqliteEngine(path, read_only=True)
    listed(engine)
    path.unlink()
    with suppress(EngineError):
        engine.verify()
    engine.close()
    assert not path.exists()


def test_a_reader_sees_what_a_writer_commits(path):
    filled(path)
    writer, reader = SqliteEngine(path), SqliteEngine(path, read_only=True)
    node = note("later")
    writer.commit(patch_of(node))
    assert listed(reader)[0] == node.id
    writer.close()
    assert listed(reader)[0] == node.id
    reader.close()


def test_a_file_that_may_not_be_written_can_be_read(path, as_nobody):
    node = filled(path)
    path.chmod(0o444)
    with as_nobody():
        for options in ({}, {"read_only": True}):
            try:
                engine = SqliteEngine(path, **options)
            except ReadOnlyError:
                assert not options
                continue
            with pytest.raises(ReadOnlyError):
                engine.commit(patch_of(note("more")))
            assert listed(engine) == [node.id]
            engine.close()


def test_a_store_in_a_read_only_folder_can_be_read(tmp_path, as_nobody):
    folder = tmp_path / "medium"
    folder.mkdir()
    node = filled(folder / "store.db")
    (folder / "store.db").chmod(0o444)
    folder.chmod(0o555)
    with as_nobody():
        engine = SqliteEngine(folder / "store.db", read_only=True)
        assert listed(engine) == [node.id]
        assert listed(engine) == [node.id]
        engine.close()
    assert [item.name for item in folder.iterdir()] == ["store.db"]


@pytest.mark.subprocess
@pytest.mark.promise("write.durable")
@pytest.mark.parametrize("with_index", [True, False])
def test_a_read_only_folder_with_a_log_hides_nothing_acknowledged(tmp_path, as_nobody, with_index):
    folder = tmp_path / "medium"
    folder.mkdir()
    made = run("write_and_die", folder / "store.db", 5)
    assert (folder / "store.db-wal").stat().st_size > 0
    if not with_index:
        (folder / "store.db-shm").unlink()
    for item in folder.iterdir():
        item.chmod(0o444)
    folder.chmod(0o555)
    with as_nobody():
        try:
            engine = SqliteEngine(folder / "store.db", read_only=True)
        except EngineError:
            return
        memory = open_memory(engine, Clock(), ("default",))
        assert {n.id for n in memory.list(status="all")} == set(made)
        engine.close()


def test_a_folder_that_may_not_be_written_takes_no_new_store(tmp_path, as_nobody):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    with as_nobody():
        for place in (folder / "store.db", folder / "deeper" / "store.db"):
            with pytest.raises((EngineError, ReadOnlyError)) as refusal:
                SqliteEngine(place)
            assert str(folder) in refusal.value.message
    assert list(folder.iterdir()) == []


def test_a_file_that_may_not_be_read_is_refused(path, as_nobody):
    filled(path)
    path.chmod(0o000)
    with as_nobody(), pytest.raises(EngineError) as refusal:
        SqliteEngine(path)
    assert str(path) in refusal.value.message
    assert stat.S_IMODE(path.stat().st_mode) == 0


@pytest.mark.timeout(3)
def test_a_pipe_is_refused_without_waiting_for_its_other_end(path):
    os.mkfifo(path)
    with pytest.raises(EngineError):
        SqliteEngine(path)


def test_a_link_leads_to_its_store(path, tmp_path):
    node = filled(path)
    (tmp_path / "link.db").symlink_to(path)
    engine = SqliteEngine(tmp_path / "link.db")
    assert listed(engine) == [node.id]
    engine.close()


def test_a_store_survives_being_moved_while_closed(path, tmp_path):
    node = filled(path)
    moved = shutil.move(path, tmp_path / "moved.db")
    engine = SqliteEngine(moved)
    assert listed(engine) == [node.id]
    engine.close()


def test_a_memory_only_store_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    engine = SqliteEngine(":memory:")
    engine.commit(patch_of(note("zebra")))
    assert (engine.location, list(tmp_path.iterdir())) == (":memory:", [])
    engine.close()


def test_an_old_driver_is_refused_with_a_remedy():
    with pytest.raises(EngineError, match=r"3\.34 or later"):
        check_driver((3, 33, 0))
    check_driver((3, 34, 0))
