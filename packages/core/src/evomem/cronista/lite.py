"""The rule-based cronista: cue words per clause, and the most likely order of the fields.

No model, no dependency, well under a millisecond a note. Each clause of the text is scored for the
four narrative fields by its cue words (`cues.py`); a Viterbi pass over the clauses then picks the
best sequence, since notes tell their story in few orders: why, what, what was tried, what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evomem.cronista.cues import ALTERNATIVES, CHANGE, NONE, TRIGGER, UNDECIDED
from evomem.cronista.decisions import CONNECTOR, LEADS, SO, announces, says_undecided
from evomem.cronista.order import best_path
from evomem.cronista.scoring import DECIDED, Scores, score
from evomem.cronista.sentences import Piece, split
from evomem.domain.extraction import FIELDS, Extraction, Span, Spans

NAME = "lite/1"
MAX_CHARS = 20_000
MAX_SUMMARY_CHARS = 280
MAX_ITEM_WORDS = 6
CLOSED = frozenset(".!?\u3002\uff01\uff1f")
# How much speaks against a decision, in the units of the cue strengths; fitted like them. A note
# of many clauses is rarely a mere question or report, and is judged by its average clause.
ENOUGH_AGAINST = 0.8
ENOUGH_CLAUSES = 6
LENGTH_WEIGHT = -0.25
CHANGELESS, OUTRIGHT = 0.8, 1.5
LEADS_WEIGHT, OPEN_WEIGHT = 1.2, 4.0

LISTED = re.compile(r",\s|\s[-\u2013\u2014]\s|、")
OPENING = re.compile(
    r"(?:and|so|therefore|hence|then|y|e|así que|por eso|und|also|deshalb|daher|donc|et)\s+",
    re.IGNORECASE,
)

Run = tuple[int, int, int]


class LiteCronista:
    """Text to narrative fields by cue words and order; English, Spanish, German, some others."""

    @property
    def name(self) -> str:
        """Name and version."""
        return NAME

    def extract(self, texts: Sequence[str]) -> list[Extraction]:
        """Return the narrative fields of each text."""
        return [_extract(text) for text in texts]


def _extract(text: str) -> Extraction:
    pieces = split(text, MAX_CHARS)
    fields = _fields(text, pieces) if pieces else {}
    warnings: tuple[str, ...] = ()
    if len(text) > MAX_CHARS:
        note = f"The text has {len(text)} characters; its fields come from the first {MAX_CHARS}."
        warnings = (note,)
    summary = _summary(fields) if fields else _opening(text, pieces)
    return Extraction(NAME, **fields, summary=summary, warnings=warnings)


def _is_undecided(pieces: Sequence[Piece], scores: Sequence[Scores], path: Sequence[int]) -> bool:
    """Tell whether the note as a whole asks, plans or reports, so that it decides nothing."""
    if any(piece.role == "change" and not piece.governed for piece in pieces):
        return False
    enough = min(len(pieces), ENOUGH_CLAUSES)
    against = enough * (LENGTH_WEIGHT + sum(said[UNDECIDED] for said in scores) / len(scores))
    if CHANGE not in path:
        against += CHANGELESS
    if any(said[DECIDED] for said in scores):
        against -= OUTRIGHT
    return against >= ENOUGH_AGAINST


def _fields(text: str, pieces: Sequence[Piece]) -> dict[str, Spans]:
    """Return the spans of each field; nothing at all where the note decides nothing."""
    scores = _scores(text, pieces)
    if says_undecided(text):
        if not _decides_elsewhere(text, pieces, scores):
            return {}
        for piece, said in zip(pieces, scores, strict=True):
            said[NONE] += OPEN_WEIGHT * says_undecided(text[piece.start : piece.end])
    path = best_path(scores, [piece.opens for piece in pieces])
    if _is_undecided(pieces, scores, path):
        return {}
    if CHANGE not in path:
        likely = [said[CHANGE] - said[role] for said, role in zip(scores, path, strict=True)]
        path[likely.index(max(likely))] = CHANGE
    spans: dict[str, list[Span]] = {name: [] for name in FIELDS}
    for first, following, role in _runs(pieces, path):
        confidence = max(_confidence(scores[at], role) for at in range(first, following))
        spans[FIELDS[role]].extend(_spans(text, pieces[first:following], role, confidence))
    return {name: Spans(found) for name, found in spans.items()}


def _scores(text: str, pieces: Sequence[Piece]) -> list[Scores]:
    """Return the scores of each clause; one after a decision and a colon explains it."""
    scores: list[Scores] = []
    before: Scores | None = None
    leads = explains = False
    for at, piece in enumerate(pieces):
        # The first clause may go on from text that holds none, such as a code fence.
        opens = piece.opens or at == 0
        if opens:
            before, explains = None, False
            leads = not piece.closes and _starts(text, piece, LEADS)
        elif not explains and scores[-1][DECIDED]:
            stated = pieces[at - 1]
            colon = text.startswith(":", stated.end)
            explains = colon and not announces(text[stated.start : stated.end])
        begins = at == 0 or (leads and pieces[at - 1].opens)
        before = score(text, piece, before, begins=begins, explains=explains)
        if not opens and ((begins and before[DECIDED]) or _starts(text, piece, SO)):
            scores[-1][TRIGGER] += LEADS_WEIGHT
            scores[-1][CHANGE] -= LEADS_WEIGHT
        scores.append(before)
    return scores


def _starts(text: str, piece: Piece, words: tuple[str, ...]) -> bool:
    """Tell whether a clause starts with one of these words."""
    return text[piece.start : min(piece.end, piece.start + 14)].lower().startswith(words)


def _decides_elsewhere(text: str, pieces: Sequence[Piece], scores: Sequence[Scores]) -> bool:
    """Tell whether a clause decides something, other than those that say nothing was decided."""
    return any(
        (said[DECIDED] or (piece.role == "change" and not piece.governed))
        and not says_undecided(text[piece.start : piece.end])
        for piece, said in zip(pieces, scores, strict=True)
    )


def _runs(pieces: Sequence[Piece], path: Sequence[int]) -> Iterator[Run]:
    """Yield neighbouring clauses of one field as first, following, field."""
    first = 0
    for following, role in enumerate([*path[1:], -1], start=1):
        if path[first] != role or pieces[following].line != pieces[first].line:
            if path[first] != NONE:
                yield first, following, path[first]
            first = following


def _confidence(scores: Scores, role: int) -> float:
    """Return 0.3 to 0.9 by how far the cues of the field lead the others."""
    others = max(scores[:role] + scores[role + 1 : NONE + 1])
    return round(min(0.9, max(0.3, 0.55 + 0.1 * (scores[role] - others))), 2)


def _spans(text: str, run: Sequence[Piece], role: int, confidence: float) -> Iterator[Span]:
    """Yield the span of neighbouring clauses of one field, trimmed as people would mark it."""
    start, end = run[0].start, run[-1].end
    opening = OPENING.match(text, start, end)
    if role == CHANGE and opening:
        start = opening.end()
    if role == TRIGGER and (connector := CONNECTOR.match(text, start, end)):
        start = connector.end()
    if len(run) == 1 and not run[0].opens:
        end = _without_stop(text, start, end)
    cuts = [start, end]
    if role == ALTERNATIVES and run[0].role and not run[0].governed:
        cuts = _listed(text, start, end)
    for left, right in zip(cuts[::2], cuts[1::2], strict=True):
        item = text[left:right].strip()
        if item:
            start = text.index(item, left)
            yield Span(item, start, start + len(item), confidence)


def _without_stop(text: str, start: int, end: int) -> int:
    """Return where a clause ends without the full stop of its sentence."""
    if text[end - 1] not in ".\u3002":
        return end
    shorter = start + len(text[start : end - 1].rstrip())
    return shorter if shorter > start else end


def _listed(text: str, start: int, end: int) -> list[int]:
    """Return starts and ends of the items after a heading, if they read as a list of names."""
    cuts = [start]
    stop = _without_stop(text, start, end)
    for match in LISTED.finditer(text, start, stop):
        cuts += [match.start(), match.end()]
    cuts.append(stop)
    items = [text[cuts[at] : cuts[at + 1]] for at in range(0, len(cuts), 2)]
    short = all(0 < len(item.split()) <= MAX_ITEM_WORDS for item in items)
    return cuts if len(items) > 1 and short else [start, end]


def _summary(fields: dict[str, Spans]) -> str:
    """Return the change and, if there is room, what triggered it."""
    summary = ""
    for span in (*fields["change"], *fields["trigger"]):
        longer = f"{summary}{' ' if summary[-1:] in CLOSED else '; '}{span.text}"
        if not summary:
            summary = _shortened(span.text)
        elif len(longer) <= MAX_SUMMARY_CHARS:
            summary = longer
    return summary


def _opening(text: str, pieces: Sequence[Piece]) -> str:
    """Return the first sentence of a note that decides nothing."""
    if not pieces:
        return _shortened(text[:MAX_CHARS].strip())
    end = next((piece.end for piece in pieces if piece.closes), pieces[-1].end)
    return _shortened(text[pieces[0].start : end])


def _shortened(text: str) -> str:
    """Return at most `MAX_SUMMARY_CHARS` of a text, cut at a blank if there is one."""
    if len(text) <= MAX_SUMMARY_CHARS:
        return text
    cut = text[:MAX_SUMMARY_CHARS].rsplit(None, 1)[0]
    return cut or text[:MAX_SUMMARY_CHARS]
