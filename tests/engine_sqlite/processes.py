"""Starting workers together, and reading what they acknowledged."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

WORKER = Path(__file__).with_name("worker.py")

Process = subprocess.Popen[str]


@contextmanager
def workers(*calls: Sequence[object]) -> Iterator[list[Process]]:
    """Start a worker per call; none outlives the test."""
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), *map(str, call)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for call in calls
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def output(process: Process) -> IO[str]:
    """Return what the worker says."""
    assert process.stdout is not None
    return process.stdout


def let_go(processes: Sequence[Process]) -> None:
    """Wait until all are ready, then start them at once."""
    for process in processes:
        assert output(process).readline() == "ready\n", process.communicate()[1]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def answers(process: Process) -> list[str]:
    """Return the lines of a worker that has ended well."""
    out, problems = process.communicate(timeout=60)
    assert process.returncode == 0, problems
    return out.split("\n")[:-1]


def run(*call: object) -> list[str]:
    """Run one worker to its end, however it ends, and return its whole lines."""
    with workers(call) as (process,):
        out, _ = process.communicate(timeout=60)
    return out.split("\n")[:-1]
