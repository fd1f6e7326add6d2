import contextlib
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evomem import InvalidRequestError
from evomem.config import Settings, load_settings
from evomem.domain.patch import Op
from evomem.domain.policy import EvidenceRules, Policy, Redaction, Trust, TrustRule

EXAMPLE = files("evomem").joinpath("policy.example.yaml").read_text("utf-8")
WHOLE = """
version: 1
policy:
  evidence: {required_for: [ADD, REMOVE], roles: [user, assistant], max_per_patch: 7}
  operations: {allowed: [ADD, LINK], max_per_patch: 1_000}
  limits: {max_text_bytes: 0x1000, max_event_bytes: 2048}
  trust:
    default: low
    rules:
      - {actor: "scraper-*", source: mcp, scope: Production / EU, roles: [tool], trust: none}
      - {scope: null, trust: high}
  permissions: {purge: [admin], rollback: []}
  redaction: refuse
"""


@pytest.fixture
def load(tmp_path):
    def from_text(text):
        path = tmp_path / "policy.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return load_settings(path)

    return from_text


@pytest.fixture
def refusal(load):
    def of(text):
        with pytest.raises(InvalidRequestError) as refused:
            load(text)
        error = refused.value
        place = f", line {error.details['line']}:" if error.details["line"] else ":"
        assert f"{error.details['file']}{place}" in error.message
        assert (error.details["key"] or "") in error.message
        return error

    return of


def inner(*lines):
    return "policy:\n" + "".join(f"  {line}\n" for line in lines)


def test_without_a_file_the_defaults_hold(monkeypatch):
    monkeypatch.delenv("EVOMEM_CONFIG", raising=False)
    assert load_settings() == Settings(policy=Policy(), path=None)
    monkeypatch.setenv("EVOMEM_CONFIG", " ")
    assert load_settings() == Settings(policy=Policy(), path=None)


def test_the_argument_comes_before_the_environment(tmp_path, monkeypatch):
    for name in ("warn", "refuse"):
        (tmp_path / name).write_text(inner(f"redaction: {name}"), "utf-8")
    monkeypatch.setenv("EVOMEM_CONFIG", str(tmp_path / "warn"))
    assert load_settings().policy.redaction is Redaction.WARN
    assert load_settings(tmp_path / "refuse").policy.redaction is Redaction.REFUSE


def test_the_path_is_absolute_and_expanded(tmp_path, monkeypatch):
    (tmp_path / "policy.yaml").write_text("", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for written in ("policy.yaml", Path("policy.yaml"), "~/policy.yaml", "$HOME/policy.yaml"):
        assert load_settings(written).path == str(tmp_path / "policy.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "---\n",
        "{}",
        "policy:\n",
        "policy: {}",
        "version: 1",
        "policy:\n  trust:",
    ],
)
def test_an_empty_file_means_the_defaults(load, text):
    assert load(text).policy == Policy()


def test_the_example_is_the_defaults_and_names_every_key(load):
    assert load(EXAMPLE).policy == Policy()
    whole = yaml.safe_load(WHOLE)
    example = yaml.safe_load(EXAMPLE)
    assert {k: set(v or ()) for k, v in example["policy"].items() if isinstance(v, dict)} == {
        k: set(v) for k, v in whole["policy"].items() if isinstance(v, dict)
    }
    assert example["policy"].keys() == whole["policy"].keys()
    assert example.keys() == whole.keys()


