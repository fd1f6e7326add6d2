"""What may be written, by whom and on what evidence.

Two limits of every policy: evidence proves where a statement comes from, not that it is true; and
trust goes by what a caller says of itself, as nothing here authenticates `actor` and `source`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from evomem.domain.arguments import whole_number
from evomem.domain.event import ROLES
from evomem.domain.operation import MAX_OPERATIONS
from evomem.domain.patch import Op
from evomem.domain.scope import contains, parse_scope
from evomem.domain.text import MAX_TEXT_BYTES
from evomem.errors import (
    EvidenceMissingError,
    EvidenceRoleError,
    InvalidRequestError,
    PolicyDeniedError,
    TooLargeError,
)

MAX_EVIDENCE = 1000


class Trust(StrEnum):
    """How far a caller is believed.

    HIGH may do what the policy allows. LOW may add and propose, but takes nothing out of force.
    NONE may not write.
    """

    HIGH = "high"
    LOW = "low"
    NONE = "none"


class Redaction(StrEnum):
    """What happens to a secret in a text: nothing, a warning, its removal, or a refusal."""

    OFF = "off"
    WARN = "warn"
    REDACT = "redact"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class EvidenceRules:
    """Which operations must cite events, and whose words count.

    Attributes:
        required_for: A patch with one of these must cite at least one event.
        roles: The roles an event may have to be cited. An assistant's own words are none of them
            by default, or a model could prove anything by saying it.
        max_per_patch: How many events one patch may cite.
    """

    required_for: frozenset[Op] = frozenset({Op.ADD, Op.UPDATE, Op.SUPERSEDE, Op.REMOVE})
    roles: frozenset[str] = frozenset(ROLES) - {"assistant"}
    max_per_patch: int = 100

    def __post_init__(self) -> None:
        whole_number(self.max_per_patch, "policy.evidence.max_per_patch", 1, MAX_EVIDENCE)


@dataclass(frozen=True, slots=True)
class TrustRule:
    """How far those who fit all of its parts are believed.

    Attributes:
        trust: The answer for whoever fits.
        actor: A glob, case matters. A caller that names no actor fits `*` only.
        source: A glob in the same way.
        scope: This scope and whatever lies inside it; None is any.
        roles: Empty, or: there is evidence, and all of it is of these roles.
    """

    trust: Trust
    actor: str = "*"
    source: str = "*"
    scope: str | None = None
    roles: frozenset[str] = frozenset()

    def fits(
        self, actor: str | None, source: str | None, scope: str | None, roles: frozenset[str]
    ) -> bool:
        """Tell whether the rule is about this caller, scope and evidence."""
        return (
            _matches(self.actor, actor)
            and _matches(self.source, source)
            and contains(parse_scope(self.scope), scope)
            and (not self.roles or (bool(roles) and roles <= self.roles))
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one memory; the defaults are those of a memory without a policy file.

    Attributes:
        evidence: What must be proven, and by whose words.
        operations: What a patch may do.
        max_operations: How many operations one patch may hold.
        max_text_bytes: The longest text of a note in UTF-8; 1 MiB or less.
        max_event_bytes: The longest text of an event in UTF-8; 1 MiB or less.
        default_trust: Trust in whoever no rule fits.
        trust: The first rule that fits decides.
        purge: Globs of the actors who may delete texts.
        rollback: Globs of the actors who may undo patches.
        redaction: What happens to secrets.
    """

    evidence: EvidenceRules = EvidenceRules()
    operations: frozenset[Op] = frozenset(Op)
    max_operations: int = MAX_OPERATIONS
    max_text_bytes: int = MAX_TEXT_BYTES
    max_event_bytes: int = MAX_TEXT_BYTES
    default_trust: Trust = Trust.HIGH
    trust: tuple[TrustRule, ...] = ()
    purge: tuple[str, ...] = ("*",)
    rollback: tuple[str, ...] = ("*",)
    redaction: Redaction = Redaction.OFF

    def __post_init__(self) -> None:
        ceilings = {
            "operations.max_per_patch": (self.max_operations, MAX_OPERATIONS),
            "limits.max_text_bytes": (self.max_text_bytes, MAX_TEXT_BYTES),
            "limits.max_event_bytes": (self.max_event_bytes, MAX_TEXT_BYTES),
        }
        for key, (value, ceiling) in ceilings.items():
            whole_number(value, f"policy.{key}", 1, ceiling)

    def trust_of(
        self,
        actor: str | None,
        source: str | None,
        scope: str | None,
        roles: Iterable[str] = (),
    ) -> Trust:
        """Return the trust in a caller, as far as what it says of itself is true.

        Args:
            actor: Who it says it is.
            source: By which way it came.
            scope: Of the note that is added, or of the node that is taken out of force.
            roles: Of the events that are cited.
        """
        return self._decide(actor, source, scope, roles)[0]

    def check_write(
        self,
        actor: str | None,
        source: str | None,
        scope: str | None,
        roles: Iterable[str] = (),
    ) -> None:
        """Refuse a caller without any trust.

        Raises:
            PolicyDeniedError: Its trust is NONE.
        """
        trust, rule = self._decide(actor, source, scope, roles)
        if trust is Trust.NONE:
            raise _distrusted(trust, rule, actor, scope, "may not write")

    def check_replace(
        self,
        actor: str | None,
        source: str | None,
        scope: str | None,
        roles: Iterable[str] = (),
    ) -> None:
        """Refuse a caller who may not take a node of this scope out of force.

        Raises:
            PolicyDeniedError: Its trust is LOW or NONE.
        """
        trust, rule = self._decide(actor, source, scope, roles)
        if trust is not Trust.HIGH:
            raise _distrusted(trust, rule, actor, scope, "may not take a node out of force")

    def check_operations(self, ops: Iterable[Op]) -> None:
        """Refuse an operation that the policy does not list.

        Raises:
            PolicyDeniedError: It names the operation and the rule.
        """
        for op in ops:
            if op not in self.operations:
                rule = "policy.operations.allowed"
                message = f"{rule} does not list {op}. Nothing was written."
                raise PolicyDeniedError(message, rule=rule, op=str(op))

    def check_count(self, count: int) -> None:
        """Refuse a patch of no operation, or of too many.

        Raises:
            InvalidRequestError: There is none.
            TooLargeError: There are more than `max_operations`.
        """
        if count < 1:
            message = "The patch holds no operation: pass at least one."
            raise InvalidRequestError(message, field="operations")
        _check_count("operations", count, self.max_operations, "policy.operations.max_per_patch")

    def check_evidence(
        self, ops: Iterable[Op], given: Sequence[str], roles: Mapping[str, str]
    ) -> None:
        """Refuse a patch whose evidence is missing, unknown or of the wrong role.

        What passes is proof of who said something, not that it is true.

        Args:
            ops: What the patch does.
            given: The ids of the events that the caller cites.
            roles: The role of each of them that this namespace holds.

        Raises:
            TooLargeError: More events than `max_per_patch`.
            EvidenceMissingError: None where one is required, or an id that is unknown here.
            EvidenceRoleError: An event whose role does not count.
        """
        rules = self.evidence
        limit = "policy.evidence.max_per_patch"
        _check_count("evidence", len(given), rules.max_per_patch, limit)
        if not given:
            _require_none(ops, rules)
        if unknown := [event for event in given if event not in roles]:
            message = (
                f"No event of this namespace is {', '.join(unknown)}. "
                "Record the evidence with record_event first, then cite the ids it returns."
            )
            raise EvidenceMissingError(message, ids=unknown)
        for event in given:
            if roles[event] not in rules.roles:
                raise _wrong_role(event, roles[event], rules)

    def check_text(self, text: str, field: str = "text") -> None:
        """Refuse the text of a note that is over the limit.

        Raises:
            TooLargeError: It says the size and the limit.
        """
        _check_size(text, field, self.max_text_bytes, "policy.limits.max_text_bytes")

    def check_event(self, content: str, field: str = "content") -> None:
        """Refuse the text of an event that is over the limit.

        Raises:
            TooLargeError: It says the size and the limit.
        """
        _check_size(content, field, self.max_event_bytes, "policy.limits.max_event_bytes")

    def check_purge(self, actor: str | None) -> None:
        """Refuse an actor who may not delete texts.

        Raises:
            PolicyDeniedError: No glob of `purge` fits.
        """
        _check_actor(actor, self.purge, "policy.permissions.purge")

    def check_rollback(self, actor: str | None) -> None:
        """Refuse an actor who may not undo patches.

        Raises:
            PolicyDeniedError: No glob of `rollback` fits.
        """
        _check_actor(actor, self.rollback, "policy.permissions.rollback")

    def _decide(
        self, actor: str | None, source: str | None, scope: str | None, roles: Iterable[str]
    ) -> tuple[Trust, str]:
        """Return the trust, and the key of the policy that decided."""
        cited, place = frozenset(roles), parse_scope(scope)
        for index, rule in enumerate(self.trust):
            if rule.fits(actor, source, place, cited):
                return rule.trust, f"policy.trust.rules[{index}]"
        return self.default_trust, "policy.trust.default"


