"""Signals of a recall that may tell whether the notes hold an answer at all; higher is better."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evomem_bench.retrieval.pools import Note, Pool

Cut = Callable[[str], Iterable[str]]
"""Cuts a text into the terms that count."""

# BM25's constants, and the weight of a term in the subject or the decision, as in EvoMem.
_K1, _B, _FOCUS = 1.2, 0.75, 2

# Documents that hold none of the terms, added so that few notes do not make all words common.
_DAMPING = 10


def plain_words(text: str) -> list[str]:
    """Cut at everything that is no letter, digit or underscore."""
    return re.findall(r"\w+", text.casefold())


@dataclass(frozen=True, slots=True)
class Answer:
    """A match: the key of the version that matched, its score, and what it decides."""

    key: str
    score: float
    decides: str = ""


class Index:
    """The terms of a pool's notes, counted outside of any store."""

    def __init__(self, pool: Pool, of_query: Cut = plain_words, of_note: Cut = plain_words) -> None:
        """Count the terms.

        Args:
            pool: The notes.
            of_query: Cuts a question.
            of_note: Cuts a note.
        """
        self._of_query, self._of_note = of_query, of_note
        self._notes = {note.key: note for note in pool.notes}
        self._bodies = {note.key: Counter(of_note(note.text)) for note in pool.notes}
        subjects = {note.key: Counter(of_note(note.subject or "")) for note in pool.notes}
        self._frequency = Counter(
            t for key in self._bodies for t in self._bodies[key] | subjects[key]
        )
        lengths = [self._bodies[key].total() + subjects[key].total() for key in self._bodies]
        self._mean = sum(lengths) / max(1, len(lengths)) or 1.0

    def signals(self, question: str, answers: Sequence[Answer]) -> dict[str, float]:
        """Return all signals of a question and its answers, the best first."""
        asked = list(dict.fromkeys(self._of_query(question))) or [""]
        met = self._met(answers[0], asked) if answers else {}
        scores = [*(answer.score for answer in answers), 0.0, 0.0]
        idf = {term: self._idf(self._frequency[term]) for term in asked}
        capped = {term: self._idf(self._seen(term)) for term in asked}
        damped = {term: self._idf(self._seen(term), _DAMPING) for term in asked}
        known = [term for term in asked if self._frequency[term]]
        return {
            "share of terms": len(met) / len(asked),
            "share of idf": _share(idf, met),
            "share of damped idf": _share(damped, met),
            "share of idf known to any note": _share(idf, known),
            "score": scores[0],
            "margin to the second": 1 - scores[1] / (scores[0] or 1.0),
            "score / idf": scores[0] / sum(idf.values()),
            "score / capped idf": scores[0] / sum(capped.values()),
            "mean saturation": sum(met.values()) / len(asked),
            "mean saturation, by damped idf": sum(damped[t] * s for t, s in met.items())
            / sum(damped.values()),
        }

    def _met(self, answer: Answer, asked: Sequence[str]) -> dict[str, float]:
        """Return the terms that a match holds, each with its share in BM25 less the idf."""
        note, body = self._notes[answer.key], self._bodies[answer.key]
        focus = Counter(self._of_note(_focus(note, answer)))
        norm = _K1 * (1 - _B + _B * (body.total() + focus.total()) / self._mean)
        counts = {term: body[term] + _FOCUS * focus[term] for term in asked}
        return {t: count * (_K1 + 1) / (count + norm) for t, count in counts.items() if count}

    def _seen(self, term: str) -> int:
        """Count a term that no note holds as if one did."""
        return max(1, self._frequency[term])

    def _idf(self, count: int, more: int = 0) -> float:
        return math.log(1 + (len(self._notes) + more - count + 0.5) / (count + 0.5))


def _focus(note: Note, answer: Answer) -> str:
    return f"{note.subject or ''}\n{answer.decides}"


def _share(weights: Mapping[str, float], terms: Iterable[str]) -> float:
    return sum(weights[term] for term in terms) / sum(weights.values())
