"""Commands that change what stands: link, unlink, forget. They take whole ids only."""

from __future__ import annotations

from typing import Annotated

import typer

from evomem.cli import printing
from evomem.cli.session import Session, confirm

Reason = Annotated[str | None, typer.Option(help="Why, in one line.")]
Actor = Annotated[str | None, typer.Option(help="Who does it.")]


def link(
    ctx: typer.Context,
    node_id: Annotated[str, typer.Argument(metavar="ID", help="The newer node, whole id.")],
    supersedes: Annotated[
        list[str],
        typer.Option(metavar="OLD", help="A node that it replaces, whole id; may be repeated."),
    ],
    reason: Reason = None,
    actor: Actor = None,
) -> None:
    """State after the fact that a node replaces others."""
    session: Session = ctx.obj
    with session.open() as memory:
        result = memory.link(
            node_id, supersedes=supersedes, reason=reason, actor=actor, source="cli"
        )
    session.answer(result, printing.linked)


def unlink(
    ctx: typer.Context,
    new_id: Annotated[str, typer.Argument(metavar="NEW", help="The newer node, whole id.")],
    old_id: Annotated[str, typer.Argument(metavar="OLD", help="The older node, whole id.")],
    reason: Reason = None,
    actor: Actor = None,
) -> None:
    """Undo a link: the older node stands for itself again."""
    session: Session = ctx.obj
    with session.open() as memory:
        result = memory.unlink(new_id, old_id, reason=reason, actor=actor, source="cli")
    session.answer(result, printing.linked)


def forget(
    ctx: typer.Context,
    node_id: Annotated[str, typer.Argument(metavar="ID", help="The node, whole id.")],
    purge: Annotated[
        bool,
        typer.Option(
            "--purge",
            help="Delete the text of the note too; an event with the same text keeps it.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Purge without asking.")] = False,
    reason: Reason = None,
    actor: Actor = None,
) -> None:
    """Take a node out of recall; its history is kept."""
    session: Session = ctx.obj
    if purge and not yes:
        confirm(
            f"Delete the text of {node_id} for good?",
            f"Purging deletes the text of {node_id} for good: confirm it with --yes.",
        )
    with session.open() as memory:
        result = memory.forget(node_id, purge=purge, reason=reason, actor=actor, source="cli")
    session.answer(result, printing.forgotten)
