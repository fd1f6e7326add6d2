"""What the global options say, and how every command answers under them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import typer

import evomem
from evomem.cli.environment import EMBEDDER_VARIABLE, NAMESPACE_VARIABLE
from evomem.domain.namespace import DEFAULT_NAMESPACE
from evomem.domain.plain import to_plain

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

# Tab and line feed may pass; anything else could move the cursor or recolour the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BARE_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_QUOTABLE = re.compile(r'[^"$`\\!\x00-\x1f]+')


@dataclass(frozen=True, slots=True)
class Session:
    """The global options; commands, those of other packages too, find it in `ctx.obj`.

    Attributes:
        db: Path of the store; None takes `EVOMEM_DB`, else the default.
        namespace: Labels joined by `/`, as given; None takes `EVOMEM_NAMESPACE`, else `default`.
        json: Whether to print one JSON document instead of text.
        config: Path of the settings file; None takes `EVOMEM_CONFIG`, else the defaults.
        embedder: Name of what makes vectors; None takes `EVOMEM_EMBEDDER`, else `none`.
    """

    db: str | None = None
    namespace: str | None = None
    json: bool = False
    config: str | None = None
    embedder: str | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The namespace to work in."""
        given = self.namespace
        if given is None:
            given = os.environ.get(NAMESPACE_VARIABLE, "").strip() or None
        return DEFAULT_NAMESPACE if given is None else tuple(given.split("/"))

    @property
    def vectors(self) -> str:
        """The name of the embedder to open with."""
        if self.embedder is not None:
            return self.embedder
        return os.environ.get(EMBEDDER_VARIABLE, "").strip() or "none"

    def open(self, *, linking: str = "suggest", cronista: str = "lite") -> evomem.Memory:
        """Open the memory for writing; a missing store is made."""
        return evomem.open(
            self.db,
            namespace=self.labels,
            linking=linking,
            cronista=cronista,
            embedder=self.vectors,
            config=self.config,
        )

    def read(self, *, vectors: bool = False) -> evomem.Memory:
        """Open the memory for reading; a missing store is an error, not an empty new one.

        Args:
            vectors: Whether the command can use an embedder.
        """
        return evomem.open(
            self.db,
            namespace=self.labels,
            read_only=True,
            embedder=self.vectors if vectors else None,
            config=self.config,
        )

    @property
    def options(self) -> list[str]:
        """The global options as they were given, to repeat in a command that is shown."""
        given = {
            "--db": self.db,
            "--namespace": self.namespace,
            "--config": self.config,
            "--embedder": self.embedder,
        }
        return [
            word for name, value in given.items() if value is not None for word in (name, value)
        ]

    def answer(
        self, result: T, render: Callable[[Console, T], None], *, key: str | None = None
    ) -> None:
        """Print a result.

        Args:
            result: What the memory returned.
            render: Prints it for people.
            key: The name of a list in the JSON document.
        """
        if self.json:
            print_document({key: result} if key else result)
        else:
            render(console(), result)


def console(*, stderr: bool = False) -> Console:
    """Return what prints for people: colours on a terminal only, and no text is markup."""
    from rich.console import Console  # noqa: PLC0415  slow to import, and JSON and help need none

    return Console(markup=False, highlight=False, emoji=False, stderr=stderr)


def confirm(question: str, otherwise: str) -> None:
    """Ask on a terminal; elsewhere only the option `--yes` will do.

    Args:
        question: What is asked, answered by yes or no.
        otherwise: What to say where nobody can answer.

    Raises:
        InvalidRequestError: Not confirmed.
    """
    if not on_terminal():
        raise evomem.InvalidRequestError(otherwise)
    if not typer.confirm(clean(question), err=True):
        message = "Not confirmed: nothing was done."
        raise evomem.InvalidRequestError(message)


def on_terminal() -> bool:
    """Tell whether somebody is there to answer a question."""
    return sys.stdin is not None and sys.stdin.isatty()


def print_document(document: object) -> None:
    """Print one JSON document, valid whatever the text and whatever the terminal can show."""
    plain = to_plain(document)
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(plain, ensure_ascii=False, indent=indent, default=str)
    try:
        text.encode()
        encodable = (sys.stdout.encoding or "").replace("-", "").casefold() == "utf8"
    except UnicodeEncodeError:
        encodable = False
    print(text if encodable else json.dumps(plain, indent=indent, default=str), flush=True)


def report(error: evomem.EvoMemError, *, as_json: bool) -> None:
    """Print an error: for programs as the document on standard output, if that can be written."""
    if as_json:
        with contextlib.suppress(OSError):
            print_document({"ok": False, "error": error.to_dict()})
            return
    typer.secho(f"Error: {clean(error.message)}", err=True, fg="red", color=_colours())


def warn(message: str) -> None:
    """Print a warning on standard error."""
    typer.secho(f"Warning: {clean(message)}", err=True, fg="yellow", color=_colours())


def _colours() -> bool | None:
    """Return False if colours are unwanted, None to let the terminal decide."""
    return False if os.environ.get("NO_COLOR") else None


def clean(text: str) -> str:
    """Show control characters instead of sending them to the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def command_line(*words: str) -> str:
    """Return a command to copy, quoted for the shell of this system.

    Inside `uv run` the command is not on the caller's path, so it begins as the caller's did.
    """
    program = ["uv", "run", "evomem"] if os.environ.get("UV_RUN_RECURSION_DEPTH") else ["evomem"]
    if os.name == "nt":
        return subprocess.list2cmdline([*program, *words])
    return " ".join(map(_quoted, [*program, *words]))


def _quoted(word: str) -> str:
    if _BARE_WORD.fullmatch(word):
        return word
    return f'"{word}"' if _QUOTABLE.fullmatch(word) else shlex.quote(word)
