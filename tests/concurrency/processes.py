"""Starting workers on one store, and reading what each was told."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.engine_sqlite.processes import Process, answers, let_go, output

from evomem_bench.concurrency.inspection import inspect

WORKER = Path(__file__).with_name("worker.py")

Call = tuple[str, dict[str, Any]]
Told = dict[str, Any]


@contextmanager
def workers(
    path: Path, *calls: Sequence[Call], meet: str = "open", action: str = "do"
) -> Iterator[list[Process]]:
    """Start a worker for each list of calls; none outlives the test, stopped or not."""
    pipe = subprocess.PIPE
    command = [sys.executable, str(WORKER), str(path), meet, action]
    started = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in calls
    ]
    try:
        for process, own in zip(started, calls, strict=True):
            send(process, own)
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def send(process: Process, calls: Sequence[Call]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(calls) + "\n")
    process.stdin.flush()


def hear(process: Process) -> Told:
    """Return the next thing that a worker tells."""
    line = output(process).readline()
    assert line, process.communicate()[1]
    told: Told = json.loads(line)
    return told


def race(path: Path, *calls: Sequence[Call], meet: str = "open") -> list[list[Told]]:
    """Let workers go together; return what each was told of its calls."""
    with workers(path, *calls, meet=meet) as started:
        let_go(started)
        return [[json.loads(line) for line in answers(process)] for process in started]


def wait_until_stopped(process: Process) -> None:
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


def stop(process: Process) -> None:
    process.send_signal(signal.SIGSTOP)
    wait_until_stopped(process)


def remembers(text: str, **options: Any) -> Call:
    return ("remember", {"text": text, **options})


def assert_sound(path: Path) -> None:
    """The file and its index are in order, and nothing in it is there in part."""
    findings = inspect(path, [])
    assert findings.problems == ()
    assert findings.half_written == ()


def ids_in_order(memory: Any) -> list[str]:
    """Return the ids of all nodes, in the order of their commits."""
    found, cursor = [], None
    while True:
        page = memory.list(status="all", limit=1000, cursor=cursor)
        found += [node.id for node in page]
        cursor = page.cursor
        if cursor is None:
            return found[::-1]


@contextmanager
def write_lock(path: Path) -> Iterator[Any]:
    """Hold the write lock of a store, with a change that is not committed."""
    import sqlite3

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE memory SET version = version + 100")
        yield connection
        connection.execute("ROLLBACK")
