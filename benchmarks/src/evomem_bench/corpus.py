"""A seeded corpus: notes in chains of versions, and queries drawn from them."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

VOCABULARY_FULL = 60_000
VOCABULARY_QUICK = 20_000

# Zipf-Mandelbrot, p(rank) ~ 1 / (rank + q) ** s: with 60,000 words and 40 words a note the most
# frequent word stands in 76 % of the notes, 40 words in more than 10 %, 400 in more than 1 %.
_S = 1.07
_Q = 2.7

_MOST_VERSIONS = 8
# Stops with this chance after each version: 2.2 versions a chain on average.
_STOP = 0.45
_SHARED = 0.6
_COMMON_WORDS = 40
_COMMON_QUERIES = 0.1

# Without words that people link clauses with, a cronista would have nothing to do.
_OPENINGS = ("we decided to use", "we moved from", "we chose", "the team rejected", "instead of")
_LINKS = ("because", "so that", "after", "which means")


@dataclass(frozen=True, slots=True)
class Note:
    """A version of a chain.

    Attributes:
        chain: Number of the chain.
        version: 1 for the first of the chain.
        text: 20 to 60 words in sentences.
    """

    chain: int
    version: int
    text: str


class Corpus:
    """Draws notes and queries; the same seed draws the same ones.

    Args:
        seed: Of the generator.
        n_words: Size of the vocabulary.
    """

    def __init__(self, seed: int, n_words: int = VOCABULARY_FULL) -> None:
        self._random = random.Random(seed)
        self._words = _vocabulary(self._random, n_words)
        self._known = frozenset(self._words)
        self._cumulative = list(
            itertools.accumulate(1 / math.pow(rank + _Q, _S) for rank in range(1, n_words + 1))
        )
        self._chains = itertools.count()

    def notes(self, count: int) -> list[Note]:
        """Draw whole chains, cut after `count` notes, version after version of each chain."""
        return list(self.stream(count))

    def stream(self, count: int) -> Iterator[Note]:
        """Draw the same notes one at a time."""
        return itertools.islice(self._endless(), count)

    def queries(self, notes: Sequence[Note], count: int) -> list[str]:
        """Draw queries of 2 to 6 words from the notes, one in ten of the commonest words only."""
        return [self._query(notes) for _ in range(count)]

    def _endless(self) -> Iterator[Note]:
        for chain in self._chains:
            words = self._draw(self._random.randint(20, 60))
            for version in range(1, self._length() + 1):
                yield Note(chain, version, self._sentences(words))
                words = self._revised(words)

    def _length(self) -> int:
        length = 1
        while length < _MOST_VERSIONS and self._random.random() > _STOP:
            length += 1
        return length

    def _draw(self, count: int) -> list[str]:
        return self._random.choices(self._words, cum_weights=self._cumulative, k=count)

    def _revised(self, words: list[str]) -> list[str]:
        """Keep 60 % of the words where they are and draw the others anew."""
        fresh = self._draw(len(words))
        kept = set(self._random.sample(range(len(words)), round(_SHARED * len(words))))
        return [w if n in kept else fresh[n] for n, w in enumerate(words)]

    def _sentences(self, words: list[str]) -> str:
        sentences = []
        rest = list(words)
        while rest:
            length = self._random.randint(8, 15)
            sentences.append(self._sentence(rest[:length]))
            rest = rest[length:]
        return " ".join(sentences)

    def _sentence(self, words: list[str]) -> str:
        """Join words; in place of some, every other sentence has words that link clauses."""
        chosen = list(words)
        if len(chosen) > 6 and self._random.random() < 0.5:
            chosen[:1] = [self._random.choice(_OPENINGS)]
            chosen[5:6] = [self._random.choice(_LINKS)]
        text = " ".join(chosen)
        return f"{text[0].upper()}{text[1:]}."

    def _query(self, notes: Sequence[Note]) -> str:
        length = self._random.randint(2, 6)
        if self._random.random() < _COMMON_QUERIES:
            return " ".join(self._random.sample(self._words[:_COMMON_WORDS], length))
        text = self._random.choice(notes).text.lower().replace(".", "")
        words = sorted({word for word in text.split() if word in self._known})
        return " ".join(self._random.sample(words, min(length, len(words))))


def _vocabulary(generator: random.Random, count: int) -> list[str]:
    """Make different words of six letters, too long to be stop words of any language."""
    syllables = ["".join(s) for s in itertools.product("bcdfghjklmnprstv", "aeiou", "dfgklmnr")]
    pairs = generator.sample(range(len(syllables) ** 2), count)
    return [syllables[n // len(syllables)] + syllables[n % len(syllables)] for n in pairs]
