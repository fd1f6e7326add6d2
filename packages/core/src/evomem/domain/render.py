"""Text for prompts: compact, and every node with its status spelled out.

A model that sees two versions acts on the wrong one now and then unless the obsolete one says so
in words; dates alone do not do it. So the marker stands first on each line.
"""

from __future__ import annotations

import re

from evomem.domain.node import MemoryNode, Status
from evomem.domain.result import Explanation, Hit, RecallResult
from evomem.domain.text import fold_whitespace

_NOTHING = "No memory answers this."
# In a text it would pass for our own marker, of another node.
_ENDS = str.maketrans("|[]\uff3b\uff3d", "/()()")
_MARKER = re.compile(r"[\[\uff3b](?=\s*status\s*[:\uff1a])", re.IGNORECASE)
_WEAK = "Weak match: the memories below may not answer the question."


def render_recall(result: RecallResult) -> str:
    """Render the answers, each head with what it replaced and, if asked for, its history."""
    lines = [_WEAK] if result.insufficient else []
    if not result.hits:
        lines = [_NOTHING]
    for number, hit in enumerate(result.hits, 1):
        lines += render_hit(number, hit)
    lines += [f"Note: {warning}" for warning in result.warnings]
    return "\n".join(lines)


def render_hit(number: int, hit: Hit) -> list[str]:
    """Render one answer, a line for each thing said of it."""
    first, *rest = render_alone(hit)
    return [f"{number}. {first}", *rest]


def render_alone(hit: Hit) -> list[str]:
    """Render one answer without its number."""
    lines = [render_node(hit.node, doubts(hit))]
    lines += [f"   {remark}" for remark in remarks(hit)]
    return lines + render_replaced(hit)


def render_replaced(hit: Hit) -> list[str]:
    """Return a line for each earlier node that is told of an answer."""
    return [f"   replaced: {render_node(old)}" for old in hit.history or hit.supersedes]


def remarks(hit: Hit) -> list[str]:
    """Return what else is known about an answer, a line each."""
    lines = [f'of this, "{unmarked(part)}" was replaced by {by}' for by, part in hit.amended]
    elsewhere = hit.node.relations.get("overridden_by", ())
    if elsewhere and not hit.overridden:
        lines.append(f"in a narrower scope overridden by {', '.join(elsewhere)}")
    if hit.questioned:
        lines.append(f"may be replaced by {', '.join(hit.questioned)}: not answered yet")
    if hit.same:
        lines.append(f"the same is stated by {', '.join(hit.same)}")
    if hit.scheduled:
        lines.append(f"will be replaced by {', '.join(hit.scheduled)} (status: scheduled)")
    return lines + (explained(hit.why, hit.explanation) if hit.explanation else [])


def explained(why: str, explanation: Explanation) -> list[str]:
    """Return why an answer stands where it stands, a line each."""
    terms = ", ".join(f"{term} {score:.2f}" for term, score in explanation.terms)
    ranks = (("words", explanation.lexical_rank), ("meaning", explanation.vector_rank))
    places = ", ".join(f"by {name} {rank}" for name, rank in ranks if rank)
    lines = [f"why: {why}" + (f" (place {places})" if places else "")]
    if terms:
        lines.append(f"terms: {terms}")
    if explanation.above_next:
        lines.append(f"above the next: {explanation.above_next}")
    return lines


def doubts(hit: Hit) -> str:
    """Return what to say beside the status, so that no doubtful node is shown as plain active."""
    if hit.overridden:
        return f", but not in this scope: overridden by {', '.join(hit.overridden)}"
    return ", in part" if hit.amended else ""


def render_node(node: MemoryNode, beside: str = "") -> str:
    """Render one node: status, id, date, times and scope if it has any, text."""
    known = [f"status: {node.status}{beside}", node.id, *facts(node)]
    text = "\n   ".join(unmarked(node.text).splitlines()) or "(text purged)"
    return f"[{' | '.join(known)}] {text}"


def unmarked(text: str) -> str:
    """Open what looks like a marker of ours with a round bracket; its length stays."""
    return _MARKER.sub("(", text)


def _inside(text: str) -> str:
    """Write a text inside a marker so that it can neither end it nor add to it."""
    return fold_whitespace(text).translate(_ENDS)


def facts(node: MemoryNode) -> list[str]:
    """Return the date of a node, then when it begins or ends, and where it holds."""
    known = [f"{node.created_at:%Y-%m-%d}"]
    if node.status is Status.SCHEDULED:
        known.append(f"from {node.valid_from:%Y-%m-%d}")
    if node.valid_to:
        known.append(f"until {node.valid_to:%Y-%m-%d}")
    # Folded to one line: a line end in one could pass for the status of another node.
    if node.scope:
        known.append(f"scope {_inside(node.scope)}")
    if node.slot:
        known.append(f"slot {_inside(node.slot)}")
    return known
