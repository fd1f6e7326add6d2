"""Checks of a whole store, in all its namespaces; they tell counts and ids, never a text."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evomem.domain.diagnosis import Anchor, Check, StoreCondition
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.audit import check_anchor, check_audit
from evomem.engines.sqlite.counting import terms_in
from evomem.engines.sqlite.location import network_file_system
from evomem.engines.sqlite.rebuild import right_counts
from evomem.engines.sqlite.search import Query
from evomem.engines.sqlite.sql import QUERIES

_NAMED = 5
"""How many ids or messages of a kind are told."""

_DERIVED = frozenset({"memory", "search_doc"})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_LEFT_OUT = "the search index was not compared with its documents: the store cannot be written to"

_INDEX = {
    "unindexed": "nodes missing in the search index",
    "indexed_purged": "purged nodes in the search index",
    "indexed_hidden": "nodes in the search index or with a vector that no search may find",
    "indexed_unknown": "documents of no node in the search index",
    "misanalysed": "nodes indexed by another text analysis than their namespace says",
}
_MEMORIES = {"wrong_memories": "memories that do not follow from their operations and nodes"}
_HEADS = {"crossing": "nodes linked to what is no node of their namespace"}
_ORPHANS = {
    "unused_texts": "texts of no node or event",
    "mismarked_texts": "texts wrongly marked as evidence or as none",
    "lost_texts": "nodes without their text",
    "kept_texts": "purged nodes with their text",
    "empty_memories": "memories without a node",
    "unknown_operations": "patches with an operation on an unknown node",
}


def diagnose(
    connection: sqlite3.Connection,
    compare_index: Callable[[], object] | None,
    anchor: Anchor | None,
) -> list[Check]:
    """Look at everything that a snapshot shows.

    Args:
        connection: Inside a transaction.
        compare_index: Fails if the index is not the one of its documents; it must write to find
            out. None leaves it out.
        anchor: The hash that a commit had.
    """

    def query(name: str, **values: Any) -> list[Any]:
        return connection.execute(QUERIES[name], values).fetchall()

    damage = _found(lambda: _damage(connection))
    # What is written to a damaged file may cost more of it: nothing is repaired there.
    sound = not damage
    references = _found(lambda: _broken_references(connection))
    memories = _found(lambda: _named(query, _MEMORIES))
    heads = _found(lambda: [*_named(query, _HEADS), *_unresolved(query)])
    checks = [
        _check("integrity", [*damage, *references]),
        _check_index(query, compare_index, fixable=sound),
        _check("memories", memories, fixable=sound),
        _check("heads", heads),
        _check("orphans", _found(lambda: _named(query, _ORPHANS))),
        _check("audit", _found(lambda: check_audit(query))),
    ]
    if anchor:
        checks.append(_check("anchor", _found(lambda: check_anchor(query, anchor))))
    return checks


def condition(
    connection: sqlite3.Connection, path: Path | str, *, read_only: bool
) -> StoreCondition:
    """Tell where a store lies, and how far it has come."""
    ((store_id, patches, version),) = connection.execute(QUERIES["condition"])
    latest = connection.execute(QUERIES["latest_patch"]).fetchone()
    sequence, _, chained = latest or (0, 0, b"")
    return StoreCondition(
        store_id=store_id or "",
        schema_version=version,
        sqlite_version=sqlite3.sqlite_version,
        network_file_system=network_file_system(path) if isinstance(path, Path) else None,
        free_bytes=shutil.disk_usage(path.parent).free if isinstance(path, Path) else None,
        read_only=read_only,
        patches=patches,
        last_sequence=sequence,
        last_hash=chained.hex() if isinstance(chained, bytes) else "",
    )


def _check(name: str, problems: Sequence[str], *, fixable: bool = False) -> Check:
    return Check(name, not problems, "; ".join(problems), fixable)


def _check_index(query: Query, compare: Callable[[], object] | None, *, fixable: bool) -> Check:
    problems = _found(lambda: [*_named(query, _INDEX), *_miscounted(query)])
    left_out = compare is None
    try:
        if compare is not None:
            compare()
    except sqlite3.DatabaseError as error:
        left_out = _code(error) == sqlite3.SQLITE_READONLY
        if not left_out:
            problems.append(f"the search index is not the one of its documents ({_reason(error)})")
    if left_out and not problems:
        return Check("index", True, _LEFT_OUT, fixable)
    return _check("index", problems, fixable=fixable)


def _found(look: Callable[[], list[str]]) -> list[str]:
    """Return what a look finds wrong; what cannot be looked at is wrong too."""
    try:
        return look()
    except sqlite3.DatabaseError as error:
        return [f"it cannot be read ({_reason(error)})"]


def _reason(error: sqlite3.DatabaseError) -> str:
    """Return the name of an error: the driver's message may quote a text.

    Raises:
        sqlite3.DatabaseError: Another process holds the store, which says nothing about it.
    """
    if _code(error) in _BUSY:
        raise error
    return getattr(error, "sqlite_errorname", type(error).__name__)


def _code(error: sqlite3.DatabaseError) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _named(query: Query, statements: Mapping[str, str]) -> list[str]:
    """Return a line for each statement that finds something: what, how many, the first ids."""
    found = ((what, [row[0] for row in query(name)]) for name, what in statements.items())
    return [f"{what}: {_some(ids)}" for what, ids in found if ids]


def _some(items: Sequence[object]) -> str:
    shown = ", ".join(map(str, items[:_NAMED]))
    return f"{len(items)} ({shown}{', …' if len(items) > _NAMED else ''})"


def _damage(connection: sqlite3.Connection) -> list[str]:
    """Return what SQLite says of its pages; of the search index the next check speaks."""
    lines = (line for (line,) in connection.execute("PRAGMA integrity_check"))
    damage = [line for line in lines if line != "ok" and "FTS5 table" not in line]
    return [f"damage: {_some(damage)}"] if damage else []


def _broken_references(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("PRAGMA foreign_key_check").fetchall()
    tables = Counter(f"{table} to {parent}" for table, _, parent, _ in found)
    return [
        f"broken references from {pair}: {count}"
        for pair, count in tables.items()
        if pair.split()[0] not in _DERIVED
    ]


def _miscounted(query: Query) -> list[str]:
    wrong = {row[0] for row in set(query("stored_counts")) ^ set(right_counts(query))}
    wrong |= {space for space, _, _ in _miscounted_terms(query)}
    return [f"namespaces with wrong counts: {len(wrong)}"] if wrong else []


def _miscounted_terms(query: Query) -> set[tuple[int, str, int]]:
    """Return the counts of terms, as they are and as they should be, where these differ."""
    right: set[tuple[int, str, int]] = set()
    for space, counted, possible in query("counted_spaces"):
        if not possible:
            return {(space, "", 0)}
        low = rows.space_range(space)["low"]
        found = query("docs_between", low=low, high=low | counted)
        terms = Counter(terms_in(tokens for _, tokens in found))
        right |= {(space, term, n) for term, n in terms.items()}
    return right ^ set(query("counted_terms"))


def _unresolved(query: Query) -> list[str]:
    """Return the nodes from which a circle is reached: without one, every node has its heads."""
    if not query("backward_succession"):
        return []
    older: defaultdict[int, list[int]] = defaultdict(list)
    waiting: Counter[int] = Counter()
    for new, old in query("succession"):
        older[new].append(old)
        waiting[old] += 1
    free = [row for row in older if not waiting[row]]
    while free:
        for old in older.pop(free.pop(), ()):
            waiting[old] -= 1
            if not waiting[old]:
                free.append(old)
    stuck = [row for row, count in waiting.items() if count]
    ids = [node_id for (node_id,) in query("node_ids", rows=rows.json_list(stuck))]
    return [f"nodes that a circle of links keeps from resolving: {_some(ids)}"] if stuck else []
