"""The store beside `InMemoryStore`: random batches must have equal results.

The differences are documented: listings come latest first, emptied namespaces are not listed, and
`created_at` is kept.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import evomem
from langchain_evomem.store import EvoMemStore

LABELS = st.sampled_from(["u", "v", "1", "2", "x_y", "x-y"])
SPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["a", "b", " c", ""])
LEAVES = st.one_of(st.integers(-3, 3), st.sampled_from(["x", "y", ""]), st.none())
# Keys that are always there: the other store raises on `$gte` of what is missing.
VALUES = st.fixed_dictionaries(
    {
        "n": st.integers(0, 5),
        "s": st.sampled_from(["x", "y"]),
        "d": st.fixed_dictionaries({"e": st.integers(0, 2)}, optional={"f": LEAVES}),
        "l": st.lists(st.integers(0, 2), max_size=2),
    },
    optional={"more": LEAVES},
)
CONDITIONS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "s": st.sampled_from(["x", "y", {"$ne": "x"}, {"$eq": "y"}]),
            "n": st.one_of(
                st.integers(0, 5),
                st.dictionaries(
                    st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$ne", "$eq"]),
                    st.integers(0, 5),
                    min_size=1,
                ),
            ),
            "d": st.fixed_dictionaries({}, optional={"e": st.integers(0, 2), "f": LEAVES}),
            "l": st.lists(st.integers(0, 2), max_size=2),
            "more": LEAVES,
        },
    ),
)
PATHS = st.lists(st.one_of(LABELS, st.just("*")), min_size=1, max_size=3).map(tuple)
OPS = st.one_of(
    st.builds(PutOp, SPACES, KEYS, VALUES),
    st.builds(PutOp, SPACES, KEYS, VALUES),
    st.builds(PutOp, SPACES, KEYS, st.none()),
    st.builds(GetOp, SPACES, KEYS),
    st.builds(
        SearchOp,
        st.lists(LABELS, max_size=2).map(tuple),
        CONDITIONS,
        st.integers(0, 4) | st.just(100),
        st.integers(0, 3),
    ),
    st.builds(
        ListNamespacesOp,
        st.lists(
            st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATHS), max_size=2
        ).map(tuple),
        st.none() | st.integers(1, 3),
        st.integers(0, 3) | st.just(100),
        st.integers(0, 2),
    ),
)


def plain(item):
    return (
        None
        if item is None
        else (item.namespace, item.key, tuple(sorted(map(str, item.value.items()))))
    )


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(OPS, min_size=1, max_size=5), min_size=1, max_size=8))
def test_random_batches_have_equal_results(batches):
    other = InMemoryStore()
    with evomem.open(":memory:", linking="off") as memory:
        store = EvoMemStore(memory)
        for ops in batches:
            expected = [_expected(other, op) for op in ops]
            for op, got, wanted in zip(ops, store.batch(ops), expected, strict=True):
                _compare(op, got, wanted)
            other.batch(ops)
        _same_contents(store, other)


def _expected(other, op):
    """Ask before the batch: then its reads see the same state."""
    if isinstance(op, PutOp):
        return None
    if isinstance(op, SearchOp):
        return other.batch([op._replace(limit=10_000, offset=0)])[0]
    if isinstance(op, ListNamespacesOp):
        every = other.batch([op._replace(max_depth=None, limit=10_000, offset=0)])[0]
        filled = [space for space in every if _filled(other, space)]
        cut = sorted({space[: op.max_depth] for space in filled})
        return cut[op.offset : op.offset + op.limit]
    return other.batch([op])[0]


def _filled(other, space):
    return any(item.namespace == space for item in other.search(space, limit=10_000))


def _compare(op, got, wanted):
    if isinstance(op, SearchOp):
        assert len(got) == max(0, min(op.limit, len(wanted) - op.offset))
        assert {plain(item) for item in got} <= {plain(item) for item in wanted}
    elif isinstance(op, GetOp):
        assert plain(got) == plain(wanted)
    else:
        assert got == wanted


def _same_contents(store, other):
    assert {plain(item) for item in store.search((), limit=10_000)} == {
        plain(item) for item in other.search((), limit=10_000)
    }
