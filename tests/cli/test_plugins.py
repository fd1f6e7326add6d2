from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from evomem.cli import group
from evomem.cli.main import app
from evomem.errors import InvalidRequestError

server = typer.Typer()


@server.command()
def start(ctx: typer.Context, db: str = "none"):
    """Start a server."""
    typer.echo(f"serving {db} in {ctx.obj.labels}")


tokens = typer.Typer(help="Manage tokens.")


@tokens.command()
def add(name: str):
    """Add a token."""
    typer.echo(f"added {name}")


@tokens.command()
def drop(name: str):
    """Drop a token."""
    message = f"{name} is no token."
    raise InvalidRequestError(message)


def hello(name: str):
    """Say hello."""
    typer.echo(f"hello {name}")


NOT_A_COMMAND = 7


@pytest.fixture
def plugins(monkeypatch):
    """Install entry points that lie in this file; the last two are broken."""
    here = {
        "serve": server,
        "token": tokens,
        "hello": hello,
        "stats": hello,
        "number": NOT_A_COMMAND,
        "broken": None,
    }

    class Point(EntryPoint):
        def load(self):
            if self.name == "broken":
                message = "No module named 'gone'"
                raise ModuleNotFoundError(message)
            return here[self.name]

    points = [Point(name, "other.cli:app", group.PLUGIN_GROUP) for name in here]
    monkeypatch.setattr(group, "entry_points", lambda **_: points)
    group._plugins.cache_clear()
    group._load.cache_clear()
    yield
    group._plugins.cache_clear()
    group._load.cache_clear()


def call(*words, exit_code=0):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == exit_code, result.output
    return result


pytestmark = pytest.mark.usefixtures("plugins")


def test_help_lists_the_commands_of_other_packages_and_names_broken_ones():
    result = call("--help")
    assert "serve" in result.stdout
    assert "Start a server." in result.stdout
    assert "Manage tokens." in result.stdout
    assert "Say hello." in result.stdout
    assert "Warning: The command 'broken' of other.cli:app cannot be loaded" in result.stderr
    assert "No module named 'gone'" in result.stderr
    assert "Warning: The command 'number'" in result.stderr


def test_an_app_a_group_and_a_function_run():
    assert call("--namespace", "a", "serve").stdout == "serving none in ('a',)\n"
    assert call("token", "add", "x").stdout == "added x\n"
    assert call("hello", "you").stdout == "hello you\n"


def test_a_command_of_others_keeps_its_own_options():
    assert call("serve", "--db", "theirs").stdout.startswith("serving theirs")
    assert call("--db", "ours", "serve", "--db", "theirs").stdout.startswith("serving theirs")


def test_errors_of_a_command_of_others_are_messages_too():
    assert call("token", "drop", "x", exit_code=1).stderr == "Error: x is no token.\n"
    assert '"ok": false' in call("--json", "token", "drop", "x", exit_code=1).stdout


def test_a_broken_command_does_not_break_the_rest(run):
    assert run("init").stderr == ""
    result = call("broken", exit_code=2)
    assert "cannot be loaded" in result.stderr
    assert "Traceback" not in result.output


def test_our_commands_win_over_those_of_others(run):
    run("init")
    assert "path" in run("stats").stdout
