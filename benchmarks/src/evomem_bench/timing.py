"""Timing single calls, and comparing what was timed in the same run."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import Progress

Row = dict[str, Any]
"""A line of a report: the part it belongs to, the system, and figures."""

T = TypeVar("T")


class Stopwatch:
    """Wall time and CPU time of the calls of one system."""

    def __init__(self) -> None:
        self.wall_ms: list[float] = []
        self.cpu_ms: list[float] = []

    def time(self, call: Callable[[], T]) -> T:
        """Make a call and keep how long it took, in all and on the CPU by this thread."""
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        answer = call()
        self.wall_ms.append((time.perf_counter_ns() - wall) / 1e6)
        self.cpu_ms.append((time.thread_time_ns() - cpu) / 1e6)
        return answer

    def figures(self, base: Stopwatch) -> Row:
        """Return the percentiles, and their ratios to those of `base`; below 1 is faster."""
        p50, p99 = percentile(self.wall_ms, 0.5), percentile(self.wall_ms, 0.99)
        cpu = statistics.median(self.cpu_ms)
        return {
            "calls": len(self.wall_ms),
            "p50_ms": round(p50, 3),
            "p99_ms": round(p99, 3),
            "cpu_ms": round(cpu, 3),
            "ratio": round(p50 / percentile(base.wall_ms, 0.5), 3),
            "ratio_p99": round(p99 / percentile(base.wall_ms, 0.99), 3),
            "ratio_cpu": round(cpu / statistics.median(base.cpu_ms), 3),
        }


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def in_turns(
    items: Sequence[T], systems: Sequence[str], generator: random.Random, *, block: int
) -> list[tuple[str, list[T]]]:
    """Deal the items to every system in small blocks and random order.

    Noise of the machine then hits all systems alike.
    """
    turns = []
    for chunk in batched(items, block):
        turns += [(system, chunk) for system in generator.sample(systems, len(systems))]
    return turns


def batched(items: Sequence[T], size: int) -> Iterator[list[T]]:
    """Cut a sequence into lists of `size`; the last may be shorter."""
    rest = iter(items)
    while chunk := list(itertools.islice(rest, size)):
        yield chunk


def track(items: Sequence[T], description: str) -> Iterator[T]:
    """Go through the items with a progress bar on standard error, if that is a terminal.

    The bar is drawn between items only: a thread that draws would be timed too.
    """
    console = Console(stderr=True)
    with Progress(
        console=console, auto_refresh=False, transient=True, disable=not console.is_terminal
    ) as progress:
        yield from progress.track(items, description=description)
