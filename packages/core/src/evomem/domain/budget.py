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
    # The warning takes some of it, and each line of the text a line end.
    frame = replace(result, hits=(), warnings=(*result.warnings, _warning(most, 9999, 99)))
    room = most - estimate_tokens(render_recall(frame))
    olds = [[estimate_tokens(line) for line in render_replaced(hit)] for hit in result.hits]
    heads = [
        estimate_tokens("\n".join(render_hit(number, hit)) + "\n") - sum(costs)
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
    warning = _warning(most, told, cut)
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


def _warning(most: int, told: int, cut: int) -> str:
    parts = [_counted(told, "earlier version"), _counted(cut, "answer")]
    verb = "was" if told + cut == 1 else "were"
    return f"To fit {most} tokens, {' and '.join(filter(None, parts))} {verb} left out."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}" if count else ""
