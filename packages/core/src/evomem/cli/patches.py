"""Commands about patches: applying operations, reading what was done, undoing it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from evomem.cli import printing_patches as printing
from evomem.cli.links import Actor, Reason
from evomem.cli.reading import pointing
from evomem.cli.session import Session, confirm, console
from evomem.domain.arguments import check_names, id_list
from evomem.errors import InvalidRequestError, TooLargeError

# Plain help, as for the whole command line; without a command it is shown, with exit code 2.
app = typer.Typer(
    help="Read what was done, and undo it.", no_args_is_help=True, rich_markup_mode=None
)

_OPTIONS = ("evidence", "reason", "idempotency_key", "actor")
_EXAMPLE = '[{"op": "ADD", "subject": "ledger", "content": "We picked Postgres."}]'
_MOST_BYTES = 1 << 28
"""What a file of operations may hold, so that no pipe fills memory."""

PatchId = Annotated[str, typer.Argument(metavar="ID", help="The patch, whole id.")]


def apply(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="JSON: a list of operations, or an object with 'operations' and what the "
            "options say; - reads standard input.",
        ),
    ],
    evidence: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="An event to cite, whole id; may be repeated."),
    ] = None,
    reason: Reason = None,
    actor: Actor = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Repeats of the call return the first result.")
    ] = None,
) -> None:
    """Carry out operations on memories in one patch: all of them or none."""
    session: Session = ctx.obj
    operations, options = _request(_read_json(file))
    options["evidence"] = [*id_list(options.get("evidence"), "evidence"), *(evidence or ())]
    given = {"reason": reason, "actor": actor, "idempotency_key": idempotency_key}
    options.update((name, value) for name, value in given.items() if value is not None)
    with session.open() as memory:
        session.answer(memory.apply(operations, **options, source="cli"), printing.applied)


@app.command("list")
def list_patches(
    ctx: typer.Context,
    since: Annotated[int, typer.Option(help="Only patches after this sequence.")] = 0,
    limit: Annotated[int, typer.Option(help="Patches at most, 1 to 10000.")] = 50,
    oldest_first: Annotated[
        bool, typer.Option("--oldest-first", help="Begin with the oldest, to page with --since.")
    ] = False,
) -> None:
    """List patches, the latest first."""
    session: Session = ctx.obj
    with session.read() as memory:
        found = memory.changes(since, limit=limit, newest_first=not oldest_first)
    more = None
    if len(found) == limit:
        more = f"add --since {found[-1].sequence}" if oldest_first else "raise --limit"
    session.answer(found, lambda out, _: printing.changes(out, found, more), key="patches")


@app.command("show")
def show(ctx: typer.Context, patch_id: PatchId) -> None:
    """Show one patch in full: who did what, when, on what evidence, with diffs."""
    session: Session = ctx.obj
    with session.read() as memory, pointing(session, patch_id, "patch show"):
        session.answer(memory.patch(patch_id), printing.patch)


@app.command("rollback")
def rollback(
    ctx: typer.Context,
    patch_id: PatchId,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done.")
    ] = False,
    reason: Reason = None,
    actor: Actor = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
) -> None:
    """Undo a patch by another one, which brings back what was in force before it."""
    session: Session = ctx.obj
    if dry_run:
        with session.read() as memory:
            result = memory.rollback(patch_id, dry_run=True, actor=actor)
    else:
        if not yes:
            _confirm(session, patch_id, actor)
        with session.open() as memory:
            result = memory.rollback(patch_id, reason=reason, actor=actor, source="cli")
    session.answer(result, lambda out, _: printing.rolled_back(out, result, diffs=dry_run or yes))


def _confirm(session: Session, patch_id: str, actor: str | None) -> None:
    """Show what would be done, and ask."""
    with session.read() as memory:
        plan = memory.rollback(patch_id, dry_run=True, actor=actor)
    printing.rolled_back(console(stderr=True), plan, diffs=True)
    confirm(
        f"Roll back {patch_id}?",
        f"Nobody can be asked here: repeat it with --yes to roll back {patch_id}.",
    )


def _request(document: object) -> tuple[Any, dict[str, Any]]:
    """Split a document into the operations and the options."""
    if isinstance(document, list):
        return document, {}
    if not isinstance(document, Mapping):
        _refuse(f"This is neither a list nor an object. Write a list, such as {_EXAMPLE}.")
    if "op" in document:
        _refuse(f"This is a single operation. Put it in a list, as {_EXAMPLE}.")
    check_names(document, ("operations", *_OPTIONS), tolerate=False)
    options = dict(document)
    return options.pop("operations", None), options


def _read_json(file: str) -> object:
    """Read a JSON document from a file, or from standard input.

    Raises:
        InvalidRequestError: It cannot be read or is not JSON; the message says where.
    """
    place = "standard input" if file == "-" else file
    data = _read(file)
    if not data.strip():
        _refuse(f"There is nothing in {place}. Write a list of operations, such as {_EXAMPLE}.")
    try:
        return json.loads(data, parse_constant=_no_number, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        message = (
            f"{place}, line {error.lineno}, column {error.colno}: this is not JSON ({error.msg}). "
            "Correct it there."
        )
        _refuse(message, line=error.lineno, column=error.colno)
    except UnicodeDecodeError:
        _refuse(f"{place} is not text. Pass JSON in UTF-8.")
    except (ValueError, RecursionError) as error:
        _refuse(f"{place} cannot be read as JSON: {error}.")


def _read(file: str) -> bytes:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(_MOST_BYTES + 1) if sys.stdin is not None else b""
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        _refuse(f"{file} cannot be read ({why}). Name a JSON file, or - for standard input.")
    if len(data) > _MOST_BYTES:
        message = f"{file} is over {_MOST_BYTES} bytes. Split it into several patches."
        raise TooLargeError(message, limit_bytes=_MOST_BYTES)
    return data


def _unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that stands twice in an object: one of the values would be lost."""
    read = dict(pairs)
    if len(read) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the key {twice!r} stands twice in one object"
        raise ValueError(message)
    return read


def _no_number(name: str) -> NoReturn:
    message = f"{name} is no JSON number"
    raise ValueError(message)


def _refuse(message: str, **details: object) -> NoReturn:
    raise InvalidRequestError(message, **details)
