"""Links between nodes: which may be made, and between what. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from evomem.domain.decision import Amend, LinkDecision, Override
from evomem.domain.draft import Draft
from evomem.domain.edge import AMENDS, OVERRIDES, SUPERSEDES, Edge
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Op
from evomem.domain.request import RememberRequest
from evomem.domain.result import Moved
from evomem.domain.scope import contains
from evomem.domain.text import fold_whitespace
from evomem.errors import InvalidRequestError, ScopeMismatchError


def plan_link(
    draft: Draft, new: str, old: Iterable[str], kind: str = SUPERSEDES
) -> tuple[list[str], list[Moved]]:
    """Add to the draft that `new` replaces each of `old`, after the fact.

    Returns:
        The tips taken out of force, and the named nodes that had been replaced before.

    Raises:
        InvalidRequestError: A node would come to replace itself.
        ScopeMismatchError: `new` does not hold wherever an old one does.
    """
    done: list[str] = []
    moved: list[Moved] = []
    for named in dict.fromkeys(old):
        if named == new:
            message = f"{new} cannot replace itself: name the older node in supersedes."
            raise InvalidRequestError(message, node_id=new)
        if draft.is_ancestor(named, new):
            continue
        tip = draft.tip(named)
        if draft.is_ancestor(new, tip):
            message = (
                f"{tip} already replaces {new}, directly or by way of others, so {new} cannot "
                f"replace it. Undo that link first: unlink, or remember a new note."
            )
            raise InvalidRequestError(message, node_id=new, old=tip)
        check_scope(draft, draft.lineage.facts[new].scope, tip)
        if tip != named:
            moved.append(Moved(named, tip))
        _mark(draft, Edge(kind, new, tip))
        done.append(tip)
    return done, moved


def check_scope(draft: Draft, scope: str | None, old: str) -> None:
    """Refuse that a note of this scope wholly replaces `old`, unless it holds wherever that does.

    Raises:
        ScopeMismatchError: It does not.
    """
    old_scope = draft.lineage.facts[old].scope
    if contains(scope, old_scope):
        return
    message = (
        f"{old} holds in scope {old_scope or 'everywhere'!r}, the new note only in {scope!r}: it "
        f"cannot replace it wholly. Pass overrides=[{old}] to win inside {scope!r} and leave "
        f"the old one in force elsewhere, or use the old one's scope."
    )
    raise ScopeMismatchError(message, node_id=old, scope=scope, old_scope=old_scope)


def mark(
    draft: Draft,
    node: NodeRecord,
    request: RememberRequest,
    decided: LinkDecision | None,
    by: str,
) -> list[str]:
    """Add the edges that leave the old node in force; return what to warn about."""
    warnings: list[str] = []
    for target, part in dict.fromkeys(request.amends):
        check_part(draft, target, part)
        if (tip := draft.tip(target)) != target:
            warnings.append(f"{target} was replaced by {tip} before: the amendment marks {target}.")
        _mark(draft, Edge(AMENDS, node.id, target, part=part))
    for tip in dict.fromkeys(draft.tip(target) for target in request.overrides):
        _mark(draft, _override(draft, node, tip, "caller"))
    for kind, target in request.relations:
        draft.connect(Edge(kind, node.id, target))
    if isinstance(decided, Amend):
        _mark(
            draft,
            Edge(
                AMENDS,
                node.id,
                decided.old,
                part=decided.part,
                reason=decided.reason,
                linked_by=by,
                confidence=decided.confidence,
            ),
        )
    if isinstance(decided, Override):
        _mark(draft, _override(draft, node, draft.tip(decided.old), by))
    return warnings


def _mark(draft: Draft, edge: Edge) -> None:
    draft.connect(edge)
    draft.count(edge, Op.LINK)


def check_part(draft: Draft, target: str, part: str) -> None:
    """Refuse a quotation that is not in the text of the node.

    Raises:
        InvalidRequestError: It is not.
    """
    record = draft.record(target)
    if fold_whitespace(part) not in fold_whitespace(record.text):
        message = f"amends: {part!r} is not in the text of {target}. Quote its words as they are."
        raise InvalidRequestError(message, node_id=target, field="amends")


def _override(draft: Draft, node: NodeRecord, old: str, by: str) -> Edge:
    old_scope = draft.lineage.facts[old].scope
    if node.scope == old_scope or not contains(old_scope, node.scope):
        message = (
            f"overrides needs a scope inside that of {old} ({old_scope or 'everywhere'!r}), not "
            f"{node.scope!r}. To replace it wholly pass it in supersedes."
        )
        raise ScopeMismatchError(message, node_id=old, scope=node.scope, old_scope=old_scope)
    return Edge(OVERRIDES, node.id, old, linked_by=by)
