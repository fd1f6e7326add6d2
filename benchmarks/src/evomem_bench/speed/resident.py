"""Started as a process: recalls in a store and says how much memory it holds.

Usage: `python -m evomem_bench.speed.resident [STORE QUERY...]`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def resident() -> dict[str, float | None]:
    """Return the resident megabytes, and those not backed by a file; None where not told."""
    if not _STATUS.exists():
        return {"rss_mb": None, "anonymous_mb": None}
    lines = dict(line.split(":", 1) for line in _STATUS.read_text("ascii").splitlines())
    kilobytes = {name: int(lines[name].split()[0]) for name in ("VmRSS", "RssAnon")}
    return {
        "rss_mb": round(kilobytes["VmRSS"] / 1024, 1),
        "anonymous_mb": round(kilobytes["RssAnon"] / 1024, 1),
    }


def main(arguments: list[str]) -> None:
    """Recall every query in the store, with the store still open print the memory held."""
    if not arguments:
        print(json.dumps(resident()))
        return
    # The process without a store is the measure of what this import costs.
    import evomem  # noqa: PLC0415

    store, *queries = arguments
    with evomem.open(store) as memory:
        for query in queries:
            memory.recall(query)
        print(json.dumps(resident()))


if __name__ == "__main__":
    main(sys.argv[1:])
