"""What is kept of the turns of a conversation: the turn as an event, its decisions as notes."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import BaseMessage

import evomem

Kept = Literal["decisions", "all"]

_log = logging.getLogger(__name__)
_RECALLED = "[status: "


@dataclass(frozen=True, slots=True)
class Turn:
    """What a human said.

    Attributes:
        text: Without images, files and the like.
        id: Of the message; a turn of the same id, text and session is kept once.
        session: The conversation.
    """

    text: str
    id: str | None = None
    session: str | None = None

    @property
    def external_id(self) -> str | None:
        """What tells a repeat from another turn: some front ends number messages by thread."""
        if self.id is None:
            return None
        whole = json.dumps([self.session, self.id, self.text])
        return f"{self.id[:100]}:{hashlib.sha256(whole.encode()).hexdigest()[:16]}"


def text_of(message: BaseMessage) -> str:
    """Return the text of a message; its images, files and calls are left out."""
    return str(message.text)


def keep(
    memory: evomem.Memory,
    turn: Turn,
    *,
    what: Kept = "decisions",
    scope: str | None = None,
    tags: Sequence[str] = (),
) -> list[evomem.RememberResult]:
    """Keep a turn as an event, and what it decides as notes that name the event.

    A memory that refuses it or cannot be written costs the note, not the answer that was given.

    Args:
        memory: The handle of the run.
        turn: What was said; a blank text keeps nothing.
        what: `decisions` as `evomem.decisions_in` finds them, or `all` of the text. A turn that
            carries the text of a recall is never kept whole: it would come back as news.
        scope: Where the notes hold.
        tags: Of the notes.

    Returns:
        A result for each note.
    """
    if not turn.text.strip():
        return []
    try:
        event = memory.record_event(
            role="user",
            content=turn.text,
            external_id=turn.external_id,
            session=turn.session,
            source="langchain",
        )
        notes = [
            {
                "text": text,
                "session": turn.session,
                "scope": scope,
                "tags": list(tags),
                "metadata": {"event_id": event.id},
                "source": "langchain",
            }
            for text in _worth_keeping(turn.text, what)
        ]
        return memory.remember_many(notes, idempotency_key=f"langchain:turn:{event.id}")
    except evomem.EvoMemError as error:
        _log.warning("A turn was not remembered: %s: %s", error.code, error.message)
        return []


def _worth_keeping(text: str, what: Kept) -> list[str]:
    if what == "all" and _RECALLED not in text:
        return [text]
    return [span.text for span in evomem.decisions_in(text)]
