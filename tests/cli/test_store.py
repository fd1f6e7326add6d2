import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evomem.cli.main import app


def call(*words, exit_code=0):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == exit_code, result.output
    return result


def test_init_prints_the_absolute_path_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call("--db", "new/folder/store.db", "init")
    assert result.stdout == f"{tmp_path}/new/folder/store.db\n"
    assert (tmp_path / "new/folder/store.db").is_file()


def test_init_opens_a_store_that_is_there(run, run_json, note, db):
    note("We picked Postgres.")
    assert run("init").stdout == f"{db}\n"
    assert run_json("init")["nodes"]["active"] == 1


def test_the_home_directory_is_expanded(tmp_path):
    assert call("--db", "~/mine.db", "init").stdout == f"{tmp_path}/mine.db\n"


def test_the_default_lies_in_the_home_directory(tmp_path):
    assert call("init").stdout == f"{tmp_path}/.evomem/evomem.db\n"
    assert json.loads(call("--json", "stats").stdout)["location"] == "default"


def test_the_environment_names_the_store_and_the_namespace(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMEM_DB", str(tmp_path / "env.db"))
    monkeypatch.setenv("EVOMEM_NAMESPACE", "acme/anna")
    call("remember", "We picked Postgres.")
    figures = json.loads(call("--json", "stats").stdout)
    assert (figures["path"], figures["location"]) == (str(tmp_path / "env.db"), "EVOMEM_DB")
    (node,) = json.loads(call("--json", "list").stdout)["nodes"]
    assert node["namespace"] == ["acme", "anna"]
    assert json.loads(call("--json", "--namespace", "acme", "list").stdout)["nodes"] == []


@pytest.mark.parametrize("command", [["init"], ["stats"], ["recall", "x"], ["remember", "x"]])
def test_a_folder_and_a_file_of_another_kind_are_refused(tmp_path, command):
    assert "is a folder" in call("--db", str(tmp_path), *command, exit_code=1).stderr
    other = tmp_path / "notes.txt"
    other.write_text("not a database, but long enough to look at\n", encoding="utf-8")
    assert "not an EvoMem store" in call("--db", str(other), *command, exit_code=1).stderr
    assert other.read_text("utf-8").startswith("not a database")


def test_a_path_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    path = tmp_path / "file" / "store.db"
    assert str(path) in call("--db", str(path), "init", exit_code=1).stderr
    assert not Path(path).exists()
