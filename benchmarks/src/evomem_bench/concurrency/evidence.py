"""What these benchmarks hand out: the document, the same tables as Markdown, and a picture."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from evomem_bench.report import Report
from evomem_bench.timing import Row

_FATES = {"stored": "C0", "lost": "C3", "refused": "C1", "not_begun": "0.85"}
_LABELS = {"lost": "acknowledged, not stored", "not_begun": "not begun in the time given"}


def machine() -> Row:
    """Describe the machine, and how busy it is now."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    system = (
        f"{platform.system()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )
    return {"part": "machine", "system": system, "cpus": os.cpu_count(), "load": load}


class Evidence(Report):
    """A report that also writes its tables as Markdown, and draws a race if it holds one."""

    def save(self, folder: Path) -> None:
        """Write the JSON document, the Markdown page, and the picture into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in (("json", self.to_json() + "\n"), ("md", self.to_markdown())):
            (folder / f"{self.benchmark}.{ending}").write_text(text, encoding="utf-8")
        races = [row for row in self.rows if "not_begun" in row]
        if races:
            draw_race(races, folder / f"{self.benchmark}.png", self.date[:10])

    def to_markdown(self) -> str:
        """Return a page with the command, the date, and a table for each part."""
        lines = [f"# {self.benchmark}", "", f"`{self.command}`, seed {self.seed}, {self.date}", ""]
        for part in dict.fromkeys(row["part"] for row in self.rows):
            rows = [row for row in self.rows if row["part"] == part]
            names = [n for n in dict.fromkeys(n for row in rows for n in row) if n != "part"]
            lines += [f"## {part}", "", _line(names), _line(["---"] * len(names))]
            lines += [_line([_cell(row.get(name)) for name in names]) for row in rows]
            lines += [""]
        return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.2f}"
        case list():
            return ", ".join(map(str, value)).replace("|", "\\|")
        case _:
            return str(value).replace("|", "\\|")


def draw_race(rows: Sequence[Row], path: Path, date: str) -> None:
    """Draw what became of every write, and the wait that one in a hundred exceeded."""
    # Slow to import, and needed only to draw.
    from matplotlib.figure import Figure  # noqa: PLC0415

    names = [str(row["system"]) for row in rows]
    figure = Figure(figsize=(11, 2 + 0.5 * len(rows)), layout="constrained")
    fates, waits = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    left = [0] * len(rows)
    for fate, colour in _FATES.items():
        counts = [_count(row, fate) for row in rows]
        label = _LABELS.get(fate, fate)
        fates.barh(names, counts, left=left, color=colour, height=0.6, label=label)
        left = [a + b for a, b in zip(left, counts, strict=True)]
    fates.invert_yaxis()
    fates.set_xlabel("writes")
    figure.legend(loc="outside lower center", ncols=len(_FATES), frameon=False)
    p99 = [row["p99_ms"] for row in rows]
    bars = waits.barh(names, p99, color="0.6", height=0.6)
    waits.bar_label(bars, labels=[f"{value:,.0f}" for value in p99], padding=4)
    waits.set_xscale("log")
    waits.margins(x=0.2)
    waits.set_xlabel("99th percentile of the wait, ms; less is better")
    figure.suptitle(f"{rows[0]['part']}, {date}", x=0.01, ha="left")
    for axes in (fates, waits):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def _count(row: Row, fate: str) -> int:
    return int(row["acknowledged"] - row["lost"] if fate == "stored" else row[fate])
