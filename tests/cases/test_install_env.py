"""Where a store lies and what a Python may lack."""

import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import evomem
from evomem import EngineError, InvalidRequestError
from evomem.engines.sqlite.connection import check_driver

ADAPTERS = (
    *("langgraph", "langchain", "langchain_core", "llama_index", "mcp", "openai", "psycopg"),
    *("pydantic", "rich", "torch", "transformers", "typer", "numpy"),
)


@pytest.mark.parametrize("way", ["argument", "EVOMEM_DB"])
def test_home_is_expanded_however_it_is_written(tmp_path, monkeypatch, way):
    """INS-001: '~', $HOME and %APPDATA% in the path."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    stores = set()
    for path in ("~/evo/t.db", "$HOME/evo/t.db", "${HOME}/evo/t.db", Path("~/evo/t.db")):
        if way == "EVOMEM_DB":
            monkeypatch.setenv("EVOMEM_DB", str(path))
        with evomem.open(path if way == "argument" else None, linking="off") as memory:
            stats = memory.stats()
            stores.add((stats.store_id, stats.path, stats.location))
    ((_, path, origin),) = stores
    assert (path, origin) == (str(tmp_path / "evo" / "t.db"), way)
    assert [*(tmp_path / "work").iterdir()] == []


@pytest.mark.parametrize("path", ["$EVO_NOPE/t.db", "${EVO_NOPE}/t.db", "~/${EVO_NOPE}.db"])
def test_a_variable_that_is_not_set_is_refused(tmp_path, monkeypatch, path):
    """INS-001: an unresolvable ${VAR} is refused, never created literally."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequestError, match=r"variable .*EVO_NOPE.* is not set"):
        evomem.open(path)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.skipif(sys.platform == "win32", reason="a variable there")
def test_a_windows_variable_is_refused_elsewhere(tmp_path, monkeypatch):
    """INS-001: %APPDATA% on another system."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequestError, match="APPDATA"):
        evomem.open("%APPDATA%/evo/t.db")
    assert [*tmp_path.iterdir()] == []


def test_a_relative_path_lies_in_the_working_directory(tmp_path, monkeypatch):
    """INS-002: Relative path and missing parent directory."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        with evomem.open("mem/x.db", linking="off") as memory:
            assert memory.path == memory.stats().path == str(tmp_path / name / "mem" / "x.db")
        assert (tmp_path / name / "mem" / "x.db").is_file()


def test_missing_parents_are_made(tmp_path, open_memory):
    """INS-002: a missing parent is no error."""
    memory = open_memory(tmp_path / "new" / "deep" / "dir" / "x.db")
    assert memory.remember("note").node.text == "note"


def test_a_place_that_cannot_be_used_is_named(tmp_path):
    """INS-002: a clear error, and nothing is harmed."""
    file = tmp_path / "file"
    file.write_text("hello", "utf-8")
    database = tmp_path / "other.db"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    for path, reason in (
        (file / "x.db", "cannot be used"),
        (tmp_path, "is a folder"),
        (file, "not an EvoMem store"),
        (database, "another program"),
        (tmp_path / ("x" * 300), "cannot be used"),
    ):
        with pytest.raises(EngineError, match=reason):
            evomem.open(path)
    assert file.read_text("utf-8") == "hello"


@pytest.mark.parametrize(
    "path", ["", "  ", "http://host/x.db", "mysql://h/d", "a\0b.db", "\ud83d.db"]
)
def test_what_is_no_path_is_refused(tmp_path, monkeypatch, path):
    """INS-002: an address of another kind, or nothing."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequestError, match="path"):
        evomem.open(path)
    assert [*tmp_path.iterdir()] == []


def test_no_loadable_extension_is_needed(tmp_path, monkeypatch):
    """INS-003: No extension loading, or no FTS5 in this Python's SQLite."""

    class NoExtensions(sqlite3.Connection):
        @property
        def enable_load_extension(self):
            raise AttributeError

        load_extension = enable_load_extension

    real = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **options: real(*args, factory=NoExtensions, **options)
    )
    with evomem.open(tmp_path / "x.db", linking="off") as memory:
        memory.remember("ledger")
        assert len(memory.recall("ledger").hits) == 1


def test_a_python_without_fts5_gets_one_clear_message(tmp_path, monkeypatch):
    """INS-003: without FTS5 one message with the remedy."""

    class NoIndex(sqlite3.Connection):
        def execute(self, statement, *parameters):
            if "fts5" in statement:
                message = "no such module: fts5"
                raise sqlite3.OperationalError(message)
            return super().execute(statement, *parameters)

    real = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **options: real(*args, factory=NoIndex, **options)
    )
    with pytest.raises(EngineError, match=r"without FTS5.*Use another Python build"):
        evomem.open(tmp_path / "x.db")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("version", [(3, 31, 0), (3, 33, 99)])
def test_an_old_sqlite_gets_one_clear_message(version):
    """INS-003: too old SQLite."""
    written = ".".join(map(str, version))
    with pytest.raises(EngineError, match=f"SQLite {written}; EvoMem needs 3.34") as caught:
        check_driver(version)
    assert caught.value.details == {"sqlite": [*version]}


def test_a_new_enough_sqlite_is_taken():
    """INS-003: the minimum itself works."""
    check_driver((3, 34, 0))


@pytest.mark.subprocess
def test_the_core_works_without_any_extra(tmp_path):
    """INS-103: Import of the package is heavy or breaks without extras."""
    script = f"""
import sys
sys.modules.update(dict.fromkeys({ADAPTERS!r}))
import evomem
with evomem.open({str(tmp_path / "x.db")!r}) as memory:
    old = memory.remember("ledger on postgres").node.id
    memory.remember("ledger on sqlite", supersedes=old)
    print(memory.recall("postgres").hits[0].node.text)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ledger on sqlite\n", "")


@pytest.mark.subprocess
@pytest.mark.skipif(find_spec("evomem.__main__") is None, reason="the command line is to come")
def test_the_command_line_shows_its_help_without_any_adapter(tmp_path):
    """INS-103: python -m evomem --help."""
    blocked = tuple(set(ADAPTERS) - {"rich", "typer"})
    script = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({blocked!r}))
sys.argv = ["evomem", "--help"]
runpy.run_module("evomem", run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "remember" in done.stdout


def test_stats_say_which_store_is_in_use_and_why(tmp_path, monkeypatch):
    """INS-104: Two memory locations by configuration error."""
    monkeypatch.setenv("EVOMEM_DBPATH", str(tmp_path / "misspelt.db"))
    with evomem.open() as memory:
        stats = memory.stats()
        assert (stats.path, stats.location) == (str(tmp_path / ".evomem" / "evomem.db"), "default")
    monkeypatch.setenv("EVOMEM_DB", str(tmp_path / "configured.db"))
    with evomem.open() as memory:
        stats = memory.stats()
        assert (stats.path, stats.location) == (str(tmp_path / "configured.db"), "EVOMEM_DB")
    with evomem.open(tmp_path / "given.db") as memory:
        stats = memory.within("below").stats()
        assert (stats.path, stats.location) == (str(tmp_path / "given.db"), "argument")
    assert not (tmp_path / "misspelt.db").exists()
