"""EvoMem: a memory for AI agents that knows when a decision was replaced."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evomem.domain.decision import (
    Abstain,
    Amend,
    Candidate,
    Link,
    LinkDecision,
    NoLink,
    Override,
    Suggestion,
)
from evomem.domain.extraction import Extraction, Span, Spans
from evomem.domain.node import MemoryNode, Status
from evomem.domain.patch import Change, Op, Operation
from evomem.errors import (
    ConflictError,
    CronistaError,
    DuplicateError,
    EngineBusyError,
    EngineError,
    EvidenceMissingError,
    EvidenceRoleError,
    EvoMemError,
    IdempotencyConflictError,
    InvalidQueryError,
    InvalidRequestError,
    LinkerError,
    MissingExtraError,
    NotFoundError,
    PolicyDeniedError,
    ReadOnlyError,
    SchemaVersionError,
    ScopeMismatchError,
    TooLargeError,
    UnsafeRollbackError,
    VersionConflictError,
)

if TYPE_CHECKING:
    from evomem.cronista.gate import decisions_in
    from evomem.domain.diagnosis import AuditReport, Check, Diagnosis
    from evomem.domain.event import EventRecord, EventRequest, parse_event
    from evomem.domain.operation import Add, ApplyRequest, Remove, Supersede, Update, parse_apply
    from evomem.domain.patch_result import (
        AppliedOperation,
        MemoryRecord,
        MemoryVersion,
        PatchLink,
        PatchRecord,
        PatchResult,
    )
    from evomem.domain.question import ListRequest, RecallRequest, parse_list, parse_recall
    from evomem.domain.request import RememberRequest, parse_remember
    from evomem.domain.result import (
        Amended,
        Contribution,
        Decision,
        Explanation,
        ForgetResult,
        Hit,
        LinkResult,
        Matched,
        Moved,
        Page,
        PendingReview,
        RecallResult,
        ReindexResult,
        RememberResult,
        Stats,
    )
    from evomem.domain.time import Instant
    from evomem.service.aio import AsyncMemory
    from evomem.service.memory import Memory
    from evomem.service.opening import aopen_memory as aopen
    from evomem.service.opening import open_memory as open  # noqa: A004  the name users expect

    __version__: str

__all__ = [
    "Abstain",
    "Add",
    "Amend",
    "Amended",
    "AppliedOperation",
    "ApplyRequest",
    "AsyncMemory",
    "AuditReport",
    "Candidate",
    "Change",
    "Check",
    "ConflictError",
    "Contribution",
    "CronistaError",
    "Decision",
    "Diagnosis",
    "DuplicateError",
    "EngineBusyError",
    "EngineError",
    "EventRecord",
    "EventRequest",
    "EvidenceMissingError",
    "EvidenceRoleError",
    "EvoMemError",
    "Explanation",
    "Extraction",
    "ForgetResult",
    "Hit",
    "IdempotencyConflictError",
    "Instant",
    "InvalidQueryError",
    "InvalidRequestError",
    "Link",
    "LinkDecision",
    "LinkResult",
    "LinkerError",
    "ListRequest",
    "Matched",
    "Memory",
    "MemoryNode",
    "MemoryRecord",
    "MemoryVersion",
    "MissingExtraError",
    "Moved",
    "NoLink",
    "NotFoundError",
    "Op",
    "Operation",
    "Override",
    "Page",
    "PatchLink",
    "PatchRecord",
    "PatchResult",
    "PendingReview",
    "PolicyDeniedError",
    "ReadOnlyError",
    "RecallRequest",
    "RecallResult",
    "ReindexResult",
    "RememberRequest",
    "RememberResult",
    "Remove",
    "SchemaVersionError",
    "ScopeMismatchError",
    "Span",
    "Spans",
    "Stats",
    "Status",
    "Suggestion",
    "Supersede",
    "TooLargeError",
    "UnsafeRollbackError",
    "Update",
    "VersionConflictError",
    "__version__",
    "aopen",
    "decisions_in",
    "open",
    "parse_apply",
    "parse_event",
    "parse_list",
    "parse_recall",
    "parse_remember",
]


_DOMAIN = {
    "diagnosis": (
        "AuditReport",
        "Check",
        "Diagnosis",
    ),
    "event": (
        "EventRecord",
        "EventRequest",
        "parse_event",
    ),
    "operation": (
        "Add",
        "ApplyRequest",
        "Remove",
        "Supersede",
        "Update",
        "parse_apply",
    ),
    "patch_result": (
        "AppliedOperation",
        "MemoryRecord",
        "MemoryVersion",
        "PatchLink",
        "PatchRecord",
        "PatchResult",
    ),
    "question": ("ListRequest", "RecallRequest", "parse_list", "parse_recall"),
    "request": ("RememberRequest", "parse_remember"),
    "time": ("Instant",),
    "result": (
        "Amended",
        "Contribution",
        "Decision",
        "Explanation",
        "ForgetResult",
        "Hit",
        "LinkResult",
        "Matched",
        "Moved",
        "Page",
        "PendingReview",
        "RecallResult",
        "ReindexResult",
        "RememberResult",
        "Stats",
    ),
}

_LAZY = {
    **{
        name: (f"evomem.domain.{module}", name)
        for module, names in _DOMAIN.items()
        for name in names
    },
    "AsyncMemory": ("evomem.service.aio", "AsyncMemory"),
    "Memory": ("evomem.service.memory", "Memory"),
    "decisions_in": ("evomem.cronista.gate", "decisions_in"),
    "aopen": ("evomem.service.opening", "aopen_memory"),
    "open": ("evomem.service.opening", "open_memory"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  a module attribute may be anything
    """Load a name when it is used first: most programs use few of them."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  costs as much as all the rest

        return version("evomem-core")
    if name not in _LAZY:
        message = f"module 'evomem' has no attribute {name!r}"
        raise AttributeError(message)
    module, attribute = _LAZY[name]
    value = globals()[name] = getattr(import_module(module), attribute)
    return value
