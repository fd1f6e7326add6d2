"""When is an answer no answer: questions that the notes can and cannot answer."""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evomem_bench.retrieval.pools import Pool, Question
from evomem_bench.retrieval.signals import Index
from evomem_bench.retrieval.systems import Store
from evomem_bench.timing import Row, track

# The share of answerable questions that a threshold must not refuse.
KEPT = 0.95

# Notes of a store that has only begun.
FEW = 5

OWN, FOREIGN, REMOVED = "own", "of other groups", "with the notes about it left out"
FEW_OWN, FEW_FOREIGN = f"own, {FEW} notes", f"of other groups, {FEW} notes"

# Each table: its name, the questions to keep, and those to refuse.
_TABLES = (
    ("insufficient: own questions, and those of other groups", OWN, FOREIGN),
    ("insufficient: own questions, with and without the notes about them", OWN, REMOVED),
    (f"insufficient: the same thresholds in stores of {FEW} notes", FEW_OWN, FEW_FOREIGN),
)
_FLAG = "`insufficient` as it is"
_K = 5

Ask = tuple[Question, str]


@dataclass(frozen=True, slots=True)
class Trial:
    """Questions for one pool, each with what it is; `half` is 0 or 1, by group."""

    half: int
    pool: Pool
    asks: Sequence[Ask]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: what it is, the signals by name, and what the result said."""

    half: int
    case: str
    signals: dict[str, float]
    insufficient: bool


def auc(answerable: Sequence[float], others: Sequence[float]) -> float:
    """Return how often an answerable question has the higher value; ties count half."""
    ordered = sorted(others)
    wins = sum(bisect_left(ordered, v) + bisect_right(ordered, v) for v in answerable)
    return wins / (2 * len(answerable) * len(ordered))


def threshold(answerable: Sequence[float], kept: float = KEPT) -> float:
    """Return the highest value that at least a share `kept` of the answerable reach."""
    ordered = sorted(answerable)
    return ordered[len(ordered) - math.ceil(kept * len(ordered))]


def plan(pools: Sequence[Pool], foreign: int, few: int, generator: random.Random) -> list[Trial]:
    """Deal out the questions.

    Args:
        pools: The groups; every other one, by size, is of the same half.
        foreign: Questions of other groups asked of each.
        few: Stores of few notes drawn from each.
        generator: Draws both.
    """
    trials = []
    for number, pool in enumerate(by_size(pools)):
        half, own = number % 2, questions_of(pool)
        others = [q for other in pools if other is not pool for q in questions_of(other)]
        drawn = generator.sample(others, min(foreign, len(others)))
        asks = [(q, OWN) for q in own] + [(q, FOREIGN) for q in drawn]
        trials.append(Trial(half, pool, asks))
        trials.append(Trial(half, _reduced(pool), [(q, REMOVED) for q in own]))
        for question in generator.sample(own, min(few, len(own))):
            asks = [(question, FEW_OWN), (generator.choice(others), FEW_FOREIGN)]
            small = replace(_few(pool, question, generator), name=f"{pool.name}, {len(trials)}")
            trials.append(Trial(half, small, asks))
    return trials


def by_size(pools: Sequence[Pool]) -> list[Pool]:
    """Order groups by their questions, so that every other one makes a fair half."""
    return sorted(pools, key=lambda pool: -len(questions_of(pool)))


def questions_of(pool: Pool) -> list[Question]:
    """Return all questions about what a pool holds."""
    return [*pool.questions, *pool.probes]


def _reduced(pool: Pool) -> Pool:
    """Return a pool without any note that its questions are about."""
    about = [q.wanted | q.obsolete for q in questions_of(pool)]
    return pool.only(frozenset(pool.keys).difference(*about))


def _few(pool: Pool, question: Question, generator: random.Random) -> Pool:
    """Return the notes that a question is about, among as many others as make a few."""
    about = [key for key in pool.keys if key in question.wanted | question.obsolete]
    about.sort(key=lambda key: key not in question.wanted)
    others = [key for key in pool.keys if key not in about]
    more = generator.sample(others, min(len(others), max(0, FEW - len(about))))
    return pool.only(frozenset([*about[:FEW], *more]))


def ask_all(
    trials: Sequence[Trial], store: Store, index: Callable[[Pool], Index] = Index
) -> list[Asked]:
    """Ask all questions of a store that holds the pools; signals come from `index`."""
    found: list[Asked] = []
    for trial in track(trials, "calibrate"):
        counted = index(trial.pool)
        for question, case in trial.asks:
            result = store.recall(trial.pool, question.text, _K)
            answers = [store.answer(trial.pool, hit) for hit in result.hits]
            signals = counted.signals(question.text, answers)
            found.append(Asked(trial.half, case, signals, result.insufficient))
    return found


def tables(asked: Sequence[Asked]) -> list[Row]:
    """Return the tables; each row has the figures of one half, its threshold the other half's."""
    rows: list[Row] = []
    for name, keep, refuse in _TABLES:
        for half in (0, 1):
            good = [a for a in asked if a.half == half and a.case == keep]
            bad = [a for a in asked if a.half == half and a.case == refuse]
            fit = [a for a in asked if a.half != half and a.case == OWN]
            if good and bad and fit:
                head = {"part": name, "half": half + 1, "own": len(good), "others": len(bad)}
                rows += [head | row for row in _rules(good, bad, fit)]
    return rows


def _rules(good: Sequence[Asked], bad: Sequence[Asked], fit: Sequence[Asked]) -> list[Row]:
    flag = refusal([a.insufficient for a in bad], [a.insufficient for a in good])
    names = good[0].signals
    return [{"system": _FLAG} | flag, *(_signal(name, good, bad, fit) for name in names)]


def _signal(name: str, good: Sequence[Asked], bad: Sequence[Asked], fit: Sequence[Asked]) -> Row:
    limit = threshold([a.signals[name] for a in fit])
    high, low = [a.signals[name] for a in good], [a.signals[name] for a in bad]
    return {
        "system": name,
        "auc": round(auc(high, low), 4),
        "threshold": round(limit, 4),
        **refusal([value < limit for value in low], [value < limit for value in high]),
    }


def refusal(rightly: Sequence[bool], wrongly: Sequence[bool]) -> Row:
    """Return what a rule is worth, by whether it refuses what it should, and what it should not.

    `recall` is the share of unanswerable questions refused, `precision` the share of them among
    all refused, `kept` the share of answerable ones not refused.
    """
    right, wrong = sum(rightly), sum(wrongly)
    return {
        "kept": round(1 - wrong / len(wrongly), 4),
        "recall": round(right / len(rightly), 4),
        "precision": round(right / (right + wrong), 4) if right + wrong else None,
    }
