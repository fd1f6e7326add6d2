"""Ranking: BM25 over graded postings from any index.

The scorer is ours so that the order is the same on every engine, with counts per namespace so
that no score tells anything about a neighbour. How often a term stands in a document and how long
the document is are rounded into one small number, its grade, which an index can keep in the row
id of a posting: a document is scored from its postings alone, without being read.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

# BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with the
# constants that Lucene and FTS5 use.
K1 = 1.2
B = 0.75
# A word in the subject, the slot, a tag or the decision itself says more than one in passing.
FOCUS_WEIGHT = 2

# Weighted counts are rounded down to one of these, lengths to a seventh of a doubling (10 %);
# Lucene rounds its lengths to one byte for the same reason.
_LEVELS: Final = (1, 2, 3, 6, 12, 24, 48, 96)
_CLASSES_PER_DOUBLING: Final = 7
_LENGTH_BITS: Final = 7
_LONGEST: Final = (1 << _LENGTH_BITS) - 1
GRADE_BITS: Final = _LENGTH_BITS + 3
GRADE_MASK: Final = (1 << GRADE_BITS) - 1

# Postings looked up before a search is cut short, which takes CPython some 20 ms.
# `evomem-bench speed --scale` measures what it costs and what it loses.
POSTING_BUDGET = 24_000


# Less than this is no ground to stand on; `evomem-bench retrieval` measures both on questions that
# a memory can and cannot answer.
SUFFICIENT_COVERAGE = 0.5
SUFFICIENT_SIMILARITY = 0.5
_DAMPING: Final = 10


@dataclass(frozen=True, slots=True)
class Corpus:
    """Counts of the namespaces searched.

    Attributes:
        documents: Indexed nodes.
        tokens: Tokens in all of them, by their rounded lengths.
        frequency: Documents that hold each query term.
    """

    documents: int
    tokens: int
    frequency: Mapping[str, int]

    @property
    def mean(self) -> float:
        """Return the mean length of a document, in tokens."""
        return (self.tokens / self.documents if self.documents else 0.0) or 1.0

    def idf(self, term: str) -> float:
        """Return the weight of a term, above 0; the rarer, the more."""
        found = self.frequency.get(term, 0)
        # A damaged count must not make a weight of nothing.
        documents = max(self.documents, found)
        return math.log(1 + (documents - found + 0.5) / (found + 0.5))

    def damped_idf(self, term: str) -> float:
        """Return the weight of a term as if the memory were larger and knew every word."""
        found = max(1, self.frequency.get(term, 0))
        documents = max(self.documents, found) + _DAMPING
        return math.log(1 + (documents - found + 0.5) / (found + 0.5))


class Document(NamedTuple):
    """The indexed terms of a node, for each grade joined by blanks, and when it was committed."""

    node_id: str
    row: int
    terms: Mapping[int, str]
    sequence: int = 0


class Passing(NamedTuple):
    """A node that passes the filters: its place among the commits, and its id."""

    sequence: int
    row: int
    node_id: str


class SearchHit(NamedTuple):
    """A node of any version that matches.

    Attributes:
        node_id: The node.
        score: BM25, or the cosine if it was found by its vector; higher is better.
        coverage: How much of the query it covers, 0 to 2.2: the weights of the terms by how well
            each is met, over those of all terms. A rare term weighs more, but less so in a small
            memory, where every word is rare.
        terms: The matched terms, with what each adds to the score.
    """

    node_id: str
    score: float
    coverage: float
    terms: tuple[tuple[str, float], ...]


def rounded_length(grade: int) -> int:
    """Return the length in tokens that a grade stands for."""
    return round(2 ** ((grade & _LONGEST) / _CLASSES_PER_DOUBLING))


def graded(focus: Sequence[str], body: Sequence[str]) -> dict[int, list[str]]:
    """Sort the terms of a document by grade, each once.

    Args:
        focus: Tokens of what the document is about and decides.
        body: Tokens of its text.

    Returns:
        Terms by grade; a document without any has one grade without terms.
    """
    counts = Counter(body)
    for term in focus:
        counts[term] += FOCUS_WEIGHT
    length = _length_class(len(focus) + len(body))
    found: defaultdict[int, list[str]] = defaultdict(list)
    for term, count in counts.items():
        found[_level(count) << _LENGTH_BITS | length].append(term)
    return dict(found) or {length: []}


def _length_class(tokens: int) -> int:
    return min(_LONGEST, round(_CLASSES_PER_DOUBLING * math.log2(tokens))) if tokens > 1 else 0


def _level(count: int) -> int:
    level = 0
    while level + 1 < len(_LEVELS) and count >= _LEVELS[level + 1]:
        level += 1
    return level


class Saturation(dict[int, float]):
    """How well a term is met by its grade in a document, 0 to K1 + 1: its BM25 part over its idf."""

    def __init__(self, mean: float) -> None:
        self._mean = mean

    def __missing__(self, grade: int) -> float:
        count = _LEVELS[grade >> _LENGTH_BITS]
        norm = K1 * (1 - B + B * rounded_length(grade) / self._mean)
        met = self[grade] = count * (K1 + 1) / (count + norm)
        return met


# A store that is only read asks for the same few hundred grades again and again.
_saturation = lru_cache(maxsize=16)(Saturation)


class Scorer:
    """BM25 of one query over one corpus.

    Attributes:
        idf: Of each term.
        saturation: By grade: a posting adds this times the idf of its term.
    """

    def __init__(self, terms: Sequence[str], corpus: Corpus) -> None:
        self.idf = {term: corpus.idf(term) for term in terms}
        self.saturation = _saturation(corpus.mean)
        self._damped = {term: corpus.damped_idf(term) for term in terms}
        self._whole = sum(self._damped.values()) or 1.0

    def score(self, document: Document) -> SearchHit:
        """Score one candidate."""
        met: dict[str, float] = {}
        for grade, joined in document.terms.items():
            padded = f" {joined} "
            for term in self.idf:
                if f" {term} " in padded:
                    met[term] = self.saturation[grade]
        # In the order of the query, so that a sum does not depend on the order of the grades.
        matched = tuple((term, idf * met[term]) for term, idf in self.idf.items() if term in met)
        covered = sum(self._damped[term] * met[term] for term, _ in matched)
        score = sum(part for _, part in matched)
        return SearchHit(document.node_id, score, covered / self._whole, matched)

    def bound(self, left_out: Iterable[str]) -> float:
        """Return what a document can score at most by these terms alone (MaxScore)."""
        return sum(self.idf[term] * (K1 + 1) for term in left_out)


class Evidence(NamedTuple):
    """What speaks for an answer: its coverage of the query, and its cosine to it."""

    coverage: float
    similarity: float


def is_sufficient(answers: Sequence[Evidence], *, blank: bool) -> bool:
    """Tell whether one of the answers is ground enough to lean on.

    Args:
        answers: Evidence for each.
        blank: The query asked for nothing in particular: any answer will do.
    """
    if blank:
        return bool(answers)
    return any(
        covered >= SUFFICIENT_COVERAGE or near >= SUFFICIENT_SIMILARITY for covered, near in answers
    )
