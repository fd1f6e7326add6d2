"""The whole benchmark: sizes, and the parts in order at each of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from evomem_bench.concurrency.evidence import machine
from evomem_bench.corpus import VOCABULARY_FULL
from evomem_bench.scale.disk import measure_disk
from evomem_bench.scale.latency import measure_latency
from evomem_bench.scale.picture import Scaling
from evomem_bench.scale.questions import draw
from evomem_bench.scale.relevance import measure_relevance
from evomem_bench.scale.stores import Contents, prepare
from evomem_bench.scale.writes import measure_writes
from evomem_bench.speed.footprint import measure_memory
from evomem_bench.timing import Row


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything at one number of notes.

    Attributes:
        notes: Notes of the store.
        queries: Queries timed.
        sampled: Of these, the ones whose answers are compared with the right ones.
        writes: Notes timed.
    """

    notes: int
    queries: int = 1000
    sampled: int = 100
    writes: int = 500


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything.

    Attributes:
        steps: The sizes of store, in order.
        vocabulary: Words of the corpus.
        batch: Notes of a patch while loading.
        recalls: Recalls before memory is measured.
    """

    steps: tuple[Size, ...]
    vocabulary: int = VOCABULARY_FULL
    batch: int = 1000
    recalls: int = 50


# Plain FTS5 takes a second and more over a million notes, and the right answers take longer.
FULL = Sizes(
    (Size(1000), Size(10_000), Size(100_000, 400), Size(1_000_000, 100, sampled=15)),
)
QUICK = Sizes((Size(1000, 200, writes=200), Size(10_000, 200, writes=200)))


def run_scale(sizes: Sizes, seed: int) -> Scaling:
    """Measure every size; the stores are kept for later runs, and the copies written to are not."""
    generator = random.Random(seed)
    rows = [machine()]
    for size in sizes.steps:
        contents = Contents(seed, sizes.vocabulary, size.notes, sizes.batch)
        rows += _measure(contents, size, sizes.recalls, generator)
    rows.append(machine() | {"system": "the same machine, at the end"})
    return Scaling("scale", rows, seed)


def _measure(contents: Contents, size: Size, recalls: int, generator: random.Random) -> list[Row]:
    stores = prepare(contents)
    questions = draw(stores, max(size.queries, recalls))
    timed = replace(questions, queries=questions.queries[: size.queries])
    return [
        *stores.loading,
        *measure_latency(stores, timed, generator),
        *measure_relevance(stores, timed, size.sampled),
        *measure_writes(stores, size.writes, generator),
        *measure_disk(stores),
        *measure_memory(stores.path, size.notes, questions.queries[:recalls])[1:],
    ]
