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


def remembered(result: evomem.RememberResult) -> str:
    """Say what became of a note, and what it may replace."""
    shown = result.node
    if result.deduplicated:
        first = f"Known already as {shown.id}; nothing new was stored."
    elif result.replayed:
        first = f"Replayed: stored before as {shown.id} (now {shown.status})."
    else:
        first = f"Remembered as {shown.id}, version {shown.version} ({shown.status})."
    if result.superseded:
        first += f" Replaced {', '.join(result.superseded)}."
    offers = [_offer(shown.id, candidate) for candidate in result.candidates]
    return "\n".join([first, *_moved(result.moved), *offers, *warnings(result.warnings)])


def _offer(node_id: str, candidate: evomem.Suggestion) -> str:
    return (
        f'It may replace {candidate.node_id}: "{one_line(candidate.text)}" ({candidate.reason}). '
        f"To replace it call link(node_id={node_id!r}, supersedes=[{candidate.node_id!r}])."
    )


def linked(result: evomem.LinkResult) -> str:
    """Say what a link took out of force."""
    done = ", ".join(result.superseded)
    first = f"{result.node.id} now replaces {done}." if done else "Nothing was linked."
    return "\n".join([first, *_moved(result.moved), *warnings(result.warnings)])


def forgotten(result: evomem.ForgetResult) -> str:
    """Say what a forget did."""
    if not result.changed:
        first = f"{result.node_id} had been forgotten before."
    elif result.purged:
        first = f"Purged {result.node_id}: the note has no text any more, its place is kept."
    else:
        first = f"Forgot {result.node_id}: it is out of recall, its history is kept."
    return "\n".join([first, *warnings(result.warnings)])


def counted(stats: evomem.Stats, namespace: Sequence[str]) -> str:
    """Say how much there is and where."""
    statuses = ", ".join(f"{count} {status}" for status, count in stats.nodes.items() if count)
    pending = f" {stats.pending_reviews} links wait for review." if stats.pending_reviews else ""
    return (
        f"{statuses or 'No notes yet'}. Namespace {'/'.join(namespace)} in {stats.path} "
        f"({stats.size_bytes} bytes).{pending}"
    )


def _moved(moved: Iterable[evomem.Moved]) -> list[str]:
    return [f"{m.named} had been replaced: {m.current} was replaced instead." for m in moved]


def warnings(given: Iterable[str]) -> list[str]:
    """Return a line for each warning."""
    return [f"Warning: {warning}" for warning in given]


def one_line(text: str) -> str:
    """Return the text without line ends, so that it cannot pass for a line of ours."""
    return " ".join(text.split())
