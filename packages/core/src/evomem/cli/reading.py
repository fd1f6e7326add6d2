"""Commands that read: one node or memory, a story, a page, what waits for an answer, figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from typer.models import OptionInfo

from evomem.cli import printing, printing_patches
from evomem.cli.session import Session, command_line
from evomem.cli.values import wanted_metadata
from evomem.domain.identifiers import describe
from evomem.domain.question import ListOptions, RecallOptions
from evomem.errors import NotFoundError


def time_option(text: str) -> OptionInfo:
    """Return an option that takes a time."""
    form = "as 2026-03-01 or 2026-03-01T09:30:00Z"
    option: OptionInfo = typer.Option(metavar="TIME", help=f"{text}, {form}.")
    return option


ReadableId = Annotated[
    str,
    typer.Argument(metavar="ID", help="A node's id, or its first 6 or more; or a memory's id."),
]
Scope = Annotated[str | None, typer.Option(help="Only what holds in this scope.")]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only nodes with this tag; may be repeated."),
]
AnyTag = Annotated[
    list[str] | None,
    typer.Option("--any-tag", metavar="TAG", help="Only nodes with one of these; may be repeated."),
]
NoTag = Annotated[
    list[str] | None,
    typer.Option("--no-tag", metavar="TAG", help="Only nodes without this tag; may be repeated."),
]
SessionName = Annotated[str | None, typer.Option(help="Only nodes of this session.")]
Metadata = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY=VALUE",
        help='Only nodes with this metadata; JSON as well: n={"$gte": 3}. May be repeated.',
    ),
]
Relation = Annotated[
    str | None, typer.Option(metavar="KIND", help="Only nodes with such a relation: caused_by, ...")
]
Since = Annotated[str | None, time_option("Only what was recorded then or later")]
Until = Annotated[str | None, time_option("Only what was recorded before")]
Children = Annotated[bool, typer.Option("--children", help="Also from the namespaces below.")]
AsOf = Annotated[str | None, time_option("Tell what held then")]
KnownAt = Annotated[str | None, time_option("Tell what was known then")]
Offset = Annotated[int, typer.Option(help="How many answers to leave out first, up to 10,000.")]

_A_MEMORY = "a memory"
_SHOWN_BY = {
    "a node": "show",
    _A_MEMORY: "show",
    "a patch": "patch show",
    "an event": "event get",
}


@contextmanager
def pointing(session: Session, given: str, command: str) -> Iterator[None]:
    """Where nothing is found, but another command shows ids of that shape, name it.

    Args:
        session: The global options.
        given: The id.
        command: The one that looked for it, as in `_SHOWN_BY`.
    """
    try:
        yield
    except NotFoundError as error:
        kind = describe(given)
        other = _SHOWN_BY.get(kind, command)
        if other == command:
            raise
        words = command_line(*other.split(), given, *session.options)
        message = f"{given!r} has the shape of {kind} id. Show it with: {words}"
        raise NotFoundError(message, **error.details) from error


def show(
    ctx: typer.Context, shown_id: ReadableId, as_of: AsOf = None, known_at: KnownAt = None
) -> None:
    """Show one node in full, or a memory with every operation on it."""
    session: Session = ctx.obj
    with session.read() as memory, pointing(session, shown_id, "show"):
        if describe(shown_id) == _A_MEMORY:
            record = memory.read(shown_id, include_history=True, as_of=as_of, known_at=known_at)
            session.answer(record, printing_patches.memory)
        else:
            node = memory.get_node(shown_id, as_of=as_of, known_at=known_at)
            session.answer(node, printing.node)


def history(
    ctx: typer.Context, shown_id: ReadableId, as_of: AsOf = None, known_at: KnownAt = None
) -> None:
    """Tell the story a node or a memory belongs to, newest first."""
    session: Session = ctx.obj
    with session.read() as memory, pointing(session, shown_id, "show"):
        node_id = shown_id
        if describe(shown_id) == _A_MEMORY:
            node_id = memory.read(shown_id, known_at=known_at).node.id
        nodes = memory.history(node_id, as_of=as_of, known_at=known_at)
        session.answer(nodes, printing.story, key="nodes")


def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to find, any words.")],
    k: Annotated[int, typer.Option("-k", help="How many memories at most, 1 to 100.")] = 5,
    offset: Offset = 0,
    include_removed: Annotated[
        bool, typer.Option("--include-removed", help="Also what was forgotten.")
    ] = False,
    scope: Scope = None,
    tag: Tags = None,
    any_tag: AnyTag = None,
    no_tag: NoTag = None,
    session: SessionName = None,
    filters: Metadata = None,
    relation: Relation = None,
    since: Since = None,
    until: Until = None,
    children: Children = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Find memories, with the ids and versions that apply asks for."""
    here: Session = ctx.obj
    options = RecallOptions(
        k=k,
        offset=offset,
        include_removed=include_removed,
        scope=scope,
        tags=tag or (),
        tags_any=any_tag or (),
        tags_none=no_tag or (),
        session=session,
        filter=wanted_metadata(filters),
        relation=relation,
        since=since,
        until=until,
        include_children=children,
        as_of=as_of,
        known_at=known_at,
    )
    with here.read(vectors=True) as memory:
        here.answer(memory.search(" ".join(query), **options), printing_patches.searched)


def list_nodes(
    ctx: typer.Context,
    status: Annotated[
        str, typer.Option(help="active, refined, superseded, forgotten, scheduled or all.")
    ] = "active",
    scope: Scope = None,
    tag: Tags = None,
    any_tag: AnyTag = None,
    no_tag: NoTag = None,
    session: SessionName = None,
    filters: Metadata = None,
    relation: Relation = None,
    since: Since = None,
    until: Until = None,
    children: Children = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, typer.Option(help="Nodes a page, 1 to 1000.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
    offset: Annotated[
        int, typer.Option(help="How many nodes to leave out first, up to 1,000,000.")
    ] = 0,
) -> None:
    """List nodes, the latest first."""
    here: Session = ctx.obj
    options = ListOptions(
        status=status,
        scope=scope,
        tags=tag or (),
        tags_any=any_tag or (),
        tags_none=no_tag or (),
        session=session,
        filter=wanted_metadata(filters),
        relation=relation,
        since=since,
        until=until,
        include_children=children,
        as_of=as_of,
        known_at=known_at,
        limit=limit,
        cursor=cursor,
        offset=offset,
    )
    with here.read() as memory:
        here.answer(memory.list(**options), printing.page)


def namespaces(
    ctx: typer.Context,
    prefix: Annotated[
        str | None, typer.Option(metavar="A/B", help="Only those that begin so; * is any label.")
    ] = None,
    suffix: Annotated[
        str | None, typer.Option(metavar="A/B", help="Only those that end so; * is any label.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(help="Cut each to so many labels.")] = None,
    limit: Annotated[int, typer.Option(help="So many at most, 1 to 10,000.")] = 100,
    offset: Annotated[int, typer.Option(help="How many to leave out first, up to 1,000,000.")] = 0,
) -> None:
    """List the namespaces below this one that hold what was not forgotten, one path per line."""
    here: Session = ctx.obj
    with here.read() as memory:
        found = memory.namespaces(
            prefix=prefix, suffix=suffix, max_depth=max_depth, limit=limit, offset=offset
        )
    here.answer(found, printing.namespaces, key="namespaces")


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
    with session.read(vectors=True) as memory:
        session.answer(memory.stats(), printing.stats)
