import json

import pytest
from typer.testing import CliRunner

import evomem
from evomem.cli.environment import unread_variables
from evomem.cli.main import app
from evomem.cli.session import command_line

COMMANDS = {
    *("init", "remember", "recall", "show", "history", "list", "link", "unlink", "forget"),
    *("review", "stats", "demo", "search", "event", "apply", "patch", "policy"),
}
NESTED = [
    *(("event", command) for command in ("record", "get")),
    *(("patch", command) for command in ("list", "show", "rollback")),
]


def call(*words, exit_code=0):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == exit_code, result.output
    return result


def test_help_names_every_command():
    shown = call("--help").stdout
    assert COMMANDS.issubset(shown.split())


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself(command):
    assert call(command, "--help").stdout.startswith(f"Usage: root {command}")


@pytest.mark.parametrize("words", NESTED)
def test_every_command_of_a_group_explains_itself(words):
    assert words[1] in call(words[0], "-h").stdout.split()
    assert call(*words, "--help").stdout.startswith(f"Usage: root {' '.join(words)}")


@pytest.mark.parametrize("words", [["patch"], ["event"], ["--json", "patch"], ["patch", "--json"]])
def test_a_group_without_a_command_is_wrong_usage_and_prints_help(words):
    result = call(*words, exit_code=2)
    assert result.stdout == ""
    assert "Commands:" in result.stderr


def test_an_unknown_command_of_a_group_is_wrong_usage():
    assert "Did you mean 'show'" in call("patch", "shwo", exit_code=2).stderr


def test_global_options_may_stand_anywhere_around_the_command_of_a_group(db):
    recorded = call("event", "--db", str(db), "record", "--json", "user", "Hi.", "--namespace=a")
    event_id = json.loads(recorded.stdout)["id"]
    words = ("event", "get", "--json", event_id, "--db", str(db))
    assert json.loads(call(*words, "--namespace", "a").stdout)["content"] == "Hi."
    assert call(*words, "--namespace", "b", exit_code=1).exit_code == 1


def test_the_version_is_printed():
    assert call("--version").stdout == f"evomem {evomem.__version__}\n"
    assert json.loads(call("--json", "--version").stdout) == {"version": evomem.__version__}


def test_no_command_is_wrong_usage():
    call(exit_code=2)
    call("--json", exit_code=2)
    assert "Did you mean 'recall'" in call("recal", "x", exit_code=2).stderr


def test_global_options_may_stand_after_the_command(db):
    call("remember", "Below.", "--namespace=a/b", "--db", str(db))
    page = json.loads(call("list", f"--db={db}", "--json", "--namespace", "a/b").stdout)
    assert page["nodes"][0]["namespace"] == ["a", "b"]


def test_what_follows_two_dashes_is_text(db):
    call("--db", str(db), "remember", "--", "--json")
    shown = call("--db", str(db), "recall", "--", "--json").stdout
    assert shown.splitlines()[1].strip() == "--json"


@pytest.mark.parametrize(
    "words", [["--db"], ["list", "--db"], ["list", "--namespace"], ["policy", "--config"]]
)
def test_an_option_without_its_value_is_wrong_usage(words):
    assert words[-1] in call(*words, exit_code=2).stderr


def test_an_error_is_one_document_with_json(run):
    run("init")
    result = run("--json", "recall", "x", "-k", 500, exit_code=1)
    document = json.loads(result.stdout)
    assert document["ok"] is False
    assert document["error"]["code"] == "INVALID_REQUEST"
    assert document["error"]["details"] == {"field": "k"}
    assert result.stderr == ""


def test_an_error_is_a_message_on_standard_error_without_json(run):
    run("init")
    result = run("recall", "x", "-k", 500, exit_code=1)
    assert result.stdout == ""
    assert result.stderr == "Error: k=500 must be a whole number from 1 to 100.\n"


@pytest.mark.parametrize("namespace", ["a//b", "/", " ", "a/\x07"])
def test_a_namespace_with_an_empty_or_odd_label_is_refused(run, namespace):
    assert "namespace label" in run("--namespace", namespace, "init", exit_code=1).stderr


def test_unknown_environment_variables_are_named_once_on_standard_error(run, monkeypatch):
    monkeypatch.setenv("EVOMEM_DBPATH", "x")
    result = run("--json", "init")
    assert result.stderr == "Warning: EVOMEM_DBPATH is not read; did you mean EVOMEM_DB?\n"
    assert json.loads(result.stdout)["patches"] == 0


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("EVOMEM_DB_PATH", "EVOMEM_DB"),
        ("EVOMEM_NAMESPACES", "EVOMEM_NAMESPACE"),
        ("EVOMEM_LINKER_KEY", "EVOMEM_LINKER_API_KEY"),
        ("EVOMEM_CONFIGURATION", "EVOMEM_CONFIG"),
        ("EVOMEM_MODEL", "EVOMEM_BASE_MODEL"),
    ],
)
def test_the_nearest_variable_is_named(given, near):
    assert list(unread_variables([given])) == [f"{given} is not read; did you mean {near}?"]


def test_known_variables_and_those_of_others_are_not_named():
    assert list(unread_variables(["EVOMEM_DB", "EVOMEM_CONFIG", "PATH", "MY_EVOMEM_DB"])) == []
    (line,) = unread_variables(["EVOMEM_"])
    assert "EVOMEM_NAMESPACE" in line


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("n1", "n1"),
        ("a b", '"a b"'),
        ("a $b", "'a $b'"),
        ('a "b"', "'a \"b\"'"),
        ("it's", '"it\'s"'),
        ("~/x", '"~/x"'),
        ("", "''"),
    ],
)
def test_commands_to_copy_are_quoted_for_the_shell(word, shown):
    assert command_line("show", word) == f"evomem show {shown}"
