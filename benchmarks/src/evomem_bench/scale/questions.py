"""Queries drawn from stored notes, sorted by how common their words are."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from evomem_bench.corpus import Note
from evomem_bench.scale.stores import Stores

ALL = "all"
UNCOMMON = "with an uncommon word"
COMMON = "only common words"
KINDS = (ALL, UNCOMMON, COMMON)

# A word is common if more than this share of the notes holds it: 40 words of the full vocabulary.
COMMON_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Questions:
    """Queries, and what is known of their words.

    Attributes:
        queries: Each of 2 to 6 words.
        frequency: Notes that hold each of the words.
        notes: Notes in all.
    """

    queries: Sequence[str]
    frequency: Mapping[str, int]
    notes: int

    def kind(self, query: str) -> str:
        """Tell whether one of the words is uncommon."""
        most = COMMON_SHARE * self.notes
        rare = any(self.frequency[word] <= most for word in query.split())
        return UNCOMMON if rare else COMMON

    def rarest_first(self, query: str) -> list[str]:
        """Return the words, those that the fewest notes hold first."""
        return sorted(query.split(), key=self.frequency.__getitem__)


def draw(stores: Stores, count: int) -> Questions:
    """Draw queries from notes of the store, the same ones every time."""
    contents = stores.contents
    generator = random.Random(contents.seed)
    with closing(sqlite3.connect(stores.raw)) as connection:
        picked = [generator.randint(1, contents.notes) for _ in range(count)]
        notes = [_note(connection, row) for row in picked]
        queries = contents.corpus().queries(notes, count)
        words = dict.fromkeys(word for query in queries for word in query.split())
        frequency = {word: _frequency(connection, word) for word in words}
    return Questions(queries, frequency, contents.notes)


def _note(connection: sqlite3.Connection, row: int) -> Note:
    statement = "SELECT chain, version, text FROM node WHERE row = ?"
    return Note(*connection.execute(statement, (row,)).fetchone())


def _frequency(connection: sqlite3.Connection, word: str) -> int:
    statement = "SELECT count(*) FROM search WHERE search MATCH ?"
    (count,) = connection.execute(statement, (f'"{word}"',)).fetchone()
    return int(count)
