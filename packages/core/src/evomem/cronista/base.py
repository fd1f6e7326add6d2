"""The port of the note-taker: text in, narrative fields out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evomem.domain.extraction import Extraction
from evomem.errors import InvalidRequestError

KNOWN_CRONISTAS = ("lite",)
"""The names `create_cronista` answers to."""


class Cronista(Protocol):
    """What every cronista keeps to.

    - Batch first: a model may be far cheaper per text when it sees many at once.
    - Order is kept: the answer has one extraction per text, the n-th for the n-th text.
    - Total: no `str` raises. A text without a decision gives empty fields, a text that cannot be
      analysed in full gives what was found and a warning.
    - Pure: the same text gives the same extraction, alone or in any batch; nothing is written.
    - Verbatim: every span is `text[start:end]`; the spans of one field are in the order of the
      text and do not overlap (promise `fields.verbatim`).
    """

    @property
    def name(self) -> str:
        """Name and version, for example `lite/1`; stored with every node it described."""
        ...

    def extract(self, texts: Sequence[str]) -> list[Extraction]:
        """Return the narrative fields of each text."""
        ...


def create_cronista(name: str) -> Cronista:
    """Return the cronista of this name; its module is imported only now.

    Raises:
        InvalidRequestError: No cronista has this name.
    """
    if name == "lite":
        from evomem.cronista.lite import LiteCronista  # noqa: PLC0415 (only the chosen one loads)

        return LiteCronista()
    message = f"There is no cronista {name!r}. Choose one of: {', '.join(KNOWN_CRONISTAS)}."
    raise InvalidRequestError(message, field="cronista", known=list(KNOWN_CRONISTAS))
