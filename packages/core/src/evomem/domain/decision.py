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


@dataclass(frozen=True, slots=True)
class Proposed(Abstain):
    """The caller named what the note replaces, and may only propose it."""


LinkDecision = Link | Amend | Override | NoLink | Abstain


def checked(decided: object) -> LinkDecision:
    """Return a linker's answer if it is one; a linker may be any code.

    Raises:
        TypeError: Not a decision, or one with a reason that is no text.
        ValueError: A confidence outside 0 to 1.
    """
    if not isinstance(decided, LinkDecision):
        message = f"it answered {type(decided).__name__}, which is no decision"
        raise TypeError(message)
    parts = decided.suggestions if isinstance(decided, Abstain) else (decided,)
    for part in parts:
        reason: object = part.reason
        if not isinstance(reason, str):
            message = "a reason is a text"
            raise TypeError(message)
        if not 0 <= part.confidence <= 1:
            message = f"confidence {part.confidence} is not between 0 and 1"
            raise ValueError(message)
    return decided
