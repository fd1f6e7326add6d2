"""`evomem demo`: one story, told by a memory without links and by EvoMem."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import evomem
from evomem.cli import printing
from evomem.cli.session import Session, command_line
from evomem.domain.analysis import terms, tokens
from evomem.domain.ranking import Corpus, Document, Scorer, graded
from evomem.errors import InvalidRequestError

if TYPE_CHECKING:
    from rich.console import Console

QUESTION = "which database did we pick for the ledger"
OLD = "We picked Postgres for the ledger because finance wants row-level history."
OTHERS = (
    "Stand-up moved to 10:15 so that the Lisbon office can join.",
    "The mobile team picked Kotlin for the courier app.",
    "Backups of the file server run at 02:00 and are kept for 30 days.",
    "Invoices over 5000 EUR need a second signature.",
)
NEW = "We moved the ledger to SQLite: one writer was enough and the cluster cost 212 EUR a month."
NEXT = "The ledger goes to DuckDB: the month-end report took 40 minutes."


@dataclass(frozen=True, slots=True)
class Flat:
    """What a memory without links answers first, and where the note in force came.

    Attributes:
        text: The best match.
        score: Its BM25 score.
        rank_of_new: Place of the note in force among all notes, from 1.
    """

    text: str
    score: float
    rank_of_new: int


@dataclass(frozen=True, slots=True)
class Story:
    """What the demo shows.

    Attributes:
        path: The store it made.
        question: What both memories were asked.
        flat: The answer without links.
        evomem: The answer with them.
        commands: How to go on.
    """

    path: str
    question: str
    flat: Flat
    evomem: evomem.RecallResult
    commands: tuple[str, ...]


def demo(
    ctx: typer.Context,
    keep: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="The new file to make; default one in a temp folder."),
    ] = None,
) -> None:
    """Play a decision and its replacement on a file made for it, never on your store."""
    session: Session = replace(ctx.obj, db=_new_file(keep or ctx.obj.db))
    session.answer(_play(session), _print)


def _new_file(chosen: str | None) -> str:
    """Return the path of a file that does not exist yet.

    Raises:
        InvalidRequestError: It does, or there is no such place.
    """
    if chosen is None:
        return str(Path(tempfile.mkdtemp(prefix="evomem-demo-")) / "evomem.db")
    try:
        path = Path(os.path.expandvars(chosen)).expanduser().absolute()
    except RuntimeError as error:
        message = f"{chosen!r}: {error} Write the path in full."
        raise InvalidRequestError(message, path=chosen) from error
    if path.exists():
        message = f"{path} exists. The demo writes to a new file only: choose another with --keep."
        raise InvalidRequestError(message, path=str(path))
    return str(path)


def _play(session: Session) -> Story:
    now = datetime.now(UTC)
    with session.open(linking="off") as memory:
        old = memory.remember(OLD, created_at=now - timedelta(days=90), source="cli")
        for days, text in zip((75, 60, 40, 20), OTHERS, strict=True):
            memory.remember(text, created_at=now - timedelta(days=days), source="cli")
        new = memory.remember(NEW, supersedes=old.node.id, source="cli")
        answer = memory.recall(QUESTION, k=1, include_history=True)
        path = memory.path
    return Story(
        path,
        QUESTION,
        flat_answer(QUESTION, (OLD, *OTHERS, NEW)),
        answer,
        (
            command_line(*session.options, "recall", QUESTION, "--history"),
            command_line(*session.options, "history", new.node.id),
            command_line(*session.options, "remember", NEXT, "--supersedes", new.node.id),
        ),
    )


def flat_answer(question: str, texts: Sequence[str]) -> Flat:
    """Answer as a memory without links does: BM25, by the scorer of EvoMem, over all texts."""
    documents = {text: tokens(text) for text in texts}
    words = terms(question)
    corpus = Corpus(
        documents=len(documents),
        tokens=sum(map(len, documents.values())),
        frequency={word: sum(word in found for found in documents.values()) for word in words},
    )
    scorer = Scorer(words, corpus)
    hits = [
        scorer.score(Document(text, 0, {g: " ".join(t) for g, t in graded((), found).items()}))
        for text, found in documents.items()
    ]
    hits.sort(key=lambda hit: hit.score, reverse=True)
    ranked = [hit.node_id for hit in hits]
    return Flat(ranked[0], round(hits[0].score, 6), ranked.index(texts[-1]) + 1)


def _print(console: Console, story: Story) -> None:
    line = printing.line
    line(console, ("Six notes go into a memory, in this order:", "bold"))
    for text in (OLD, *OTHERS, NEW):
        line(console, f"  - {text}")
    line(console, "  The last one is stored with --supersedes and the id of the first.")
    line(console)
    line(console, ("Question: ", "bold"), story.question)
    line(console)
    line(console, ("A flat memory answers", "bold"), " (BM25 over the same notes, no links):")
    line(console, f"1. score {story.flat.score:.2f}")
    line(console, f"   {story.flat.text}")
    line(console, f"   Nothing says that it was replaced; the note in force comes {_place(story)}.")
    line(console)
    line(console, ("EvoMem answers", "bold"), " (the match leads to the version in force):")
    printing.recalled(console, story.evomem)
    line(console)
    line(console, ("Go on with this file:", "bold"))
    for command in story.commands:
        line(console, f"  {command}")


def _place(story: Story) -> str:
    place = story.flat.rank_of_new
    return {2: "second", 3: "third"}.get(place, f"in place {place}")
