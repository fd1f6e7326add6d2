"""The document, its tables as Markdown, and the latencies over the number of notes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evomem_bench.concurrency.evidence import Evidence
from evomem_bench.scale.latency import SYSTEMS
from evomem_bench.scale.questions import KINDS
from evomem_bench.timing import Row

_STYLES = {"p50_ms": "-", "p99_ms": "--"}


class Scaling(Evidence):
    """A report on stores of several sizes."""

    def save(self, folder: Path) -> None:
        """Write the JSON document, the Markdown page, and the picture into a folder."""
        super().save(folder)
        recalls = [row for row in self.rows if row["part"] == "recall"]
        draw_latency(recalls, folder / f"{self.benchmark}.png", self.date[:10])


def draw_latency(rows: Sequence[Row], path: Path, date: str) -> None:
    """Draw the median and the 99th percentile over the notes, for each kind of query."""
    # Slow to import, and needed only to draw.
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    for axes, kind in zip(figure.subplots(1, len(KINDS), sharey=True), KINDS, strict=True):
        for number, system in enumerate(SYSTEMS):
            own = [row for row in rows if (row["system"], row["queries"]) == (system, kind)]
            notes = [row["notes"] for row in own]
            for figure_name, style in _STYLES.items():
                label = f"{system}, {figure_name.removesuffix('_ms')}"
                values = [row[figure_name] for row in own]
                axes.plot(notes, values, style, color=f"C{number}", marker=".", label=label)
        axes.set(xscale="log", yscale="log", xlabel="notes", title=kind)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, color="0.9")
    figure.axes[0].set_ylabel("ms; less is better")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(SYSTEMS), frameon=False)
    figure.suptitle(f"recall, {date}", x=0.01, ha="left")
    figure.savefig(path, dpi=150)
