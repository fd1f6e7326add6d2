"""What the cronista makes of a text: verbatim spans per narrative field."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
        """Return a copy without the spans that are not verbatim in `text`.

        The last guard of the promise `fields.verbatim`: whatever a cronista returns, a span that
        is not a slice of the text is dropped and named in `warnings`.
        """
        lost: list[str] = []

        def keep(name: str) -> Spans:
            spans: Spans = getattr(self, name)
            kept = Spans(span for span in spans if text[span.start : span.end] == span.text)
            if len(kept) < len(spans):
                lost.append(f"{self.cronista} gave a {name} that is not in the text: dropped.")
            return kept

        checked = replace(
            self,
            trigger=keep("trigger"),
            change=keep("change"),
            alternatives_tried=keep("alternatives_tried"),
            consequences=keep("consequences"),
        )
        return replace(checked, warnings=(*self.warnings, *lost)) if lost else checked
