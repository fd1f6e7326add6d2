"""An environment for each peer, built once and kept in a cache: `EVOMEM_BENCH_CACHE` says where."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from rich.console import Console

from evomem_bench.peers.interpreters import find_python

CACHE_VARIABLE = "EVOMEM_BENCH_CACHE"
_READY = "ready.json"
_PATH = re.compile(r"\w+://\S+|(?:/[\w.@+~-]+){2,}/?")
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Environment:
    """What to install.

    Attributes:
        name: Of it.
        pins: Packages with their versions.
        start: Arguments that make its Python a server.
        minimum: The Python it needs.
        extensions: It needs a Python whose SQLite loads extensions.
        removed: Packages taken out again.
        npm: The one package is from npm, and is a server.
    """

    name: str
    pins: tuple[str, ...]
    start: tuple[str, ...] = ()
    minimum: tuple[int, int] = (3, 11)
    extensions: bool = False
    removed: tuple[str, ...] = ()
    npm: bool = False


class EnvironmentMissingError(Exception):
    """There is no such environment; the text says why, in a line."""


class EnvironmentSlowError(EnvironmentMissingError):
    """It was not built in the time given."""


def cache_folder() -> Path:
    """Return where environments are kept."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given).expanduser() if given else Path.home() / ".cache" / "evomem-bench"


def prepare(environment: Environment, limit_s: float) -> list[str]:
    """Return the command of an environment: its Python, or what starts its server.

    Args:
        environment: To find in the cache, or to build there.
        limit_s: For the building.

    Raises:
        EnvironmentMissingError: It cannot be had.
        EnvironmentSlowError: It cannot be had in this time.
    """
    home = cache_folder() / f"{environment.name}-{_digest(environment)}"
    with contextlib.suppress(OSError, ValueError):
        kept: list[str] = json.loads((home / _READY).read_text("utf-8"))
        if Path(kept[0]).exists():
            return kept
    if limit_s <= 0:
        message = "not installed: no time was left"
        raise EnvironmentSlowError(message)
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    build = _Build(limit_s)
    command = build.npm(environment, home) if environment.npm else build.python(environment, home)
    (home / _READY).write_text(json.dumps(command), "utf-8")
    return command


def one_line(text: str) -> str:
    """Return the line of a message that says most, without the places of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if line.lower().startswith(("error", "npm error"))]
    return _PATH.sub("…", (told or lines or ["no message"])[-1])[:_LONGEST]


def _digest(environment: Environment) -> str:
    return hashlib.sha256(repr(astuple(environment)).encode()).hexdigest()[:12]


class _Build:
    """The building of one environment, against the clock."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._deadline = time.monotonic() + limit_s

    def python(self, environment: Environment, home: Path) -> list[str]:
        base = find_python(environment.minimum, extensions=environment.extensions)
        if base is None:
            wanted = ".".join(map(str, environment.minimum))
            loading = " whose SQLite loads extensions" if environment.extensions else ""
            message = f"not installed: there is no Python {wanted} or newer{loading} here"
            raise EnvironmentMissingError(message)
        python = str(home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
        if uv := shutil.which("uv"):
            self._run([uv, "venv", "--quiet", "--allow-existing", "--python", base, str(home)])
            pip, target = [uv, "pip"], ["--python", python]
        else:
            self._run([base, "-m", "venv", str(home)])
            pip, target = [python, "-m", "pip", "--disable-pip-version-check"], []
        # Bytecode made at the first start would be counted as the start of the peer.
        compiled = ["--compile-bytecode"] if uv else ["--compile"]
        self._run([*pip, "install", "--quiet", *compiled, *target, *environment.pins])
        if environment.removed:
            agreed = target or ["--yes"]
            self._run([*pip, "uninstall", "--quiet", *agreed, *environment.removed])
        return [python, *environment.start]

    def npm(self, environment: Environment, home: Path) -> list[str]:
        npm, node = shutil.which("npm"), shutil.which("node")
        if npm is None or node is None:
            message = "not installed: no npm and node here"
            raise EnvironmentMissingError(message)
        (pin,) = environment.pins
        self._run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(home), pin])
        package = home / "node_modules" / pin.rpartition("@")[0]
        about = json.loads((package / "package.json").read_text("utf-8"))
        return [node, str(package / next(iter(about["bin"].values())))]

    def _run(self, command: Sequence[str]) -> None:
        # In a session of its own, so that what pip and npm start ends with them.
        with (
            subprocess.Popen(  # noqa: S603  uv, venv, pip and npm
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            ) as process,
            Console(stderr=True).status(f"install: {command[-1]}"),
        ):
            try:
                _, errors = process.communicate(timeout=self._deadline - time.monotonic())
            except subprocess.TimeoutExpired as error:
                end_session(process)
                message = f"not installed: took longer than {self._limit_s:.0f} s"
                raise EnvironmentSlowError(message) from error
        if process.returncode:
            message = f"not installed: {one_line(errors)}"
            raise EnvironmentMissingError(message)


def end_session(process: subprocess.Popen[str]) -> None:
    """Kill a process that leads a session, and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
