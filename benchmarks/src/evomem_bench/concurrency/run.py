"""The whole benchmark: the race of every contender, and the round trips."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evomem_bench.concurrency.evidence import Evidence, machine
from evomem_bench.concurrency.peers import Peer, install_langgraph, install_server_memory
from evomem_bench.concurrency.race import (
    Contender,
    race_of,
    run_race,
    texts_of_evomem,
    texts_of_langgraph,
    texts_of_plain,
    texts_of_server_memory,
)
from evomem_bench.concurrency.roundtrip import measure_round_trips
from evomem_bench.corpus import VOCABULARY_FULL, VOCABULARY_QUICK, Corpus
from evomem_bench.timing import Row, batched, track


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything.

    Attributes:
        vocabulary: Words of the corpus.
        writers: Processes that write at once.
        writes: Notes that each of them writes.
        box_s: How long a race may last; what is not begun by then is counted.
        notes: What a server holds when its round trips are timed.
        calls: Round trips of each kind.
        peers: Install other memories and race them too; needs a network.
    """

    vocabulary: int = VOCABULARY_FULL
    writers: int = 8
    writes: int = 1000
    box_s: float = 180
    notes: int = 1000
    calls: int = 300
    peers: bool = True


FULL = Sizes()
QUICK = Sizes(vocabulary=VOCABULARY_QUICK, writes=100, box_s=60, calls=100)

_OWN = (
    Contender("EvoMem", "evomem", texts_of_evomem),
    Contender("sqlite3, BEGIN IMMEDIATE, 30 s", "immediate", texts_of_plain),
    Contender("sqlite3, BEGIN, 5 s", "deferred", texts_of_plain),
)


def run_concurrency(sizes: Sizes, seed: int) -> Evidence:
    """Measure everything in temporary stores; `TMPDIR` says on which disk."""
    generator = random.Random(seed)
    corpus = Corpus(seed, sizes.vocabulary)
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as name:
        folder = Path(name)
        langgraph = install_langgraph(folder) if sizes.peers else None
        server = install_server_memory(folder) if sizes.peers else None
        rows = [machine()]
        texts = _marked(corpus, sizes.writers * sizes.writes, "w")
        dealt = list(batched(texts, sizes.writes))
        racing = [*_OWN, *_racing(langgraph, server)]
        for number, contender in enumerate(track(racing, "race")):
            rows += _raced(contender, folder / f"race-{number}.db", dealt, sizes.box_s)
        missing = [p for p in (langgraph, server) if p is not None and p.problem]
        rows += [{"part": race_of(dealt), "system": f"{p.name} ({p.problem})"} for p in missing]
        loaded = _marked(corpus, sizes.notes, "l")
        fresh = _marked(corpus, sizes.calls, "f")
        queries = corpus.queries(corpus.notes(sizes.notes), sizes.calls)
        rows += measure_round_trips(folder, loaded, fresh, queries, server, generator)
        rows.append(machine() | {"system": "the same machine, at the end"})
    return Evidence("concurrency", rows, seed)


def _marked(corpus: Corpus, count: int, mark: str) -> list[str]:
    """Draw notes that end with a word of their own, by which they are known."""
    return [f"{note.text} {mark}x{n}" for n, note in enumerate(corpus.notes(count))]


def _racing(langgraph: Peer | None, server: Peer | None) -> list[Contender]:
    found = []
    if langgraph is not None and langgraph.command:
        python = langgraph.command[0]
        found.append(Contender(langgraph.name, "langgraph", texts_of_langgraph, python=python))
    if server is not None and server.command:
        read, command = texts_of_server_memory, server.command
        found.append(Contender(server.name, "server-memory", read, command=command))
    return found


def _raced(
    contender: Contender, path: Path, dealt: Sequence[Sequence[str]], box_s: float
) -> list[Row]:
    try:
        return run_race(contender, path, dealt, box_s)
    except RuntimeError as error:
        return [{"part": race_of(dealt), "system": f"{contender.name} ({error})"}]
