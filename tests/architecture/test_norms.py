"""The norms of CONTRIBUTING.md that neither the linter nor the import contracts can check."""

import io
import re
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import evomem

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "core": ROOT / "packages/core/src",
    "langchain": ROOT / "packages/langchain/src",
    "llamaindex": ROOT / "packages/llamaindex/src",
    "mcp": ROOT / "packages/mcp/src",
    "benchmarks": ROOT / "benchmarks/src",
}
SOURCES = sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))

MAX_LINES = 400
MAX_COMMENT_SHARE = 0.08
VAGUE_NAMES = {"utils", "common", "helpers"}
HEAVY_MODULES = {
    "detect_secrets",
    "mcp",
    "numpy",
    "onnxruntime",
    "openai",
    "peft",
    "psycopg",
    "pydantic",
    "pydantic_settings",
    "requests",
    "rich",
    "tokenizers",
    "torch",
    "transformers",
    "typer",
    "yaml",
}
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|root)(?![\w-])")
REGISTRY_HOST = re.compile(r"\b(?:pypi|pythonhosted|npmjs)\.(?:org|com)\b")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_source_file_is_too_long():
    lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {path: n for path, n in lengths.items() if n > MAX_LINES} == {}


def test_no_module_has_a_vague_name():
    parts = {relative(path): {*path.relative_to(ROOT).with_suffix("").parts} for path in SOURCES}
    assert [path for path, names in parts.items() if names & VAGUE_NAMES] == []


@pytest.mark.parametrize("folder", ["llama_index", "llama_index/memory"])
def test_the_llama_index_namespace_stays_open(folder):
    assert not (PACKAGES["llamaindex"] / folder / "__init__.py").exists()


def test_the_public_names_are_sorted_and_exist():
    assert list(evomem.__all__) == sorted(set(evomem.__all__))
    assert [name for name in evomem.__all__ if not hasattr(evomem, name)] == []


@pytest.mark.subprocess
def test_importing_evomem_loads_nothing_heavy():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, evomem; print(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    assert "evomem" in loaded
    assert HEAVY_MODULES.intersection(loaded) == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_comments_stay_few(package):
    lines = comments = 0
    for path in PACKAGES[package].rglob("*.py"):
        text = path.read_text("utf-8")
        lines += len(text.splitlines())
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments += sum(token.type == tokenize.COMMENT for token in tokens)
    assert comments / lines <= MAX_COMMENT_SHARE


@pytest.mark.parametrize("package", ["core", "langchain", "llamaindex", "mcp"])
def test_every_published_package_carries_the_license(package):
    assert (ROOT / "packages" / package / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@pytest.mark.subprocess
def test_no_tracked_file_names_one_machine_or_a_registry():
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    # A checkout owned by another user is refused otherwise, and the home directory is a test's own.
    command = [git, "-c", "safe.directory=*", "ls-files", "-z"]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    texts = {
        name: (ROOT / name).read_text("utf-8", errors="replace")
        for name in tracked.split("\0")
        if name != "uv.lock" and (ROOT / name).is_file()
    }
    found = {
        name: match.group()
        for name, text in texts.items()
        if (match := MACHINE_PATH.search(text) or REGISTRY_HOST.search(text))
    }
    assert found == {}
