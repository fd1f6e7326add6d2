"""The picture of a run: what a write and a recall cost, by memory and size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evomem_bench.timing import Row

_CALLS = ("write", "recall")


def draw_peers(rows: Sequence[Row], path: Path, date: str) -> None:
    """Draw the medians of every size, grey where a write that returned may be lost."""
    # Slow to import, and needed only to draw.
    from matplotlib.figure import Figure  # noqa: PLC0415

    panels = [row["part"] for row in rows if "p50_ms" in row and "calls" in row]
    sizes = list(dict.fromkeys(part.partition(", ")[2] for part in panels))
    colours = {
        row["system"]: "C0" if row["durable"] == "yes" else "0.7"
        for row in rows
        if "durable" in row
    }
    counts = [panels.count(f"write, {size}") for size in sizes]
    figure = Figure(figsize=(12, 1 + 0.3 * sum(counts) + 0.9 * len(sizes)), layout="constrained")
    grid = figure.subplots(len(sizes), 2, squeeze=False, sharex="col", height_ratios=counts)
    for size, pair in zip(sizes, grid, strict=True):
        for call, axes in zip(_CALLS, pair, strict=True):
            drawn = [row for row in rows if row["part"] == f"{call}, {size}" and "p50_ms" in row]
            names, medians = [r["system"] for r in drawn], [r["p50_ms"] for r in drawn]
            bars = axes.barh(names, medians, color=[colours[n] for n in names], height=0.6)
            axes.bar_label(bars, labels=[f"{value:,.2f}" for value in medians], padding=4)
            axes.set_xscale("log")
            axes.margins(x=0.2)
            axes.invert_yaxis()
            axes.set_title(f"{call}, {size}: median, ms", loc="left", fontsize="medium")
            axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"evomem-bench peers, {date}; grey: a write that returned may be lost")
    figure.savefig(path, dpi=150)
