"""The whole benchmark: every peer at every size, one after the other."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evomem_bench.concurrency.evidence import Evidence, machine
from evomem_bench.corpus import VOCABULARY_FULL, VOCABULARY_QUICK, Corpus
from evomem_bench.peers.driver import Worker
from evomem_bench.peers.environments import (
    Environment,
    EnvironmentMissingError,
    EnvironmentSlowError,
    one_line,
    prepare,
)
from evomem_bench.peers.measure import Box, Figures, Questions, Work, measure
from evomem_bench.peers.picture import draw_peers
from evomem_bench.peers.table import PEERS, Peer
from evomem_bench.peers.workers.hashing import DIMENSIONS, embed
from evomem_bench.timing import Row, Stopwatch, percentile, track

# A peer that has less is not measured at all.
_LEAST_S = 2.0
_SHARES = {"p50_ms": 0.5, "p99_ms": 0.99}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything.

    Attributes:
        vocabulary: Words of the corpus.
        boxes: For each number of notes, the time that a peer has.
        singly: Up to this many notes, they are loaded one by one.
        writes: Timed on top of a load.
        queries: Timed then.
        build_s: For one environment.
        builds_s: For all of them.
        total_s: For all measuring; None is as long as it takes.
        peers: Who is measured.
    """

    vocabulary: int = VOCABULARY_FULL
    boxes: tuple[tuple[int, Box], ...] = (
        (1000, Box(load_s=30, calls_s=10)),
        (10_000, Box(load_s=45, calls_s=10)),
    )
    singly: int = 1000
    writes: int = 200
    queries: int = 200
    build_s: float = 600
    builds_s: float = 3600
    total_s: float | None = None
    peers: Sequence[Peer] = PEERS


FULL = Sizes()
QUICK = Sizes(
    vocabulary=VOCABULARY_QUICK,
    boxes=((1000, Box(start_s=20, load_s=20, calls_s=5, patience_s=10)),),
    singly=0,
    writes=100,
    queries=100,
    build_s=20,
    builds_s=20,
    total_s=65,
)


class PeersReport(Evidence):
    """Evidence with a picture of its own."""

    def save(self, folder: Path) -> None:
        """Write the JSON document, the Markdown page, and the picture into a folder."""
        super().save(folder)
        if any("found" in row for row in self.rows):
            draw_peers(self.rows, folder / f"{self.benchmark}.png", self.date[:10])


@dataclass(frozen=True, slots=True)
class _Contender:
    """A peer with its command, or with the reason why it has none."""

    peer: Peer
    command: Sequence[str] = ()
    problem: str | None = None

    def start(self, folder: Path, limit_s: float) -> Worker:
        peer = self.peer
        options = dict(peer.options) | ({"command": self.command} if peer.server else {})
        python = sys.executable if peer.server else self.command[0]
        return Worker(python, peer.module, folder, options, limit_s)


class _Clock:
    """Deals the time that is left evenly to those who are still to come."""

    def __init__(self, total_s: float | None, turns: int) -> None:
        self._deadline = None if total_s is None else time.monotonic() + total_s
        self._turns = turns

    def next(self, box: Box) -> Box | None:
        turns, self._turns = self._turns, self._turns - 1
        if self._deadline is None:
            return box
        share_s = (self._deadline - time.monotonic()) / turns
        return box.fitted(share_s) if share_s >= _LEAST_S else None


def run_peers(sizes: Sizes, seed: int) -> PeersReport:
    """Build what is missing, then measure, in temporary stores; `TMPDIR` says on which disk."""
    contenders = _prepare(sizes)
    most = max(size for size, _ in sizes.boxes)
    notes = Corpus(seed, sizes.vocabulary).notes(most + sizes.writes)
    ask = Questions(seed, sizes.vocabulary)
    ready = sum(contender.problem is None for contender in contenders)
    clock = _Clock(sizes.total_s, ready * len(sizes.boxes))
    rows = [machine(), _embedder([note.text for note in notes[: sizes.writes]])]
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as name:
        for size, box in sizes.boxes:
            work = Work(notes, size, sizes.writes, sizes.queries, size > sizes.singly, ask)
            measured = [
                (contender, _measure(contender, Path(name) / f"{size}-{n}", work, clock, box))
                for n, contender in enumerate(track(contenders, f"{size:,} notes"))
            ]
            rows += _rows(measured, size)
            contenders = [_after(contender, figures, size) for contender, figures in measured]
    rows.append(machine() | {"system": "the same machine, at the end"})
    return PeersReport("peers", rows, seed)


def _prepare(sizes: Sizes) -> list[_Contender]:
    """Build what is not in the cache; those who share an environment share its fate."""
    deadline = time.monotonic() + sizes.builds_s
    built: dict[Environment | None, tuple[Sequence[str], str | None]] = {}
    for peer in track(sizes.peers, "environments"):
        if peer.environment not in built:
            limit_s = min(sizes.build_s, deadline - time.monotonic())
            built[peer.environment] = _build(peer.environment, limit_s, sizes)
    return [_Contender(peer, *built[peer.environment]) for peer in sizes.peers]


def _build(
    environment: Environment | None, limit_s: float, sizes: Sizes
) -> tuple[Sequence[str], str | None]:
    if environment is None:
        return [sys.executable], None
    try:
        return prepare(environment, limit_s), None
    except EnvironmentSlowError as error:
        return (), str(error) if sizes.total_s is None else "not built; run without --quick"
    except (EnvironmentMissingError, OSError) as error:
        return (), one_line(str(error))


def _embedder(texts: Sequence[str]) -> Row:
    watch = Stopwatch()
    for text in texts:
        watch.time(lambda: embed(text))  # noqa: B023  called at once
    times = {name: round(percentile(watch.wall_ms, share), 3) for name, share in _SHARES.items()}
    return {"part": "embedder", "system": f"words hashed into {DIMENSIONS} numbers"} | times


def _measure(contender: _Contender, folder: Path, work: Work, clock: _Clock, box: Box) -> Figures:
    if contender.problem is not None:
        return Figures(error=contender.problem)
    fitted = clock.next(box)
    if fitted is None:
        return Figures(error="no time was left; run without --quick")
    server = contender.peer.server
    figures = measure(contender.start, folder, work, fitted, server=server)
    shutil.rmtree(folder, ignore_errors=True)
    return figures


def _rows(measured: Sequence[tuple[_Contender, Figures]], size: int) -> list[Row]:
    """Return a table each of writes, recalls and weights, and one of what was not measured."""
    rows: list[Row] = []
    for part in ("write", "recall", "weight"):
        for contender, figures in measured:
            found: Row = getattr(figures, part)
            label: Row = {"part": f"{part}, {size:,} notes", "system": contender.peer.name}
            if part == "write":
                label["durable"] = contender.peer.durable
            rows += [label | found] if found else []
    missing = {"part": f"not measured, {size:,} notes"}
    return rows + [
        missing | {"system": contender.peer.name, "error": figures.error}
        for contender, figures in measured
        if figures.error is not None
    ]


def _after(contender: _Contender, figures: Figures, size: int) -> _Contender:
    """Return who goes on: only those who held all notes of this size."""
    if contender.problem is not None or (figures.reached == size and figures.error is None):
        return contender
    if figures.error is not None:
        return replace(contender, problem=f"not tried: it failed at {size:,} notes")
    reached = f"{figures.reached:,} of {size:,}"
    return replace(contender, problem=f"not tried: it reached {reached} notes")
