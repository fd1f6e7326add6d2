"""Patches: one operation beside one note, many in one patch, undoing them, and the doctor."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import evomem
from evomem_bench.corpus import Corpus, Note
from evomem_bench.speed.stores import BATCH
from evomem_bench.timing import Row, Stopwatch, batched, in_turns, track

_BLOCK = 10
REMEMBER = "remember, linking off, new"
ADD = "apply, one ADD"
_SYSTEMS = (REMEMBER, ADD)

T = TypeVar("T")


def measure_patches(
    folder: Path, notes: Sequence[Note], operations: int, generator: random.Random
) -> list[Row]:
    """Time single operations beside notes, and one patch of many operations.

    Args:
        folder: Where the store goes.
        notes: New notes, enough for both.
        operations: How many operations the one patch has.
        generator: Shuffles the turns.
    """
    with evomem.open(folder / "patches.db", linking="off") as memory:
        evidence = [memory.record_event("user", "go ahead").id]
        rows = _singles(memory, notes[operations:], evidence, generator)
        adds = [evomem.Add(f"note {n}", note.text) for n, note in enumerate(notes[:operations])]
        added, add_s = _timed(lambda: memory.apply(adds, evidence=evidence))
        changes = [
            evomem.Supersede(step.memory_id, 1, f"{note.text} We replaced it.")
            for step, note in zip(added.operations, notes, strict=False)
        ]
        changed, change_s = _timed(lambda: memory.apply(changes, evidence=evidence))
        _, undo_s = _timed(lambda: memory.rollback(changed.patch_id or ""))
    many = {"ADD": add_s, "SUPERSEDE": change_s, "rollback": undo_s}
    return [
        *rows,
        *(
            {"part": "patch", "system": f"one patch, {name}", "calls": operations, "total_s": total}
            for name, total in many.items()
        ),
    ]


def _singles(
    memory: evomem.Memory, notes: Sequence[Note], evidence: list[str], generator: random.Random
) -> list[Row]:
    watches: defaultdict[str, Stopwatch] = defaultdict(Stopwatch)
    for kind, block in track(in_turns(notes, _SYSTEMS, generator, block=_BLOCK), "patches"):
        for note in block:
            # Equal texts would be one note: each system writes its own.
            text = f"{note.text} {kind.split(',', maxsplit=1)[0]}"
            if kind == REMEMBER:
                watches[kind].time(partial(memory.remember, text))
            else:
                asked = [evomem.Add("a note", text)]
                watches[kind].time(partial(memory.apply, asked, evidence=evidence))
    return [
        {"part": "patch", "system": name, **watches[name].figures(watches[REMEMBER])}
        for name in _SYSTEMS
        if name in watches
    ]


def measure_doctor(folder: Path, corpus: Corpus, count: int) -> Row:
    """Fill a store, note by note in the log, and time one examination of all of it."""
    with evomem.open(folder / "doctor.db", linking="off") as memory:
        batches = list(batched(corpus.notes(count), BATCH))
        for batch in track(batches, f"doctor {count:,}"):
            memory.remember_many([note.text for note in batch])
        diagnosis, seconds = _timed(memory.doctor)
    return {
        "part": "doctor",
        "system": "doctor",
        "notes": count,
        "total_s": seconds,
        "failed": [check.name for check in diagnosis.checks if not check.ok],
    }


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    answer = call()
    return answer, round(time.perf_counter() - started, 3)
