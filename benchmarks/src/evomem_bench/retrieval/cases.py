"""A few hand-made notes in several languages, with labelled questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evomem_bench.retrieval.data import CASES, read_lines
from evomem_bench.retrieval.pools import Note, Pool, Question, in_patches

PART = "notes of the cases"


def load_cases(data: Path) -> list[Pool]:
    """Make the one pool of these notes."""
    lines = read_lines(data / CASES)
    notes = [Note(line["id"], line["text"], supersedes=_keys(line["supersedes"])) for line in lines]
    questions = [
        Question("all", asked["query"], frozenset(_keys(asked["want_top"])), _gone(asked))
        for line in lines
        for asked in line["queries"]
    ]
    return [Pool(PART, "cases", in_patches(notes, {}), questions)]


def _keys(value: str | list[str] | None) -> tuple[str, ...]:
    if not value:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _gone(asked: dict[str, Any]) -> frozenset[str]:
    return frozenset(_keys(asked["never_active"]))
