"""A runner for the command line, on a store in the test's own folder."""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner, Result

from evomem.cli.main import app

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True, scope="session")
def commands_built_once() -> Iterator[None]:
    """Build the commands once: typer does it for every call, which takes longer than the call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def run(db: Path) -> Run:
    """Run a command on the test's store; `exit_code` is what it must end with."""

    def run_command(*words: object, exit_code: int = 0, **options: Any) -> Result:
        result = CliRunner().invoke(app, ["--db", str(db), *map(str, words)], **options)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert result.exit_code == exit_code, result.output
        return result

    return run_command


@pytest.fixture
def run_json(run: Run) -> RunJson:
    """Run a command with --json and return its one document."""

    def run_command(*words: object, **options: Any) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(run("--json", *words, **options).stdout)
        return document

    return run_command


@pytest.fixture
def note(run_json: RunJson) -> Callable[..., str]:
    """Remember a note and return its id."""

    def remember(text: str, *words: object) -> str:
        node_id: str = run_json("remember", text, "--linking", "off", *words)["node"]["id"]
        return node_id

    return remember
