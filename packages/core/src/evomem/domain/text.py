"""The one boundary step a text goes through: what no store can hold is replaced, nothing else."""

from __future__ import annotations

import functools
import hashlib
import re

from evomem.errors import InvalidRequestError, TooLargeError

MAX_TEXT_BYTES = 1 << 20

# PostgreSQL refuses NUL in text, and UTF-8 has no form for half a surrogate pair.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def sanitise(text: object, field: str = "text") -> tuple[str, str | None]:
    """Return the text as it will be stored, and a warning if a character was replaced.

    Raises:
        InvalidRequestError: Not a text, or blank.
        TooLargeError: Over 1 MiB in UTF-8.
    """
    if not isinstance(text, str) or not text.strip():
        what = "empty" if isinstance(text, str) or text is None else f"a {type(text).__name__}"
        message = f"{field} is {what}: pass the statement as text."
        raise InvalidRequestError(message, field=field)
    clean, replaced = UNSTORABLE.subn("\ufffd", text)
    size = len(clean.encode())
    if size > MAX_TEXT_BYTES:
        message = (
            f"{field} has {size} bytes, more than the {MAX_TEXT_BYTES} allowed. "
            "Split it into notes of one decision each."
        )
        raise TooLargeError(message, field=field, size_bytes=size, limit_bytes=MAX_TEXT_BYTES)
    if not replaced:
        return clean, None
    return clean, f"{replaced} unstorable character(s) (NUL, half an emoji) became U+FFFD."


def fold_whitespace(text: str) -> str:
    """Replace each run of Unicode white space by one blank and strip the ends."""
    return " ".join(text.split())


# One write asks several times for the same note.
@functools.lru_cache(maxsize=16)
def digest(text: str, scope: str | None, slot: str | None) -> bytes:
    """Return what equal notes of a namespace share: folded text, scope and slot."""
    parts = (fold_whitespace(text), scope or "", slot or "")
    return hashlib.sha256("\x1f".join(parts).encode()).digest()[:16]


def to_embed(subject: str | None, text: str) -> str:
    """Return what an embedder is given of a note."""
    return f"{subject}\n{text}" if subject else text
