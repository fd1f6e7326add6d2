"""Fitting answers into a budget of a language model's tokens."""

from __future__ import annotations

import math
from dataclasses import replace

from evomem.domain.render import render_hit, render_recall, render_replaced
from evomem.domain.result import Hit, RecallResult

# Tokenisers of today's models make about one token of four letters of English, and one or more of
# any other character.
_LETTERS_A_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a language model sees in a text."""
    plain = len(text.encode("ascii", "ignore"))
    return math.ceil(plain / _LETTERS_A_TOKEN) + len(text) - plain


def fit(result: RecallResult, most: int) -> RecallResult:
    """Leave out what does not fit: the oldest history first, then the last answers.

    The first answer always stays; what was left out is said in a warning.

    Args:
        result: The answers.
        most: Tokens that `result.to_text()` may have, by `estimate_tokens`.
    """
    if estimate_tokens(result.to_text()) <= most:
        return result
    room = most - estimate_tokens(render_recall(replace(result, hits=())))
    olds = [[estimate_tokens(line) for line in render_replaced(hit)] for hit in result.hits]
    heads = [
        estimate_tokens("\n".join(render_hit(number, hit))) - sum(costs)
        for number, (hit, costs) in enumerate(zip(result.hits, olds, strict=True), 1)
    ]
    over = sum(heads) + sum(map(sum, olds)) - room
    told = cut = 0
    for costs in reversed(olds):
        while over > 0 and costs:
            over -= costs.pop()
            told += 1
    while over > 0 and len(heads) > 1:
        over -= heads.pop()
        cut += 1
    warning = f"To fit {most} tokens, {_counted(told, cut)} left out."
    if over > 0:
        warning += " The first answer alone takes more."
    pairs = zip(result.hits, olds, strict=True)
    hits = [_shortened(hit, len(costs)) for hit, costs in pairs][: len(heads)]
    return replace(result, hits=tuple(hits), warnings=(*result.warnings, warning))


def _shortened(hit: Hit, count: int) -> Hit:
    """Keep the latest versions; what an answer replaced directly goes with its history."""
    if hit.history:
        return replace(hit, history=hit.history[:count], supersedes=hit.supersedes if count else ())
    return replace(hit, supersedes=hit.supersedes[:count])


def _counted(told: int, cut: int) -> str:
    parts = [f"{told} earlier version(s)"] if told else []
    parts += [f"{cut} answer(s)"] if cut else []
    return " and ".join(parts) + (" was" if told + cut == 1 else " were")
