"""The stores, made once and kept in a folder of the user's cache."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

import evomem
from evomem_bench import corpus as drawing
from evomem_bench.corpus import Corpus, Note
from evomem_bench.scale import batches
from evomem_bench.scale.internals import format_mark
from evomem_bench.speed import baseline
from evomem_bench.speed.baseline import RawStore
from evomem_bench.timing import Row

CACHE_VARIABLE = "EVOMEM_BENCH_CACHE"
DEFAULT_CACHE = "~/.cache/evomem-bench"

_LOADING = "loading.json"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a store is made of.

    Attributes:
        seed: Of the corpus.
        vocabulary: Words of the corpus.
        notes: Notes of the store.
        batch: Notes of a patch.
    """

    seed: int
    vocabulary: int
    notes: int
    batch: int = 1000

    def corpus(self) -> Corpus:
        """Return a new corpus: it draws the same words, and the same notes, every time."""
        return Corpus(self.seed, self.vocabulary)


@dataclass(frozen=True, slots=True)
class Stores:
    """The same notes, in the same order, in two closed files that are never written again.

    Attributes:
        contents: What is in them.
        path: EvoMem's file.
        raw: The raw store's file.
        loading: Rows that tell how fast they were loaded, back then.
    """

    contents: Contents
    path: Path
    raw: Path
    loading: Sequence[Row]


def prepare(contents: Contents) -> Stores:
    """Return the stores from the cache; make them, or go on making them, if need be."""
    folder = cache_folder() / _name(contents)
    is_new = not folder.exists()
    if is_new:
        partial = folder.with_name(f"{folder.name}.partial")
        partial.mkdir(parents=True, exist_ok=True)
        rows = _build(partial, contents)
        (partial / _LOADING).write_text(json.dumps(rows), encoding="utf-8")
        partial.rename(folder)
    rows = json.loads((folder / _LOADING).read_text(encoding="utf-8"))
    loading = [{**row, "cached": not is_new} for row in rows]
    return Stores(contents, folder / "evomem.db", folder / "raw.db", loading)


def cache_folder() -> Path:
    """Return where stores are kept: `EVOMEM_BENCH_CACHE`, else in the user's own cache."""
    return Path(os.environ.get(CACHE_VARIABLE) or DEFAULT_CACHE).expanduser().resolve()


def _name(contents: Contents) -> str:
    """Name a folder after all that decides what lies in it, code that draws and loads included."""
    code = [Path(str(module.__file__)) for module in (drawing, baseline, batches)]
    marks = [f"{contents}", format_mark(), *(path.read_text(encoding="utf-8") for path in code)]
    digest = hashlib.sha256("\n".join(marks).encode()).hexdigest()[:12]
    return f"notes-{contents.notes}-seed-{contents.seed}-{digest}"


def _build(folder: Path, contents: Contents) -> list[Row]:
    path, raw = folder / "evomem.db", folder / "raw.db"
    with evomem.open(path, linking="off") as memory, closing(RawStore(raw)) as store:
        loader = _Loader(memory, store, _stored_rows(raw))
        notes = contents.corpus().stream(contents.notes)
        for batch in _shown(batches.staged(notes, contents.batch), contents.notes):
            loader.load(batch)
        is_whole = memory.version() == loader.batches
    if not is_whole or _stored_rows(raw) != contents.notes:
        message = f"{folder} holds something else than its {contents.notes:,} notes. Delete it."
        raise RuntimeError(message)
    return loader.rows(contents)


def _stored_rows(raw: Path) -> int:
    with closing(sqlite3.connect(raw)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM node").fetchone()
    return int(count)


def _shown(staged: Iterator[list[Note]], count: int) -> Iterator[list[Note]]:
    """Go through the batches with a progress bar, drawn between them only."""
    console = Console(stderr=True)
    with Progress(
        console=console, auto_refresh=False, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(f"build {count:,}", total=count)
        for batch in staged:
            yield batch
            progress.update(task, advance=len(batch), refresh=True)


class _Loader:
    """Writes each batch to both stores, unless an earlier run did.

    How far that came, the stores themselves tell: a batch is one patch, and one transaction.
    """

    def __init__(self, memory: evomem.Memory, raw: RawStore, raw_rows: int) -> None:
        self._memory = memory
        self._raw = raw
        self._patches = memory.version()
        self._raw_rows = raw_rows
        self._notes = 0
        self._before: dict[int, str] = {}
        self._seconds = {"raw": 0.0, "remember_many": 0.0}
        self._counts = dict.fromkeys(self._seconds, 0)
        self.batches = 0

    def load(self, batch: Sequence[Note]) -> None:
        """Write a batch to the stores that lack it."""
        self.batches += 1
        self._notes += len(batch)
        if self.batches > self._patches:
            ids = self._timed("remember_many", self._remember, batch)
        else:
            ids = self._remembered() if self.batches == self._patches else []
        self._before = {note.chain: i for note, i in zip(batch, ids, strict=bool(ids))}
        if self._notes > self._raw_rows:
            self._timed("raw", self._add, batch)

    def rows(self, contents: Contents) -> list[Row]:
        """Tell how fast this run loaded what earlier ones had not."""
        rates = {n: self._counts[n] / s for n, s in self._seconds.items() if s}
        return [
            {
                "part": "load",
                "system": f"{name}, {contents.batch} a transaction",
                "notes": contents.notes,
                "loaded": self._counts[name],
                "notes_per_s": round(rate),
                "ratio": round(rates["raw"] / rate, 3) if "raw" in rates else None,
                "chains_linked": None if name == "raw" else f"1 of {batches.LINKED_EVERY}",
            }
            for name, rate in rates.items()
        ]

    def _timed(self, name: str, write: Callable[[Sequence[Note]], T], batch: Sequence[Note]) -> T:
        started = time.perf_counter()
        written = write(batch)
        self._seconds[name] += time.perf_counter() - started
        self._counts[name] += len(batch)
        return written

    def _add(self, batch: Sequence[Note]) -> None:
        self._raw.load(batch, len(batch))

    def _remember(self, batch: Sequence[Note]) -> list[str]:
        asked = [
            {"text": note.text, "supersedes": [self._before[note.chain]]}
            if batches.is_linked(note)
            else {"text": note.text}
            for note in batch
        ]
        return [result.node.id for result in self._memory.remember_many(asked)]

    def _remembered(self) -> list[str]:
        """Return the nodes of the last patch that is there."""
        (change,) = self._memory.changes(self._patches - 1)
        return [step.node_id for step in change.operations]