def test_the_reference_names_every_key_and_its_examples_are_read(load):
    page = (Path(__file__).parents[3] / "docs/policy.md").read_text("utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert all(load(block).policy != Policy() for block in blocks)
    for section, keys in yaml.safe_load(WHOLE)["policy"].items():
        for key in keys if isinstance(keys, dict) else [""]:
            assert f"`policy.{section}.{key}".rstrip(".") + "`" in page


def test_the_rule_of_the_example_can_be_switched_on(load):
    head, _, tail = EXAMPLE.partition("    #   - actor")
    body, _, rest = ("    #   - actor" + tail).partition("    rules: []\n")
    rule = "".join(line.replace("#", " ", 1) for line in body.splitlines(keepends=True))
    assert load(f"{head}    rules:\n{rule}{rest}").policy == Policy(
        trust=(TrustRule(Trust.LOW, "scraper-*", "mcp", "production", frozenset({"tool"})),)
    )


def test_every_key_is_read(load):
    assert load(WHOLE).policy == Policy(
        evidence=EvidenceRules(frozenset({Op.ADD, Op.REMOVE}), frozenset({"user", "assistant"}), 7),
        operations=frozenset({Op.ADD, Op.LINK}),
        max_operations=1000,
        max_text_bytes=4096,
        max_event_bytes=2048,
        default_trust=Trust.LOW,
        trust=(
            TrustRule(Trust.NONE, "scraper-*", "mcp", "production/eu", frozenset({"tool"})),
            TrustRule(Trust.HIGH),
        ),
        purge=("admin",),
        rollback=(),
        redaction=Redaction.REFUSE,
    )


@pytest.mark.parametrize("written", ["off", "Off", '"off"', "!!str off"])
def test_off_needs_no_quotes(load, written):
    assert load(inner(f"redaction: {written}")).policy.redaction is Redaction.OFF


def test_anchors_and_a_byte_order_mark_are_fine(load):
    text = inner("evidence: {roles: &r [user]}", "trust: {rules: [{roles: *r, trust: low}]}")
    policy = load(b"\xef\xbb\xbf" + text.encode()).policy
    assert policy.evidence.roles == policy.trust[0].roles == {"user"}


@pytest.mark.parametrize(
    ("lines", "line", "key", "words"),
    [
        (["evidense: {}"], 2, "policy.evidense", "did you mean evidence?"),
        (["evidence:", "  rolez: []"], 3, "policy.evidence.rolez", "did you mean roles?"),
        (["trust: {rules: [{actr: a}]}"], 2, "policy.trust.rules[0].actr", "did you mean actor?"),
        (["zzz: 1"], 2, "policy.zzz", "known are evidence, operations"),
        (["<<: {}"], 2, "policy.<<", "no known key"),
        (["? [a]", ": 1"], 2, "policy.", "no known key"),
        (["!x redaction: off"], 2, "policy.redaction", "must be a text"),
        (["redaction: warn", "redaction: off"], 3, "policy.redaction", "second time"),
        (["evidence: []"], 2, "policy.evidence", "must be keys and values"),
        (["evidence: {roles: user}"], 2, "policy.evidence.roles", "must be a list"),
        (["evidence:", "  roles:", "  - user", "  - usr"], 5, "policy.evidence.roles[1]", "user?"),
        (["evidence: {roles: [[user]]}"], 2, "policy.evidence.roles[0]", "must be a text"),
        (["evidence: {roles: [1]}"], 2, "policy.evidence.roles[0]", "of type int"),
        (["evidence: {roles: }"], 2, "policy.evidence.roles", "must be a list"),
        (["evidence: &e {roles: [*e]}"], 2, "policy.evidence.roles[0]", "must be a text"),
        (["operations: {allowed: [add]}"], 2, "policy.operations.allowed[0]", "mean ADD?"),
        (["trust: {default: hgh}"], 2, "policy.trust.default", "did you mean high?"),
        (["trust: {default: yes}"], 2, "policy.trust.default", "in quotes"),
        (["trust: {rules: [{actor: a}]}"], 2, "policy.trust.rules[0]", "needs the key trust"),
        (["trust: {rules: [{scope: 'a*', trust: low}]}"], 2, "policy.trust.rules[0].scope", "glob"),
        (["permissions: {purge: ['']}"], 2, "policy.permissions.purge[0]", "empty"),
        (["limits: {max_text_bytes: 0}"], 2, "policy.limits.max_text_bytes", "1 to 1048576"),
        (["limits: {max_text_bytes: 1048577}"], 2, "policy.limits.max_text_bytes", "not 1048577"),
        (["limits: {max_text_bytes: 1e3}"], 2, "policy.limits.max_text_bytes", "whole number"),
        (["limits: {max_text_bytes: true}"], 2, "policy.limits.max_text_bytes", "of type bool"),
        (["limits: {max_event_bytes: !!int x}"], 2, "policy.limits.max_event_bytes", "number"),
        (["evidence: {max_per_patch: 1001}"], 2, "policy.evidence.max_per_patch", "1 to 1000"),
        (["operations: {max_per_patch: -1}"], 2, "policy.operations.max_per_patch", "1 to 10000"),
        (["redaction: on"], 2, "policy.redaction", "in quotes"),
        (["redaction: no"], 2, "policy.redaction", "in quotes"),
        (["redaction: mask"], 2, "policy.redaction", "known are off, warn, redact, refuse"),
        (["redaction: !!python/name:os.system off"], 2, "policy.redaction", "must be a text"),
    ],
)
def test_what_has_no_meaning_is_refused_by_line_and_key(refusal, lines, line, key, words):
    error = refusal(inner(*lines))
    assert error.details["line"] == line
    assert error.details["key"].startswith(key)
    assert words in error.message


def test_a_scope_that_is_too_long_is_refused_by_line_and_key(refusal):
    error = refusal(inner("trust:", "  rules:", f"  - {{scope: {'x' * 201}, trust: low}}"))
    assert (error.details["line"], error.details["key"]) == (4, "policy.trust.rules[0].scope")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("version: 2\n", 1, "upgrade EvoMem"),
        ("version: one\n", 1, "whole number"),
        ("polcy: {}\n", 1, "did you mean policy?"),
        ("- policy\n", 1, "must be keys and values"),
        ("policy:\n  redaction: [off\n", 3, "not YAML"),
        ("policy:\n\tredaction: off\n", 2, "not YAML"),
        (
            "policy:\n  permissions:\n    purge: [*]\n",
            3,
            'Quote a text that begins with a sign: "*"',
        ),
        ("policy: *nowhere\n", 1, "undefined alias"),
        ("policy: {}\n---\npolicy: {}\n", 2, "not YAML"),
        ("policy:\n  redaction: \0off\n", 2, "not YAML"),
        ('policy: "\\UFFFFFFFF"\n', 1, "not YAML"),
        (b"policy:\n  redaction: \xff\n", 2, "UTF-8"),
        ("[" * 100_000, 1, "not YAML"),
    ],
)
def test_what_is_no_settings_file_is_refused_by_line(refusal, text, line, words):
    error = refusal(text)
    assert error.details["line"] == line
    assert words in error.message


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch, name):
    monkeypatch.setenv("EVOMEM_CONFIG", str(tmp_path / name))
    with pytest.raises(InvalidRequestError, match="check the path") as refused:
        load_settings()
    assert refused.value.details == {"file": str(tmp_path / name), "line": None, "key": None}


@given(st.text(alphabet="policyevidnrust: \n\t-[]{}&*!|>'\"%@`#,?\\0é\ud800", max_size=60))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "policy.yaml"
    path.write_text(text, "utf-8", errors="surrogatepass")
    with contextlib.suppress(InvalidRequestError):
        assert load_settings(path).path == str(path)


@pytest.mark.subprocess
def test_without_a_file_no_yaml_is_loaded():
    code = "import sys, evomem.config as c; c.load_settings(); print('yaml' in sys.modules)"
    environment = {**os.environ, "EVOMEM_CONFIG": ""}
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=environment
    )
    assert shown.stdout.strip() == "False"
