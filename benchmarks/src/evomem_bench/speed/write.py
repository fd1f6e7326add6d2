"""Writing one note, durably: EvoMem beside the five statements it comes down to."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import evomem
from evomem_bench.corpus import Note
from evomem_bench.speed.baseline import RawStore
from evomem_bench.speed.stores import Loaded
from evomem_bench.timing import Row, Stopwatch, in_turns, track

_BLOCK = 10
RAW = "raw transaction"
NEW = "remember, linking off, new"
SUPERSEDE = "remember, linking off, supersedes"
SUGGEST = "remember, linking suggest"
_SYSTEMS = (RAW, NEW, SUPERSEDE, SUGGEST)
_WRITERS = ("raw", "off", "suggest")


class _Writers:
    """Three stores open side by side."""

    def __init__(self, raw: Path, off: Path, suggest: Path) -> None:
        self._raw = RawStore(raw)
        self._off = evomem.open(off, linking="off")
        self._suggest = evomem.open(suggest, linking="suggest")
        self._heads: dict[int, str] = {}
        self.watches: defaultdict[str, Stopwatch] = defaultdict(Stopwatch)

    def write(self, writer: str, note: Note) -> None:
        """Write a note and time it under the name of what was done."""
        if writer == "raw":
            self.watches[RAW].time(lambda: self._raw.write(note))
        elif writer == "suggest":
            self.watches[SUGGEST].time(lambda: self._suggest.remember(note.text))
        else:
            before = self._heads.get(note.chain)
            watch = self.watches[SUPERSEDE if before else NEW]
            done = watch.time(lambda: self._off.remember(note.text, supersedes=before))
            self._heads[note.chain] = done.node.id

    def close(self) -> None:
        """Close the stores."""
        self._raw.close()
        self._off.close()
        self._suggest.close()


def measure_writes(
    folder: Path, loaded: Loaded | None, notes: Sequence[Note], generator: random.Random
) -> list[Row]:
    """Time the same new notes in every store.

    Args:
        folder: Where the stores lie.
        loaded: Stores to start from; None starts from empty ones.
        notes: Whole chains that are in no store yet; in `suggest` mode the caller names nothing.
        generator: Shuffles the turns.
    """
    if loaded:
        raw = loaded.copy(loaded.raw, "write")
        paths = [loaded.copy(loaded.path, mode) for mode in ("off", "suggest")]
    else:
        raw, *paths = (folder / f"empty-{writer}.db" for writer in _WRITERS)
    n_stored = len(loaded.notes) if loaded else 0
    writers = _Writers(raw, *paths)
    # The first calls pay for caches and late imports, once in a process.
    warm = notes[:_BLOCK]
    for writer, block in in_turns(warm, _WRITERS, generator, block=_BLOCK):
        for note in block:
            writers.write(writer, note)
    writers.watches.clear()
    turns = in_turns(notes[_BLOCK:], _WRITERS, generator, block=_BLOCK)
    for writer, block in track(turns, f"write at {n_stored:,}"):
        for note in block:
            writers.write(writer, note)
    writers.close()
    base = writers.watches[RAW]
    head = {"part": "write", "notes": n_stored}
    return [
        {**head, "system": system, **writers.watches[system].figures(base)}
        for system in _SYSTEMS
        if system in writers.watches
    ]
