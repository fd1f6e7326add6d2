"""How much the cues of one clause speak for each field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from evomem.cronista import cues
from evomem.cronista.cues import ALTERNATIVES, CHANGE, TRIGGER, UNDECIDED
from evomem.cronista.decisions import REASON_PHRASES, REASONS, decides, tries
from evomem.cronista.order import SHAPES
from evomem.cronista.sentences import Piece
from evomem.domain.extraction import FIELDS

Scores = list[float]
"""One number for each field, for none of them, and against the note deciding anything; last, whether
the clause says outright what was decided."""

QUESTION_MARKS = "?\uff1f"
QUESTION_WEIGHT = 4.0
DECIDES_WEIGHT, REASON_WEIGHT, EXPLAINS_WEIGHT = 0.6, 2.0, 1.0
TRIES_WEIGHT = 1.0
HEADED, GOVERNED = 4.0, 0.3
SHORT_CHARS = 30
DECIDED = 6
Weights = tuple[tuple[int, float], ...]
ROLES = (*FIELDS, "none")

WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d+")
IDEOGRAPH = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


def _weights() -> dict[str, tuple[tuple[int, float], ...]]:
    """Return role and weight of every word or pair of words in the cue lists."""
    weights: dict[str, tuple[tuple[int, float], ...]] = {}
    against = ((UNDECIDED, weight, words) for weight, words in cues.UNDECIDED_WORDS)
    for role, weight, words in (*cues.WORDS, *against):
        for entry in words.split(","):
            word = " ".join(entry.split())
            weights[word] = (*weights.get(word, ()), (role, weight))
    return weights


WEIGHTS = _weights()
# Most words begin no pair: looking here first saves building it.
PAIR_STARTS = frozenset(entry.split(" ")[0] for entry in WEIGHTS if " " in entry)
CHARACTER_WEIGHTS = tuple(
    (characters, role, weight)
    for role, weight, words in cues.CHARACTERS
    for characters in words.split()
)


def score(
    text: str,
    piece: Piece,
    before: Scores | None = None,
    *,
    begins: bool = False,
    explains: bool = False,
) -> Scores:
    """Return what the words, the look and the heading of a clause say.

    Args:
        text: The whole text.
        piece: The clause.
        before: The scores of the clause before it in the sentence, if there is one.
        begins: It is the first of its note, or the first after its reason.
        explains: It follows a colon, and a decision before that.
    """
    clause = text[piece.start : piece.end].casefold()
    question = clause[-1] in QUESTION_MARKS
    short = len(clause) < SHORT_CHARS and clause.count(" ") < 3
    title = piece.start == 0 and text.startswith("\n", piece.end)
    scores: Scores = [*LOOKS[piece.opens, question, short, title]]
    words = WORD.findall(clause)
    for role, weight in _said(words):
        scores[role] += weight
    if not clause.isascii() and IDEOGRAPH.search(clause):
        for characters, role, weight in CHARACTER_WEIGHTS:
            if characters in clause:
                scores[role] += weight
    if not question and decides(words, begins=begins):
        scores[CHANGE] += DECIDES_WEIGHT
        scores[DECIDED] = 1.0
    elif _reasons(words, clause, before):
        scores[TRIGGER] += REASON_WEIGHT
        scores[CHANGE] -= REASON_WEIGHT
    elif explains:
        scores[TRIGGER] += EXPLAINS_WEIGHT
        scores[CHANGE] -= EXPLAINS_WEIGHT
    elif not question and tries(words):
        scores[ALTERNATIVES] += TRIES_WEIGHT
    if piece.role:
        scores[ROLES.index(piece.role)] += GOVERNED if piece.governed else HEADED
    return scores


def _reasons(words: Sequence[str], clause: str, before: Scores | None) -> bool:
    """Tell whether a clause gives the reason of a decision, not of giving up an alternative."""
    if not words or not (words[0] in REASONS or clause.startswith(REASON_PHRASES)):
        return False
    return before is None or before[DECIDED] > 0 or before[CHANGE] > before[ALTERNATIVES]


def _said(words: Sequence[str]) -> list[tuple[int, float]]:
    """Return role and weight of every cue among the words of a clause."""
    said: list[tuple[int, float]] = []
    if words:
        said += WEIGHTS.get("^" + (words[0] if words[0][0] > "9" else "#"), ())
    pair = ""
    for word in words:
        key = word if word[0] > "9" else "#"
        if key in WEIGHTS:
            said += WEIGHTS[key]
        if pair and (both := pair + key) in WEIGHTS:
            said += WEIGHTS[both]
        pair = key + " " if key in PAIR_STARTS else ""
    return said


def _looks(opens: bool, question: bool, short: bool, title: bool) -> tuple[float, ...]:
    """Return what the looks of a clause say, with a place for what comes after the fields."""
    shapes = [SHAPES["sentence" if opens else "clause"]]
    shapes += [SHAPES["question"]] * question + [SHAPES["short"]] * short
    shapes += [SHAPES["title"]] * title
    against = QUESTION_WEIGHT if question else 0.0
    return (*map(sum, zip(*shapes, strict=True)), against, 0.0)


# By the four questions that `_looks` asks.
LOOKS = {looks: _looks(*looks) for looks in product((False, True), repeat=4)}
