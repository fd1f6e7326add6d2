"""The embedder that every peer gets: words hashed into 384 numbers. Quick, and the same anywhere.

It knows equal words and nothing of their meaning; the benchmark is about the stores.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter

DIMENSIONS = 384

_WORD = re.compile(r"\w+")


def embed(text: str) -> list[float]:
    """Return a vector of unit length; of a text without words, the first axis."""
    vector = [0.0] * DIMENSIONS
    for word, count in Counter(_WORD.findall(text.lower())).items():
        number = zlib.crc32(word.encode())
        # The sign is drawn from a bit that the place does not use: collisions cancel out.
        vector[number % DIMENSIONS] += math.sqrt(count) if number >> 31 else -math.sqrt(count)
    length = math.sqrt(sum(value * value for value in vector))
    if not length:
        return [1.0, *vector[1:]]
    return [value / length for value in vector]
