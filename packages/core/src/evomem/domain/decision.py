"""What a linker may answer about a new note and the heads it might replace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A head that a new note might replace.

    Attributes:
        node_id: The head.
        text: Its text.
        subject: Its subject, if it has one.
        scope: Where it holds.
        slot: Its address, if it has one.
        change: What it decided, as its cronista found.
        recorded_at: ISO time, for people.
        score: Retrieval score, higher is better.
    """

    node_id: str
    text: str
    subject: str | None = None
    scope: str | None = None
    slot: str | None = None
    change: str = ""
    recorded_at: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A candidate that the linker would ask about, with its reason."""

    node_id: str
    text: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Link:
    """The note replaces `old` wholly."""

    old: tuple[str, ...]
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Amend:
    """The note replaces the quoted `part` of `old`, which stays in force."""

    old: str
    part: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Override:
    """The note wins over `old` in its own, narrower scope."""

    old: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class NoLink:
    """The note replaces nothing among the candidates."""

    reason: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Abstain:
    """The linker is not sure: the candidates go back to the caller, nothing is linked."""

    suggestions: tuple[Suggestion, ...]
    reason: str


LinkDecision = Link | Amend | Override | NoLink | Abstain
