"""Decisions of public projects and of series of proposals, with the links their authors made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evomem_bench.retrieval.data import DECISIONS, LINKS, ORDER, QUESTIONS, read_lines
from evomem_bench.retrieval.pools import Note, Pool, Question, in_patches

PROJECTS = "ADR, project decisions"
SERIES = "ADR, series of proposals"

# From the old title; the words of the old text; those that are also in the head's text.
KINDS = ("question", "question_body", "question_neutral")

# What a decider wrote. All other fields are labels, or would give them away.
_SHOWN = ("title", "context", "decision", "consequences")

_Line = dict[str, Any]


def load_adr(data: Path, groups: int | None = None) -> list[Pool]:
    """Make a pool of each group of decisions.

    Full links are given as `supersedes`. The successors of a split are written in one patch, when
    the last of them was decided: else the second would replace the first.

    Args:
        data: The folder of the data.
        groups: Only so many project groups, those with the most questions; None takes all.
    """
    decisions = {line["id"]: line for line in read_lines(data / DECISIONS)}
    links, asked = _by_group(read_lines(data / LINKS)), _by_group(read_lines(data / QUESTIONS))
    orders = {line["group"]: line["order"] for line in read_lines(data / ORDER)}
    names = list(orders)
    if groups is not None:
        projects = [name for name in names if "#" not in name]
        names = sorted(projects, key=lambda name: -len(_full(asked[name])))[:groups]
    return [
        _pool(name, [decisions[i] for i in orders[name]], _full(links[name]), asked[name])
        for name in names
    ]


def _by_group(lines: Iterable[_Line]) -> defaultdict[str, list[_Line]]:
    found: defaultdict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        found[line["group"]].append(line)
    return found


def _full(lines: Iterable[_Line]) -> list[_Line]:
    return [line for line in lines if line["kind"] == "full"]


def _pool(
    name: str, decisions: Sequence[_Line], links: Sequence[_Line], asked: Sequence[_Line]
) -> Pool:
    place = {line["id"]: number for number, line in enumerate(decisions)}
    late = [(link["new"], link["old"]) for link in links if place[link["new"]] < place[link["old"]]]
    olds: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        if (link["new"], link["old"]) not in late:
            olds[link["new"]].append(link["old"])
    together = {link["new"]: link["old"] for link in links if link["shape"] == "split"}
    last = _last(together, place)
    ordered = sorted(decisions, key=lambda line: last.get(line["id"], place[line["id"]]))
    notes = [_note(line, olds[line["id"]]) for line in ordered]
    weak = [line for line in asked if line["kind"] != "full"]
    return Pool(
        SERIES if "#" in name else PROJECTS,
        name,
        in_patches(notes, together),
        _questions(_full(asked)),
        late,
        _questions(weak),
    )


def _last(together: Mapping[str, str], place: Mapping[str, int]) -> dict[str, float]:
    """Return where siblings go: just before the last of them, which goes there too."""
    ends: defaultdict[str, int] = defaultdict(int)
    for new, old in together.items():
        ends[old] = max(ends[old], place[new])
    return {new: ends[old] - 0.5 for new, old in together.items()}


def _note(line: _Line, olds: Sequence[str]) -> Note:
    text = "\n\n".join(line[name] for name in _SHOWN if line[name])
    return Note(line["id"], text, line["title"], tuple(olds))


def _questions(lines: Iterable[_Line]) -> list[Question]:
    return [
        Question(kind, line[kind], frozenset(line["expected_heads"]), frozenset(_gone(line)))
        for line in lines
        for kind in KINDS
        if line[kind]
    ]


def _gone(line: _Line) -> list[str]:
    """Only what a full link replaces is known to hold no longer."""
    return line["obsolete_ids"] if line["kind"] == "full" else []
