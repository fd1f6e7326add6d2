"""Vector search over any store: the vectors of a namespace stay in memory, all of them ranked.

Up to `EXACT_LIMIT` vectors of a namespace are kept as they are and ranked by their cosines. Of more
only the signs are kept, a bit per number: those ranked best by equal signs are read again and
ranked by their cosines, so that one beyond them may be missed.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evomem.domain.ranking import Passing, SearchHit
from evomem.engines.base import SearchLimits, SearchResult

Array: TypeAlias = NDArray[Any]

EXACT_LIMIT = 50_000
CACHE_BYTES = 512 << 20

# Vectors checked against the filters at a time; each page doubles, so that what few pass is found
# in few steps, up to what a deadline can wait for.
_PAGE = 64
_LARGEST_PAGE = 4096
# Of vectors ranked by their signs, how many are looked at, and how many must pass, for one wanted.
_LOOKED_AT = 20
_FEWEST_LOOKED_AT = 500
_PASSED = 5
# A bound of 0 would say that nothing was left out.
_LEAST_BOUND = 1e-9
# A matrix is loaded anew once so large a share of it was deleted.
_DEAD_SHARE = 0.1

_WORD = 64
_ONES_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


class VectorTable(Protocol):
    """The stored vectors of one embedder, in one snapshot and under some filters."""

    @property
    def embedder(self) -> int:
        """Number of the embedder."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers each vector has."""
        ...

    def latest(self) -> int:
        """Return the greatest id of a vector; ids grow in the order of the commits."""
        ...

    def count(self, space: int, last: int) -> int:
        """Count the vectors of a namespace, up to an id."""
        ...

    def nodes(self, space: int) -> int:
        """Count the nodes of a namespace that should have a vector."""
        ...

    def all(self, space: int, behind: int, last: int) -> Iterator[Sequence[tuple[int, bytes]]]:
        """Yield the node's row and the vector of each id up to `last`, in batches.

        They come in the order of the rows, behind the row `behind`.
        """
        ...

    def new(self, space: int, after: int, held: int) -> Iterator[Sequence[tuple[int, bytes]]]:
        """Yield the node's row and the vector of each id after `after`, in batches.

        `held` says how many earlier ones the namespace has.
        """
        ...

    def passing(self, rows: Sequence[int]) -> Mapping[int, Passing]:
        """Return by row those nodes that have a vector and pass the filters."""
        ...

    def passing_vectors(self, rows: Sequence[int]) -> Sequence[tuple[Passing, bytes]]:
        """Return with their vectors those nodes that have one and pass the filters."""
        ...


class VectorCache:
    """The vectors loaded by one process; the namespaces least recently asked go first."""

    def __init__(self, limit_bytes: int = CACHE_BYTES) -> None:
        self._limit = limit_bytes
        self._turn = threading.Lock()
        self._matrices: OrderedDict[tuple[int, int], _Matrix] = OrderedDict()

    def get(self, table: VectorTable, space: int, limits: SearchLimits) -> Loaded:
        """Return the vectors of a namespace, up to the latest that the table has.

        If the time does not suffice to load all, it returns what was loaded; the next call goes on.
        """
        key = (space, table.embedder)
        with self._turn:
            matrix = self._matrices.pop(key, None) or _Matrix(table.dimension)
            self._matrices[key] = matrix
        loaded = matrix.refreshed(table, space, limits)
        with self._turn:
            self._make_room(key)
        return loaded

    def _make_room(self, used: tuple[int, int]) -> None:
        held = sum(matrix.size_bytes for matrix in self._matrices.values())
        for key in list(self._matrices):
            if held <= self._limit:
                return
            if key != used:
                held -= self._matrices.pop(key).size_bytes


class Loaded(NamedTuple):
    """Rows of nodes and their vectors: 32-bit floats, or if `rounded` the bits of their signs.

    `whole` is false if time was up before all were there.
    """

    rows: Array
    values: Array
    rounded: bool
    whole: bool


