"""The race: writers that start together on one file, and a count of what is there afterwards."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evomem.engines.sqlite.engine import SqliteEngine
from evomem_bench.timing import Row, percentile

_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True)
class Contender:
    """Who races.

    Attributes:
        name: As the report says it.
        system: One of the worker's `OPENERS`.
        stored: Reads all texts in the file.
        python: Runs the worker.
        command: Starts the contender's server, if it is one.
    """

    name: str
    system: str
    stored: Callable[[Path], list[str]]
    python: str = sys.executable
    command: tuple[str, ...] = ()


def texts_of_evomem(path: Path) -> list[str]:
    """Read every node's text."""
    return _column(path, "SELECT text.body FROM node JOIN text ON text.id = node.text_id")


def texts_of_plain(path: Path) -> list[str]:
    """Read every row's text."""
    return _column(path, "SELECT text FROM node")


def texts_of_langgraph(path: Path) -> list[str]:
    """Read every item's text."""
    return [json.loads(value)["text"] for value in _column(path, "SELECT value FROM store")]


def texts_of_server_memory(path: Path) -> list[str]:
    """Read every entity's observations; a line that is no JSON holds none."""
    found = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            found += json.loads(line).get("observations", [])
        except json.JSONDecodeError:
            continue
    return found


def _column(path: Path, query: str) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [value for (value,) in connection.execute(query)]


def run_race(
    contender: Contender, path: Path, dealt: Sequence[Sequence[str]], box_s: float
) -> list[Row]:
    """Let one process for each list of texts write it, all at once, into a new file.

    Args:
        contender: Who races.
        path: Of the file.
        dealt: Texts that differ, and end with a word of their own.
        box_s: No write is begun after this time.

    Returns:
        A row of figures, and one for each kind of refusal. Waits are those of acknowledged writes.
    """
    _work(contender, path, [[]], box_s)
    told = _work(contender, path, dealt, box_s)
    acknowledged = [text for one in told for text in one["acknowledged"]]
    stored = Counter(contender.stored(path))
    waits = [wait for one in told for wait in one["waits_ms"]] or [0.0]
    seconds = max(one["ended"] for one in told) - min(one["began"] for one in told)
    refusals = sum((Counter(one["refusals"]) for one in told), Counter())
    figures: Row = {
        "part": race_of(dealt),
        "system": contender.name,
        "acknowledged": len(acknowledged),
        "stored": stored.total(),
        "lost": sum(text not in stored for text in acknowledged),
        "refused": refusals.total(),
        "not_begun": sum(map(len, dealt)) - len(acknowledged) - refusals.total(),
        "per_s": round(len(acknowledged) / seconds, 1),
        "p50_ms": percentile(waits, 0.5),
        "p99_ms": percentile(waits, 0.99),
        "worst_ms": max(waits),
        "sound": _is_sound(contender, path),
    }
    kinds = [
        {"part": "refusals", "system": contender.name, "count": count, "message": text}
        for text, count in refusals.most_common(3)
    ]
    return [figures, *kinds]


def race_of(dealt: Sequence[Sequence[str]]) -> str:
    """Name the race by its size."""
    return f"race: {len(dealt)} processes write {len(dealt[0]):,} notes each to one file"


def _is_sound(contender: Contender, path: Path) -> bool | None:
    """Tell whether the file and its index are in order; None for what is no database."""
    if contender.system == "server-memory":
        return None
    if contender.system == "evomem":
        engine = SqliteEngine(path)
        try:
            return not engine.verify()
        finally:
            engine.close()
    return _column(path, "PRAGMA integrity_check") == ["ok"]


def _work(
    contender: Contender, path: Path, dealt: Sequence[Sequence[str]], box_s: float
) -> list[dict[str, Any]]:
    """Start the processes, let all go when all are ready, and return what each tells."""
    command = [contender.python, str(_WORKER), contender.system, str(path)]
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")  # noqa: S603  our own worker
        for _ in dealt
    ]
    try:
        for process, texts in zip(started, dealt, strict=True):
            _tell(process, {"texts": list(texts), "box_s": box_s, "command": contender.command})
        for process in started:
            _hear(process, contender)
        for process in started:
            _tell(process, None)
        return [json.loads(_hear(process, contender)) for process in started]
    finally:
        for process in started:
            _end(process)


def _tell(process: subprocess.Popen[str], message: object) -> None:
    if process.stdin is not None:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()


def _hear(process: subprocess.Popen[str], contender: Contender) -> str:
    line = process.stdout.readline() if process.stdout is not None else ""
    if not line:
        ended = f"A writer of {contender.name} ended with status {process.wait()}."
        raise RuntimeError(ended)
    return line


def _end(process: subprocess.Popen[str]) -> None:
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
