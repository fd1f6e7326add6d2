"""Results about a store as a whole: its diagnosis, and the export of its audit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from evomem.domain.plain import Result
from evomem.errors import InvalidRequestError

MIN_ANCHOR_DIGITS = 16
_ANCHOR = re.compile(rf"([1-9]\d{{0,17}}):([0-9a-f]{{{MIN_ANCHOR_DIGITS},64}})")


@dataclass(frozen=True, slots=True)
class Check(Result):
    """One thing that was looked at.

    Attributes:
        name: `integrity`, `index`, `memories`, `heads`, `orphans`, `audit` or `anchor`.
        ok: Whether all is well.
        detail: What is wrong, or what could not be looked at: counts and ids, never texts.
        fixable: Whether a repair can put it right, as it concerns what is derived.
    """

    name: str
    ok: bool
    detail: str = ""
    fixable: bool = False


@dataclass(frozen=True, slots=True)
class StoreCondition:
    """Where a store lies, and how far it has come in all namespaces together.

    Attributes:
        store_id: Identity of the store.
        schema_version: Of the store.
        sqlite_version: Of the driver.
        network_file_system: The kind of network file system that it lies on, if the system tells.
        free_bytes: Free on its disk; None if it lies on none.
        read_only: Whether it was opened read-only.
        patches: Commits.
        last_sequence: Of the latest commit; 0 if there is none.
        last_hash: Hash of the latest commit in hexadecimal digits; empty if there is none.
    """

    store_id: str
    schema_version: int
    sqlite_version: str
    network_file_system: str | None
    free_bytes: int | None
    read_only: bool
    patches: int
    last_sequence: int
    last_hash: str


@dataclass(frozen=True, slots=True)
class Diagnosis(Result):
    """What `doctor` found in a store, all its namespaces together.

    Attributes:
        ok: Whether every check is well.
        path: Absolute path, or `:memory:`.
        location: Where the path came from: `argument`, `EVOMEM_DB`, or `default`.
        store_id: Identity of the store.
        schema_version: Of the store.
        sqlite_version: Of the driver.
        network_file_system: The kind of network file system that it lies on, if the system tells.
        free_bytes: Free on its disk; None if it lies on none.
        read_only: Whether it was opened read-only.
        patches: Commits.
        last_sequence: Of the commit that was the latest when the checks began; 0 if there is none.
        last_hash: Hash of that commit in hexadecimal digits; empty if there is none.
        checks: What was looked at.
        planned: What a repair would make anew.
        repaired: What a repair has made anew.
    """

    ok: bool
    path: str
    location: str
    store_id: str
    schema_version: int
    sqlite_version: str
    network_file_system: str | None
    free_bytes: int | None
    read_only: bool
    patches: int
    last_sequence: int
    last_hash: str
    checks: tuple[Check, ...]
    planned: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()

    @property
    def anchor(self) -> str | None:
        """What to keep elsewhere and to pass to a later `doctor`; None in a store without commits."""
        return f"{self.last_sequence}:{self.last_hash}" if self.last_sequence else None


class Anchor(NamedTuple):
    """The hash that a commit had, or the first digits of it."""

    sequence: int
    digits: str


def parse_anchor(given: object) -> Anchor | None:
    """Read an anchor, `SEQUENCE:HASH`; None is none.

    Raises:
        InvalidRequestError: It is written in another way.
    """
    if given is None:
        return None
    found = _ANCHOR.fullmatch(given.strip().lower()) if isinstance(given, str) else None
    if found is None:
        message = (
            f"anchor={given!r} is no SEQUENCE:HASH. Pass the number of a commit, ':' and at least "
            f"{MIN_ANCHOR_DIGITS} digits of its hash, as doctor showed them."
        )
        raise InvalidRequestError(message, field="anchor")
    return Anchor(int(found[1]), found[2])


@dataclass(frozen=True, slots=True)
class AuditReport(Result):
    """What an export of the audit wrote.

    Attributes:
        path: The file, absolute.
        patches: How many patches it holds.
        events: How many events it holds.
        last_sequence: Of the last patch in it; 0 if there is none.
        last_hash: Hash of that patch in hexadecimal digits; empty if there is none.
    """

    path: str
    patches: int
    events: int
    last_sequence: int
    last_hash: str
