"""Exporting the audit of a namespace: a JSON file for people to read and programs to check."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from evomem.domain.arguments import truth
from evomem.domain.diagnosis import AuditReport
from evomem.domain.namespace import Reach
from evomem.domain.patch_result import PatchRecord
from evomem.domain.text import UNSTORABLE
from evomem.domain.time import format_time
from evomem.engines.base import Reader
from evomem.errors import EngineError, InvalidRequestError
from evomem.service.context import Context
from evomem.service.patches import patch_record

FORMAT = "evomem-audit/1"

_PAGE = 500
_STORE_FILES = ("", "-wal", "-shm", "-journal")


class _Audit:
    """Goes through the patches of a namespace, then through the events that they recorded."""

    def __init__(self, reader: Reader, reach: Reach) -> None:
        self._reader = reader
        self._reach = reach
        self._event_ids: list[str] = []
        self.last: PatchRecord | None = None

    def patches(self) -> Iterator[dict[str, Any]]:
        since = 0
        while commits := self._reader.log(self._reach, since, _PAGE):
            for commit in commits:
                self.last = patch_record(self._reader, self._reach, commit)
                self._event_ids += self.last.events
                yield self.last.to_dict()
            since = commits[-1].sequence

    def events(self) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self._event_ids), _PAGE):
            page = self._event_ids[start : start + _PAGE]
            found = self._reader.events(self._reach, page)
            yield from (found[event_id].to_dict() for event_id in page if event_id in found)


def write_audit(context: Context, path: object, *, overwrite: object = False) -> AuditReport:
    """Write all patches and events of the namespace to a file, from one snapshot.

    Raises:
        InvalidRequestError: The file exists, is the store, or cannot be meant.
        EngineError: It cannot be written; what was there before still is.
    """
    target = _target(context, path, overwrite=truth(overwrite, "overwrite"))
    store_id = context.engine.condition().store_id
    with _written(target) as file, context.engine.read() as reader:
        audit = _Audit(reader, context.reach)
        head = {
            "format": FORMAT,
            "store_id": store_id,
            "exported_at": format_time(context.time(reader)),
            "namespace": context.namespace,
        }
        file.write(_json(head).removesuffix("\n}"))
        patches = _write_list(file, "patches", audit.patches())
        events = _write_list(file, "events", audit.events())
        file.write("\n}\n")
    last = audit.last
    return AuditReport(
        path=str(target),
        patches=patches,
        events=events,
        last_sequence=(last and last.sequence) or 0,
        last_hash=last.hash if last else "",
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _write_list(file: TextIO, name: str, items: Iterable[dict[str, Any]]) -> int:
    file.write(f',\n  "{name}": [')
    count = 0
    for count, item in enumerate(items, 1):
        # JSON breaks lines with \n alone; a text may hold other line ends, which must stay.
        file.write(("," if count > 1 else "") + f"\n{_json(item)}".replace("\n", "\n    "))
    file.write("\n  ]" if count else "]")
    return count


def _target(context: Context, path: object, *, overwrite: bool) -> Path:
    given = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(given, str) or not given.strip() or UNSTORABLE.search(given):
        message = f"{path!r} is no path of a file. Pass one that ends in .json."
        raise InvalidRequestError(message, field="path")
    target = Path(given).expanduser().absolute()
    if target.is_dir() or not target.parent.is_dir():
        why = "is a folder" if target.is_dir() else f"lies in no folder: {target.parent} is missing"
        message = f"{target} {why}. Pass the path of a file in an existing folder."
        raise InvalidRequestError(message, field="path")
    if any(_same(target, Path(context.engine.location + end)) for end in _STORE_FILES):
        message = f"{target} belongs to the store itself. Choose another path."
        raise InvalidRequestError(message, field="path")
    if target.exists() and not overwrite:
        message = (
            f"{target} exists. Choose another path, or replace it: overwrite=True, or --force on "
            "the command line."
        )
        raise InvalidRequestError(message, field="path", exists=True)
    return target


def _same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))


@contextmanager
def _written(target: Path) -> Iterator[TextIO]:
    """Yield a file that only its owner can read and that takes its place once it is whole."""
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(handle, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123  a descriptor
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror}. Check its folder and the disk."
        raise EngineError(message, path=str(target)) from error
    finally:
        draft.unlink(missing_ok=True)
