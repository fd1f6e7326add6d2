import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from evomem_bench.peers import environments, interpreters
from evomem_bench.peers.environments import (
    Environment,
    EnvironmentMissingError,
    EnvironmentSlowError,
    cache_folder,
    one_line,
    prepare,
)
from evomem_bench.peers.interpreters import find_python
from evomem_bench.peers.table import PEERS
from evomem_bench.peers.workers.hashing import DIMENSIONS, embed


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOMEM_BENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheel(tmp_path):
    """Return a package of one line, made here."""
    path = tmp_path / "toybox-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toybox.py", "answer = 42\n")
        about = "Metadata-Version: 2.1\nName: toybox\nVersion: 1.0\n"
        archive.writestr("toybox-1.0.dist-info/METADATA", about)
        kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr("toybox-1.0.dist-info/WHEEL", kind)
        archive.writestr("toybox-1.0.dist-info/RECORD", "")
    return path


@pytest.mark.subprocess
@pytest.mark.parametrize("tool", ["uv", pytest.param("pip", marks=pytest.mark.slow)])
def test_an_environment_is_built_once(wheel, cache, monkeypatch, tool):
    if tool == "uv" and shutil.which("uv") is None:
        pytest.skip("no uv here")
    if tool == "pip":
        monkeypatch.setattr(shutil, "which", lambda name: None)
    environment = Environment("toy", (str(wheel),), start=("-m", "toybox"))
    command = prepare(environment, 100)
    assert command[1:] == ["-m", "toybox"]
    assert Path(command[0]).is_relative_to(cache)
    assert list(Path(command[0]).parents[1].rglob("toybox.*.pyc"))
    monkeypatch.setattr(environments, "find_python", lambda *a, **k: pytest.fail("built again"))
    assert prepare(environment, 0) == command


@pytest.mark.subprocess
def test_what_cannot_be_installed_is_told_in_a_line_and_tried_again(tmp_path, cache, monkeypatch):
    broken = tmp_path / "python"
    broken.write_text(f"#!/bin/sh\necho ERROR: no {tmp_path}/x.whl here >&2\nexit 1\n", "utf-8")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(environments, "find_python", lambda *a, **k: str(broken))
    for _ in range(2):
        with pytest.raises(EnvironmentMissingError, match=r"^not installed: ERROR: no … here$"):
            prepare(Environment("none", ("x==1",)), 100)
    assert not list(cache.rglob("ready.json"))


@pytest.mark.subprocess
def test_building_ends_when_its_time_is_over(wheel):
    with pytest.raises(EnvironmentSlowError, match=r"^not installed: took longer than 0 s$"):
        prepare(Environment("slow", (str(wheel),)), 0.01)
    with pytest.raises(EnvironmentSlowError, match=r"^not installed: no time was left$"):
        prepare(Environment("slow", (str(wheel),)), -1)


def test_a_peer_of_npm_needs_npm(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(EnvironmentMissingError, match=r"^not installed: no npm and node here$"):
        prepare(Environment("server", ("some@1",), npm=True), 100)


@pytest.mark.subprocess
def test_a_python_is_found_by_what_it_can_do(monkeypatch):
    assert find_python((3, 11), extensions=False)
    monkeypatch.setattr(interpreters, "_candidates", lambda: iter([sys.executable]))
    assert find_python((9, 0), extensions=False) is None
    found = interpreters.Interpreter("p", (3, 11), loads_extensions=False)
    monkeypatch.setattr(interpreters, "_probe", lambda path: found)
    assert find_python((3, 11), extensions=False) == "p"
    assert find_python((3, 11), extensions=True) is None


@pytest.mark.subprocess
def test_what_is_no_python_is_passed_over(tmp_path, monkeypatch):
    shim = tmp_path / "python3"
    shim.write_text("#!/bin/sh\nexit 127\n", "utf-8")
    shim.chmod(0o755)
    monkeypatch.setattr(
        interpreters, "_candidates", lambda: iter([str(shim), "/nowhere/python3", sys.executable])
    )
    assert find_python((3, 11), extensions=False) == sys.executable


def test_a_missing_python_is_told_with_what_was_wanted(monkeypatch):
    monkeypatch.setattr(environments, "find_python", lambda *a, **k: None)
    wanted = "there is no Python 3.12 or newer whose SQLite loads extensions here"
    with pytest.raises(EnvironmentMissingError, match=wanted):
        prepare(Environment("e", ("x==1",), minimum=(3, 12), extensions=True), 100)


def test_the_cache_is_in_the_home_unless_said_otherwise(monkeypatch, cache):
    assert cache_folder() == cache
    monkeypatch.delenv("EVOMEM_BENCH_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "evomem-bench"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("warning: a\nERROR: no /home/me/x.whl here\nbye", "ERROR: no … here"),
        ("first\nlast from https://host.example/simple/x\n", "last from …"),
        ("", "no message"),
    ],
)
def test_a_message_becomes_one_line_without_places(text, line):
    assert one_line(text) == line


def test_every_peer_says_whether_and_why_it_is_durable():
    assert {peer.durable for peer in PEERS} <= {"yes", "no", "unclear"}
    assert all(peer.reason for peer in PEERS)
    assert len({peer.name for peer in PEERS}) == len(PEERS)
    for peer in PEERS:
        pins = peer.environment.pins if peer.environment else ()
        assert all("==" in pin or "@" in pin[1:] for pin in pins)


def test_the_workers_import_nothing_that_a_peer_lacks():
    import ast

    folder = Path(environments.__file__).with_name("workers")
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        imported = {
            name.split(".")[0]
            for node in ast.walk(tree)
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert imported <= set(sys.stdlib_module_names), path.name


def test_equal_words_have_equal_vectors_of_unit_length():
    one, same, other = embed("Apples, pears"), embed("pears APPLES"), embed("a different text")
    assert len(one) == DIMENSIONS
    assert one == same
    assert sum(a * a for a in other) == pytest.approx(1)
    assert sum(a * b for a, b in zip(one, other, strict=True)) < 0.5
    near = embed("apples and pears")
    assert sum(a * b for a, b in zip(one, near, strict=True)) > 0.7


def test_a_text_without_words_has_a_vector_too():
    assert embed("") == embed("?!") == [1.0] + [0.0] * (DIMENSIONS - 1)


def test_the_vectors_do_not_depend_on_the_process():
    assert [(n, round(x, 3)) for n, x in enumerate(embed("cherry pie")) if x] == [
        (184, 0.707),
        (251, -0.707),
    ]
    json.dumps(embed("cherry pie"))
