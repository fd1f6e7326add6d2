"""docs/cli.md describes the real app. Run this file to write the tables anew."""

import re
from enum import Enum
from pathlib import Path
from typing import Any

from typer.main import get_command

from evomem.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/cli.md"
BEGIN = "<!-- begin: written by tests/docs/test_cli_reference.py -->\n"
END = "<!-- end -->\n"
SHELL_OPTIONS = {"install_completion", "show_completion"}


def root_command() -> Any:
    return get_command(app)


def commands(group=None, before=""):
    """Every command by its whole name; a group stands for the commands in it."""
    found: dict[str, Any] = {}
    for name, command in (group or root_command()).commands.items():
        if hasattr(command, "commands"):
            found |= commands(command, f"{before}{name} ")
        elif not command.hidden:
            found[f"{before}{name}"] = command
    return found


def reference():
    """The global options and every command as Markdown, from the app itself."""
    parts = ["## Global options\n", table(root_command())]
    for name, command in commands().items():
        arguments = "".join(f" {argument(p)}" for p in command.params if not flags(p))
        parts += [f"## `evomem {name}{arguments}`\n", f"{one_line(command.help)}\n", table(command)]
    return "\n".join(part for part in parts if part)


def flags(parameter):
    return [flag for flag in parameter.opts if flag.startswith("-")]


def argument(parameter):
    name = parameter.metavar or parameter.name.upper()
    return f"{name}..." if parameter.nargs == -1 else name


def table(command):
    shown = [p for p in command.params if p.name not in SHELL_OPTIONS | {"help"}]
    if not shown:
        return ""
    rows = [f"| `{spelling(p)}` | {meaning(p)} |" for p in shown]
    return "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def spelling(parameter):
    if not flags(parameter):
        return argument(parameter)
    words = ", ".join(flags(parameter))
    if parameter.is_flag:
        return words
    return f"{words} {parameter.metavar or choices(parameter) or 'VALUE'}"


def choices(parameter):
    kind = type(parameter.default)
    return "/".join(item.value for item in kind) if issubclass(kind, Enum) else ""


def meaning(parameter):
    text = one_line(parameter.help).replace("|", "\\|")
    if flags(parameter) and parameter.required:
        return f"{text} Required."
    default = parameter.default
    if default in {None, False} or callable(default) or "default" in text:
        return text
    return f"{text} Default `{getattr(default, 'value', default)}`."


def one_line(text):
    return " ".join((text or "").split())


def written(page):
    return page.split(BEGIN)[1].split(END)[0].strip()


def test_the_option_tables_are_those_of_the_app():
    """If this fails: python tests/docs/test_cli_reference.py."""
    assert written(PAGE.read_text("utf-8")) == reference().strip()


def test_every_command_and_variable_is_described():
    page = PAGE.read_text("utf-8")
    headings = set(re.findall(r"^## `evomem ([a-z -]*[a-z])", page, re.MULTILINE))
    assert headings == set(commands())


if __name__ == "__main__":
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{reference()}\n{END}{after}", "utf-8")
