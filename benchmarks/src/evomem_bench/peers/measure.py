"""One memory at one size: loaded, then written to and asked call by call."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evomem_bench.corpus import Corpus, Note
from evomem_bench.peers.driver import Worker, WorkerError, call_each
from evomem_bench.peers.environments import one_line
from evomem_bench.peers.weight import bytes_in, resident_mb
from evomem_bench.timing import Row, batched, percentile

K = 5
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Box:
    """The time that one memory has at one size.

    Attributes:
        start_s: To start.
        load_s: To be loaded; what is not written by then is left out.
        calls_s: For the writes that are timed, and again for the recalls.
        patience_s: A call that takes this much longer ends it all; so does closing.
    """

    start_s: float = 120
    load_s: float = 60
    calls_s: float = 20
    patience_s: float = 60

    def fitted(self, seconds: float) -> Box:
        """Shrink it, if need be, so that everything after the start takes about this time."""
        factor = min(1.0, seconds / (self.load_s + 2 * self.calls_s))
        return replace(self, load_s=self.load_s * factor, calls_s=self.calls_s * factor)


@dataclass(frozen=True, slots=True)
class Work:
    """What a memory is given.

    Attributes:
        notes: To be loaded, with some more for the writes that are timed.
        size: Of the load.
        writes: Timed on top of it.
        queries: Timed then.
        batches: Load many at once where the memory has a way to.
        ask: Draws that many questions from notes.
    """

    notes: Sequence[Note]
    size: int
    writes: int
    queries: int
    batches: bool
    ask: Callable[[Sequence[Note], int], Sequence[Question]]


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and the chain it was drawn from; None for one of the commonest words only."""

    text: str
    chain: int | None


class Questions:
    """Draws the same questions from the same notes.

    Args:
        seed: Of the generators.
        n_words: Size of the corpus's vocabulary.
    """

    def __init__(self, seed: int, n_words: int) -> None:
        self._seed = seed
        self._n_words = n_words

    def __call__(self, notes: Sequence[Note], count: int) -> list[Question]:
        """Draw questions, each from one note; the first of them are a fair sample of all."""
        corpus = Corpus(self._seed, self._n_words)
        chosen = random.Random(self._seed).choices(notes, k=count)
        return [_question(corpus, note) for note in chosen]


def _question(corpus: Corpus, note: Note) -> Question:
    (query,) = corpus.queries([note], 1)
    words = set(note.text.lower().replace(".", "").split())
    return Question(query, note.chain if words.issuperset(query.split()) else None)


@dataclass(slots=True)
class Figures:
    """What was measured; what is empty was not come to.

    Attributes:
        write: Of the load, and of the writes timed on top of it.
        recall: Of the recalls.
        weight: Start, memory and disk.
        reached: Notes loaded.
        error: Why there is no more.
    """

    write: Row = field(default_factory=dict)
    recall: Row = field(default_factory=dict)
    weight: Row = field(default_factory=dict)
    reached: int = 0
    error: str | None = None


def measure(
    start: Callable[[Path, float], Worker], folder: Path, work: Work, box: Box, *, server: bool
) -> Figures:
    """Measure a memory; where it fails, return what was measured until then and the error.

    Args:
        start: Starts it, on a folder and in some seconds.
        folder: A new one.
        work: What it is given.
        box: The time it has.
        server: The memory is in a process that the worker started.
    """
    figures = Figures()
    folder.mkdir(parents=True)
    try:
        with start(folder, box.start_s) as worker:
            figures.weight["start_s"] = round(worker.start_s, 2)
            _load(worker, work, box, figures)
            held = _write(worker, work, box, figures)
            _recall(worker, held, work, box, figures)
            figures.weight["rss_mb"] = resident_mb(worker.pid, below=server)
            worker.close(box.patience_s)
            figures.weight["bytes_per_note"] = round(bytes_in(folder) / len(held))
    except (WorkerError, OSError) as error:
        figures.error = one_line(str(error))
    return figures


def _load(worker: Worker, work: Work, box: Box, figures: Figures) -> None:
    together = work.batches and worker.batches
    given = list(
        batched([note.text for note in work.notes[: work.size]], _BATCH if together else 1)
    )
    calls: list[tuple[object, ...]] = [(part,) if together else (part[0],) for part in given]
    do = "write_many" if together else "write"
    started = time.monotonic()
    answers = call_each(worker, do, calls, box.load_s, box.patience_s)
    seconds = time.monotonic() - started
    figures.reached = sum(map(len, given[: len(answers)]))
    figures.write |= {
        "reached": figures.reached,
        "load": "in batches" if together else "singly",
        "load_per_s": round(figures.reached / seconds, 1),
    }


def _write(worker: Worker, work: Work, box: Box, figures: Figures) -> Sequence[Note]:
    """Time single writes, and return the notes that the memory holds then."""
    fresh = [(n.text,) for n in work.notes[figures.reached : figures.reached + work.writes]]
    answers = call_each(worker, "write", fresh, box.calls_s, box.patience_s)
    figures.write |= _times(answers)
    return work.notes[: figures.reached + len(answers)]


def _recall(worker: Worker, held: Sequence[Note], work: Work, box: Box, figures: Figures) -> None:
    questions = work.ask(held, work.queries)
    asked = [(question.text, K) for question in questions]
    answers = call_each(worker, "recall", asked, box.calls_s, box.patience_s)
    found = _found(held, questions, answers)
    figures.recall |= {"notes": len(held), **_times(answers), "found": found}


def _times(answers: Sequence[Mapping[str, Any]]) -> Row:
    waits: list[float] = [answer["ms"] for answer in answers]
    embedding: float = sum(answer["embed_ms"] for answer in answers)
    return {
        "calls": len(waits),
        "p50_ms": round(percentile(waits, 0.5), 3),
        "p99_ms": round(percentile(waits, 0.99), 3),
        "embedder": round(embedding / sum(waits), 3),
    }


def _found(
    notes: Sequence[Note], questions: Sequence[Question], recalls: Sequence[Mapping[str, Any]]
) -> float | None:
    """Return the share of questions whose answer holds a note of their chain."""
    chains = {note.text: note.chain for note in notes}
    pairs = zip(questions, recalls, strict=False)
    drawn = [
        (question.chain, told["texts"]) for question, told in pairs if question.chain is not None
    ]
    if not drawn:
        return None
    hits = sum(any(chains.get(text) == chain for text in texts) for chain, texts in drawn)
    return round(hits / len(drawn), 3)
