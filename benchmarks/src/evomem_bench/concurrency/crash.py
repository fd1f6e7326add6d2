"""Writers that are killed again and again, at any moment; the file is examined after each time."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evomem_bench.concurrency.evidence import Evidence, machine
from evomem_bench.concurrency.inspection import Told, inspect
from evomem_bench.timing import Row, track

WRITERS = 2
ROUNDS_A_STORE = 25

_VICTIM = Path(__file__).with_name("victim.py")
_MOST_LINES = 15
# The first round of a store, and one in ten, are killed about the time the file is opened or made.
_EARLY = 0.1
_EARLY_S = 0.05
# A few times what a write takes, so that the kill falls into any part of one.
_LATE_S = 0.004

_Process = subprocess.Popen[str]


@dataclass(slots=True)
class Tally:
    """What all rounds came to.

    Attributes:
        rounds: Rounds done.
        acknowledged: Calls that returned before their process was killed.
        lost: Of these, in the end or on the way; not what they say twice.
        half_written: What was there in part.
        unsound: Rounds after which a check of the file failed.
        untold: Commits that were made, and their process killed before it could say so.
        problems: What the checks said.
    """

    rounds: int = 0
    acknowledged: int = 0
    lost: set[str] = field(default_factory=set)
    half_written: set[str] = field(default_factory=set)
    unsound: int = 0
    untold: int = 0
    problems: list[str] = field(default_factory=list)


def crash(folder: Path, rounds: int, seed: int) -> Tally:
    """Kill the writers of a store `rounds` times, with a new store after every 25 of them."""
    generator, tally = random.Random(seed), Tally()
    told: list[Told] = []
    patches, store = 0, folder / "none"
    for round_ in track(range(rounds), "kill -9"):
        if round_ % ROUNDS_A_STORE == 0:
            tally.acknowledged += len(told)
            tally.untold += patches - len(told)
            told, store = [], folder / f"crash-{round_}.db"
        told += kill_once(store, f"r{round_}", generator)
        findings = inspect(store, told)
        patches = findings.patches
        tally.rounds += 1
        tally.lost |= {json.dumps(one) for one in findings.lost}
        tally.half_written |= {f"{store.name}: {one}" for one in findings.half_written}
        tally.unsound += bool(findings.problems)
        tally.problems += findings.problems
    tally.acknowledged += len(told)
    tally.untold += patches - len(told)
    return tally


def kill_once(store: Path, label: str, generator: random.Random) -> list[Told]:
    """Let writers write to a store together, kill them, and return what they acknowledged."""
    with _victims(store, label) as victims:
        for victim in victims:
            _line(victim)
        for victim in victims:
            if victim.stdin is not None:
                victim.stdin.write("\n")
                victim.stdin.flush()
        said = []
        if not store.exists() or generator.random() < _EARLY:
            time.sleep(generator.uniform(0, _EARLY_S))
        else:
            said = [_line(victims[0]) for _ in range(generator.randint(1, _MOST_LINES))]
            time.sleep(generator.uniform(0, _LATE_S))
        for victim in victims:
            victim.kill()
        said += [line for victim in victims for line in victim.communicate()[0].splitlines(True)]
        for victim in victims:
            if victim.returncode != -signal.SIGKILL:
                raise _ended(victim)
    return [json.loads(line) for line in said if line.endswith("\n")]


@contextmanager
def _victims(store: Path, label: str) -> Iterator[list[_Process]]:
    pipe = subprocess.PIPE
    # Half of the start of a process is compiling, where nothing is kept compiled.
    kept = {"PYTHONPYCACHEPREFIX": str(store.parent / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    started = [
        subprocess.Popen(  # noqa: S603  our own
            [sys.executable, str(_VICTIM), str(store), f"{label}w{n}"],
            stdin=pipe,
            stdout=pipe,
            env={**os.environ, **kept},
            text=True,
            encoding="utf-8",
        )
        for n in range(WRITERS)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def _line(victim: _Process) -> str:
    line = victim.stdout.readline() if victim.stdout is not None else ""
    if not line:
        raise _ended(victim)
    return line


def _ended(victim: _Process) -> RuntimeError:
    return RuntimeError(f"A writer ended by itself, with status {victim.wait()}.")


def run_crash(rounds: int, seed: int) -> Evidence:
    """Kill writers in temporary stores; `TMPDIR` says on which disk."""
    started = time.perf_counter()
    before = machine()
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as name:
        tally = crash(Path(name), rounds, seed)
    row: Row = {
        "part": "kill -9",
        "system": "EvoMem",
        "rounds": tally.rounds,
        "kills": tally.rounds * WRITERS,
        "acknowledged": tally.acknowledged,
        "found": tally.acknowledged - len(tally.lost),
        "lost": len(tally.lost),
        "half_written": len(tally.half_written),
        "untold": tally.untold,
        "integrity": f"ok in {tally.rounds - tally.unsound:,} of {tally.rounds:,}",
        "minutes": round((time.perf_counter() - started) / 60, 1),
    }
    samples = [*tally.lost, *tally.half_written, *tally.problems][:20]
    rows = [before, row, *({"part": "problems", "system": sample} for sample in samples)]
    return Evidence("crash", rows, seed)
