"""The order in which notes tell their story, and the best field for each clause given it."""

from __future__ import annotations

from collections.abc import Sequence

# Rows and columns: trigger, change, alternatives tried, consequences, none. Counted and adjusted
# on the project's training notes, in the units of the cue strengths.
Row = tuple[float, ...]
START: Row = (-2.0, -1.2, -2.8, -3.8, -2.4)
END: Row = (-1.3, -1.4, -1.7, -1.4, -1.4)
NEXT_SENTENCE: tuple[Row, ...] = (
    (-2.8, -1.3, -2.1, -1.7, -2.7),
    (-2.2, -2.4, -2.5, -1.9, -3.1),
    (-2.3, -1.4, -2.9, -1.4, -2.9),
    (-3.3, -3.6, -3.4, -2.5, -3.5),
    (-1.9, -1.4, -2.7, -2.5, -2.9),
)
NEXT_CLAUSE: tuple[Row, ...] = (
    (-1.7, -1.6, -2.7, -1.8, -3.2),
    (-2.0, -0.9, -2.6, -1.4, -2.9),
    (-2.3, -1.9, -1.4, -1.9, -3.5),
    (-4.2, -4.6, -3.5, -1.0, -4.1),
    (-2.4, -1.4, -2.7, -3.1, -2.7),
)
# What the look of a clause adds.
SHAPES: dict[str, Row] = {
    "sentence": (-0.3, -0.7, 0.2, 0.2, 0.6),
    "clause": (-0.2, -0.4, 0.0, -0.4, 0.9),
    "question": (0.1, -0.5, 0.4, 0.0, 0.0),
    "short": (0.1, 0.1, -0.3, -0.2, 0.3),
    "title": (-0.4, -0.2, -0.1, 0.0, 0.7),
}
# A note of one clause.
EDGES = tuple(first + last for first, last in zip(START, END, strict=True))
# The same by column: what may come before a field.
SENTENCE_INTO = tuple(zip(*NEXT_SENTENCE, strict=True))
CLAUSE_INTO = tuple(zip(*NEXT_CLAUSE, strict=True))


def best_path(scores: Sequence[Sequence[float]], opens: Sequence[bool]) -> list[int]:
    """Return the most likely field of each clause, given its neighbours (Viterbi).

    Args:
        scores: What the cues of each clause say for each field; at least one clause.
        opens: Whether the clause starts a sentence.

    Returns:
        One column of the tables above per clause.
    """
    if len(scores) == 1:
        alone = [said + edge for said, edge in zip(scores[0], EDGES, strict=False)]
        return [alone.index(max(alone))]
    best = [before + said for before, said in zip(START, scores[0], strict=False)]
    sources: list[list[int]] = []
    for score, opening in zip(scores[1:], opens[1:], strict=True):
        came: list[int] = []
        arrived: list[float] = []
        a, b, c, d, e = best
        for said, (to_a, to_b, to_c, to_d, to_e) in zip(
            score, SENTENCE_INTO if opening else CLAUSE_INTO, strict=False
        ):
            # Written out: this is the inner loop of every note.
            values = (a + to_a, b + to_b, c + to_c, d + to_d, e + to_e)
            value = max(values)
            came.append(values.index(value))
            arrived.append(value + said)
        best = arrived
        sources.append(came)
    ends = [value + last for value, last in zip(best, END, strict=True)]
    path = [ends.index(max(ends))]
    for came in reversed(sources):
        path.append(came[path[-1]])
    return path[::-1]
