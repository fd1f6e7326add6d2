"""How many documents hold a term: counted by batches, so that a write need not touch each term."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator

from evomem.domain.facets import is_facet
from evomem.domain.ranking import GRADE_BITS
from evomem.engines.sqlite import rows
from evomem.engines.sqlite.sql import QUERIES

_PAGE = 2000
# Of documents counted by one write: some 50 ms.
_MOST_CHARACTERS = 500_000
# Uncounted documents are counted at every search, which costs the less the fewer they are.
_FEWEST = 500
_SHARE = 64


def is_due(uncounted: int, documents: int) -> bool:
    """Tell whether enough documents are uncounted to add them up."""
    return uncounted > max(_FEWEST, documents // _SHARE)


def count_terms(connection: sqlite3.Connection, space: int, counted: int, last: int) -> None:
    """Add the documents of the nodes after `counted` up to `last` to the counts of terms."""
    for start in range(counted + 1, last + 1, _PAGE):
        page = _documents(connection, space, start, min(last, start + _PAGE - 1))
        add_counts(connection, space, Counter(terms_in(tokens for _, tokens in page)))
    connection.execute(QUERIES["set_counted"], {"space": space, "counted": last})


def count_some_terms(connection: sqlite3.Connection, space: int, counted: int, last: int) -> None:
    """Do the same for as many nodes as one write may take the time for; the next ones go on."""
    counts: Counter[str] = Counter()
    characters, upto = 0, last
    for row, tokens in _documents(connection, space, counted + 1, last):
        node = row >> GRADE_BITS & (1 << rows.SPACE_BITS) - 1
        if node > upto:
            break
        counts.update(terms_in([tokens]))
        characters += len(tokens)
        # The node that goes over is counted as a whole.
        upto = node if characters > _MOST_CHARACTERS else upto
    add_counts(connection, space, counts)
    connection.execute(QUERIES["set_counted"], {"space": space, "counted": upto})


def _documents(connection: sqlite3.Connection, space: int, first: int, last: int) -> sqlite3.Cursor:
    low = rows.space_range(space)["low"]
    return connection.execute(QUERIES["docs_between"], {"low": low | first, "high": low | last})


def terms_in(docs: Iterable[str]) -> Iterator[str]:
    """Yield the terms of search documents, without facets."""
    return (token for tokens in docs for token in tokens.split() if not is_facet(token))


def discount(connection: sqlite3.Connection, space: int, docs: Iterable[str]) -> None:
    """Take one node, by its search documents, out of the counts."""
    gone = dict.fromkeys(terms_in(docs), -1)
    add_counts(connection, space, gone)
    drop_empty_counts(connection, space, gone)


def add_counts(connection: sqlite3.Connection, space: int, counts: dict[str, int]) -> None:
    """Add to the counts of terms."""
    added = ((space, term, n) for term, n in counts.items())
    connection.executemany(QUERIES["add_term_count"], added)


def drop_empty_counts(connection: sqlite3.Connection, space: int, terms: Iterable[str]) -> None:
    """Drop the counts of those of some terms that no document holds any more."""
    empty = {"space": space, "terms": rows.json_list(terms)}
    connection.execute(QUERIES["drop_empty_term_counts"], empty)
