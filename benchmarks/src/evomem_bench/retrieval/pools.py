"""What every data set becomes: notes in the order they were said, and questions about them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evomem_bench.timing import batched

_PATCH = 200


@dataclass(frozen=True, slots=True)
class Note:
    """A note under a key of the data set; `supersedes` holds keys of earlier notes."""

    key: str
    text: str
    subject: str | None = None
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question of some kind, what answers it, and what no longer does."""

    kind: str
    text: str
    wanted: frozenset[str]
    obsolete: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pool:
    """One store of notes: a question is asked among these and no others.

    Attributes:
        part: The table that its figures go to.
        name: Unique in a run.
        patches: The notes in order; those of one patch are written together.
        questions: What is asked.
        late: Links (new, old) that run against the order, made once all is written.
        probes: Questions of links too weak to score, but about what the notes hold.
    """

    part: str
    name: str
    patches: Sequence[Sequence[Note]]
    questions: Sequence[Question]
    late: Sequence[tuple[str, str]] = ()
    probes: Sequence[Question] = ()

    @property
    def notes(self) -> list[Note]:
        """All notes, in order."""
        return [note for patch in self.patches for note in patch]

    @property
    def keys(self) -> list[str]:
        """The keys of all notes, in order."""
        return [note.key for note in self.notes]

    def only(self, keys: frozenset[str]) -> Pool:
        """Return some of the notes, under another name; it has no questions."""
        kept = [[_among(n, keys) for n in patch if n.key in keys] for patch in self.patches]
        late = [link for link in self.late if keys.issuperset(link)]
        return Pool(self.part, f"{self.name}, less", [patch for patch in kept if patch], (), late)


def _among(note: Note, keys: frozenset[str]) -> Note:
    return replace(note, supersedes=tuple(key for key in note.supersedes if key in keys))


def in_patches(notes: Sequence[Note], together: Mapping[str, str]) -> list[list[Note]]:
    """Cut notes into patches: a note that replaces others is one alone, or with its siblings.

    Args:
        notes: In order.
        together: The name of its siblings for each note that has any; they follow each other.
    """
    found: list[list[Note]] = []
    for name, run in itertools.groupby(notes, lambda note: _patch_of(note, together)):
        patch = list(run)
        found += [patch] if name else batched(patch, _PATCH)
    return found


def _patch_of(note: Note, together: Mapping[str, str]) -> str:
    return together.get(note.key, note.key if note.supersedes else "")


def successors(pool: Pool) -> dict[str, list[str]]:
    """Return what replaces each replaced note of a pool."""
    found: dict[str, list[str]] = {}
    links = [(note.key, old) for note in pool.notes for old in note.supersedes]
    for new, old in (*links, *pool.late):
        found.setdefault(old, []).append(new)
    return found
