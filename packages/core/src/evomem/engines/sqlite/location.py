"""Where a store lies: the path as the operating system knows it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from evomem.domain.text import UNSTORABLE
from evomem.errors import EngineError, InvalidRequestError

IN_MEMORY = ":memory:"

_HEADER = b"SQLite format 3\x00"
_VARIABLE = re.compile(r"\$\{?\w+\}?|%\w+%")


def resolve_path(given: str | os.PathLike[str]) -> Path:
    """Expand `~` and variables and return the absolute path of a store.

    Raises:
        InvalidRequestError: Empty, an address of another kind, or a variable that is not set.
    """
    text = os.fspath(given).strip()
    if not text or UNSTORABLE.search(text) or re.match(r"\w{2,}:", text):
        message = f"{text!r} is no path of a store. Pass a file path, or ':memory:'."
        raise InvalidRequestError(message, path=text)
    expanded = os.path.expandvars(text)
    path = Path(os.path.expanduser(expanded))  # noqa: PTH111  keeps '~nobody' as it is
    if expanded.startswith("~") and str(path) == str(Path(expanded)):
        message = f"{text!r}: there is no such home folder. Write the path in full."
        raise InvalidRequestError(message, path=text)
    unset = _VARIABLE.search(expanded)
    if unset and unset.group() in text:
        message = f"{text!r}: the variable {unset.group()} is not set. Set it or write the path."
        raise InvalidRequestError(message, path=text, variable=unset.group())
    return path.absolute()


def check_file(path: Path, *, read_only: bool) -> None:
    """Refuse what cannot be a store before the driver touches it; make missing parents.

    Raises:
        EngineError: A folder, a file of another kind, or a place that cannot be reached.
    """
    try:
        if path.is_dir():
            message = f"{path} is a folder. Pass a file in it, for example {path / 'evomem.db'}."
            raise EngineError(message, path=str(path))
        if not path.exists():
            if read_only:
                message = f"There is no store at {path}. Create it with: evomem --db {path} init"
                raise EngineError(message, path=str(path))
            path.parent.mkdir(parents=True, exist_ok=True)
            return
        if not path.is_file():
            message = f"{path} is no regular file. Pass the path of a file."
            raise EngineError(message, path=str(path))
        with path.open("rb") as file:
            start = file.read(len(_HEADER))
    except OSError as error:
        message = f"{path} cannot be used: {error.strerror}. Check the path and its permissions."
        raise EngineError(message, path=str(path)) from error
    if start and start != _HEADER:
        message = f"{path} is not an EvoMem store (not an SQLite file). Choose another path."
        raise EngineError(message, path=str(path))
