"""Standard input with half surrogate pairs replaced, as the SDK drops a line that has one.

Clients written in JavaScript send them when they cut a text inside an emoji. A dropped line is a
request that never gets a reply: the client hangs until it gives up.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    rb"""(?x)
    (?P<pair> \\u[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2} )
    | (?P<half> \\u[dD][89a-fA-F][0-9a-fA-F]{2} )
    | \\.
    """
)


def repair(line: bytes) -> bytes:
    """Return a line of JSON whose escaped half surrogates are U+FFFD; most pass untouched."""
    if not _HALF.search(line):
        return line
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found["half"] else found[0], line)


class RepairedInput(io.RawIOBase):
    """A stream that repairs what it reads, line by line."""

    def __init__(self, source: BinaryIO) -> None:
        super().__init__()
        self._source = source
        self._waiting = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer from the next line; 0 at the end."""
        if not self._waiting:
            self._waiting = repair(self._source.readline())
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._waiting))
        view[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count
