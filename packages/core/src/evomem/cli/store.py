"""Commands about the store as a whole."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evomem.cli import printing
from evomem.cli.session import Session


def init(ctx: typer.Context) -> None:
    """Create the store, or open the one that is there, and print its absolute path."""
    session: Session = ctx.obj
    with session.open() as memory:
        session.answer(memory.stats(), printing.path)


def reindex(
    ctx: typer.Context,
    no_children: Annotated[
        bool, typer.Option("--no-children", help="Leave out the namespaces below.")
    ] = False,
) -> None:
    """Bring the index up to date and embed what has no vector yet; may be stopped at any time."""
    session: Session = ctx.obj
    # A missing store is an error here, not an empty new one.
    session.read().close()
    with session.open() as memory:
        found = memory.reindex(include_children=not no_children, progress=_show_progress)
    session.answer(found, lambda out, _: printing.reindexed(out, found))
    if found.missing:
        raise typer.Exit(1)


def _show_progress(done: int, total: int) -> None:
    """Keep one line on a terminal; elsewhere write one line per page."""
    terminal = sys.stderr.isatty()
    begin = "\r" if terminal else ""
    end = "" if terminal and done < total else "\n"
    print(f"{begin}{done} of {total}", end=end, file=sys.stderr, flush=True)
