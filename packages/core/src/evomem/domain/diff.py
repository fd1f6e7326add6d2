"""The difference between two texts, in the unified format that `patch` and `git apply` read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

# The search costs edits squared and the steps along equal lines: at both bounds about 0.1 s.
MAX_EDITS = 500
MAX_STEPS = 2_000_000

# A carriage return in a header makes `patch` strip those of the content.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Change(NamedTuple):
    """Lines of the old text and the lines of the new one in their place, as half-open ranges."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class Run(NamedTuple):
    """Equal elements of two sequences, and the run before them on the same path."""

    old: int
    new: int
    length: int
    before: Run | None


def unified_diff(
    old: str | None, new: str | None, old_label: str, new_label: str, context: int = 3
) -> str:
    r"""Return what `patch` needs to make the new text of the old one, "" if they are equal.

    A line ends at "\n" and nowhere else; a carriage return before it is part of the line. The
    removed and added lines are the fewest possible, unless more than `MAX_EDITS` of them are lines
    that both texts hold, or the search would take over `MAX_STEPS` comparisons, as it may in texts
    of thousands of lines: then all between the first and the last difference is replaced, which
    is correct but not minimal.

    Args:
        old: None if there was no text: its side is `/dev/null`. An empty text has no lines.
        new: None if there is no text any more.
        old_label: Stands behind `---`, with a blank for each control character.
        new_label: Stands behind `+++`.
        context: Unchanged lines shown around a change, 0 or more.
    """
    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    parts = [f"--- {_name(old, old_label)}\n+++ {_name(new, new_label)}\n"]
    for hunk in _hunks(_changes(before, after), context):
        parts.extend(_render(hunk, before, after, context))
    return "".join(parts)


def _name(text: str | None, label: str) -> str:
    return "/dev/null" if text is None else CONTROL.sub(" ", label)


def _lines(text: str | None) -> list[str]:
    """Split a text into lines with their ends; only the last may be without."""
    *lines, rest = (text or "").split("\n")
    ended = [line + "\n" for line in lines]
    return [*ended, rest] if rest else ended


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    """Yield the changes from the first to the last, with equal lines between any two."""
    x = y = head = _equal_prefix(before, after)
    shorter = min(len(before), len(after))
    tail = min(_equal_prefix(reversed(before), reversed(after)), shorter - head)
    end = (len(before) - tail, len(after) - tail)
    for next_x, next_y in (*_kept(before[head : end[0]], after[head : end[1]], head), end):
        if (x, y) != (next_x, next_y):
            yield Change(x, next_x, y, next_y)
        x, y = next_x + 1, next_y + 1


def _kept(old: Sequence[str], new: Sequence[str], offset: int) -> Iterator[tuple[int, int]]:
    """Yield where the lines are that both sides keep."""
    # A line that the other side lacks is in no common subsequence: without those, texts with
    # little in common take few edits.
    ids = {line: number for number, line in enumerate(set(old).intersection(new))}
    old_at = [at for at, line in enumerate(old, offset) if line in ids]
    new_at = [at for at, line in enumerate(new, offset) if line in ids]
    runs = _common(
        [ids[line] for line in old if line in ids], [ids[line] for line in new if line in ids]
    )
    for run in runs:
        yield from zip(
            old_at[run.old : run.old + run.length],
            new_at[run.new : run.new + run.length],
            strict=True,
        )


def _equal_prefix(old: Iterable[str], new: Iterable[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _common(old: Sequence[int], new: Sequence[int]) -> list[Run]:
    """Return the runs of a longest common subsequence, or none if a bound is passed.

    Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy form.
    """
    n, m = len(old), len(new)
    limit, steps = min(n + m, MAX_EDITS), 0
    # By diagonal k = x - y, from -limit - 1 to limit + 1: a negative index counts from the end.
    reached = [-1] * (2 * limit + 3)
    paths: list[Run | None] = [None] * (2 * limit + 3)
    for edits in range(limit + 1):
        for k in range(2 * max(0, edits - m) - edits, edits - 2 * max(0, edits - n) + 1, 2):
            step_right = reached[k - 1] >= reached[k + 1]
            x = start = reached[k - 1] + 1 if step_right else reached[k + 1]
            path = paths[k - 1] if step_right else paths[k + 1]
            while x < n and x - k < m and old[x] == new[x - k]:
                x += 1
            if x > start:
                path = Run(start, start - k, x - start, path)
                steps += x - start
            if x == n and x - k == m:
                return _unrolled(path)
            reached[k], paths[k] = x, path
            if steps > MAX_STEPS:
                return []
    return []


def _unrolled(last: Run | None) -> list[Run]:
    runs = []
    while last:
        runs.append(last)
        last = last.before
    return runs[::-1]


def _hunks(changes: Iterable[Change], context: int) -> Iterator[list[Change]]:
    """Group changes whose context touches or overlaps."""
    hunk: list[Change] = []
    for change in changes:
        if hunk and change.old_start - hunk[-1].old_end > 2 * context:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _render(
    hunk: Sequence[Change], before: Sequence[str], after: Sequence[str], context: int
) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    lead = min(context, first.old_start)
    trail = min(context, len(before) - last.old_end)
    old_span = _span(first.old_start - lead, last.old_end + trail)
    new_span = _span(first.new_start - lead, last.new_end + trail)
    yield f"@@ -{old_span} +{new_span} @@\n"
    shown = first.old_start - lead
    for change in hunk:
        yield from _marked(" ", before[shown : change.old_start])
        yield from _marked("-", before[change.old_start : change.old_end])
        yield from _marked("+", after[change.new_start : change.new_end])
        shown = change.old_end
    yield from _marked(" ", before[shown : shown + trail])


def _span(start: int, end: int) -> str:
    """Return first line and count; an empty range is named by the line before it."""
    count = end - start
    if count == 1:
        return f"{end}"
    return f"{start + 1 if count else start},{count}"


def _marked(sign: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line
        if not line.endswith("\n"):
            yield "\n\\ No newline at end of file\n"
