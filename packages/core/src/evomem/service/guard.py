"""What the policy says to a write: secrets, sizes, trust, evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from evomem.domain.applying import standing
from evomem.domain.decision import Amend, Link, LinkDecision, Override, Proposed, Suggestion
from evomem.domain.draft import Draft
from evomem.domain.event import EventRequest
from evomem.domain.operation import Add, ApplyRequest, Remove, RequestedOperation, Supersede
from evomem.domain.planning import note_scope
from evomem.domain.policy import Policy, Redaction, Trust
from evomem.domain.request import RememberRequest
from evomem.engines.base import Reader
from evomem.errors import EvoMemError, PolicyDeniedError
from evomem.redaction.base import redact
from evomem.service.context import Context

_TEXTS = ("text", "content", "new_content", "part", "subject", "tags", "metadata", "reason")
"""What of a request may hold a secret, and can do without it."""

_NAMES = (
    "session",
    "scope",
    "slot",
    "amends",
    "external_id",
    "idempotency_key",
    "actor",
    "source",
)
"""What of a request is compared with others: a secret in it is refused, as nothing can replace it."""


def admit_note(context: Context, request: RememberRequest) -> RememberRequest:
    """Return a note as it may be stored.

    Raises:
        TooLargeError: It is over the policy's bound.
        PolicyDeniedError: It holds a secret, and the policy refuses those.
    """
    context.policy.check_text(request.text)
    changed, warnings = _scrubbed(context, request)
    if not changed and not warnings:
        return request
    return replace(request, **changed, warnings=(*request.warnings, *warnings))


def admit_event(context: Context, request: EventRequest) -> EventRequest:
    """Return an event as it may be stored.

    Raises:
        TooLargeError: It is over the policy's bound.
        PolicyDeniedError: It holds a secret or comes from whom the policy does not trust.
    """
    context.policy.check_event(request.content)
    context.policy.check_write(request.actor, request.source, None, [request.role])
    changed, warnings = _scrubbed(context, request)
    return replace(request, **changed, warnings=(*request.warnings, *warnings))


def admit_operations(context: Context, request: ApplyRequest) -> ApplyRequest:
    """Return the operations as they may be carried out, as far as their contents go.

    Raises:
        TooLargeError: A content is over the policy's bound.
        PolicyDeniedError: One holds a secret, and the policy refuses those.
    """
    warnings = list(request.warnings)
    operations: list[RequestedOperation] = []
    for number, operation in enumerate(request.operations):
        with located(number):
            changed, found = _admitted(context, operation)
        operations.append(replace(operation, **changed))
        warnings += [f"Operation {number}: {warning}" for warning in found]
    reason, found = _scrubbed(context, request)
    return replace(request, operations=tuple(operations), warnings=(*warnings, *found), **reason)


def admit_reason(context: Context, reason: str | None) -> str | None:
    """Return the reason of a change as it may be stored.

    Raises:
        PolicyDeniedError: It holds a secret, and the policy refuses those.
    """
    changed, _ = _scrubbed(context, _Reason(reason))
    return changed.get("reason", reason)


@dataclass(frozen=True, slots=True)
class _Reason:
    reason: str | None


@contextmanager
def located(number: int) -> Iterator[None]:
    """Name the operation that is refused."""
    try:
        yield
    except EvoMemError as error:
        message = f"Operation {number}: {error.message}"
        raise type(error)(message, **{**error.details, "item": number}) from error


def _admitted(context: Context, operation: RequestedOperation) -> tuple[dict[str, Any], list[str]]:
    if not isinstance(operation, Remove):
        name = "content" if isinstance(operation, Add) else "new_content"
        context.policy.check_text(getattr(operation, name), name)
    return _scrubbed(context, operation)


def check_apply(context: Context, reader: Reader, request: ApplyRequest, draft: Draft) -> None:
    """Refuse operations that the policy does not allow, or not on this evidence.

    Raises:
        PolicyDeniedError: Nothing is written.
    """
    policy, ops = context.policy, [operation.op for operation in request.operations]
    policy.check_operations(ops)
    events = reader.events(context.reach, request.evidence)
    roles = {event.id: event.role for event in events.values()}
    policy.check_evidence(ops, request.evidence, roles)
    for operation in request.operations:
        if isinstance(operation, Add):
            policy.check_write(request.actor, request.source, operation.scope, roles.values())
        elif memory := draft.memory(operation.memory_id):
            for node_id in dict.fromkeys([memory.tip, *standing(draft, memory)]):
                scope = draft.lineage.facts[node_id].scope
                policy.check_replace(request.actor, request.source, scope, roles.values())
            if isinstance(operation, Supersede) and operation.scope is not None:
                policy.check_write(request.actor, request.source, operation.scope, roles.values())


def as_permitted(
    context: Context, draft: Draft, request: RememberRequest, decided: LinkDecision | None
) -> tuple[RememberRequest, LinkDecision | None]:
    """Turn what a caller of low trust would take out of force into a question for review.

    Raises:
        PolicyDeniedError: The caller may not write at all, or not into an occupied slot.
    """
    policy, lineage = context.policy, draft.lineage
    if not policy.trust and policy.default_trust is Trust.HIGH:
        return request, decided
    replaced = (*request.supersedes, *request.refines, *request.overrides)
    changed = [tip for node_id in replaced for tip in lineage.tips(node_id)]
    changed += [*(a.id for a in request.amends), *linked_nodes(decided)]
    scope = note_scope(lineage, request, linked_nodes(decided))
    policy.check_write(request.actor, request.source, scope)
    if request.slot and (present := draft.slots.get((request.slot, scope))):
        for tip in lineage.tips(present):
            policy.check_replace(request.actor, request.source, lineage.facts[tip].scope)
    if not _distrusted(policy, request, [lineage.facts[n].scope for n in changed]):
        return request, decided
    who = request.actor or request.source or "the caller"
    reason = f"proposed by {who}, whom the policy lets propose only{_meant(request)}"
    asked = tuple(
        Suggestion(n, draft.facts.records[n].text, reason, 1.0) for n in dict.fromkeys(changed)
    )
    warning = f"Nothing was replaced: {reason}. A reviewer decides: it waits in review."
    proposal = replace(
        request,
        scope=scope,
        supersedes=(),
        refines=(),
        amends=(),
        overrides=(),
        expected_version=None,
        warnings=(*request.warnings, warning),
    )
    return proposal, Proposed(asked, reason)


def _meant(request: RememberRequest) -> str:
    """Say what a proposal was meant to do where accepting it with link would do more."""
    parts = [f'only the part "{amendment.part}"' for amendment in request.amends]
    parts += [f"only inside the scope {request.scope}"] if request.overrides else []
    return f"; it was to replace {', '.join(parts)}" if parts else ""


def check_change(
    context: Context,
    draft: Draft,
    nodes: Iterable[str],
    actor: str | None,
    source: str | None,
) -> None:
    """Refuse who may not take these nodes out of force, or bring them back.

    Raises:
        PolicyDeniedError: Nothing is written.
    """
    for node_id in nodes:
        context.policy.check_replace(actor, source, draft.lineage.facts[node_id].scope)


def linked_nodes(decided: LinkDecision | None) -> tuple[str, ...]:
    """Return the nodes that a decision changes."""
    match decided:
        case Link(old=old):
            return old
        case Amend(old=one) | Override(old=one):
            return (one,)
        case _:
            return ()


def _distrusted(policy: Policy, request: RememberRequest, scopes: Iterable[str | None]) -> bool:
    by = (request.actor, request.source)
    return any(policy.trust_of(*by, scope) is not Trust.HIGH for scope in scopes)


def _scrubbed(context: Context, request: Any) -> tuple[dict[str, Any], list[str]]:  # noqa: ANN401
    """Return the fields of a request to replace, and what to say about the secrets in it."""
    if context.detector is None:
        return {}, []
    found: dict[str, None] = {}
    known = {f.name for f in fields(request)}
    given = {name: getattr(request, name) for name in _TEXTS if name in known}
    cleaned = {name: _scrub(context, value, found) for name, value in given.items()}
    in_texts = len(found)
    for name in _NAMES:
        _scrub(context, getattr(request, name, None), found)
    if not found:
        return {}, []
    rules = ", ".join(found)
    mode = context.policy.redaction
    if mode is Redaction.REDACT and len(found) > in_texts:
        mode = Redaction.REFUSE
    match mode:
        case Redaction.REFUSE:
            message = (
                f"It holds what looks like a secret ({rules}), which policy.redaction refuses. "
                "Leave the secret out; nothing was written."
            )
            raise PolicyDeniedError(message, rule="policy.redaction", secrets=list(found))
        case Redaction.REDACT:
            changed = {name: value for name, value in cleaned.items() if value != given[name]}
            return changed, [f"Secrets were replaced before storing: {rules}."]
        case _:
            return {}, [f"It holds what looks like a secret: {rules}. It was stored as it is."]


def _scrub(context: Context, value: Any, found: dict[str, None]) -> Any:  # noqa: ANN401
    if isinstance(value, str) and context.detector is not None:
        secrets = context.detector.find(value)
        found.update(dict.fromkeys(secret.rule for secret in secrets))
        return redact(value, secrets) if secrets else value
    if isinstance(value, Mapping):
        pairs = value.items()
        return {_scrub(context, k, found): _scrub(context, v, found) for k, v in pairs}
    if isinstance(value, list | tuple):
        cleaned = [_scrub(context, item, found) for item in value]
        return cleaned if isinstance(value, list) else tuple(cleaned)
    return value
