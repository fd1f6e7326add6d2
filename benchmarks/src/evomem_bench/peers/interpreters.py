"""The Pythons of this machine, and which of them a peer can live with."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NAMES = ("python3", "python3.13", "python3.12", "python3.11")
_PROBE = """
import json, sqlite3, sys
loads = hasattr(sqlite3.Connection, "enable_load_extension")
print(json.dumps([sys.executable, sys.version_info[:2], loads]))
"""
_PROBE_S = 20


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python.

    Attributes:
        path: Of it.
        version: Major and minor.
        loads_extensions: Its SQLite takes them.
    """

    path: str
    version: tuple[int, int]
    loads_extensions: bool


def find_python(minimum: tuple[int, int], *, extensions: bool) -> str | None:
    """Return the first Python that is new enough and, if asked for, loads SQLite's extensions.

    Ours comes first, then those on the `PATH`, then those of pyenv, whose links on the `PATH` do
    not all lead anywhere.
    """
    for path in _candidates():
        found = _probe(path)
        if found is None or found.version < minimum:
            continue
        if found.loads_extensions or not extensions:
            return found.path
    return None


def _candidates() -> Iterator[str]:
    yield sys.executable
    folders = [Path(folder) for folder in os.get_exec_path()]
    yield from (str(folder / name) for folder in folders for name in _NAMES)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob("versions/*/bin/python3")))


@functools.cache
def _probe(path: str) -> Interpreter | None:
    """Ask a Python what it is; None if it is none, or does not answer."""
    if not os.access(path, os.X_OK):
        return None
    try:
        done = subprocess.run(  # noqa: S603  a Python
            [path, "-I", "-c", _PROBE], capture_output=True, check=True, timeout=_PROBE_S
        )
        executable, (major, minor), loads = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Interpreter(executable, (major, minor), loads)
