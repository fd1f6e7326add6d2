"""The command group: global options anywhere, errors as messages, commands of other packages."""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup
from typer.main import get_command

from evomem.cli.session import report, warn
from evomem.errors import EngineError, EvoMemError

if TYPE_CHECKING:
    from typer._click.core import Command, Context  # typer's own copy of click

PLUGIN_GROUP = "evomem.commands"

_FLAGS = ("--json",)
_VALUED = ("--db", "--namespace", "--config", "--embedder")


class EvoMemGroup(TyperGroup):
    """The group behind `evomem`.

    Other packages add commands by the entry-point group `evomem.commands`. One is imported when it
    is called, and all of them for the help text, so that none slows down or breaks the rest.
    """

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Accept the global options after the command too; a command of others keeps its own."""
        command = next((word for word in _without_globals(args) if not word.startswith("-")), None)
        if command is None or command in self.commands:
            args = _globals_first(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Context) -> object:
        """Run the command; what the memory refuses becomes a message and exit code 1."""
        try:
            return super().invoke(ctx)
        except EvoMemError as error:
            report(error, as_json=bool(ctx.params.get("json")))
        except BrokenPipeError:
            raise
        except OSError as error:
            place = f" ({error.filename})" if error.filename else ""
            message = f"{error.strerror or error}{place}. Check the path, its rights and the disk."
            refused = EngineError(message)
            report(refused, as_json=bool(ctx.params.get("json")))
        raise typer.Exit(1)

    def list_commands(self, ctx: Context) -> list[str]:
        """Return our commands and after them those of other packages."""
        own = super().list_commands(ctx)
        return [*own, *(name for name in sorted(_plugins()) if name not in own)]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command; one that another package adds is imported now."""
        return super().get_command(ctx, cmd_name) or _load(cmd_name)


def _without_globals(args: list[str]) -> list[str]:
    """Return the words that are neither a global option nor the value of one."""
    values = {i + 1 for i, word in enumerate(args) if word in _VALUED}
    return [word for i, word in enumerate(args) if i not in values]


def _globals_first(args: list[str]) -> list[str]:
    """Move the global options before the command; what follows `--` is text."""
    first: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in _VALUED:
            first += [word, _value(word, next(words, None))]
        elif word in _FLAGS or word.startswith(tuple(f"{option}=" for option in _VALUED)):
            first.append(word)
        else:
            rest.append(word)
    return first + rest


def _value(option: str, value: str | None) -> str:
    if value is None:
        message = "it needs a value."
        raise typer.BadParameter(message, param_hint=f"'{option}'")
    return value


@functools.cache
def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=PLUGIN_GROUP)}


@functools.cache
def _load(name: str) -> Command | None:
    """Import a command of another package; a broken one is named and left out."""
    point = _plugins().get(name)
    if point is None:
        return None
    try:
        return _as_command(name, point.load())
    except Exception as error:  # code of others may fail in any way, and must not cost the rest
        package = point.dist.name if point.dist else point.value
        reason = f"{type(error).__name__}: {error}"
        warn(f"The command {name!r} of {package} cannot be loaded ({reason}). Reinstall {package}.")
        return None


def _as_command(name: str, found: object) -> Command:
    if isinstance(found, typer.Typer):
        command = get_command(found)
        command.name = name
        return command
    if not callable(found):
        message = f"{found!r} is neither a typer app nor a function"
        raise TypeError(message)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(found)
    return get_command(app)
