"""Where a store lies: the path as the operating system knows it."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from evomem.domain.text import UNSTORABLE
from evomem.errors import EngineError, InvalidRequestError

IN_MEMORY = ":memory:"

_HEADER = b"SQLite format 3\x00"
_ADDRESS = re.compile(r"[\w+.-]{2,}:|.*://")
_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "fuse.sshfs", "glusterfs", "lustre")
_VARIABLE = re.compile(r"\$\{?\w+\}?|%\w+%")


def resolve_path(given: str | os.PathLike[str]) -> Path:
    """Expand `~` and variables and return the absolute path of a store.

    Raises:
        InvalidRequestError: Empty, an address of another kind, or a variable that is not set.
    """
    text = os.fspath(given).strip()
    if not text or UNSTORABLE.search(text) or _ADDRESS.match(text):
        # An address may hold a password: only its kind is shown.
        shown = re.sub(r"(?<=:).*", "…", text, flags=re.DOTALL)
        message = f"{shown!r} is no path of a store. Pass a file path, or ':memory:'."
        raise InvalidRequestError(message, path=shown)
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


def _make(path: Path) -> None:
    """Make a file that only its owner can read; SQLite gives its side files the same rights."""
    for folder in reversed([p for p in path.parents if not p.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def network_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the kind of network file system that holds a path, if the system tells."""
    try:
        lines = [line.split() for line in mounts.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return None
    holding = [(where, kind) for _, where, kind, *_ in lines if path.is_relative_to(where)]
    _, kind = max(holding, key=lambda mount: len(mount[0]), default=("", ""))
    return kind if kind.startswith(_NETWORK) else None


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
            _make(path)
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
