"""What the cronista makes of a text: verbatim spans per narrative field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

FIELDS = ("trigger", "change", "alternatives_tried", "consequences")
"""The narrative fields, in the order in which a story tells them."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a node's text.

    Attributes:
        text: Exactly `node.text[start:end]` (promise `fields.verbatim`).
        start: Offset of the first code point.
        end: Offset after the last code point.
        confidence: 0 to 1, how sure the cronista is of the field.
    """

    text: str
    start: int
    end: int
    confidence: float = 1.0

    def __str__(self) -> str:
        """Return the text alone."""
        return self.text

    def is_in(self, text: str) -> bool:
        """Tell whether this is a slice of `text`, with a confidence from 0 to 1."""
        inside = 0 <= self.start < self.end <= len(text)
        return inside and text[self.start : self.end] == self.text and 0 <= self.confidence <= 1


class Spans(tuple[Span, ...]):
    """The spans of one field; `str()` joins their texts."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the texts, joined by `; `."""
        return "; ".join(span.text for span in self)


NO_SPANS = Spans()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The narrative fields of one text.

    Attributes:
        trigger: Why the change was made.
        change: What was decided or done.
        alternatives_tried: What was weighed or tried before.
        consequences: What follows from it.
        summary: One or two sentences assembled from the spans.
        cronista: Name and version of what extracted them, for example `lite/1`.
        warnings: What the reader should know, in plain words.
    """

    cronista: str
    trigger: Spans = NO_SPANS
    change: Spans = NO_SPANS
    alternatives_tried: Spans = NO_SPANS
    consequences: Spans = NO_SPANS
    summary: str = ""
    warnings: tuple[str, ...] = ()

    def verified(self, text: str) -> Extraction:
        """Return a copy that holds only what may be stored with `text`.

        The last guard of the promise `fields.verbatim`: whatever a cronista returns, a span that
        is not a slice of the text is dropped and named in `warnings`.

        Raises:
            TypeError: It is not made of the types above.
        """
        for value in cast("tuple[object, ...]", (self.cronista, self.summary)):
            if not isinstance(value, str):
                message = f"cronista and summary are texts, not {type(value).__name__}"
                raise TypeError(message)
        fields = {name: tuple(getattr(self, name)) for name in FIELDS}
        kept = {name: Spans(s for s in spans if s.is_in(text)) for name, spans in fields.items()}
        lost = [
            f"{self.cronista} gave a {name} that is not in the text: dropped."
            for name in FIELDS
            if len(kept[name]) < len(fields[name])
        ]
        return Extraction(
            cronista=self.cronista,
            trigger=kept["trigger"],
            change=kept["change"],
            alternatives_tried=kept["alternatives_tried"],
            consequences=kept["consequences"],
            summary=self.summary,
            warnings=(*map(str, self.warnings), *lost),
        )

    def offsets(self) -> dict[str, Any]:
        """Return what is stored beside the text: verbatim spans are read back from it."""
        fields: dict[str, Any] = {
            name: [[span.start, span.end, round(span.confidence, 3)] for span in spans]
            for name in FIELDS
            if (spans := getattr(self, name))
        }
        return {**fields, "summary": self.summary} if self.summary else fields

    @classmethod
    def from_offsets(cls, offsets: Mapping[str, Any], text: str, cronista: str) -> Extraction:
        """Return the fields that `offsets` describes in `text`."""

        def spans(name: str) -> Spans:
            found = offsets.get(name, ())
            return Spans(Span(text[start:end], start, end, sure) for start, end, sure in found)

        return cls(
            cronista=cronista,
            trigger=spans("trigger"),
            change=spans("change"),
            alternatives_tried=spans("alternatives_tried"),
            consequences=spans("consequences"),
            summary=offsets.get("summary", ""),
        )
