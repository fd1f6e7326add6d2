"""Other memories, each installed into a folder of its own, or the reason why it is not there."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

_BOX_S = 240
_SYSTEM_PYTHON = "/usr/bin/python3"
LANGGRAPH = "langgraph-checkpoint-sqlite"
SERVER_MEMORY = "@modelcontextprotocol/server-memory"


@dataclass(frozen=True, slots=True)
class Peer:
    """A memory to race against.

    Attributes:
        name: With its version.
        command: The Python that has it, or what starts its server; empty if it is missing.
        problem: Why it is missing.
    """

    name: str
    command: tuple[str, ...] = ()
    problem: str | None = None


class _MissingError(Exception):
    """The peer cannot be had; the text says why."""


def install_langgraph(folder: Path) -> Peer:
    """Install LangGraph's SqliteStore."""
    try:
        home = folder / "langgraph"
        python = home / "bin" / "python"
        _run([_python(), "-m", "venv", str(home)])
        _run([str(python), "-m", "pip", "install", "--quiet", LANGGRAPH])
        told = f"import importlib.metadata as m; print(m.version({LANGGRAPH!r}))"
        version = _run([str(python), "-c", told])
    except _MissingError as error:
        return Peer("LangGraph SqliteStore", problem=str(error))
    return Peer(f"LangGraph SqliteStore {version}", (str(python),))


def install_server_memory(folder: Path) -> Peer:
    """Install the reference server of the Model Context Protocol."""
    try:
        npm, node = shutil.which("npm"), shutil.which("node")
        if npm is None or node is None:
            return Peer("server-memory", problem="not installed: no npm and node here")
        home = folder / "server-memory"
        _run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(home), SERVER_MEMORY])
        package = home / "node_modules" / SERVER_MEMORY
        about = json.loads((package / "package.json").read_text("utf-8"))
        start = package / next(iter(about["bin"].values()))
    except _MissingError as error:
        return Peer("server-memory", problem=str(error))
    return Peer(f"server-memory {about['version']}", (node, str(start)))


def _python() -> str:
    """Return a Python whose SQLite loads extensions, which LangGraph's store needs."""
    loads = hasattr(sqlite3.Connection, "enable_load_extension")
    return sys.executable if loads or not Path(_SYSTEM_PYTHON).exists() else _SYSTEM_PYTHON


def _run(command: Sequence[str]) -> str:
    with Console(stderr=True).status(f"install: {' '.join(command)[-60:]}"):
        try:
            done = subprocess.run(  # noqa: S603  venv, pip and npm
                command, capture_output=True, check=False, text=True, timeout=_BOX_S
            )
        except subprocess.TimeoutExpired as error:
            slow = f"not installed: took longer than {_BOX_S} s"
            raise _MissingError(slow) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        reason = f"not installed: {lines[-1][:100]}"
        raise _MissingError(reason)
    return done.stdout.strip()
