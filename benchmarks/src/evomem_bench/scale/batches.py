"""Notes in batches that can be linked while they are loaded, without holding all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evomem_bench.corpus import Note

# Replacing a note costs several times a new one, and the load would take an hour.
LINKED_EVERY = 10


def staged(notes: Iterable[Note], size: int) -> Iterator[list[Note]]:
    """Cut notes into batches, each version of a chain in the batch after the one before it.

    Args:
        notes: Version after version of each chain.
        size: Of the batches; the last few are smaller.
    """
    # The first list is the batch being filled, the next one gets the second versions, and so on.
    # What a batch inherits never exceeds the batch before it.
    ahead: list[list[Note]] = [[]]
    for note in notes:
        while note.version == 1 and len(ahead[0]) >= size:
            yield ahead.pop(0)
            ahead = ahead or [[]]
        if note.version > len(ahead):
            ahead.append([])
        ahead[note.version - 1].append(note)
    yield from (batch for batch in ahead if batch)


def is_linked(note: Note) -> bool:
    """Tell whether the note names the version before it when it is loaded."""
    return note.version > 1 and note.chain % LINKED_EVERY == 0
