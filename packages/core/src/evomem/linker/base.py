"""The port of the linker: a new note and the heads it might replace in, a decision out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evomem.domain.decision import Candidate, LinkDecision, NoLink
from evomem.errors import InvalidRequestError

KNOWN_LINKERS = ("heuristic",)
"""The names `create_linker` answers to."""


@dataclass(frozen=True, slots=True)
class NoteView:
    """What a linker sees of the new note.

    Attributes:
        text: Its text.
        subject: Its subject, if it has one.
        scope: Where it holds; None is everywhere.
        slot: Its address, if it has one.
        change: What it decides, as the cronista found; empty if it decides nothing.
    """

    text: str
    subject: str | None
    scope: str | None
    slot: str | None
    change: str


class Linker(Protocol):
    """What every linker keeps to.

    - It decides about the given candidates only; the service has fetched them, best first.
    - Not sure is an answer: `Abstain` with its suggestions, best first. `Link`, `Amend` and
      `Override` are for what may be written without asking (promise `link.never-guess`).
    - `Abstain` names at least one candidate; with nothing to suggest the answer is `NoLink`.
    - A candidate whose text is the note's is never suggested: a note does not replace itself.
    - Every reason is one line for people. Confidence is 0 to 1.
    - It writes nothing. It may be slow; the service holds no transaction meanwhile.
    """

    @property
    def name(self) -> str:
        """Name and version, for example `heuristic/1`; stored with every link it made."""
        ...

    def gate(self, note: NoteView) -> NoLink | None:
        """Say from the note alone that it replaces nothing, or None; candidates cost a search."""
        ...

    def decide(self, note: NoteView, candidates: Sequence[Candidate]) -> LinkDecision:
        """Return which of the candidates the note replaces.

        Raises:
            LinkerError: A model behind it failed; the note is stored without a link.
        """
        ...


def create_linker(name: str, *, auto: bool = False) -> Linker:
    """Return the linker of this name; its module is imported only now.

    Args:
        name: One of `KNOWN_LINKERS`.
        auto: Whether it may link without asking where it is certain enough.

    Raises:
        InvalidRequestError: No linker has this name.
    """
    if name == "heuristic":
        from evomem.linker.heuristic import HeuristicLinker  # noqa: PLC0415 (loads when chosen)

        return HeuristicLinker(auto=auto)
    message = f"There is no linker {name!r}. Choose one of: {', '.join(KNOWN_LINKERS)}."
    raise InvalidRequestError(message, field="linker", known=list(KNOWN_LINKERS))
