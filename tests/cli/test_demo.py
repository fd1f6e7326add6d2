import json
import shlex
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evomem.cli import demo
from evomem.cli.main import app


def call(*words, exit_code=0):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == exit_code, result.output
    return result


@pytest.fixture
def shown(tmp_path):
    return call("demo", "--keep", str(tmp_path / "demo.db")).stdout


def test_the_flat_memory_answers_postgres_and_then_evomem_answers_sqlite(shown):
    flat, answer = shown.index("A flat memory answers"), shown.index("EvoMem answers")
    assert flat < shown.index(demo.OLD, flat) < answer
    assert demo.NEW not in shown[flat:answer]
    marker = shown.index("replaced: superseded", answer)
    assert answer < shown.index("1. active", answer) < shown.index(demo.NEW, answer) < marker
    assert marker < shown.index(demo.OLD, marker) < shown.index("Go on with this file")


@pytest.mark.parametrize("others", [demo.OTHERS, demo.OTHERS[:1], ()])
def test_the_flat_answer_does_not_hang_on_the_other_notes(others):
    answer = demo.flat_answer(demo.QUESTION, (demo.OLD, *others, demo.NEW))
    assert answer.text == demo.OLD
    assert answer.rank_of_new > 1


def test_the_commands_it_prints_work(shown):
    commands = [line.strip() for line in shown.splitlines() if line.startswith("  evomem ")]
    recall, history, remember = map(shlex.split, commands)
    assert [words[3] for words in (recall, history, remember)] == ["recall", "history", "remember"]
    assert demo.NEW in call(*recall[1:]).stdout
    assert demo.OLD in call(*history[1:]).stdout
    call(*remember[1:])
    assert demo.NEXT in call(*recall[1:]).stdout


def test_it_makes_a_file_of_its_own_and_leaves_it(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("EVOMEM_DB", str(tmp_path / "mine.db"))
    story = json.loads(call("demo", "--json").stdout)
    assert Path(story["path"]).is_file()
    assert Path(story["path"]).parent.parent == tmp_path
    assert not (tmp_path / "mine.db").exists()
    assert not (tmp_path / ".evomem").exists()
    assert story["flat"]["text"] == demo.OLD
    assert story["evomem"]["hits"][0]["node"]["text"] == demo.NEW


@pytest.mark.parametrize("words", [["demo", "--keep"], ["demo", "--db"]])
def test_it_refuses_a_file_that_exists(tmp_path, words):
    mine = tmp_path / "mine.db"
    mine.write_bytes(b"precious")
    assert "--keep" in call(*words, str(mine), exit_code=1).stderr
    assert mine.read_bytes() == b"precious"


def test_it_makes_the_folders_of_the_path_to_keep(tmp_path):
    call("demo", "--keep", "~/a/b/demo.db")
    assert (tmp_path / "a/b/demo.db").is_file()


def test_inside_uv_run_the_commands_to_copy_begin_so(tmp_path, monkeypatch):
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    shown = call("demo", "--keep", str(tmp_path / "demo.db")).stdout
    assert "uv run evomem --db" in shown
