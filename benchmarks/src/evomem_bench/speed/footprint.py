"""What a process pays for EvoMem: time to import it, modules loaded, memory held."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from evomem_bench.timing import Row, track

HEAVY = ("torch", "openai", "psycopg", "mcp", "pydantic")

# pydantic loads its parts when they are first named, so its bare import is not the whole price.
_IMPORTS = {
    "import pydantic": "import pydantic",
    "from pydantic import BaseModel": "from pydantic import BaseModel",
    "import evomem": "import evomem",
}
_BASE = "import pydantic"

_IMPORT_SCRIPT = """
import json, sys, time
before = set(sys.modules)
started = time.perf_counter()
{statement}
seconds = time.perf_counter() - started
print(json.dumps({{"seconds": seconds, "modules": sorted(set(sys.modules) - before)}}))
"""


def measure_imports(rounds: int, generator: random.Random) -> list[Row]:
    """Time imports in fresh processes, in turns; a missing pydantic is named in its rows."""
    missing = find_spec("pydantic") is None
    names = [name for name in _IMPORTS if not (missing and "pydantic" in name)]
    seconds: dict[str, list[float]] = {name: [] for name in names}
    modules: dict[str, list[str]] = {}
    for _ in track(range(rounds), "import"):
        for name in generator.sample(names, len(names)):
            told = _run(["-c", _IMPORT_SCRIPT.format(statement=_IMPORTS[name])])
            modules[name] = told["modules"]
            seconds[name].append(told["seconds"] * 1000)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    return [
        _import_row(name, medians[name], medians.get(_BASE), modules[name])
        if name in medians
        else {"part": "import", "system": f"{name} (not installed)"}
        for name in _IMPORTS
    ]


def _import_row(name: str, median_ms: float, base: float | None, modules: Sequence[str]) -> Row:
    row: Row = {"part": "import", "system": name, "p50_ms": round(median_ms, 3)}
    if base is not None:
        row["ratio"] = round(median_ms / base, 3)
    heavy = [module for module in HEAVY if module in modules]
    return {**row, "modules": len(modules), "heavy": heavy}


def measure_memory(path: Path, n_notes: int, queries: Sequence[str]) -> list[Row]:
    """Return the resident memory of a process after its recalls, and of one that does nothing."""
    module = ["-m", "evomem_bench.speed.resident"]
    bare = _run(module)
    own = _run([*module, str(path), *queries])
    used = {"notes": n_notes, "calls": len(queries)}
    return [
        {"part": "memory", "system": "the interpreter", **bare},
        {"part": "memory", "system": "an open store", **used, **own},
    ]


def _run(arguments: Sequence[str]) -> Row:
    """Run Python in a process of its own and return the JSON object that it prints."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603  our own
    told: Row = json.loads(done.stdout)
    return told
