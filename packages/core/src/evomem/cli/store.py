"""Commands about the store as a whole."""

from __future__ import annotations

import typer

from evomem.cli import printing
from evomem.cli.session import Session


def init(ctx: typer.Context) -> None:
    """Create the store, or open the one that is there, and print its absolute path."""
    session: Session = ctx.obj
    with session.open() as memory:
        session.answer(memory.stats(), printing.path)
