"""What this benchmark knows of EvoMem's insides, and nothing else here does."""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from evomem.domain import analysis, ranking
from evomem.engines.sqlite import sql

# Postings that a recall looks up at most.
POSTINGS: int = ranking.POSTING_BUDGET

TEXT_TABLES = frozenset({"text"})
INDEX_TABLES = ("search_", "term_count")

# A document is one row for each grade that terms have in it.
_DOCUMENTS = """
SELECT node.row, node.memory_id, search_doc.row & :mask, search_doc.tokens
FROM search_doc JOIN node ON node.row = search_doc.row >> :bits
ORDER BY search_doc.row
"""

query_terms = analysis.terms


# Repeated words in a text of several lengths: what the index makes of it shows its rounding.
_SAMPLE = "a long way from the old harbour to the new one, over the hill and by the old road"


def format_mark() -> str:
    """Return what changes whenever stores of today's code would differ from earlier ones."""
    schema = hashlib.sha256(sql.schema().encode()).hexdigest()
    words = analysis.tokens(_SAMPLE)
    grades = [ranking.graded(words[:2], words * times) for times in (1, 2, 4, 30)]
    versions = f"schema {len(sql.migrations())} analysis {analysis.ANALYSIS_VERSION}"
    return f"{versions} {schema} {grades}"


class Indexed(NamedTuple):
    """A node as the index holds it.

    Attributes:
        memory_id: Its line of versions.
        terms: Every term in it.
        length: Its tokens, rounded as the scorer rounds them.
        document: What the scorer takes.
    """

    memory_id: str
    terms: frozenset[str]
    length: int
    document: ranking.Document


def read_documents(path: Path) -> Iterator[Indexed]:
    """Read every indexed node, one at a time."""
    grades = {"mask": ranking.GRADE_MASK, "bits": ranking.GRADE_BITS}
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute(_DOCUMENTS, grades)
        for (row, memory_id), parts in itertools.groupby(found, key=itemgetter(0, 1)):
            graded = {grade: tokens for _, _, grade, tokens in parts}
            terms = frozenset(token for tokens in graded.values() for token in tokens.split())
            length = ranking.rounded_length(next(iter(graded)))
            yield Indexed(memory_id, terms, length, ranking.Document("", row, graded))


def make_scorer(
    terms: Sequence[str], documents: int, tokens: int, frequency: Mapping[str, int]
) -> Callable[[ranking.Document], float]:
    """Return what scores a document for one query."""
    held = {term: frequency.get(term, 0) for term in terms}
    scorer = ranking.Scorer(terms, ranking.Corpus(documents, tokens, held))
    return lambda document: scorer.score(document).score
