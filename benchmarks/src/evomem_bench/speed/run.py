"""The whole benchmark: sizes, and the parts in order."""

from __future__ import annotations

import os
import platform
import random
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from evomem_bench.corpus import VOCABULARY_FULL, VOCABULARY_QUICK, Corpus
from evomem_bench.report import Report
from evomem_bench.speed.footprint import measure_imports, measure_memory
from evomem_bench.speed.patches import measure_doctor, measure_patches
from evomem_bench.speed.recall import measure_recalls
from evomem_bench.speed.stores import load
from evomem_bench.speed.write import measure_writes
from evomem_bench.timing import Row


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything.

    Attributes:
        vocabulary: Words of the corpus.
        few: Notes of the smaller store that is recalled from.
        many: Notes of the larger one.
        links: Links made while loading, at most.
        writes: Notes timed at each size.
        queries: Queries timed at each size.
        imports: Processes started for each import.
        recalls: Recalls before memory is measured.
        operations: Operations of the one large patch.
        patches: Single operations timed.
        examined: Notes of the store that the doctor examines.
    """

    vocabulary: int = VOCABULARY_FULL
    few: int = 1000
    many: int = 10_000
    links: int = 10_000
    writes: int = 2000
    queries: int = 1000
    imports: int = 11
    recalls: int = 50
    operations: int = 1000
    patches: int = 500
    examined: int = 100_000


FULL = Sizes()
QUICK = Sizes(vocabulary=VOCABULARY_QUICK, links=1000, writes=310, queries=200, examined=10_000)


def run_speed(sizes: Sizes, seed: int) -> Report:
    """Measure everything in temporary stores; `TMPDIR` says on which disk."""
    generator = random.Random(seed)
    corpus = Corpus(seed, sizes.vocabulary)
    rows = [_machine()]
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as name:
        folder = Path(name)
        few, _ = load(folder, corpus.notes(sizes.few), sizes.links)
        many, loading = load(folder, corpus.notes(sizes.many), sizes.links)
        fresh = corpus.notes(sizes.writes)
        rows += loading
        rows += measure_writes(folder, None, fresh, generator)
        rows += measure_writes(folder, many, fresh, generator)
        for loaded in (few, many):
            queries = corpus.queries(loaded.notes, sizes.queries)
            rows += measure_recalls(loaded, queries, generator)
        several = corpus.notes(sizes.operations + sizes.patches)
        rows += measure_patches(folder, several, sizes.operations, generator)
        rows.append(measure_doctor(folder, corpus, sizes.examined))
        rows += measure_imports(sizes.imports, generator)
        queries = corpus.queries(many.notes, sizes.recalls)
        rows += measure_memory(many.path, sizes.many, queries)
    return Report("speed", rows, seed)


def _machine() -> Row:
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    system = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return {"part": "machine", "system": system, "cpus": os.cpu_count(), "load": load}
