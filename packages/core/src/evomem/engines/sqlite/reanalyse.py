"""Making documents anew by the present text analysis: one step, one short transaction."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evomem.domain.analysis import Analysis, analysis, current
from evomem.domain.namespace import Reach
from evomem.domain.progress import Progress
from evomem.domain.ranking import GRADE_BITS, rounded_length
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.counting import add_counts, drop_empty_counts, terms_in
from evomem.engines.sqlite.sql import QUERIES

# Nodes whose texts are in memory at a time, and the characters of tokens that end a page early, so
# that the transaction is short whatever the texts.
_CHUNK = 100
_MOST_CHARACTERS = 2_000_000


class _State(NamedTuple):
    """Where the documents of a namespace are; see `namespace` in schema.sql."""

    space: int
    analysis: int
    before: int | None
    n_before: int
    last_node: int

    def pending(self, newest: int) -> int:
        """Return how many nodes are left, the later ones being done."""
        return self.n_before if self.analysis == newest else self.last_node


class Reanalysis:
    """The next step in one reach; texts are read and analysed before its transaction begins.

    Args:
        connection: Inside a snapshot.
        reach: Where documents are made anew.
        limit: Nodes to do at most.

    Raises:
        SchemaVersionError: A namespace is written with an analysis that this version lacks.
    """

    def __init__(self, connection: sqlite3.Connection, reach: Reach, limit: int) -> None:
        self._newest = current().version
        self._spaces = _spaces(connection, reach)
        states = self._states(connection)
        known = {state.analysis: analysis(state.analysis) for state in states}
        self.progress = _progress(states, self._newest)
        self._docs: dict[int, str] = {}
        self._next = self._first(states)
        if self._next:
            # What is under way is finished first, if only to be overtaken.
            under_way = self._next.before is not None
            self._analysis = known[self._next.analysis] if under_way else current()
            self._upto = self._next.n_before if under_way else self._next.last_node
            self._rest = self._read(connection, self._next.space, limit)

    @property
    def needed(self) -> bool:
        """Whether there is anything to write."""
        return self._next is not None

    def write(self, connection: sqlite3.Connection) -> Progress:
        """Write the step inside the transaction that the engine has begun."""
        state = self._next
        assert state is not None  # noqa: S101  the engine asked whether it is needed
        version = self._analysis.version
        if state.before is None:
            _run(
                connection,
                "begin_reanalysis",
                space=state.space,
                spaces=self._spaces,
                analysis=version,
            )
        place = {"space": state.space, "analysis": version, "n_before": self._upto}
        # Others may do the same, and writers may have added nodes that must come first.
        if _run(connection, "go_on_reanalysing", rest=self._rest, **place).rowcount:
            self._replace(connection, state.space)
        return _progress(self._states(connection), self._newest)

    def _states(self, connection: sqlite3.Connection) -> list[_State]:
        found = _run(connection, "reanalysis", spaces=self._spaces)
        return [_State(*row) for row in found]

    def _first(self, states: Iterable[_State]) -> _State | None:
        for state in states:
            if state.before is not None or state.analysis != self._newest:
                return state
        return None

    def _read(self, connection: sqlite3.Connection, space: int, limit: int) -> int:
        """Analyse the next nodes, the latest first; return how many are left before them."""
        size, rest, last = 0, self._upto, max(0, self._upto - limit)
        while rest > last and size < _MOST_CHARACTERS:
            first = max(last, rest - _CHUNK)
            low = rows.space_range(space)["low"]
            between = {"low": low | (first + 1), "high": low | rest}
            place = dict(_run(connection, "nodes_between", **between).fetchall())
            found = _documents(connection, space, place, self._analysis)
            size += sum(map(len, found.values()))
            self._docs |= found
            rest = first
        return rest

    def _replace(self, connection: sqlite3.Connection, space: int) -> None:
        """Put the documents in the place of the old ones; what lost them meanwhile has none."""
        low = rows.space_range(space)["low"]
        place = {"low": low | (self._rest + 1), "high": low | self._upto}
        old: dict[int, str] = dict(_run(connection, "docs_between", **place).fetchall())
        left = {row >> GRADE_BITS for row in old}
        new = {row: doc for row, doc in self._docs.items() if row >> GRADE_BITS in left}
        new |= self._come_back(connection, space, left)
        version = self._analysis.version
        gone = [{"row": row, "tokens": doc} for row, doc in old.items() if new.get(row) != doc]
        come = [(row, doc) for row, doc in new.items() if old.get(row) != doc]
        connection.executemany(QUERIES["unindex_doc"], gone)
        connection.executemany(QUERIES["drop_search_doc"], gone)
        added = ((row, version, doc) for row, doc in come)
        connection.executemany(QUERIES["add_search_doc"], added)
        connection.executemany(QUERIES["index_doc"], come)
        _run(connection, "mark_analysed", analysis=version, **place)
        _recount(connection, space, old, new)

    def _come_back(
        self, connection: sqlite3.Connection, space: int, left: set[int]
    ) -> dict[int, str]:
        """Analyse what came back into the index since the texts were read."""
        came = left - {row >> GRADE_BITS for row in self._docs}
        if not came:
            return {}
        place = dict(_run(connection, "nodes_at", rows=rows.json_list(came)).fetchall())
        return _documents(connection, space, place, self._analysis)


def _recount(
    connection: sqlite3.Connection, space: int, old: Mapping[int, str], new: Mapping[int, str]
) -> None:
    """Bring the counts of a namespace from its old documents to the new ones."""
    _run(connection, "add_tokens", space=space, tokens=_length(new) - _length(old))
    ((counted,),) = _run(connection, "counted_nodes", space=space)
    end = (rows.space_range(space)["low"] | counted) + 1 << GRADE_BITS
    terms = Counter(terms_in(doc for row, doc in new.items() if row < end))
    terms.subtract(terms_in(doc for row, doc in old.items() if row < end))
    changed = {term: n for term, n in terms.items() if n}
    add_counts(connection, space, changed)
    drop_empty_counts(connection, space, changed)


def _length(docs: Iterable[int]) -> int:
    """Return how many tokens the nodes of some documents have: all of a node tell the same."""
    return sum({row >> GRADE_BITS: rounded_length(row) for row in docs}.values())


def _documents(
    connection: sqlite3.Connection, space: int, place: Mapping[str, int], chosen: Analysis
) -> dict[int, str]:
    """Return what the index is to keep of some nodes, given with their rows."""
    within = {"spaces": rows.json_list([space]), "known": rows.LATEST}
    found = _run(connection, "records", ids=rows.json_list(place), **within)
    return {
        place[node.id] << GRADE_BITS | grade: tokens
        for node in map(rows.read_record, found)
        for grade, tokens in rows.search_docs(node, chosen).items()
    }


def _spaces(connection: sqlite3.Connection, reach: Reach) -> str:
    path = rows.write_path(reach.namespace)
    end = rows.end_of_subtree(path)
    found = _run(connection, "space_ids", path=path, end=end, children=reach.include_children)
    return rows.json_list(space for (space,) in found)


def _progress(states: Iterable[_State], newest: int) -> Progress:
    total = sum(state.last_node for state in states)
    return Progress(total - sum(state.pending(newest) for state in states), total)


def _run(connection: sqlite3.Connection, name: str, **values: Any) -> sqlite3.Cursor:
    return connection.execute(QUERIES[name], values)
