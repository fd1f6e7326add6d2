"""Commands that read: one node, a story, a page, what waits for an answer, figures."""

from __future__ import annotations

from typing import Annotated

import typer

from evomem.cli import printing
from evomem.cli.session import Session
from evomem.domain.request import ListOptions

NodeId = Annotated[str, typer.Argument(metavar="ID", help="A node's id, or its first 6 or more.")]
Scope = Annotated[str | None, typer.Option(help="Only what holds in this scope.")]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only nodes with this tag; may be repeated."),
]
SessionName = Annotated[str | None, typer.Option(help="Only nodes of this session.")]
Children = Annotated[bool, typer.Option("--children", help="Also from the namespaces below.")]


def show(ctx: typer.Context, node_id: NodeId) -> None:
    """Show one node in full."""
    session: Session = ctx.obj
    with session.read() as memory:
        session.answer(memory.get_node(node_id), printing.node)


def history(ctx: typer.Context, node_id: NodeId) -> None:
    """Tell the story a node belongs to, newest first."""
    session: Session = ctx.obj
    with session.read() as memory:
        session.answer(memory.history(node_id), printing.story, key="nodes")


def list_nodes(
    ctx: typer.Context,
    status: Annotated[
        str, typer.Option(help="active, refined, superseded, forgotten, scheduled or all.")
    ] = "active",
    scope: Scope = None,
    tag: Tags = None,
    session: SessionName = None,
    children: Children = False,
    limit: Annotated[int, typer.Option(help="Nodes a page, 1 to 1000.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
) -> None:
    """List nodes, the latest first."""
    here: Session = ctx.obj
    options = ListOptions(
        status=status,
        scope=scope,
        tags=tag or (),
        session=session,
        include_children=children,
        limit=limit,
        cursor=cursor,
    )
    with here.read() as memory:
        here.answer(memory.list(**options), printing.page)


def review(ctx: typer.Context) -> None:
    """List the links that were suggested and wait for an answer."""
    session: Session = ctx.obj
    with session.read() as memory:
        pending = memory.review()
    session.answer(
        pending, lambda console, _: printing.reviews(console, pending, session), key="pending"
    )


def stats(ctx: typer.Context) -> None:
    """Count what the namespace holds, and say where the store lies."""
    session: Session = ctx.obj
    with session.read() as memory:
        session.answer(memory.stats(), printing.stats)
