"""A worker as a process, asked one thing at a time, and ended when it takes too long."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from evomem_bench.peers.environments import end_session, one_line

_WORKER = Path(__file__).with_name("workers") / "worker.py"


class WorkerError(Exception):
    """The worker refused, ended, or was too slow; the text says which, in a line."""


class Worker:
    """A memory in a process of its own.

    Args:
        python: Runs it.
        module: Opens the memory; one of the workers.
        folder: Where the memory puts its files.
        options: Of the module.
        limit_s: For the start.

    Attributes:
        start_s: From the start of the process until the memory is open.
        batches: It can write several notes at once.

    Raises:
        OSError: There is no such Python.
        WorkerError: It did not start.
    """

    def __init__(
        self,
        python: str,
        module: str,
        folder: Path,
        options: Mapping[str, Any],
        limit_s: float,
    ) -> None:
        started = time.perf_counter()
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._late: str | None = None
        command = [python, str(_WORKER), module, str(folder), json.dumps(options)]
        try:
            self._process = _popen(command, self._errors)
        except OSError:
            self._errors.close()
            raise
        try:
            with self.within(limit_s):
                self.batches = bool(self._listen()["batches"])
        except WorkerError:
            self._release()
            raise
        self.start_s = time.perf_counter() - started

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Kill the worker if the block takes longer."""
        timer = threading.Timer(seconds, self._kill, [f"no answer within {seconds:.0f} s"])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def ask(self, do: str, *arguments: object) -> dict[str, Any]:
        """Call a method of the memory; return the time it took, and what it found.

        Raises:
            WorkerError: It failed.
        """
        pipe = self._process.stdin
        if pipe is not None:
            # A worker that has ended tells more by what it said than by its broken pipe.
            with contextlib.suppress(BrokenPipeError):
                pipe.write(json.dumps({"do": do, "with": arguments}) + "\n")
                pipe.flush()
        return self._listen()

    def close(self, limit_s: float) -> None:
        """Let the memory close and the process end.

        Args:
            limit_s: For that; some write everything only now.

        Raises:
            WorkerError: It did not.
        """
        try:
            with self.within(limit_s):
                if self._process.stdin is not None:
                    with contextlib.suppress(BrokenPipeError):
                        self._process.stdin.close()
                self._process.wait()
            if self._process.returncode:
                raise WorkerError(self._last_words())
        finally:
            self._release()

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process if it has not ended, whatever it is doing."""
        self._release()

    def _listen(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line.endswith("\n"):
            self._process.wait()
            raise WorkerError(self._last_words())
        told: dict[str, Any] = json.loads(line)
        if "error" in told:
            raise WorkerError(one_line(told["error"]))
        return told

    def _kill(self, reason: str) -> None:
        self._late = reason
        end_session(self._process)

    def _last_words(self) -> str:
        if self._late is not None:
            return self._late
        self._errors.seek(0)
        said = self._errors.read()
        return f"ended: {one_line(said)}" if said.strip() else "ended without a word"

    def _release(self) -> None:
        if self._process.poll() is None:
            end_session(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._errors.close()


def _popen(command: Sequence[str], errors: IO[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603  our own worker
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


def call_each(
    worker: Worker,
    do: str,
    arguments: Sequence[tuple[object, ...]],
    box_s: float,
    patience_s: float,
) -> list[dict[str, Any]]:
    """Make calls one after the other and return the answers; after `box_s` only the first one.

    Args:
        worker: To ask.
        do: The method.
        arguments: Of each call.
        box_s: The time box.
        patience_s: How long the last one may go on after it.
    """
    answers: list[dict[str, Any]] = []
    began = time.monotonic()
    with worker.within(box_s + patience_s):
        for given in arguments:
            if answers and time.monotonic() - began > box_s:
                break
            answers.append(worker.ask(do, *given))
    return answers
