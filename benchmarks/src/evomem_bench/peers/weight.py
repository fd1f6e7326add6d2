"""What a memory takes: resident memory, and bytes on the disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_RESIDENT = re.compile(r"^VmRSS:\s*(\d+)", re.MULTILINE)
_PARENT = re.compile(r"^PPid:\s*(\d+)", re.MULTILINE)


def resident_mb(pid: int, *, below: bool) -> float | None:
    """Return the resident megabytes of a process; None where that is not told.

    Args:
        pid: The process.
        below: Count the processes it started instead of itself.
    """
    statuses = dict(_statuses())
    if pid not in statuses:
        return None
    counted = _below(pid, statuses) if below else [pid]
    found = [_RESIDENT.search(statuses[one]) for one in counted]
    return round(sum(int(match[1]) for match in found if match) / 1024, 1)


def bytes_in(folder: Path) -> int:
    """Return the size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _statuses() -> Iterator[tuple[int, str]]:
    for path in _PROC.glob("[0-9]*/status"):
        try:
            yield int(path.parent.name), path.read_text("utf-8", "replace")
        except OSError:  # it has ended since
            continue


def _below(pid: int, statuses: dict[int, str]) -> list[int]:
    found = [pid]
    for parent in found:
        found += [one for one, status in statuses.items() if _is_child(status, parent)]
    return found[1:]


def _is_child(status: str, parent: int) -> bool:
    match = _PARENT.search(status)
    return match is not None and int(match[1]) == parent
