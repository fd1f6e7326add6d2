"""From answers to hits: each head as people see it, with all that is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from evomem.domain.edge import SUCCESSION
from evomem.domain.namespace import Reach
from evomem.domain.node import MemoryNode, NodeRecord, Status
from evomem.domain.question import RecallRequest
from evomem.domain.result import Amended, Contribution, Explanation, Hit, Matched
from evomem.engines.base import Reader
from evomem.service.match import Answer, Place
from evomem.service.reading import ancestors, open_questions
from evomem.service.view import view_nodes


@dataclass(frozen=True, slots=True)
class Shown:
    """A head to show: an answer, or what comes with one.

    Attributes:
        head: The node.
        answer: The answer that it is, or that it came with.
        by: `override` or `amends` if it came with the answer.
        overridden: Nodes that win over it.
        amended: Parts of it that were replaced.
    """

    head: str
    answer: Answer
    by: str | None = None
    overridden: tuple[str, ...] = ()
    amended: tuple[Amended, ...] = ()


def build_hits(
    reader: Reader,
    reach: Reach,
    request: RecallRequest,
    shown: Sequence[Shown],
    records: Mapping[str, NodeRecord],
    at: datetime,
) -> tuple[Hit, ...]:
    """Show heads with what they replaced, their story if asked for, and why they are here.

    Args:
        reader: The snapshot to read in.
        reach: What may be seen.
        request: The question.
        shown: The heads, in order.
        records: Nodes that were loaded before.
        at: World time.
    """
    heads = [item.head for item in shown]
    links = [edge for edge in reader.edges(reach, heads) if edge.kind in SUCCESSION]
    wanted = [*heads, *(edge.old for edge in links)]
    nodes = view_nodes(reader, reach, wanted, at, records=records)
    stories = _stories(reader, reach, request, heads, at)
    questions = open_questions(reader, reach, heads, at)
    explained = _explanations(shown) if request.explain else {}
    return tuple(
        Hit(
            node=nodes[item.head],
            score=None if item.answer.score is None else round(item.answer.score, 6),
            matched=_matched(item),
            supersedes=_told(nodes, nodes[item.head].supersedes),
            overridden=item.overridden,
            amended=item.amended,
            questioned=tuple(questions.get(item.head, ())),
            scheduled=() if item.by else item.answer.scheduled,
            same=() if item.by else item.answer.same,
            history=stories.get(item.head, ()),
            why=_why(item),
            explanation=explained.get(item.head),
        )
        for item in shown
    )


def _stories(
    reader: Reader, reach: Reach, request: RecallRequest, heads: Sequence[str], at: datetime
) -> dict[str, tuple[MemoryNode, ...]]:
    depth = request.history_depth
    if not request.include_history or not depth or not heads:
        return {}
    lineage = reader.story(reach, heads)
    told = {head: ancestors(lineage, head)[:depth] for head in heads}
    ids = [node_id for story in told.values() for node_id in story]
    nodes = view_nodes(reader, reach, ids, at)
    return {head: _told(nodes, story) for head, story in told.items()}


def _told(nodes: Mapping[str, MemoryNode], ids: Iterable[str]) -> tuple[MemoryNode, ...]:
    """Leave out what was forgotten: it is out of recall, in the story too."""
    found = (nodes[node_id] for node_id in ids if node_id in nodes)
    return tuple(node for node in found if node.status is not Status.FORGOTTEN)


def _matched(item: Shown) -> Matched:
    answer = item.answer
    place = answer.words or answer.meaning
    if place is None:
        node_id, version = answer.recent or (answer.head, 0)
        return Matched(node_id, version, item.by or "recent")
    by = "both" if answer.words and answer.meaning else "text" if answer.words else "meaning"
    return Matched(place.hit.node_id, place.version, item.by or by)


def _why(item: Shown) -> str:
    answer = item.answer
    if answer.recent is not None:
        return "among the most recently changed"
    words = ", ".join(term for term, _ in answer.words.hit.terms) if answer.words else ""
    near = f"close in meaning ({answer.meaning.hit.score:.2f})" if answer.meaning else ""
    if item.by == "override":
        return f"wins in this scope over what matched {words or near}"
    if item.by == "amends":
        return f"amends what matched {words or near}"
    place = answer.words or answer.meaning
    earlier = place is not None and place.hit.node_id != answer.head
    matched = f"an earlier version matched {words}" if earlier else f"matched {words}"
    if not words:
        return f"an earlier version is {near}" if earlier else near
    return f"{matched}; {near}" if near else matched


def _explanations(shown: Sequence[Shown]) -> dict[str, Explanation]:
    answers = {item.head: item.answer for item in shown if item.by is None}
    above = {first.head: _above(first, second) for first, second in pairwise(answers.values())}
    return {head: _explanation(a, above.get(head, "")) for head, a in answers.items()}


def _explanation(answer: Answer, above: str) -> Explanation:
    words, meaning = answer.words, answer.meaning
    terms = words.hit.terms if words else ()
    return Explanation(
        terms=tuple(Contribution(term, round(part, 6)) for term, part in terms),
        lexical_score=round(words.hit.score, 6) if words else None,
        lexical_rank=words.rank if words else None,
        similarity=round(meaning.hit.score, 6) if meaning else None,
        vector_rank=meaning.rank if meaning else None,
        above_next=above,
    )


def _above(first: Answer, second: Answer) -> str:
    """Say in one line why an answer stands above the next."""
    if first.score is None or second.score is None:
        return "changed more recently"
    if first.score == second.score:
        return "an equal score"
    line = f"score {first.score:.4g} over {second.score:.4g}"
    if first.words and second.words:
        mine, other = dict(first.words.hit.terms), dict(second.words.hit.terms)
        gains = {term: part - other.get(term, 0.0) for term, part in mine.items()}
        most = max(gains, key=lambda term: gains[term], default=None)
        if most is not None and gains[most] > 0:
            line += f", most by {most} (+{gains[most]:.3g})"
    if first.meaning or second.meaning:
        if first.words or second.words:
            line += f"; places by words {_ranks(first.words, second.words)}"
        line += f"; places by meaning {_ranks(first.meaning, second.meaning)}"
    return line


def _ranks(first: Place | None, second: Place | None) -> str:
    return " and ".join(str(place.rank) if place else "none" for place in (first, second))
