"""Identifiers: short, random, and told apart by their first letter.

Twelve lower-case letters and digits survive a language model's hands; the first letter says what
the id names, so that a memory id in a node's place can be explained instead of merely not found.
Order is never read from an id: it is the commit sequence.
"""

from __future__ import annotations

import os
import string

from evomem.domain.text import UNSTORABLE
from evomem.errors import InvalidRequestError, shown

ID_CHARS = 12
PREFIX_CHARS = 6
MAX_ID_CHARS = 200

NODE = "n"
MEMORY = "m"
PATCH = "p"
EVENT = "e"

_KINDS = {NODE: "a node", MEMORY: "a memory", PATCH: "a patch", EVENT: "an event"}
_ALPHABET = string.ascii_lowercase + string.digits

# 256 byte values on 36 characters: four of them fall on eight values, the rest on seven. Nobody
# guesses ids, they need only be distinct, and one step is the cheapest way to make one.
_SPREAD = bytes(ord(_ALPHABET[value % len(_ALPHABET)]) for value in range(256))


def new_id(kind: str) -> str:
    """Return a fresh id of the kind named by its first letter."""
    return kind + os.urandom(ID_CHARS - 1).translate(_SPREAD).decode("ascii")


def describe(identifier: str) -> str:
    """Say what an id of this shape names, for messages: `a memory`, or empty."""
    if len(identifier) == ID_CHARS and set(identifier) <= set(_ALPHABET):
        return _KINDS.get(identifier[0], "")
    return ""


def parse_id(value: object, field: str = "id") -> str:
    """Check that a caller's id is usable text and return it stripped."""
    good = isinstance(value, str) and value.strip() and len(value) <= MAX_ID_CHARS
    if not isinstance(value, str) or not good or UNSTORABLE.search(value):
        message = (
            f"{field}={shown(value)} is no id. Pass the id that remember, recall or list showed."
        )
        raise InvalidRequestError(message, field=field)
    return value.strip()
