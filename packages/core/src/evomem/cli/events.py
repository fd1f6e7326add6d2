"""Commands about evidence: recording what was said, and reading it."""

from __future__ import annotations

from typing import Annotated

import typer

from evomem.cli import printing_patches as printing
from evomem.cli.notes import read_text
from evomem.cli.reading import pointing, time_option
from evomem.cli.session import Session
from evomem.domain.event import EventOptions

# Plain help, as for the whole command line; without a command it is shown, with exit code 2.
app = typer.Typer(help="Record evidence, and read it.", no_args_is_help=True, rich_markup_mode=None)


@app.command("record")
def record(
    ctx: typer.Context,
    role: Annotated[
        str,
        typer.Argument(
            metavar="ROLE", help="Who said it: user, assistant, tool, system or document."
        ),
    ],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What was said; - or a pipe reads standard input."),
    ] = None,
    external_id: Annotated[
        str | None,
        typer.Option(help="Its id where it comes from; repeats return the first record."),
    ] = None,
    session: Annotated[str | None, typer.Option(help="The conversation it comes from.")] = None,
    occurred_at: Annotated[str | None, time_option("When it was said, if not now")] = None,
    actor: Annotated[str | None, typer.Option(help="Who records it.")] = None,
) -> None:
    """Record what was said, to cite it as evidence; it never changes."""
    here: Session = ctx.obj
    options = EventOptions(
        external_id=external_id,
        session=session,
        occurred_at=occurred_at,
        actor=actor,
        source="cli",
    )
    content = read_text(text)
    with here.open() as memory:
        here.answer(memory.record_event(role, content, **options), printing.recorded)


@app.command("get")
def get(
    ctx: typer.Context,
    event_id: Annotated[str, typer.Argument(metavar="ID", help="The event, whole id.")],
) -> None:
    """Show one event in full."""
    session: Session = ctx.obj
    with session.read() as memory, pointing(session, event_id, "event get"):
        session.answer(memory.get_event(event_id), printing.event)
