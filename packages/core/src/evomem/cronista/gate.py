"""The gate between a conversation and its memory: what of a turn is worth keeping.

Whoever keeps every turn drowns in questions and small talk. The gate lets through the paragraphs
and list items in which the speaker states a decision, a rule or a lasting preference, verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evomem.cronista.decisions import says_undecided
from evomem.cronista.sentences import BULLET, sentences
from evomem.cronista.statements import (
    ASKS_BESIDE,
    COURTESY,
    DECISIONS,
    DENIED,
    DOUBTS,
    HEDGES,
    MATERIAL,
    QUESTION,
    REQUEST,
    RETRACTS,
    ROUTINES,
    TROUBLE,
    Patterns,
)
from evomem.domain.extraction import Span

MAX_CHARS = 20_000
MAX_SENTENCE_CHARS = 600
# What the speaker did not say here: code, what he quotes, and what a memory answered before.
FOREIGN = re.compile(
    r"""
    (?:```|~~~)[\s\S]*?(?:```|~~~|\Z)
    | <memory\b[\s\S]*?(?:</memory>|\Z)
    | ^[^\n]*\[status:\ [\s\S]*?(?=^$|\Z)
    | ^[ ]{0,3}(?:>|//|/\*|\#|<!--|\|)[^\n]*
    | ^(?:[ ]{4}|\t)(?![ \t]*(?:[-*•]|\d+[.)])\s)[^\n]*
    | (?:^(?!decision|why|rule|reason|context|status|regla|regel|warum|grund|motivo)\w{2,20}:[ ][^\n]*(?:\n|\Z)){2,}
    | ^[ ]*(?:\[?\d{1,2}:\d{2}[^\n]*?|<\w+>|(?:assistant|ai|bot|system|tool)\s?:)[^\n]*
    """,
    re.MULTILINE | re.VERBOSE | re.IGNORECASE,
)
QUOTED = re.compile(
    r"""
    ["\u201c\u201d\u201e\u00ab\u300c][^"\u201c\u201d\u00bb\u300d\n]{2,400}["\u201c\u201d\u00bb\u300d]
    | (?<=[\s(:])'[^'\n]{2,400}'(?=[\s.,;:!?)]|$)
    | \*\*|__
    """,
    re.MULTILINE | re.VERBOSE,
)
APOSTROPHE = "\u2019"

REFUSED, PLAIN = -1.0, 0.0
Sentence = tuple[int, int, int]


def decisions_in(text: str) -> tuple[Span, ...]:
    """Return what a turn of a conversation states outright as decided, a rule or a preference.

    It is made to be right rather than complete: questions, suppositions, indecision, what others
    are quoted with, small talk, requests, code and the text of a recall give nothing. It reads
    patterns, not meaning: of sentences made to look like decisions some pass. English, Spanish and
    German; a few plain words of French, Portuguese, Chinese and Japanese.

    Args:
        text: What was said, by the one whose decisions are wanted. Of a long text the first
            20,000 characters are read.

    Returns:
        Paragraphs or list items in order, without the questions and requests in them; each is
        `text[start:end]`, with the confidence that it states a decision.
    """
    said = FOREIGN.sub(_blank, text[:MAX_CHARS])
    if RETRACTS.search(said):
        return ()
    plain = QUOTED.sub(_blank, said.replace(APOSTROPHE, "'"))
    found = _until_material(plain, list(sentences(said, MAX_CHARS)))
    alone = not ASKS_BESIDE.search(plain) and not any(_asks(plain[a:b]) for a, b, _ in found)
    patterns = (*DECISIONS, *ROUTINES) if alone else DECISIONS
    judged = [(*place, _judged(plain[place[0] : place[1]], patterns)) for place in found]
    return tuple(span for block in _blocks(said, judged) for span in _stated(text, block))


def _blank(match: re.Match[str]) -> str:
    """Return as many blanks, so that all else stays at its place; line ends stay."""
    return re.sub(r"[^\n]", " ", match[0])


def _until_material(plain: str, found: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences before one that hands over a text, such as `Translate this: ...`."""
    for at, (start, end, _) in enumerate(found):
        sentence = plain[start:end]
        if (REQUEST.match(sentence) and ":" in sentence) or MATERIAL.search(sentence):
            return list(found[:at])
    return list(found)


def _asks(sentence: str) -> bool:
    return bool(QUESTION.search(sentence) or REQUEST.match(sentence))


def _judged(sentence: str, patterns: Patterns) -> float:
    """Return the confidence that a sentence states a decision, or that it must be left out."""
    sentence = sentence.strip()
    if len(sentence) > MAX_SENTENCE_CHARS:
        return PLAIN
    if _asks(sentence) or says_undecided(sentence) or COURTESY.match(sentence):
        return REFUSED
    for confidence, pattern in patterns:
        if found := pattern.search(sentence):
            against = (
                DOUBTS.search(sentence, 0, found.start()),
                DENIED.search(found[0]),
                HEDGES.search(sentence),
                TROUBLE.search(sentence),
            )
            return PLAIN if any(against) else confidence
    return PLAIN


Judged = tuple[int, int, int, float]


def _blocks(said: str, judged: Sequence[Judged]) -> Iterator[list[Judged]]:
    """Yield the sentences of each paragraph or list item."""
    block: list[Judged] = []
    for place in judged:
        start, _, line, _ = place
        if block and (line > block[-1][2] + 1 or _is_item(said, start)):
            yield block
            block = []
        block.append(place)
    if block:
        yield block


def _is_item(said: str, start: int) -> bool:
    """Tell whether a bullet or a number stands before the sentence on its line."""
    begin = said.rfind("\n", 0, start) + 1
    return BULLET.fullmatch(said[begin:start].lstrip()) is not None


def _stated(text: str, block: Sequence[Judged]) -> Iterator[Span]:
    """Yield the runs of a block that are neither question nor request and hold a decision."""
    run: list[Judged] = []
    for place in (*block, (0, 0, 0, REFUSED)):
        if place[3] != REFUSED:
            run.append(place)
            continue
        confidence = max((sure for *_, sure in run), default=PLAIN)
        if confidence > PLAIN:
            start, end = run[0][0], run[-1][1]
            yield Span(text[start:end], start, end, confidence)
        run = []
