"""What a benchmark hands out: one JSON document, tables, and a picture."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evomem_bench.timing import Row

# Where nothing says how wide the output may be, as in a file.
_WIDTH = 120


def _command() -> str:
    return shlex.join(["evomem-bench", *sys.argv[1:]])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one run.

    Attributes:
        benchmark: Its name.
        rows: Lines with `part`, `system` and figures.
        seed: Of every generator in it.
        command: What was run.
        date: When, in UTC.
    """

    benchmark: str
    rows: Sequence[Row]
    seed: int
    command: str = field(default_factory=_command)
    date: str = field(default_factory=_now)

    def to_json(self) -> str:
        """Return the report as one JSON document."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)

    def print_tables(self) -> None:
        """Print a table for each part on standard output."""
        console = Console()
        if not console.is_terminal:
            console = Console(width=_WIDTH)
        for part in dict.fromkeys(row["part"] for row in self.rows):
            console.print(_table(part, [row for row in self.rows if row["part"] == part]))
        console.print(f"{self.command}, seed {self.seed}, {self.date}", highlight=False)

    def save(self, folder: Path) -> None:
        """Write the JSON document and the picture into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.benchmark}.json").write_text(self.to_json() + "\n", encoding="utf-8")
        draw_ratios(self, folder / f"{self.benchmark}.png")


def _table(part: str, rows: Sequence[Row]) -> Table:
    names = [name for name in dict.fromkeys(n for row in rows for n in row) if name != "part"]
    table = Table(title=part, title_justify="left")
    for name in names:
        table.add_column(name, justify="left" if name == "system" else "right")
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in names))
    return table


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
        case list():
            return ", ".join(map(str, value)) or "none"
        case _:
            return str(value)


def draw_ratios(report: Report, path: Path) -> None:
    """Draw the rows that have a `ratio` as bars from 1, the baseline, on a logarithmic scale."""
    # Slow to import, and needed only to draw.
    from matplotlib.figure import Figure  # noqa: PLC0415

    rows = [row for row in report.rows if row.get("ratio") and row["ratio"] != 1]
    labels = [_label(row) for row in rows]
    ratios = [row["ratio"] for row in rows]
    figure = Figure(figsize=(9, 1.6 + 0.45 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    colours = {part: f"C{n}" for n, part in enumerate(dict.fromkeys(r["part"] for r in rows))}
    axes.set_xscale("log")
    lengths = [ratio - 1 for ratio in ratios]
    bars = axes.barh(
        labels, lengths, left=1, color=[colours[row["part"]] for row in rows], height=0.6
    )
    axes.bar_label(bars, labels=[f"{ratio:.2f}" for ratio in ratios], padding=4)
    axes.axvline(1, color="0.3", linewidth=1)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.15)
    axes.invert_yaxis()
    axes.set_xlabel("median, times the baseline of the same run (1); less is better")
    axes.set_title(f"evomem-bench {report.benchmark}, {report.date[:10]}", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def _label(row: Row) -> str:
    return f"{row['system']}, {row['notes']:,} notes" if "notes" in row else str(row["system"])
