"""Answers within a bound: long texts are cut first, then whole items are left out.

Clients throw an answer away that is over their limit. What is cut says so where it is cut, and
names the ids to read on with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import evomem
from evomem_mcp.envelope import Answer

LEAST_TEXT_CHARS = 400

# Each rung is tried in turn, so that texts are cut no shorter than the bound needs.
_RUNGS = (1 << 20, 16_000, 8_000, 4_000, 2_000, 1_000, LEAST_TEXT_CHARS)
_LEAST_NODE_CHARS = 600
_RESERVED_CHARS = 2_000
_NAMED_IDS = 30

Render = Callable[[int], Answer]


class ReadOn(NamedTuple):
    """How the clients of a toolset read on where an answer was cut.

    Attributes:
        call: The call that shows a node whole.
        name: The id to name a node by.
        advice: What to do about nodes that were left out.
    """

    call: Callable[[evomem.MemoryNode], str]
    name: Callable[[evomem.MemoryNode], str]
    advice: str


BY_NODE = ReadOn(
    call=lambda node: f"get_node({node.id!r})",
    name=lambda node: node.id,
    advice="Read one with get_node(id) and its story with history(id), or ask for less.",
)


def fit(render: Render, max_chars: int, *, nodes: int = 1) -> Answer:
    """Return the answer with the least cut texts that is within the bound, or the shortest.

    Args:
        render: Makes the answer with texts of at most so many characters.
        max_chars: The bound.
        nodes: How many nodes the answer shows; too many, and only the shortest is tried.
    """
    rungs = _RUNGS if nodes * _LEAST_NODE_CHARS <= max_chars else _RUNGS[-1:]
    answer = render(rungs[0])
    for limit in rungs[1:]:
        if answer.size <= max_chars:
            break
        answer = render(limit)
    return answer


def cut_text(text: str, limit: int, where: str) -> str:
    """Return the text, or its beginning and where to read the rest."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [cut: {len(text) - limit} more characters, {where}]"


def cut_node(node: evomem.MemoryNode, limit: int, read_on: ReadOn = BY_NODE) -> evomem.MemoryNode:
    """Return the node with its text and metadata cut; fields keep the spans that are shown."""
    where = read_on.call(node)
    if len(node.text) > limit:
        node = replace(
            node,
            text=cut_text(node.text, limit, where),
            trigger=_within(node.trigger, limit),
            change=_within(node.change, limit),
            alternatives_tried=_within(node.alternatives_tried, limit),
            consequences=_within(node.consequences, limit),
            summary=cut_text(node.summary, limit, where),
        )
    size = len(json.dumps(dict(node.metadata), ensure_ascii=False))
    if size > limit:
        node = replace(node, metadata={"cut": f"{size} characters, {where}"})
    return replace(node, tags=_tags(node.tags, limit, where))


def recalled(
    result: evomem.RecallResult,
    max_chars: int,
    say: Callable[[evomem.RecallResult], str],
    read_on: ReadOn = BY_NODE,
) -> Answer:
    """Return the answer to a question within the bound.

    Args:
        result: What was found.
        max_chars: The bound.
        say: Makes the text of it.
        read_on: How to read on.
    """

    def cut(limit: int) -> evomem.RecallResult:
        return replace(result, hits=tuple(_cut_hit(hit, limit, read_on) for hit in result.hits))

    def render(shown: evomem.RecallResult) -> Answer:
        return Answer(shown.to_dict(), say(shown))

    nodes = sum(1 + len(hit.supersedes) + len(hit.history) for hit in result.hits)
    answer = fit(lambda limit: render(cut(limit)), max_chars, nodes=nodes)
    if answer.size <= max_chars:
        return answer
    return render(_drop_hits(cut(LEAST_TEXT_CHARS), max_chars, read_on))