def _matches(glob: str, name: str | None) -> bool:
    return glob == "*" if name is None else fnmatchcase(name, glob)


def _check_count(field: str, count: int, limit: int, rule: str) -> None:
    if count > limit:
        message = f"{field} has {count} entries, more than the {limit} of {rule}. Split the patch."
        raise TooLargeError(message, field=field, count=count, limit=limit, rule=rule)


def _check_size(text: str, field: str, limit: int, rule: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        message = f"{field} has {size} bytes, more than the {limit} of {rule}. Split the text."
        raise TooLargeError(message, field=field, size_bytes=size, limit_bytes=limit, rule=rule)


def _check_actor(actor: str | None, globs: Iterable[str], rule: str) -> None:
    if any(_matches(glob, actor) for glob in globs):
        return
    message = f"{_name(actor)} may not do this: {rule} does not list it. Nothing was changed."
    raise PolicyDeniedError(message, rule=rule, actor=actor)


def _name(actor: str | None) -> str:
    return "A caller that names no actor" if actor is None else f"The actor {actor!r}"


def _distrusted(
    trust: Trust, rule: str, actor: str | None, scope: str | None, what: str
) -> PolicyDeniedError:
    where = f" in the scope {scope!r}" if scope else ""
    message = f"{_name(actor)} {what}{where}: {rule} gives {trust} trust."
    if trust is Trust.LOW:
        message += " Propose the change with remember(supersedes=...) instead."
    return PolicyDeniedError(message, rule=rule, trust=str(trust), actor=actor, scope=scope)


def _require_none(ops: Iterable[Op], rules: EvidenceRules) -> None:
    needing = sorted({str(op) for op in ops} & {str(op) for op in rules.required_for})
    if needing:
        rule = "policy.evidence.required_for"
        message = (
            f"{', '.join(needing)} needs evidence ({rule}): record what was said with "
            "record_event and pass its id in evidence."
        )
        raise EvidenceMissingError(message, rule=rule, ops=needing)


def _wrong_role(event: str, role: str, rules: EvidenceRules) -> EvidenceRoleError:
    rule, allowed = "policy.evidence.roles", sorted(rules.roles)
    message = (
        f"The event {event} is of the role {role!r}, and {rule} accepts only "
        f"{', '.join(allowed) or 'none'}. Cite the event in which such a role says it."
    )
    return EvidenceRoleError(message, rule=rule, event=event, role=role, allowed=allowed)
