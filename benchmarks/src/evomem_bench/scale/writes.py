"""Writing one more note to a store that holds many already."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import evomem
from evomem_bench.corpus import Note
from evomem_bench.scale.latency import figures
from evomem_bench.scale.stores import Stores, cache_folder
from evomem_bench.speed.baseline import RawStore
from evomem_bench.speed.write import NEW, RAW
from evomem_bench.timing import Row, Stopwatch, in_turns, track

_BLOCK = 10
_SYSTEMS = (RAW, NEW)
# A copy, what the writes add to it, and as much again for whoever else uses the disk.
_ROOM = 3


def measure_writes(stores: Stores, count: int, generator: random.Random) -> list[Row]:
    """Time the same new notes in copies of both stores, if the disk has room for them."""
    notes = stores.contents.notes
    head: Row = {"part": "write", "notes": notes}
    size = sum(path.stat().st_size for path in (stores.path, stores.raw))
    if shutil.disk_usage(stores.path.parent).free < _ROOM * size:
        return [{**head, "system": f"not measured: the disk lacks {_ROOM * size >> 20:,} MiB"}]
    with tempfile.TemporaryDirectory(prefix="copies-", dir=cache_folder()) as name:
        raw = Path(shutil.copy(stores.raw, name))
        own = Path(shutil.copy(stores.path, name))
        # Else the first writes would wait for the copies to reach the disk.
        if hasattr(os, "sync"):
            os.sync()
        watches = _write(raw, own, new_notes(stores, count + _BLOCK, generator), generator)
    base = watches[RAW].wall_ms
    return [{**head, "system": name, **figures(watches[name].wall_ms, base)} for name in _SYSTEMS]


def new_notes(stores: Stores, count: int, generator: random.Random) -> list[Note]:
    """Make notes that no store holds: each of the words of a stored one in another order."""
    stored = stores.contents.notes
    notes = []
    with closing(sqlite3.connect(stores.raw)) as connection:
        for number in range(count):
            row = generator.randint(1, stored)
            (text,) = connection.execute("SELECT text FROM node WHERE row = ?", (row,)).fetchone()
            words = text.split()
            notes.append(Note(stored + number, 1, " ".join(generator.sample(words, len(words)))))
    return notes


def _write(
    raw: Path, own: Path, notes: Sequence[Note], generator: random.Random
) -> dict[str, Stopwatch]:
    watches = {name: Stopwatch() for name in _SYSTEMS}
    with closing(RawStore(raw)) as store, evomem.open(own, linking="off") as memory:
        # The first calls pay for caches and late imports, once in a process.
        for note in notes[:_BLOCK]:
            store.write(note)
            memory.remember(note.text)
        turns = in_turns(notes[_BLOCK:], _SYSTEMS, generator, block=_BLOCK)
        for system, block in track(turns, "write"):
            for note in block:
                if system == RAW:
                    watches[RAW].time(partial(store.write, note))
                else:
                    watches[NEW].time(partial(memory.remember, note.text))
    return watches
