"""The app: global options and the list of commands."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import evomem
from evomem.cli import audit, demo, events, links, notes, patches, policy, reading, store
from evomem.cli.environment import unread_variables
from evomem.cli.group import EvoMemGroup
from evomem.cli.session import Session, print_document, warn

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells use it: 128 and the number of the signal."""

# Plain help: the rich one takes longer to import than everything else together.
app = typer.Typer(
    cls=EvoMemGroup,
    help="A memory for AI agents that knows when a decision was replaced.",
    epilog="--db, --namespace, --json, --config and --embedder may stand before or after the command. "
    "Exit codes: 0 done, 1 refused, 2 wrong usage.",
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def begin(
    ctx: typer.Context,
    db: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="The store; default $EVOMEM_DB, else ~/.evomem/evomem.db."
        ),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            metavar="A/B", help="Labels split at '/'; default $EVOMEM_NAMESPACE, else 'default'."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    config: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="The policy file; default $EVOMEM_CONFIG, else no file."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What makes vectors; default $EVOMEM_EMBEDDER, else none."
        ),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Take the global options."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    if version:
        _print_version(as_json=json)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        ctx.fail("Missing command.")
    for line in unread_variables(os.environ):
        warn(line)
    ctx.obj = Session(db, namespace, json, config, embedder)


def _print_version(*, as_json: bool) -> None:
    if as_json:
        print_document({"version": evomem.__version__})
    else:
        print(f"evomem {evomem.__version__}", flush=True)


app.command("init")(store.init)
app.command("remember")(notes.remember)
app.command("recall")(notes.recall)
app.command("search")(reading.search)
app.command("show")(reading.show)
app.command("history")(reading.history)
app.command("list")(reading.list_nodes)
app.command("namespaces")(reading.namespaces)
app.command("link")(links.link)
app.command("unlink")(links.unlink)
app.command("forget")(links.forget)
app.command("review")(reading.review)
app.command("stats")(reading.stats)
app.add_typer(events.app, name="event")
app.command("apply")(patches.apply)
app.add_typer(patches.app, name="patch")
app.command("policy")(policy.policy)
app.command("export")(audit.export)
app.command("doctor")(audit.doctor)
app.command("reindex")(store.reindex)
app.command("demo")(demo.demo)


def main() -> None:
    """Run the command line."""
    try:
        app(prog_name="evomem")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
