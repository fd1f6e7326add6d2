"""A YAML document read by its nodes, so that a refusal can name file, line and key."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from evomem.errors import InvalidRequestError

if TYPE_CHECKING:
    from yaml import Node

TAGS = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the document and where it stands; its readers refuse what has no meaning."""

    file: str
    key: str
    node: Node

    def refuse(self, problem: str) -> NoReturn:
        """Raise the refusal of this value."""
        raise _refusal(self.file, self.node.start_mark.line + 1, problem, self.key)

    def has_tag(self, tag: str) -> bool:
        """Tell whether the value is of this type of YAML: `str`, `int`, `bool`, `null`, ..."""
        return bool(self.node.tag == TAGS + tag)

    def text(self) -> str:
        """Read a text that is not blank."""
        self._expect("str", "a text, in quotes if it looks like something else")
        read = str(self.node.value)
        if not read.strip():
            self.refuse("is empty")
        return read

    def word(self, known: Iterable[str]) -> str:
        """Read one of the known words."""
        read, words = self.text(), list(known)
        if read not in words:
            self.refuse(f"cannot be {read!r}{_hint(read, words)}")
        return read

    def number(self, high: int) -> int:
        """Read a whole number from 1 to `high`."""
        what = f"a whole number from 1 to {high}"
        self._expect("int", what)
        try:
            read = int(self.node.value.replace("_", ""), base=0)
        except ValueError:
            self.refuse(f"must be {what}")
        if not 1 <= read <= high:
            self.refuse(f"must be {what}, not {read}")
        return read

    def items(self) -> list[Value]:
        """Read a list."""
        self._expect("seq", "a list, such as [a, b]")
        numbered = enumerate(self.node.value)
        return [Value(self.file, f"{self.key}[{i}]", node) for i, node in numbered]

    def fields(self, readers: Mapping[str, Reader]) -> dict[str, Any]:
        """Read the keys that are there, each with its reader; no value at all has no keys."""
        read: dict[str, Any] = {}
        if self.has_tag("null"):
            return read
        self._expect("map", "keys and values")
        for key_node, node in self.node.value:
            name = str(key_node.value)
            key = Value(self.file, f"{self.key}.{name}".lstrip("."), key_node)
            if name not in readers:
                key.refuse(f"is no known key{_hint(name, list(readers))}")
            if key.text() in read:
                key.refuse("stands here a second time: keep one of the two")
            read[name] = readers[name](Value(self.file, key.key, node))
        return read

    def _expect(self, tag: str, what: str) -> None:
        if not self.has_tag(tag):
            kind = str(self.node.tag).rpartition(":")[2]
            shown = f"{self.node.value!r}, " if isinstance(self.node.value, str) else ""
            self.refuse(f"must be {what}; this is {shown}of type {kind}")


Reader = Callable[[Value], Any]


def read_document(file: str) -> Value | None:
    """Return the root of the document in a file, or None if it is empty.

    Raises:
        InvalidRequestError: The file cannot be read, or is not YAML.
    """
    import yaml  # noqa: PLC0415  only who has a settings file pays for it

    text = _read(file)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        problem = f'this is not YAML: {error.problem}. Quote a text that begins with a sign: "*"'
        raise _refusal(file, line, problem) from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        reason = str(error).partition("\n")[0]
        raise _refusal(file, line, f"this is not YAML: {reason}") from error
    return Value(file, "", node) if node else None


def _read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _refusal(file, line, "this is not UTF-8: save the file as UTF-8") from error
    except OSError as error:
        problem = f"the settings cannot be read ({error.strerror}): check the path"
        raise _refusal(file, None, problem) from error


def _refusal(file: str, line: int | None, problem: str, key: str = "") -> InvalidRequestError:
    place = f"{file}, line {line}" if line else file
    sentence = f"{key} {problem}" if key else problem
    message = f"{place}: {sentence}{'' if sentence.endswith('?') else '.'}"
    return InvalidRequestError(message, file=file, line=line, key=key or None)


def _hint(given: str, known: list[str]) -> str:
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(given.lower(), names, n=1)
    return f": did you mean {names[close[0]]}?" if close else f": known are {', '.join(known)}"
