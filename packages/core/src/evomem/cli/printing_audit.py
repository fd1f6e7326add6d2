"""How a diagnosis and an export of the audit look to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evomem.cli.printing import labelled, line, warnings
from evomem.cli.session import Session, command_line
from evomem.domain.diagnosis import AuditReport, Diagnosis

if TYPE_CHECKING:
    from rich.console import Console


def diagnosis(console: Console, result: Diagnosis, session: Session) -> None:
    """Print each check, what a repair does or did, where the store lies and how far it has come."""
    for check in result.checks:
        verdict = ("ok", "green") if check.ok else ("problem", "red")
        line(console, verdict, "  ", (check.name, "bold"), check.detail and f"  {check.detail}")
    line(console)
    for step in result.repaired:
        line(console, ("Made anew: ", "green"), step)
    if result.planned:
        repair = command_line("doctor", "--fix", *session.options)
        line(console, "What is derived can be repaired: ", (repair, "bold"))
    labelled(console, _facts(result))
    warnings(console, _remarks(result))


def plan(console: Console, result: Diagnosis) -> None:
    """Print what a repair would do."""
    for step in result.planned:
        line(console, "Would make anew: ", step)


def exported(console: Console, result: AuditReport) -> None:
    """Print where the audit was written and how far it goes."""
    counts = f"patches {result.patches}, events {result.events}"
    line(console, ("Exported", "bold"), f"  {result.path}  ", (counts, "dim"))


def _facts(result: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "path", f"{result.path} ({result.location})"
    yield "store", f"{result.store_id}, schema {result.schema_version}"
    yield "sqlite", result.sqlite_version
    yield "free", "" if result.free_bytes is None else f"{result.free_bytes} bytes"
    yield "opened", "read-only" if result.read_only else ""
    yield "patches", str(result.patches)
    yield "last commit", result.anchor or "none"
    if result.anchor:
        yield "", "Keep this elsewhere: doctor --anchor tells by it if the history was cut off."


def _remarks(result: Diagnosis) -> Iterator[str]:
    """Yield what no check finds wrong and yet may cost the store."""
    if result.network_file_system:
        yield (
            f"The store lies on a network file system ({result.network_file_system}), whose locks "
            "SQLite cannot trust: keep it on a local disk."
        )
    damaged = {check.name for check in result.checks if not check.ok and not check.fixable}
    if damaged:
        yield (
            f"Nothing repairs what {', '.join(sorted(damaged))} found: copy the store, then restore "
            "a backup from before."
        )
