"""Text for prompts: compact, and every node with its status spelled out.

A model that sees two versions acts on the wrong one now and then unless the obsolete one says so
in words; dates alone do not do it. So the marker stands first on each line.
"""

from __future__ import annotations

from evomem.domain.node import MemoryNode
from evomem.domain.result import Hit, RecallResult

_NOTHING = "No memory answers this."
_WEAK = "Weak match: the memories below may not answer the question."


def render_recall(result: RecallResult) -> str:
    """Render the answers, each head with what it replaced and, if asked for, its history."""
    lines = [_WEAK] if result.insufficient else []
    if not result.hits:
        lines = [_NOTHING]
    for number, hit in enumerate(result.hits, 1):
        lines += _hit(number, hit)
    lines += [f"Note: {warning}" for warning in result.warnings]
    return "\n".join(lines)


def _hit(number: int, hit: Hit) -> list[str]:
    node = hit.node
    lines = [f"{number}. {render_node(node)}"]
    if hit.overridden:
        lines.append(f"   does not hold in this scope: overridden by {', '.join(hit.overridden)}")
    if hit.scheduled:
        lines.append(f"   will be replaced by {', '.join(hit.scheduled)} (status: scheduled)")
    for kind in ("amended_by", "overridden_by"):
        if kind in node.relations and not (kind == "overridden_by" and hit.overridden):
            label = kind.replace("_", " ")
            lines.append(f"   partly {label} {', '.join(node.relations[kind])}")
    story = hit.history or hit.supersedes
    lines += [f"   replaced: {render_node(old)}" for old in story]
    return lines


def render_node(node: MemoryNode) -> str:
    """Render one node: status, id, date, scope, text."""
    facts = [f"status: {node.status}", node.id, f"{node.created_at:%Y-%m-%d}"]
    if node.scope:
        facts.append(f"scope {node.scope}")
    if node.slot:
        facts.append(f"slot {node.slot}")
    text = "\n   ".join(node.text.splitlines()) or "(text purged)"
    return f"[{' | '.join(facts)}] {text}"
