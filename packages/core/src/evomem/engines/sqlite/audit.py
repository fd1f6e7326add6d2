"""The audit: the seal of every patch and the chain over them, computed anew from the tables."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evomem.domain.diagnosis import Anchor
from evomem.domain.seal import GENESIS, Item, chain, seal
from evomem.domain.text import digest
from evomem.domain.time import from_micros
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.log import sealed_items
from evomem.engines.sqlite.search import Query

_WINDOW = 1000
"""How many patches and operations are held in memory at a time, about."""

_BEFORE_ALL = -(2**63)
_UNREADABLE = (sqlite3.DatabaseError, AttributeError, OverflowError, TypeError, ValueError)

_UNSEALED = {
    "headless": "it is missing, and rows of it are left",
    "strays": "it has rows that none of its operations leads to",
    "misplaced": "it brings or cites what is of another namespace",
    "misspelt": "its namespace is written in another way",
    "unfounded_reseals": "it sealed others anew without purging anything of theirs",
}


class _Held(NamedTuple):
    """What the tables hold of a patch.

    Attributes:
        row: Its row of `log_patches`.
        facts: What it wrote.
        seal: What must seal that.
        digests: Of its nodes and others, by id.
    """

    row: Any
    facts: list[Item]
    seal: bytes
    digests: dict[Any, Any]


class _Link(NamedTuple):
    """Where the chain stands: place, time and hash of a patch."""

    sequence: int
    recorded_at: int
    hash: bytes


def check_audit(query: Query) -> list[str]:
    """Return what does not fit, naming the first such patch; empty if all of them do."""
    unsealed = (
        (sequence, fault) for name, fault in _UNSEALED.items() for (sequence,) in query(name)
    )
    faults: dict[int, str] = {}
    for sequence, fault in itertools.chain(_broken_links(query), unsealed):
        faults.setdefault(sequence, fault)
    if not faults:
        return []
    first = min(faults)
    named = "".join(f" ({patch_id})" for patch_id, _ in query("patch_at", sequence=first))
    return [f"patch {first}{named} is the first of {len(faults)} not to fit: {faults[first]}"]


def check_anchor(query: Query, anchor: Anchor) -> list[str]:
    """Return what is wrong if a commit no longer is the one that an anchor was taken of."""
    for patch_id, found in query("patch_at", sequence=anchor.sequence):
        if isinstance(found, bytes) and found.hex().startswith(anchor.digits):
            return []
        return [f"patch {anchor.sequence} ({patch_id}) has another hash: the history was rewritten"]
    return [f"patch {anchor.sequence} is gone: the end of the history was cut off"]


def _broken_links(query: Query) -> Iterator[tuple[int, str]]:
    before = _Link(0, _BEFORE_ALL, GENESIS)
    for window in _windows(query):
        held = _read(query, window)
        for sequence in window:
            if sequence != before.sequence + 1:
                yield before.sequence + 1, "it is missing"
            fault, before = _follow(before, sequence, held.get(sequence))
            if fault:
                yield sequence, fault


def _follow(before: _Link, sequence: int, held: _Held | None) -> tuple[str | None, _Link]:
    """Return what is wrong with a patch, and where the chain stands after it."""
    if held is None:
        return "it or its namespace cannot be read", before._replace(sequence=sequence)
    link = _Link(sequence, held.row[3], held.row[13])
    try:
        return _fault(before, link, held), link
    except _UNREADABLE:
        return "it holds values of another type", link


def _fault(before: _Link, link: _Link, held: _Held) -> str | None:
    salt, own_seal = held.row[11:13]
    if link.recorded_at < before.recorded_at:
        return "it was recorded before the one before it"
    recorded_at = from_micros(link.recorded_at)
    if chain(before.hash, link.sequence, recorded_at, own_seal) != link.hash:
        return "its hash does not follow from the patch before it"
    if seal(salt, held.facts) != held.seal:
        return "what it wrote was changed since"
    for fact in held.facts:
        if fact[0] == "node" and held.digests[fact[1]] != _twin_digest(fact):
            return "a node of it has another digest than its text"
    return None


def _twin_digest(node: Item) -> bytes | None:
    """Return that by which equal notes are found; slots and purged nodes have none."""
    text, slot, scope = node[4], node[8], node[9]
    if not isinstance(text, str) or slot is not None:
        return None
    return digest(text, scope if isinstance(scope, str) else None, None)


def _windows(query: Query) -> Iterator[list[int]]:
    """Yield all sequences in pieces of a bounded size."""
    since = _BEFORE_ALL
    while sizes := query("patch_sizes", since=since, limit=_WINDOW):
        window, weight = list[int](), 0
        for sequence, operations in sizes:
            window.append(sequence)
            weight += 1 + operations
            if weight >= _WINDOW:
                yield window
                window, weight = [], 0
        if window:
            yield window
        since = sizes[-1][0]


def _read(query: Query, sequences: Sequence[int]) -> dict[int, _Held]:
    """Return what is held of each patch; those that cannot be read are left out."""
    try:
        wanted = rows.json_list(sequences)
        resealed = {sequence: latest for sequence, latest, _ in query("resealed", sequences=wanted)}
        digests = dict(query("log_digests", sequences=wanted))
        return {
            row[0]: _Held(row, facts, resealed.get(row[0], row[12]), digests)
            for row, facts in sealed_items(query, sequences)
        }
    except _UNREADABLE:
        if len(sequences) == 1:
            return {}
        middle = len(sequences) // 2
        return {**_read(query, sequences[:middle]), **_read(query, sequences[middle:])}
