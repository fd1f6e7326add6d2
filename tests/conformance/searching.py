"""What a search must find and how it must rank, from the notes themselves, without an index."""

from collections.abc import Iterable, Sequence

import pytest
from tests.conformance.builders import NO_FILTERS, REACH

from evomem.domain.analysis import tokens
from evomem.domain.metadata import matches
from evomem.domain.namespace import Reach
from evomem.domain.node import NodeRecord
from evomem.domain.ranking import Corpus, Document, Scorer, SearchHit, graded, rounded_length
from evomem.engines.base import Engine, Filters, SearchLimits, SearchResult

EVERYTHING = SearchLimits(depth=100_000, budget=10**9, least=100_000)


def search(
    engine: Engine,
    words: Sequence[str],
    reach: Reach = REACH,
    filters: Filters = NO_FILTERS,
    limits: SearchLimits = EVERYTHING,
) -> SearchResult:
    with engine.read() as reader:
        return reader.search(reach, words, filters, limits)


def found(
    engine: Engine,
    words: Sequence[str],
    reach: Reach = REACH,
    filters: Filters = NO_FILTERS,
) -> list[str]:
    return [hit.node_id for hit in search(engine, words, reach, filters).hits]


def document(node: NodeRecord, row: int) -> Document:
    about = (node.subject, node.slot, *node.tags, str(node.extraction.change))
    terms = graded(tokens("\n".join(filter(None, about))), tokens(node.text))
    return Document(node.id, row, {grade: " ".join(held) for grade, held in terms.items()})


def brute_force(
    nodes: Iterable[NodeRecord], words: Sequence[str], among: Iterable[str] | None = None
) -> list[SearchHit]:
    """Score notes, the earliest first, as a search must; `among` says which pass, if not all."""
    held = [document(node, row) for row, node in enumerate(nodes)]
    terms = [set(" ".join(d.terms.values()).split()) for d in held]
    frequency = {word: sum(word in one for one in terms) for word in words}
    length = sum(rounded_length(next(iter(d.terms))) for d in held)
    scorer = Scorer(words, Corpus(len(held), length, frequency))
    passing = {d.node_id for d in held} if among is None else set(among)
    hits = [scorer.score(d) for d in reversed(held) if d.node_id in passing]
    return sorted((hit for hit in hits if hit.terms), key=lambda hit: -hit.score)


def equal_hits(got: Sequence[SearchHit], expected: Sequence[SearchHit]) -> None:
    assert [h.node_id for h in got] == [h.node_id for h in expected]
    for hit, other in zip(got, expected, strict=True):
        assert [term for term, _ in hit.terms] == [term for term, _ in other.terms]
        assert numbers(hit) == pytest.approx(numbers(other), abs=1e-9)


def numbers(hit: SearchHit) -> list[float]:
    return [hit.score, hit.coverage, *(added for _, added in hit.terms)]


def certain(result: SearchResult) -> int:
    """Count the hits that are certain to be the best."""
    return sum(hit.score >= result.bound for hit in result.hits)


def tells_no_lie(result: SearchResult, expected: Sequence[SearchHit]) -> None:
    """Whatever was left out of a search, what it says of it is true."""
    scores = {hit.node_id: hit for hit in expected}
    got = {hit.node_id for hit in result.hits}
    equal_hits(result.hits, [scores[hit.node_id] for hit in result.hits])
    values = [hit.score for hit in result.hits]
    assert values == sorted(values, reverse=True)
    left_out = [hit.score for hit in expected if hit.node_id not in got]
    assert max(left_out, default=0.0) <= result.bound + 1e-9
    first = certain(result)
    assert values[:first] == pytest.approx([hit.score for hit in expected[:first]])


def passes(node: NodeRecord, filters: Filters) -> bool:
    """Tell whether a note passes what filters ask of the note itself."""
    return (
        set(filters.tags) <= set(node.tags)
        and (not filters.tags_any or not set(filters.tags_any).isdisjoint(node.tags))
        and set(filters.tags_none).isdisjoint(node.tags)
        and filters.session in (None, node.session)
        and matches(node.metadata, filters.metadata)
    )
