"""Commands that look after a store and its history: doctor, export."""

from __future__ import annotations

from typing import Annotated

import typer

import evomem
from evomem.cli import printing_audit as printing
from evomem.cli.session import Session, confirm, console
from evomem.errors import EngineError, InvalidRequestError, ReadOnlyError

_ENDING = ".json"


def doctor(
    ctx: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Make anew what is derived, where it is wrong.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Repair without asking.")] = False,
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="SEQ:HASH",
            help="A commit that an earlier doctor showed, to find a cut-off end.",
        ),
    ] = None,
) -> None:
    """Look for damage in the whole store; exit code 1 if there is any."""
    session: Session = ctx.obj
    with _open(session) as memory:
        found = memory.doctor(anchor=anchor)
        if fix and found.planned:
            if not yes:
                _confirm(found)
            found = memory.doctor(fix=True, anchor=anchor)
    session.answer(found, lambda out, _: printing.diagnosis(out, found, session))
    if not found.ok:
        raise typer.Exit(1)


def export(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file that ends in .json.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write the audit of the namespace to a JSON file: every patch and event, with diffs."""
    session: Session = ctx.obj
    if not path.lower().endswith(_ENDING):
        message = f"{path} does not end in {_ENDING}: the audit is written as JSON. Name it so."
        raise InvalidRequestError(message, path=path)
    with session.read() as memory:
        session.answer(memory.export_audit(path, overwrite=force), printing.exported)


def _open(session: Session) -> evomem.Memory:
    """Open a store that is there, for writing if that may be: the index is checked by a write."""
    session.read().close()
    try:
        return session.open()
    except (EngineError, ReadOnlyError):
        return session.read()


def _confirm(found: evomem.Diagnosis) -> None:
    """Show what would be done, and ask."""
    printing.plan(console(stderr=True), found)
    confirm(
        "Repair it?", "Nobody can be asked here: repeat it with --yes to do what is shown above."
    )
