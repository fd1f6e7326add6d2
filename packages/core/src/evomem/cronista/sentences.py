"""Text to pieces: sentences and the clauses inside them, with offsets into the text.

Everything here is one pass of a compiled pattern whose alternatives cannot match the same text in
two ways, so the time grows with the length of the text and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evomem.cronista.decisions import is_clausal, is_statement
from evomem.cronista.headings import ABBREVIATIONS, HEADINGS, MONTHS, OPENERS

BOUNDARY = re.compile(
    r"""
    ```[\s\S]*?```                          # a code fence, or
    | `[^`\n]*`                             # inline code: no boundary inside
    | \n
    | (?<![.!?])[.!?]++["'\u201d\u2019»)\]]*+(?=\s|$)             # not inside 1.2, a.b.example or v2.x
    | [。\uff01\uff1f]+[」』\uff09\u201d\u2019)]*
    """,
    re.VERBOSE,
)
BULLET = re.compile(r"(?:[-*•·\u2013>]|\#{1,6}|\d{1,2}[.)]|\[[ xX]\])\s+")
LABEL = re.compile(r"[*_]*([^\W_][^:\uff1a.!?,;\n`(]{0,28}?)[*_]*\s?(?::[*_]*(?=\s)|\uff1a)\s*")
# Where a clause may start inside a sentence: what stands before is left out, the connector is kept.
# It begins with one class of characters so that the search skips to them.
CLAUSE = re.compile(
    r"""
    [\s,:;\uff1b\uff0c、](?:
        (?<=[,:;])\s | (?<=[\uff1b\uff0c]) | (?<=ため、) | (?<=ので、) | (?<=から、) | (?<=が、)
      | (?<=\s)(?:[-\u2013\u2014]{1,2}\s | (?=\([^()\n]{8,200}\)) | (?=
            (?:because|since|after|due\ to|weil|wegen|seit|nach\ dem|porque|puesto\ que|ya\ que|
            por\ eso|parce\ que|puisque|pois|car)\s))
    )
    """,
    re.VERBOSE,
)
HAS_WORD = re.compile(r"\w")
LAST_WORD = re.compile(r"[^\s.(\[]+$")
NEXT_WORD = re.compile(r"\s([^\W\d_]+)")
MIN_CLAUSE = 6
MAX_HEADING_CHARS = 40
MAX_PIECES = 400


@dataclass(slots=True)
class Piece:
    """A sentence, or a clause of one.

    Attributes:
        start: Offset of the first code point.
        end: Offset after the last code point.
        line: How many line ends come before it.
        role: The field that a heading in front of it names, else empty.
        governed: It follows a heading, but at some distance.
        opens: It starts where its sentence starts, or right after the sentence's label.
        closes: It ends where its sentence ends.
    """

    start: int
    end: int
    line: int
    role: str = ""
    governed: bool = False
    opens: bool = True
    closes: bool = True


def split(text: str, limit: int) -> list[Piece]:
    """Return the pieces of `text[:limit]` in order, at most `MAX_PIECES`."""
    pieces: list[Piece] = []
    role, alone, fresh, last_line = "", False, False, 0
    for start, end, line in sentences(text, limit):
        if line > last_line + 1 and not fresh:
            role = ""
        last_line = line
        bare = _bare_heading(text, start, end)
        if bare:
            role, alone, fresh = bare, True, True
            continue
        body, named = _after_label(text, start, end)
        if named:
            role, alone = named, False
        if body < end:
            pieces.extend(_clauses(text, (body, end), line, role, at_once=bool(named) or alone))
            fresh = False
        if len(pieces) >= MAX_PIECES:
            break
    return pieces[:MAX_PIECES]


def sentences(text: str, limit: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and line of every sentence that holds a letter or a digit."""
    start = line = 0
    limit = min(limit, len(text))
    for match in BOUNDARY.finditer(text, 0, limit):
        mark = match[0]
        if mark[0] == "`" or (mark == "." and _is_inside(text, match.start())):
            line += mark.count("\n")
            continue
        end = match.start() if mark == "\n" else match.end()
        yield from _trimmed(text, start, end, line)
        start = match.end()
        line += mark == "\n"
    yield from _trimmed(text, start, limit, line)


def _trimmed(text: str, start: int, end: int, line: int) -> Iterator[tuple[int, int, int]]:
    """Yield the sentence without blanks, bullets and fences around it, unless nothing is left."""
    if ends := _with_word(text, start, end):
        left, right = ends
        if bullet := BULLET.match(text, left, right):
            left = bullet.end()
            if not HAS_WORD.search(text, left, right):
                return
        if not text.startswith("```", left):
            yield left, right, line


def _is_inside(text: str, dot: int) -> bool:
    """Tell whether the full stop at `dot` ends an abbreviation or an ordinal, not a sentence."""
    before = LAST_WORD.search(text, max(0, dot - 12), dot)
    if before is None:
        return False
    word = before[0].casefold()
    if word.isdigit():
        after = NEXT_WORD.match(text, dot + 1, dot + 14)
        return len(word) <= 2 and after is not None and after[1].casefold() in MONTHS
    return word in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and before[0].isupper())


def _bare_heading(text: str, start: int, end: int) -> str:
    """Return the field that a heading on a line of its own names."""
    if end - start > MAX_HEADING_CHARS:
        return ""
    return HEADINGS.get(text[start:end].strip("*_:\uff1a ").casefold(), "")


def _after_label(text: str, start: int, end: int) -> tuple[int, str]:
    """Return where the sentence begins after a label such as `Why:`, and the field it names."""
    near = min(end, start + MAX_HEADING_CHARS)
    if text.find(":", start, near) < 0 and text.find("\uff1a", start, near) < 0:
        return start, ""
    label = LABEL.match(text, start, end)
    if label is None:
        return start, ""
    words = label[1].casefold().split()
    if named := HEADINGS.get(" ".join(words)):
        return label.end(), named
    # `billing: ...` and `For the contractors: ...` address; `Quiet hours: 22 to 7` is the statement.
    # `We moved it to SQLite: ...` is the statement, too.
    if is_clausal(words):
        return start, ""
    scope = len(words) == 1 and label[1].islower()
    if scope or len(words) >= 3 or not OPENERS.isdisjoint(words) or _states(text, label.end(), end):
        return label.end(), ""
    return start, ""


def _states(text: str, start: int, end: int) -> bool:
    """Tell whether what follows a label is a clause, so that the label is only its address."""
    return is_statement(text[start : min(end, start + MAX_HEADING_CHARS)].casefold().split())


def _clauses(
    text: str, sentence: tuple[int, int], line: int, role: str, *, at_once: bool
) -> Iterator[Piece]:
    """Yield the clauses of one sentence."""
    first, last = start, _ = sentence
    for match in CLAUSE.finditer(text, first, last):
        if match.start() - start >= MIN_CLAUSE and last - match.end() >= MIN_CLAUSE:
            if ends := _with_word(text, start, match.start()):
                left, right = ends
                yield Piece(left, right, line, role, not at_once, left == first, closes=False)
            start = match.end()
    if ends := _with_word(text, start, last):
        left, right = ends
        yield Piece(left, right, line, role, not at_once, left == first)


def _with_word(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the ends without the blanks at either side, if a letter or digit is between them."""
    inner = text[start:end].lstrip()
    start = end - len(inner)
    inner = inner.rstrip()
    if not inner or not (inner[0].isalnum() or HAS_WORD.search(inner)):
        return None
    return start, start + len(inner)
