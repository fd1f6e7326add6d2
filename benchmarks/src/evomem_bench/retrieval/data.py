"""Where the data lies; it is not part of the repository."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "EVOMEM_BENCH_DATA"
_DEFAULT = Path("../shared")

ADR = Path("data/adr")
DECISIONS = ADR / "decisions.jsonl"
LINKS = ADR / "links.jsonl"
QUESTIONS = ADR / "odr.jsonl"
ORDER = ADR / "replay.jsonl"
FACTS = Path("data/factconsolidation/Conflict_Resolution.json")
CASES = Path("cases/notes.jsonl")

_NEEDED = (DECISIONS, LINKS, QUESTIONS, ORDER, FACTS, CASES)


def find_data(given: Path | None) -> Path:
    """Return the folder of the data: as given, by `EVOMEM_BENCH_DATA`, or `../shared`.

    Raises:
        SystemExit: Something is not there; the message says what, and what to do.
    """
    named = os.environ.get(VARIABLE, "").strip()
    folder = given or (Path(named) if named else _DEFAULT)
    missing = [str(path) for path in _NEEDED if not (folder / path).is_file()]
    if missing:
        message = (
            f"The data of this benchmark is not in {folder}: {', '.join(missing)} missing. "
            f"Pass the folder that holds it, or set {VARIABLE}."
        )
        raise SystemExit(message)
    return folder


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of one JSON object a line."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
