import json

import pytest

from evomem.config import Settings, load_settings
from evomem.domain.policy import Policy

RULES = """\
policy:
  evidence: {required_for: [], roles: [user, assistant], max_per_patch: 7}
  operations: {allowed: [ADD, LINK], max_per_patch: 2}
  limits: {max_text_bytes: 100, max_event_bytes: 50}
  trust:
    default: low
    rules:
      - {actor: "ada*", source: cli, scope: production, roles: [tool], trust: high}
      - {trust: none}
  permissions: {purge: [], rollback: [root]}
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(RULES, "utf-8")
    return path


def test_the_defaults_are_printed_as_a_file_that_means_them(run, tmp_path):
    shown = run("policy").stdout
    assert "$EVOMEM_CONFIG" in shown.splitlines()[0]
    path = tmp_path / "printed.yaml"
    path.write_text(shown, "utf-8")
    assert load_settings(path).policy == Policy()


def test_the_policy_of_a_file_is_printed_as_a_file_that_means_it(run, rules, tmp_path):
    shown = run("policy", "--config", rules).stdout
    assert shown.startswith(f"# {rules}\n")
    path = tmp_path / "printed.yaml"
    path.write_text(shown, "utf-8")
    assert load_settings(path).policy == load_settings(rules).policy != Policy()


def test_the_environment_names_the_file_and_the_option_wins(run_json, rules, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMEM_CONFIG", str(rules))
    document = run_json("policy")
    assert document["path"] == str(rules)
    assert document["policy"]["operations"] == {"allowed": ["ADD", "LINK"], "max_per_patch": 2}
    assert document["policy"]["trust"]["rules"][1]["actor"] == "*"
    other = tmp_path / "other.yaml"
    other.write_text("", "utf-8")
    assert run_json("--config", other, "policy")["path"] == str(other)


def test_the_example_is_the_packaged_file(run, run_json, tmp_path):
    path = tmp_path / "example.yaml"
    path.write_text(run("policy", "--example").stdout, "utf-8")
    assert load_settings(path) == Settings(Policy(), str(path))
    assert run_json("policy", "--example")["example"] == path.read_text("utf-8")


def test_the_policy_is_in_force(run, run_json, rules):
    error = run_json("remember", "A note.", "--config", rules, exit_code=1)["error"]
    assert error["code"] == "POLICY_DENIED"
    words = ("event", "record", "user", "x" * 60, f"--config={rules}")
    assert run_json(*words, exit_code=1)["error"]["code"] == "TOO_LARGE"
    operations = json.dumps([{"op": "REMOVE", "memory_id": "m" + "0" * 11, "expected_version": 1}])
    shown = run("apply", "-", "--config", rules, input=operations, exit_code=1).stderr
    assert "policy.operations.allowed" in shown


@pytest.mark.parametrize("words", [["policy"], ["recall", "x"], ["remember", "x"]])
def test_a_file_that_is_missing_or_means_nothing_is_refused(run, db, tmp_path, words):
    path = tmp_path / "policy.yaml"
    assert str(path) in run("--config", path, *words, exit_code=1).stderr
    path.write_text("policy:\n  redact: off\n", "utf-8")
    assert "line 2" in run("--config", path, *words, exit_code=1).stderr
    assert not db.exists()


def test_commands_to_copy_repeat_the_option(run, note, tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("", "utf-8")
    note("We use Redis for the session cache.")
    shown = run(
        "remember", "We switched the session cache from Redis to Memcached.", "--config", path
    )
    assert f"--config {path}" in shown.stdout
