"""What a write did, in words: what a model needs to go on."""

from __future__ import annotations

from collections.abc import Iterable

from evomem.domain.decision import Suggestion
from evomem.domain.result import ForgetResult, LinkResult, Moved, RememberResult
from evomem.domain.text import fold_whitespace


def remembered(result: RememberResult) -> str:
    """Say what became of a note, and what it may replace."""
    shown = result.node
    if result.deduplicated:
        first = f"Known already as {shown.id}; nothing new was stored."
    elif result.replayed:
        first = f"Replayed: stored before as {shown.id} (now {shown.status})."
    else:
        first = f"Remembered as {shown.id}, version {shown.version} ({shown.status})."
    if result.superseded:
        first += f" Replaced {', '.join(result.superseded)}."
    offers = [_offer(shown.id, candidate) for candidate in result.candidates]
    return "\n".join([first, *_moved(result.moved), *offers, *_warnings(result.warnings)])


def _offer(node_id: str, candidate: Suggestion) -> str:
    # Folded to one line: a line end in it could pass for the end of the quotation.
    return (
        f'It may replace {candidate.node_id}: "{fold_whitespace(candidate.text)}" '
        f"({candidate.reason}). To replace it call "
        f"link(node_id={node_id!r}, supersedes=[{candidate.node_id!r}])."
    )


def linked(result: LinkResult) -> str:
    """Say what a link took out of force, or what its undoing put back."""
    if result.superseded:
        first = f"{result.node.id} now replaces {', '.join(result.superseded)}."
    elif result.restored:
        first = f"{result.node.id} no longer replaces {', '.join(result.restored)}."
    elif result.patch_id:
        first = f"The links of {result.node.id} changed; what is in force did not."
    else:
        first = "Nothing was linked."
    return "\n".join([first, *_moved(result.moved), *_warnings(result.warnings)])


def forgotten(result: ForgetResult) -> str:
    """Say what a forget did."""
    if not result.changed:
        first = f"{result.node_id} had been forgotten before."
    elif result.purged:
        first = f"Purged {result.node_id}: the note has no text any more, its place is kept."
    else:
        first = f"Forgot {result.node_id}: it is out of recall, its history is kept."
    return "\n".join([first, *_warnings(result.warnings)])


def _moved(moved: Iterable[Moved]) -> list[str]:
    return [f"{m.named} had been replaced: {m.current} was replaced instead." for m in moved]


def _warnings(given: Iterable[str]) -> list[str]:
    return [f"Warning: {warning}" for warning in given]
