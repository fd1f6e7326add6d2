"""The store beside `InMemoryStore`: random batches must have equal results.

The differences are documented: listings come latest first, emptied namespaces are not listed, and
`created_at` is kept.
"""

from __future__ import annotations

import random

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import evomem
from langchain_evomem.store import EvoMemStore

LABELS = ["u", "v", "1", "x_y", "x-y"]
KEYS = ["a", "b", " c", ""]
OPERATORS = ["$gt", "$gte", "$lt", "$lte", "$ne", "$eq"]
WHOLE = 10_000


class Draws:
    """Draws operations; the same seed draws the same ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)  # noqa: S311  repeatable, no secret

    def batch(self):
        return [self.operation() for _ in range(self.random.randint(1, 6))]

    def operation(self):
        choice = self.random.random()
        if choice < 0.4:
            return PutOp(self.labels(1, 3), self.one(KEYS), self.value())
        if choice < 0.5:
            return PutOp(self.labels(1, 3), self.one(KEYS), None)
        if choice < 0.65:
            return GetOp(self.labels(1, 3), self.one(KEYS))
        if choice < 0.85:
            limit, offset = self.one([0, 1, 3, WHOLE]), self.random.randint(0, 3)
            return SearchOp(self.labels(0, 2), self.condition(), limit, offset)
        paths = [self.labels(1, 3, wild=True) for _ in range(self.random.randint(0, 2))]
        conditions = tuple(MatchCondition(self.one(["prefix", "suffix"]), path) for path in paths)
        depth, limit = self.one([None, 1, 2, 3]), self.one([0, 2, WHOLE, 3 * WHOLE])
        return ListNamespacesOp(conditions, depth, limit, self.random.randint(0, 2))

    def labels(self, least, most, *, wild=False):
        labels = [*LABELS, "*"] if wild else LABELS
        return tuple(self.random.choices(labels, k=self.random.randint(least, most)))

    def value(self):
        """Draw a value; the other store raises on `$gte` of what is missing, so `n` is always there."""
        value = {
            "n": self.random.randint(0, 4),
            "s": self.one(["x", "y"]),
            "d": {"e": self.random.randint(0, 2), "f": self.one([None, 1, "x"])},
            "l": self.one([[], [0], [0, 1]]),
        }
        return value | self.one([{}, {"more": None}, {"more": 1.5}, {"a.b": "x"}])

    def condition(self):
        number = self.random.randint(0, 4)
        conditions = {
            "s": self.one(["x", "y", {"$ne": "x"}, {"$eq": "y"}]),
            "n": self.one([number, {self.one(OPERATORS): number}, {"$gte": 1, "$lt": number}]),
            "d": self.one([{}, {"e": 1}, {"e": {"$gt": 0}}, {"f": None}, {"e": 0, "f": "x"}]),
            "l": self.one([[], [0], [0, {"$ne": 2}], [1, 0]]),
            "more": self.one([None, 1.5, {"$ne": 1.5}]),
            "a.b": "x",
        }
        asked = self.random.sample(sorted(conditions), self.random.randint(0, 2))
        return {key: conditions[key] for key in asked} or None

    def one(self, items):
        return self.random.choice(items)


def plain(item):
    return item and (item.namespace, item.key, item.value)


def content(items):
    return sorted(map(plain, items), key=repr)


def filled(other, space):
    return any(item.namespace == space for item in other.search(space, limit=WHOLE))


def expected(other, op):
    """Ask before the batch is done, as its reads do."""
    if isinstance(op, PutOp):
        return None
    if isinstance(op, ListNamespacesOp):
        (every,) = other.batch([op._replace(max_depth=None, limit=WHOLE, offset=0)])
        cut = sorted({space[: op.max_depth] for space in every if filled(other, space)})
        return cut[op.offset : op.offset + op.limit]
    (found,) = other.batch([op._replace(limit=WHOLE, offset=0) if isinstance(op, SearchOp) else op])
    return found


def compare(op, got, wanted):
    if isinstance(op, GetOp):
        assert plain(got) == plain(wanted), op
    elif isinstance(op, SearchOp):
        # Which of them stand on a page depends on the order; how many do does not.
        assert len(got) == max(0, min(op.limit, len(wanted) - op.offset)), op
        assert all(plain(item) in map(plain, wanted) for item in got), op
        if op.limit == WHOLE and op.offset == 0:
            assert content(got) == content(wanted), op
    else:
        assert got == wanted, op


@pytest.mark.parametrize("seed", range(2))
def test_random_batches_have_equal_results(seed):
    draws, other = Draws(seed), InMemoryStore()
    with evomem.open(":memory:", linking="off") as memory:
        store = EvoMemStore(memory)
        for _ in range(80):
            ops = draws.batch()
            wanted = [expected(other, op) for op in ops]
            for op, got, want in zip(ops, store.batch(ops), wanted, strict=True):
                compare(op, got, want)
            other.batch(ops)
            assert content(store.search((), limit=WHOLE)) == content(other.search((), limit=WHOLE))
