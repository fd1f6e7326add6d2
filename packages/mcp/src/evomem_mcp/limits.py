"""Answers within a bound: long texts are cut first, then whole items are left out.

Clients throw an answer away that is over their limit. What is cut says so where it is cut, and
names the ids to read on with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import evomem
from evomem_mcp.envelope import Answer

LEAST_TEXT_CHARS = 400

# Each rung is tried in turn, so that texts are cut no shorter than the bound needs.
_RUNGS = (1 << 20, 16_000, 8_000, 4_000, 2_000, 1_000, LEAST_TEXT_CHARS)
_LEAST_NODE_CHARS = 600
_RESERVED_CHARS = 1_500
_NAMED_IDS = 30

Render = Callable[[int], Answer]


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


def cut_text(text: str, limit: int, node_id: str) -> str:
    """Return the text, or its beginning and where to read the rest."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [cut: {len(text) - limit} more characters, get_node({node_id!r})]"


def cut_node(node: evomem.MemoryNode, limit: int) -> evomem.MemoryNode:
    """Return the node with its text and metadata cut; fields keep the spans that are shown."""
    if len(node.text) > limit:
        node = replace(
            node,
            text=cut_text(node.text, limit, node.id),
            trigger=_within(node.trigger, limit),
            change=_within(node.change, limit),
            alternatives_tried=_within(node.alternatives_tried, limit),
            consequences=_within(node.consequences, limit),
            summary=cut_text(node.summary, limit, node.id),
        )
    size = len(json.dumps(dict(node.metadata), ensure_ascii=False))
    if size > limit:
        node = replace(node, metadata={"cut": f"{size} characters, get_node({node.id!r})"})
    return replace(node, tags=_tags(node, limit))


def cut_hit(hit: evomem.Hit, limit: int) -> evomem.Hit:
    """Return the hit with every node in it cut."""
    return replace(
        hit,
        node=cut_node(hit.node, limit),
        supersedes=tuple(cut_node(node, limit) for node in hit.supersedes),
        history=tuple(cut_node(node, limit) for node in hit.history),
    )


def drop_hits(result: evomem.RecallResult, max_chars: int) -> evomem.RecallResult:
    """Return a result whose answers fit: all heads first, then as much of their stories."""
    room = max_chars - _RESERVED_CHARS
    bare = [replace(hit, supersedes=(), history=()) for hit in result.hits]
    heads = max(1, _fitting((_cost(hit) for hit in bare), room))
    room -= sum(_cost(hit) for hit in bare[:heads])
    kept, dropped = [], 0
    for hit in result.hits[:heads]:
        whole = _with_story(hit, room)
        room -= _cost(whole) - _cost(replace(hit, supersedes=(), history=()))
        dropped += len({*_ids(hit)} - {*_ids(whole)})
        kept.append(whole)
    warning = _left_out(max_chars, [hit.node.id for hit in result.hits[heads:]], dropped)
    return replace(result, hits=tuple(kept), warnings=(*result.warnings, *warning))


def drop_nodes(
    nodes: Sequence[evomem.MemoryNode], max_chars: int
) -> tuple[Sequence[evomem.MemoryNode], list[str]]:
    """Return the latest nodes of a story that fit, and a warning that names the others."""
    kept = max(1, _fitting((_node_cost(node) for node in nodes), max_chars - _RESERVED_CHARS))
    return nodes[:kept], _left_out(max_chars, [node.id for node in nodes[kept:]], 0)


def _within(spans: evomem.Spans, limit: int) -> evomem.Spans:
    return evomem.Spans(span for span in spans if span.end <= limit)


def _tags(node: evomem.MemoryNode, limit: int) -> tuple[str, ...]:
    kept = _fitting((len(tag) for tag in node.tags), limit)
    if kept == len(node.tags):
        return node.tags
    return (*node.tags[:kept], f"[cut: {len(node.tags) - kept} more tags, get_node({node.id!r})]")


def _with_story(hit: evomem.Hit, room: int) -> evomem.Hit:
    supersedes = hit.supersedes[: _fitting(map(_node_cost, hit.supersedes), room)]
    room -= sum(map(_node_cost, supersedes))
    return replace(
        hit,
        supersedes=supersedes,
        history=hit.history[: _fitting(map(_node_cost, hit.history), room)],
    )


def _fitting(costs: Iterable[int], room: int) -> int:
    """Return how many of the first fit into the room."""
    count = 0
    for cost in costs:
        room -= cost
        if room < 0:
            break
        count += 1
    return count


def _cost(hit: evomem.Hit) -> int:
    return Answer(hit.to_dict(), evomem.RecallResult(hits=(hit,)).to_text()).size


def _node_cost(node: evomem.MemoryNode) -> int:
    return Answer(evomem.Page((node,)).to_dict(), node.text).size + _LEAST_NODE_CHARS // 4


def _ids(hit: evomem.Hit) -> list[str]:
    return [node.id for node in (*hit.supersedes, *hit.history)]


def _left_out(max_chars: int, ids: Sequence[str], earlier: int) -> list[str]:
    if not ids and not earlier:
        return []
    parts = []
    if ids:
        more = f" and {len(ids) - _NAMED_IDS} more" if len(ids) > _NAMED_IDS else ""
        parts.append(f"{len(ids)} of the nodes ({', '.join(ids[:_NAMED_IDS])}{more})")
    if earlier:
        parts.append(f"{earlier} earlier versions")
    return [
        f"Cut to {max_chars} characters: {' and '.join(parts)} left out. Read one with "
        "get_node(id) and its story with history(id), or ask for less."
    ]
