"""The short texts beside the structured answers: what a model needs to go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import evomem


def nodes(shown: Sequence[evomem.MemoryNode]) -> str:
    """Render nodes as recall does, each with its status spelled out first."""
    hits = [evomem.Hit(node, None, evomem.Matched(node.id, node.version, "id")) for node in shown]
    return evomem.RecallResult(hits=tuple(hits)).to_text()


def node(shown: evomem.MemoryNode) -> str:
    """Render one node and what replaced it."""
    lines = [nodes([shown]).removeprefix("1. ")]
    if shown.superseded_by:
        lines.append(f"Superseded by {', '.join(shown.superseded_by)}: recall or get_node that.")
    if shown.supersedes:
        lines.append(f"Supersedes {', '.join(shown.supersedes)}.")
    return "\n".join([*lines, *doubts(shown)])


def doubts(shown: evomem.MemoryNode) -> list[str]:
    """Say where or how far an active node does not hold."""
    amended = ", ".join(shown.relations.get("amended_by", ()))
    overridden = ", ".join(shown.relations.get("overridden_by", ()))
    lines = [f"A part of it was replaced by {amended}: see the history."] if amended else []
    return [*lines, *([f"In a narrower scope {overridden} holds."] if overridden else [])]


def counted(stats: evomem.Stats, namespace: Sequence[str]) -> str:
    """Say how much there is and where."""
    statuses = ", ".join(f"{count} {status}" for status, count in stats.nodes.items() if count)
    pending = f" {stats.pending_reviews} links wait for review." if stats.pending_reviews else ""
    return (
        f"{statuses or 'No notes yet'}. Namespace {'/'.join(namespace)} in {stats.path} "
        f"({stats.size_bytes} bytes).{pending}"
    )


def warnings(given: Iterable[str]) -> list[str]:
    """Return a line for each warning."""
    return [f"Warning: {warning}" for warning in given]


def one_line(text: str) -> str:
    """Return the text without line ends, so that it cannot pass for a line of ours."""
    return " ".join(text.split())
