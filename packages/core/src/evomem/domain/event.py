"""Events: immutable evidence. An event proves who said what and when, not that it is true."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

ROLES = ("user", "assistant", "tool", "system", "document")


@dataclass(frozen=True, slots=True)
class Event:
    """A piece of evidence: what was said, by which role, when."""

    id: str
    role: str
    content: str
    occurred_at: datetime
    session: str | None = None
    external_id: str | None = None