def _cut_hit(hit: evomem.Hit, limit: int, read_on: ReadOn) -> evomem.Hit:
    return replace(
        hit,
        node=cut_node(hit.node, limit, read_on),
        supersedes=tuple(cut_node(node, limit, read_on) for node in hit.supersedes),
        history=tuple(cut_node(node, limit, read_on) for node in hit.history),
    )


def _drop_hits(result: evomem.RecallResult, max_chars: int, read_on: ReadOn) -> evomem.RecallResult:
    """Return a result whose answers fit: all heads first, then as much of their stories."""
    room = max_chars - _RESERVED_CHARS
    bare = [replace(hit, supersedes=(), history=()) for hit in result.hits]
    heads = max(1, fitting((_cost(hit) for hit in bare), room))
    room -= sum(_cost(hit) for hit in bare[:heads])
    kept, dropped = [], 0
    for hit in result.hits[:heads]:
        whole = _with_story(hit, room)
        room -= _cost(whole) - _cost(replace(hit, supersedes=(), history=()))
        dropped += len({*_ids(hit)} - {*_ids(whole)})
        kept.append(whole)
    left = [hit.node for hit in result.hits[heads:]]
    warning = _left_out(max_chars, left, dropped, read_on)
    return replace(result, hits=tuple(kept), warnings=(*result.warnings, *warning))


def drop_nodes(
    nodes: Sequence[evomem.MemoryNode], max_chars: int
) -> tuple[Sequence[evomem.MemoryNode], list[str]]:
    """Return the latest nodes of a story that fit, and a warning that names the others."""
    kept = max(1, fitting((_node_cost(node) for node in nodes), max_chars - _RESERVED_CHARS))
    return nodes[:kept], _left_out(max_chars, nodes[kept:], 0, BY_NODE)


def fitting(costs: Iterable[int], room: int) -> int:
    """Return how many of the first fit into the room."""
    count = 0
    for cost in costs:
        room -= cost
        if room < 0:
            break
        count += 1
    return count


def _within(spans: evomem.Spans, limit: int) -> evomem.Spans:
    return evomem.Spans(span for span in spans if span.end <= limit)


def _tags(tags: Sequence[str], limit: int, where: str) -> tuple[str, ...]:
    kept = fitting((len(tag) for tag in tags), limit)
    more = [f"[cut: {len(tags) - kept} more tags, {where}]"] if kept < len(tags) else []
    return (*tags[:kept], *more)


def _with_story(hit: evomem.Hit, room: int) -> evomem.Hit:
    supersedes = hit.supersedes[: fitting(map(_node_cost, hit.supersedes), room)]
    room -= sum(map(_node_cost, supersedes))
    return replace(
        hit,
        supersedes=supersedes,
        history=hit.history[: fitting(map(_node_cost, hit.history), room)],
    )


def _cost(hit: evomem.Hit) -> int:
    return Answer(hit.to_dict(), evomem.RecallResult(hits=(hit,)).to_text()).size


def _node_cost(node: evomem.MemoryNode) -> int:
    return Answer(evomem.Page((node,)).to_dict(), node.text).size + _LEAST_NODE_CHARS // 4


def _ids(hit: evomem.Hit) -> list[str]:
    return [node.id for node in (*hit.supersedes, *hit.history)]


def _left_out(
    max_chars: int, nodes: Sequence[evomem.MemoryNode], earlier: int, read_on: ReadOn
) -> list[str]:
    if not nodes and not earlier:
        return []
    parts = []
    if nodes:
        ids = ", ".join(read_on.name(node) for node in nodes[:_NAMED_IDS])
        more = f" and {len(nodes) - _NAMED_IDS} more" if len(nodes) > _NAMED_IDS else ""
        parts.append(f"{len(nodes)} of the nodes ({ids}{more})")
    if earlier:
        parts.append(f"{earlier} earlier versions")
    return [f"Cut to {max_chars} characters: {' and '.join(parts)} left out. {read_on.advice}"]
