"""How much the cues of one clause speak for each field."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evomem.cronista import cues
from evomem.cronista.cues import UNDECIDED
from evomem.cronista.order import SHAPES
from evomem.cronista.sentences import Piece
from evomem.domain.extraction import FIELDS

Scores = list[float]
"""One number for each field, for none of them, and against the note deciding anything."""

QUESTION_MARKS = "?\uff1f"
QUESTION_WEIGHT = 4.0
HEADED, GOVERNED = 4.0, 0.3
SHORT_CHARS = 30
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


def score(text: str, piece: Piece) -> Scores:
    """Return what the words, the look and the heading of a clause say."""
    clause = text[piece.start : piece.end].casefold()
    scores: Scores = [*SHAPES["sentence" if piece.opens else "clause"], 0.0]
    for role, weight in _said(clause):
        scores[role] += weight
    if clause[-1] in QUESTION_MARKS:
        scores[UNDECIDED] += QUESTION_WEIGHT
    for shape in _shapes(text, piece, clause):
        for role, weight in enumerate(SHAPES[shape]):
            scores[role] += weight
    if piece.role:
        scores[ROLES.index(piece.role)] += GOVERNED if piece.governed else HEADED
    return scores


def _said(clause: str) -> list[tuple[int, float]]:
    """Return role and weight of every cue in a clause."""
    said: list[tuple[int, float]] = []
    before = ""
    for word in WORD.findall(clause):
        key = word if word[0] > "9" else "#"
        if key in WEIGHTS:
            said += WEIGHTS[key]
        if not before:
            said += WEIGHTS.get("^" + key, ())
        elif before in PAIR_STARTS:
            said += WEIGHTS.get(f"{before} {key}", ())
        before = key
    if not clause.isascii() and IDEOGRAPH.search(clause):
        said += [cue[1:] for cue in CHARACTER_WEIGHTS if cue[0] in clause]
    return said


def _shapes(text: str, piece: Piece, clause: str) -> Iterator[str]:
    """Yield what else a clause looks like, apart from its words."""
    if clause[-1] in QUESTION_MARKS:
        yield "question"
    if len(clause) < SHORT_CHARS and clause.count(" ") < 3:
        yield "short"
    if piece.start == 0 and text.startswith("\n", piece.end):
        yield "title"