class _Matrix:
    """The vectors of one namespace, in arrays with room for more.

    First all are loaded in the order of their rows, in as many steps as it takes; from then on
    those with later ids go behind them. Who looks at an earlier state is not disturbed.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._turn = threading.Lock()
        self._size = 0
        # The last id that counts; while all are loaded: behind which row, up to which id.
        self._last = self._behind = self._target = 0
        self._arrange(0)

    @property
    def size_bytes(self) -> int:
        """Return the memory that it takes."""
        return int(self._rows.nbytes + self._values.nbytes)

    def refreshed(self, table: VectorTable, space: int, limits: SearchLimits) -> Loaded:
        """Return the vectors up to the latest, or those that there was time for."""
        deadline = limits.deadline
        patience = -1 if deadline is None else max(deadline - time.monotonic(), 0)
        whole = False
        if self._turn.acquire(timeout=patience):
            try:
                whole = self._refresh(table, space, limits)
            finally:
                self._turn.release()
        size = self._size
        return Loaded(self._rows[:size], self._values[:size], self._rounded, whole)

    def _refresh(self, table: VectorTable, space: int, limits: SearchLimits) -> bool:
        latest = table.latest()
        if self._has_dead_ones(table, space, latest):
            self._size = 0
        if not self._size:
            self._arrange(table.count(space, latest))
            self._last, self._behind, self._target = 0, 0, latest
        if self._target and not self._load_all(table, space, limits):
            return False
        if latest > self._last:
            size = self._size
            for batch in table.new(space, self._last, size):
                size = self._append(size, batch)
            self._size, self._last = size, latest
        return True

    def _has_dead_ones(self, table: VectorTable, space: int, latest: int) -> bool:
        """Tell whether it would have to grow although much of it was deleted."""
        grows = self._size + latest - self._last > len(self._rows)
        if self._target or not self._size or not grows:
            return False
        return table.count(space, self._last) < self._size * (1 - _DEAD_SHARE)

    def _load_all(self, table: VectorTable, space: int, limits: SearchLimits) -> bool:
        for batch in table.all(space, self._behind, self._target):
            self._size = self._append(self._size, batch)
            self._behind = batch[-1][0]
            if limits.expired():
                return False
        self._last, self._target = self._target, 0
        return True

    def _arrange(self, capacity: int) -> None:
        """Start with empty arrays."""
        self._rounded = capacity > EXACT_LIMIT
        self._rows = np.empty(capacity, np.int64)
        self._values = self._room(capacity)

    def _append(self, size: int, batch: Sequence[tuple[int, bytes]]) -> int:
        end = size + len(batch)
        vectors = _floats((value for _, value in batch), self._dimension)
        if end > len(self._rows):
            self._grow(size, end)
        self._rows[size:end] = [row for row, _ in batch]
        self._values[size:end] = _signs(vectors) if self._rounded else vectors
        return end

    def _grow(self, size: int, needed: int) -> None:
        kept_rows, kept = self._rows[:size], self._values[:size]
        if needed > EXACT_LIMIT and not self._rounded:
            self._rounded, kept = True, _signs(kept)
        capacity = needed + needed // 4 + _PAGE
        self._rows, self._values = np.empty(capacity, np.int64), self._room(capacity)
        self._rows[:size], self._values[:size] = kept_rows, kept

    def _room(self, capacity: int) -> Array:
        if self._rounded:
            return np.empty((capacity, -(-self._dimension // _WORD)), np.uint64)
        return np.empty((capacity, self._dimension), np.float32)


def nearest(
    cache: VectorCache,
    table: VectorTable,
    spaces: Sequence[int],
    vector: bytes,
    limits: SearchLimits,
) -> SearchResult:
    """Rank the nodes of some namespaces by the cosine of their vectors with a vector."""
    nodes = sum(map(table.nodes, spaces))
    if len(vector) != 4 * table.dimension:
        return SearchResult(unseen=nodes)
    query = np.frombuffer(vector, "<f4")
    loaded = [cache.get(table, space, limits) for space in spaces]
    found = [_by_cosine([one for one in loaded if not one.rounded], table, query, limits)]
    found += [_by_signs(one, table, query, limits) for one in loaded if one.rounded]
    scored = [item for part in found for item in part.scored]
    # A vector that went and came back is loaded twice.
    scores: dict[str, float] = {}
    # By row, as the pages are cut: what is near enough must not depend on how many are wanted.
    for score, node in sorted(scored, key=lambda one: (one[0], one[1].row), reverse=True):
        scores.setdefault(node.node_id, score)
    whole = all(one.whole for one in loaded)
    return SearchResult(
        [SearchHit(node_id, score, 0.0, ()) for node_id, score in scores.items()],
        bound=max(part.bound for part in found) if whole else 1.0,
        partial=not whole or any(part.partial for part in found),
        unseen=max(0, nodes - sum(len(one.rows) for one in loaded)),
    )


class _Found(NamedTuple):
    """Scores of nodes that pass, and what may have been left out."""

    scored: list[tuple[float, Passing]]
    bound: float = 0.0
    partial: bool = False


def _by_cosine(
    loaded: Sequence[Loaded], table: VectorTable, query: Array, limits: SearchLimits
) -> _Found:
    """Look at the vectors from the nearest on until enough pass."""
    if not loaded:
        return _Found([])
    rows = np.concatenate([one.rows for one in loaded])
    scores = np.concatenate([one.values @ query for one in loaded])
    scored: list[tuple[float, Passing]] = []
    looked, bound = 0, 1.0
    for page in _ranked(scores, rows):
        nodes = table.passing(rows[page].tolist())
        values = zip(scores[page].tolist(), rows[page].tolist(), strict=True)
        scored += [(score, nodes[row]) for score, row in values if row in nodes]
        looked += len(page)
        bound = max(float(scores[page[-1]]), _LEAST_BOUND)
        if len(scored) >= limits.depth:
            break
        if looked < len(rows) and limits.expired():
            return _Found(scored, bound, partial=True)
    return _Found(scored, bound if looked < len(rows) else 0.0)


def _by_signs(one: Loaded, table: VectorTable, query: Array, limits: SearchLimits) -> _Found:
    """Look at those with the most equal signs, and rank what passes by cosine."""
    order = np.argsort(_unequal(one.values, _signs(query[None])[0]), kind="stable")
    enough = max(_FEWEST_LOOKED_AT, _LOOKED_AT * limits.depth)
    scored: list[tuple[float, Passing]] = []
    looked, size = 0, enough
    while looked < len(order):
        page = order[looked : looked + size]
        scored += _rescored(table.passing_vectors(one.rows[page].tolist()), query)
        looked, size = looked + len(page), min(2 * size, max(_LARGEST_PAGE, enough))
        if len(scored) >= _PASSED * limits.depth:
            break
        if looked < len(order) and limits.expired():
            return _Found(scored, 1.0, partial=True)
    return _Found(scored, 1.0 if looked < len(order) else 0.0)


def _rescored(found: Sequence[tuple[Passing, bytes]], query: Array) -> list[tuple[float, Passing]]:
    scores = (_floats((value for _, value in found), len(query)) @ query).tolist()
    return [(score, node) for score, (node, _) in zip(scores, found, strict=True)]


def _ranked(scores: Array, rows: Array) -> Iterator[Array]:
    """Yield pages of indices, the greatest score first; of equal ones the later row."""
    if len(scores) <= _PAGE:
        yield from filter(len, [_sorted(scores, rows)])
        return
    least = np.partition(scores, -_PAGE)[-_PAGE]
    best = np.flatnonzero(scores >= least)
    yield best[_sorted(scores[best], rows[best])][:_PAGE]
    order = _sorted(scores, rows)
    start, size = _PAGE, 2 * _PAGE
    while start < len(order):
        yield order[start : start + size]
        start, size = start + size, min(2 * size, _LARGEST_PAGE)


def _sorted(scores: Array, rows: Array) -> Array:
    return np.lexsort((rows, scores))[::-1]


def _floats(values: Iterable[bytes], dimension: int) -> Array:
    """Return vectors as rows; what is no number counts as zero, as it would outrank all others."""
    stored = np.frombuffer(b"".join(values), "<f4").reshape(-1, dimension)
    numbers: Array = np.nan_to_num(stored, nan=0.0, posinf=0.0, neginf=0.0)
    return numbers


def _signs(vectors: Array) -> Array:
    """Return the signs as bits, in whole words."""
    packed = np.packbits(vectors > 0, axis=1)
    words = -(-vectors.shape[1] // _WORD)
    padded = np.zeros((len(packed), words * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _unequal(signs: Array, query: Array) -> Array:
    """Count the signs of each vector that are not those of the query."""
    total = np.zeros(len(signs), np.uint16)
    for word in range(signs.shape[1]):
        total += _ones(signs[:, word] ^ query[word])
    return total


def _ones(words: Array) -> Array:
    """Count the bits that are set in each word."""
    if hasattr(np, "bitwise_count"):
        ones: Array = np.bitwise_count(words)
    else:
        of_bytes = _ONES_OF_BYTE[np.ascontiguousarray(words).view(np.uint8)]
        ones = of_bytes.reshape(len(words), 8).sum(axis=1, dtype=np.uint8)
    return ones
