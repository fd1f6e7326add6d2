"""Every error EvoMem raises on purpose: one root, one stable code each.

```
EvoMemError                 code, message, details
├── InvalidRequestError     INVALID_REQUEST      the call itself is wrong
│   ├── InvalidQueryError   INVALID_QUERY
│   ├── TooLargeError       TOO_LARGE
│   └── ScopeMismatchError  SCOPE_MISMATCH
├── NotFoundError           NOT_FOUND
├── ConflictError           the store has moved on
│   ├── VersionConflictError    VERSION_CONFLICT
│   ├── IdempotencyConflictError IDEMPOTENCY_CONFLICT
│   ├── DuplicateError      DUPLICATE            an equal active note exists
│   └── UnsafeRollbackError UNSAFE_ROLLBACK      later patches depend on this one
├── PolicyDeniedError       POLICY_DENIED        the policy forbids it
│   ├── EvidenceMissingError    EVIDENCE_MISSING
│   └── EvidenceRoleError   EVIDENCE_ROLE
├── ReadOnlyError           READ_ONLY
├── EngineError             ENGINE               the driver's error is the cause
│   ├── EngineBusyError     ENGINE_BUSY          try again
│   └── SchemaVersionError  SCHEMA_VERSION
├── CronistaError           CRONISTA
├── LinkerError             LINKER
└── MissingExtraError       MISSING_EXTRA        also an ImportError
```
"""

from __future__ import annotations

from typing import Any, ClassVar

MAX_SHOWN_CHARS = 100


def shown(value: object) -> str:
    """Write what a caller gave for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"


class EvoMemError(Exception):
    """Root of all EvoMem errors.

    Attributes:
        code: Stable, upper-case name that programs may match on.
        message: What happened and what to do next.
        details: JSON-ready facts about the refusal.
    """

    code: ClassVar[str] = "ENGINE"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = details

    def to_dict(self) -> dict[str, Any]:
        """Return the error as the JSON object that every surface prints."""
        return {"code": self.code, "message": self.message, "details": self.details}


class InvalidRequestError(EvoMemError, ValueError):
    """The request cannot be carried out as it is written."""

    code = "INVALID_REQUEST"


class InvalidQueryError(InvalidRequestError):
    """The query is not text."""

    code = "INVALID_QUERY"


class TooLargeError(InvalidRequestError):
    """A text or a list is over its bound."""

    code = "TOO_LARGE"


class ScopeMismatchError(InvalidRequestError):
    """A note of one scope cannot wholly replace a note of another."""

    code = "SCOPE_MISMATCH"


class NotFoundError(EvoMemError):
    """The id is not known in this namespace."""

    code = "NOT_FOUND"


class ConflictError(EvoMemError):
    """The store no longer is what the caller assumed."""

    code = "VERSION_CONFLICT"


class VersionConflictError(ConflictError):
    """The memory is at another version than expected; `details["current"]` says which."""

    code = "VERSION_CONFLICT"


class IdempotencyConflictError(ConflictError):
    """The idempotency key was used before with another payload."""

    code = "IDEMPOTENCY_CONFLICT"


class DuplicateError(ConflictError):
    """An equal active note exists; `details["current"]` says which."""

    code = "DUPLICATE"


class UnsafeRollbackError(ConflictError):
    """Later patches depend on the one to undo; `details["dependents"]` names them."""

    code = "UNSAFE_ROLLBACK"


class PolicyDeniedError(EvoMemError):
    """The policy forbids it; the message names the rule."""

    code = "POLICY_DENIED"


class EvidenceMissingError(PolicyDeniedError):
    """The policy asks for evidence that was not given, or that this namespace does not hold."""

    code = "EVIDENCE_MISSING"


class EvidenceRoleError(PolicyDeniedError):
    """The policy does not accept the role of an event as evidence."""

    code = "EVIDENCE_ROLE"


class ReadOnlyError(EvoMemError):
    """The store was opened read-only, or its file may not be written."""

    code = "READ_ONLY"


class EngineError(EvoMemError):
    """The storage engine failed; nothing was half-written."""

    code = "ENGINE"


class EngineBusyError(EngineError):
    """Another process held the store for longer than the time-out; try again."""

    code = "ENGINE_BUSY"


class SchemaVersionError(EngineError):
    """The store was made by another version of EvoMem."""

    code = "SCHEMA_VERSION"


class CronistaError(EvoMemError):
    """The note-taker failed; the text itself is stored all the same."""

    code = "CRONISTA"


class LinkerError(EvoMemError):
    """The linker failed; the note is stored without a link."""

    code = "LINKER"


class MissingExtraError(EvoMemError, ImportError):
    """An optional dependency is not installed; the message names the extra."""

    code = "MISSING_EXTRA"
