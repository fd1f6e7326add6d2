"""The stores that the parts of the benchmark start from."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import evomem
from evomem_bench.corpus import Note
from evomem_bench.speed.baseline import RawStore
from evomem_bench.timing import Row, batched, track

BATCH = 1000


@dataclass(frozen=True, slots=True)
class Loaded:
    """The same notes in two closed stores.

    Attributes:
        notes: In the order they were written; the raw store counts its rows from 1.
        ids: Their nodes in EvoMem.
        path: EvoMem's file.
        raw: The raw store's file.
    """

    notes: Sequence[Note]
    ids: Sequence[str]
    path: Path
    raw: Path

    def copy(self, path: Path, name: str) -> Path:
        """Copy a store, so that each contender writes to its own."""
        return Path(shutil.copy(path, path.with_name(f"{path.stem}-{name}.db")))


def load(folder: Path, notes: Sequence[Note], max_links: int) -> tuple[Loaded, list[Row]]:
    """Write the notes to both stores, and link versions to those before them.

    Args:
        folder: Where the files go.
        notes: What to write; texts differ.
        max_links: Versions after this many links stay notes of their own.

    Returns:
        The stores, and how fast they were loaded.
    """
    path, raw = folder / f"evomem-{len(notes)}.db", folder / f"raw-{len(notes)}.db"
    started = time.perf_counter()
    store = RawStore(raw)
    store.load(notes, BATCH)
    store.close()
    raw_s = time.perf_counter() - started
    with evomem.open(path, linking="off") as memory:
        started = time.perf_counter()
        ids = _remember(memory, notes)
        own_s = time.perf_counter() - started
        link_ms = _link(memory, notes, ids, max_links)
    rows = [
        _row(f"raw, {BATCH} a transaction", notes, raw_s, raw_s),
        _row(f"remember_many, {BATCH} a patch", notes, own_s, raw_s) | {"link_ms": link_ms},
    ]
    return Loaded(notes, ids, path, raw), rows


def _row(system: str, notes: Sequence[Note], seconds: float, base: float) -> Row:
    return {
        "part": "load",
        "system": system,
        "notes": len(notes),
        "notes_per_s": round(len(notes) / seconds),
        "ratio": round(seconds / base, 3),
    }


def _remember(memory: evomem.Memory, notes: Sequence[Note]) -> list[str]:
    batches = list(batched(notes, BATCH))
    ids: list[str] = []
    for batch in track(batches, f"load {len(notes):,}"):
        ids += [r.node.id for r in memory.remember_many([note.text for note in batch])]
    return ids


def _link(memory: evomem.Memory, notes: Sequence[Note], ids: Sequence[str], most: int) -> float:
    """Link versions to the ones before them; return the milliseconds a link took on average."""
    versions = pairwise(zip(notes, ids, strict=True))
    links = [(new, old) for (a, old), (b, new) in versions if a.chain == b.chain][:most]
    started = time.perf_counter()
    for new, old in track(links, f"link {len(links):,}"):
        memory.link(new, supersedes=[old])
    return round((time.perf_counter() - started) * 1000 / max(1, len(links)), 3)
