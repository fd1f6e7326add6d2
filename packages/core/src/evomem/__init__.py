"""EvoMem: a memory for AI agents that knows when a decision was replaced."""

from __future__ import annotations

from importlib.metadata import version as _version

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
from evomem.domain.request import (
    ListRequest,
    RecallRequest,
    RememberRequest,
    parse_list,
    parse_recall,
    parse_remember,
)
from evomem.domain.result import (
    Decision,
    ForgetResult,
    Hit,
    LinkResult,
    Matched,
    Moved,
    Page,
    PendingReview,
    RecallResult,
    RememberResult,
    Stats,
)
from evomem.errors import (
    ConflictError,
    CronistaError,
    EngineBusyError,
    EngineError,
    EvoMemError,
    IdempotencyConflictError,
    InvalidQueryError,
    InvalidRequestError,
    LinkerError,
    MissingExtraError,
    NotFoundError,
    ReadOnlyError,
    SchemaVersionError,
    ScopeMismatchError,
    TooLargeError,
    VersionConflictError,
)
from evomem.service.memory import Memory
from evomem.service.opening import aopen_memory as aopen
from evomem.service.opening import open_memory as open  # noqa: A004  the name users expect

__version__ = _version("evomem-core")

__all__ = [
    "Abstain",
    "Amend",
    "Candidate",
    "Change",
    "ConflictError",
    "CronistaError",
    "Decision",
    "EngineBusyError",
    "EngineError",
    "EvoMemError",
    "Extraction",
    "ForgetResult",
    "Hit",
    "IdempotencyConflictError",
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
    "MissingExtraError",
    "Moved",
    "NoLink",
    "NotFoundError",
    "Op",
    "Operation",
    "Override",
    "Page",
    "PendingReview",
    "ReadOnlyError",
    "RecallRequest",
    "RecallResult",
    "RememberRequest",
    "RememberResult",
    "SchemaVersionError",
    "ScopeMismatchError",
    "Span",
    "Spans",
    "Stats",
    "Status",
    "Suggestion",
    "TooLargeError",
    "VersionConflictError",
    "__version__",
    "aopen",
    "open",
    "parse_list",
    "parse_recall",
    "parse_remember",
]
