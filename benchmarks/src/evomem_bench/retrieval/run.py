"""The whole benchmark: sizes, and the parts in order."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evomem_bench.concurrency.evidence import Evidence, machine
from evomem_bench.retrieval.adr import load_adr
from evomem_bench.retrieval.calibration import ask_all, plan, tables
from evomem_bench.retrieval.cases import load_cases
from evomem_bench.retrieval.data import find_data
from evomem_bench.retrieval.facts import load_facts
from evomem_bench.retrieval.measure import measure
from evomem_bench.retrieval.pools import Pool
from evomem_bench.retrieval.signals import Index
from evomem_bench.retrieval.systems import LEXICAL, RANKINGS, Flat, Store, find_rankings
from evomem_bench.timing import Row


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything.

    Attributes:
        groups: Project groups of decisions, those with the most questions; None takes all groups.
        contexts: Lists of facts, the smallest; None takes all.
        foreign: Questions of other groups asked of each group.
        few: Stores of few notes drawn from each group.
    """

    groups: int | None = None
    contexts: int | None = None
    foreign: int = 100
    few: int = 12


FULL = Sizes()
QUICK = Sizes(groups=2, contexts=1, foreign=40)


def run_retrieval(sizes: Sizes, seed: int, data: Path | None) -> Evidence:
    """Measure what is found in temporary stores; `TMPDIR` says on which disk.

    Args:
        sizes: How much.
        seed: Of the order in which systems are asked, and of all that is drawn.
        data: The folder of the data; None takes the default.

    Raises:
        SystemExit: There is no data; the message says what to do.
    """
    folder = find_data(data)
    groups = load_adr(folder, sizes.groups)
    pools = [*groups, *load_facts(folder, sizes.contexts), *load_cases(folder)]
    rankings, why = find_rankings()
    rows = [machine()]
    if why:
        missing = ", ".join(name for name in RANKINGS if name not in rankings)
        rows.append({"part": "not measured", "system": missing, "reason": why})
    rows += _measured(pools, rankings, seed)
    return Evidence("retrieval", [*rows, *calibrate(groups, sizes, seed)], seed)


def _measured(pools: Sequence[Pool], rankings: Sequence[str], seed: int) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as name:
        started = time.perf_counter()
        store = Store(Path(name) / "evomem.db", pools, rankings)
        load_s = time.perf_counter() - started
        flat = Flat(Path(name) / "flat.db", pools)
        loaded = {
            "part": "load",
            "system": "EvoMem",
            "notes": sum(len(pool.notes) for pool in pools),
            "load_s": round(load_s, 1),
            "missing_vectors": store.missing_vectors,
        }
        rows = measure(pools, store, flat, random.Random(seed))
        store.close()
        flat.close()
    return [loaded, *rows]


def calibrate(
    groups: Sequence[Pool], sizes: Sizes, seed: int, index: Callable[[Pool], Index] = Index
) -> list[Row]:
    """Find what separates questions that the notes answer from those they do not.

    Args:
        groups: The groups of decisions.
        sizes: How much to ask.
        seed: Of what is drawn.
        index: Makes what the signals come from.
    """
    trials = plan(groups, sizes.foreign, sizes.few, random.Random(seed))
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as name:
        store = Store(Path(name) / "evomem.db", [trial.pool for trial in trials], [LEXICAL])
        asked = ask_all(trials, store, index)
        store.close()
    return tables(asked)
