"""Vectors: written with their nodes, found by cosine behind filters and walls, gone with a purge."""

import itertools
import math
import os
import random
import threading
import time
from array import array
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import (
    BELOW,
    HOME,
    NO_FILTERS,
    REACH,
    later,
    note,
    patch_of,
    purge_of,
    removal,
)

from evomem.domain.namespace import Reach
from evomem.engines import vectors as ranking
from evomem.engines.base import Filters, SearchLimits

NAME = "test/1"
BELOW_HOME = (*HOME, "below")
counter = itertools.count()


def unit(*numbers):
    length = math.hypot(*numbers)
    return array("f", [n / length for n in numbers]).tobytes()


def anywhere(seed, dimension=8):
    chance = random.Random(seed)  # noqa: S311
    return unit(*(chance.gauss(0, 1) for _ in range(dimension)))


def cosine(one, other):
    return math.sumprod(*map(floats, (one, other))) if hasattr(math, "sumprod") else dot(one, other)


def dot(one, other):
    return math.fsum(a * b for a, b in zip(floats(one), floats(other), strict=True))


def floats(value):
    return array("f", value).tolist()


def with_vectors(*nodes, embedder=NAME, vectors=None, **fields):
    made = vectors or {node.id: anywhere(node.text) for node in nodes}
    return patch_of(*nodes, embedder=embedder, vectors=made, **fields)


def asked(engine, vector, reach=REACH, filters=NO_FILTERS, depth=20, embedder=NAME, **limits):
    with engine.read() as reader:
        limit = SearchLimits(depth=depth, **limits)
        return reader.nearest(reach, embedder, vector, filters, limit)


def ids(result):
    return [hit.node_id for hit in result.hits]


def missing(engine, reach=REACH, embedder=NAME):
    with engine.read() as reader:
        return reader.missing_vectors(reach, embedder)


def notes(count, **fields):
    return [note(f"note {n}", **fields) for n in range(count)]


def test_the_nearest_come_first_with_their_cosines(engine):
    nodes = notes(10)
    receipt = engine.commit(with_vectors(*nodes))
    assert receipt.vectors == 10
    query = anywhere("question")
    result = asked(engine, query)
    expected = {node.id: cosine(anywhere(node.text), query) for node in nodes}
    assert ids(result) == sorted(expected, key=expected.__getitem__, reverse=True)
    assert [h.score for h in result.hits] == pytest.approx(
        [expected[h.node_id] for h in result.hits], abs=1e-6
    )
    assert {tuple(hit)[2:] for hit in result.hits} == {(0.0, ())}
    assert (result.bound, result.partial, result.unseen) == (0.0, False, 0)


@pytest.mark.promise("read.own-write")
def test_a_vector_is_found_right_after_its_commit(engine):
    for n in range(20):
        (node,) = made = [note(f"needle {n}")]
        engine.commit(with_vectors(*made))
        assert ids(asked(engine, anywhere(node.text)))[0] == node.id


def test_equal_cosines_are_ranked_latest_first(engine):
    nodes = notes(200)
    same = {node.id: unit(1, 0) for node in nodes}
    engine.commit(with_vectors(*nodes, vectors=same))
    result = asked(engine, unit(1, 0), depth=150)
    assert ids(result)[:150] == [node.id for node in reversed(nodes)][:150]


NUMBERS = st.integers(-3, 3)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS).filter(any)
LABELS = st.sets(st.sampled_from(["red", "blue"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(VECTORS, LABELS, st.booleans()), min_size=1, max_size=90),
    VECTORS,
    LABELS,
    st.integers(1, 30),
)
def test_the_nearest_that_pass_are_those_of_brute_force(engine, stored, query, tags, depth):
    namespace = (*HOME, str(next(counter)))
    nodes = [note("text", namespace=namespace, tags=sorted(labels)) for _, labels, _ in stored]
    vectors = {n.id: unit(*v) for n, (v, _, _) in zip(nodes, stored, strict=True)}
    engine.commit(with_vectors(*nodes, namespace=namespace, vectors=vectors))
    gone = [n for n, (_, _, forgotten) in zip(nodes, stored, strict=True) if forgotten]
    for node in gone:
        engine.commit(removal(node))
    place = {node.id: n for n, node in enumerate(nodes)}
    passing = [n.id for n in nodes if n not in gone and tags <= set(n.tags)]
    result = asked(engine, unit(*query), Reach(namespace), Filters(tags=(*tags,)), depth)
    scores = {n: cosine(vectors[n], unit(*query)) for n in passing}
    best = sorted(scores.values(), reverse=True)[:depth]
    assert [h.score for h in result.hits][:depth] == pytest.approx(best, abs=1e-6)
    assert set(ids(result)) <= set(passing)
    assert [(h.score, place[h.node_id]) for h in result.hits] == sorted(
        ((h.score, place[h.node_id]) for h in result.hits), reverse=True
    )
    left_out = [scores[n] for n in passing if n not in ids(result)]
    assert all(score <= result.bound + 1e-6 for score in left_out)


def test_one_that_passes_is_found_behind_any_number_that_do_not(engine):
    nodes = notes(3000)
    wanted = note("note -1", tags=("red",))
    far = {wanted.id: unit(-1, 0.01)}
    near = {node.id: unit(1, n / 3000) for n, node in enumerate(nodes)}
    engine.commit(with_vectors(wanted, *nodes, vectors=near | far))
    result = asked(engine, unit(1, 0), filters=Filters(tags=("red",)))
    assert (ids(result), result.bound) == ([wanted.id], 0.0)


@pytest.mark.promise("namespace.wall")
def test_neighbours_change_nothing_and_namespaces_below_are_asked_only_when_wanted(engine):
    own, below = note("own"), note("below", namespace=BELOW_HOME)
    beside = [note(f"b{n}", namespace=("tenant", "beside")) for n in range(5)]
    engine.commit(with_vectors(own))
    engine.commit(with_vectors(below, namespace=BELOW_HOME))
    engine.commit(with_vectors(*beside, namespace=("tenant", "beside")))
    assert ids(asked(engine, anywhere("below"))) == [own.id]
    assert ids(asked(engine, anywhere("below"), BELOW)) == [below.id, own.id]
    assert ids(asked(engine, anywhere("b1"), Reach(("tenant", "nobody")))) == []


def test_only_vectors_of_the_same_embedder_are_compared(engine):
    one, other = notes(2)
    engine.commit(with_vectors(one))
    engine.commit(with_vectors(other, embedder="test/2"))
    assert ids(asked(engine, anywhere("x"))) == [one.id]
    assert ids(asked(engine, anywhere("x"), embedder="test/2")) == [other.id]
    assert ids(asked(engine, anywhere("x"), embedder="unknown")) == []
    assert missing(engine) == missing(engine, embedder="test/2") == 1
    assert missing(engine, embedder="unknown") == 2


def test_an_earlier_view_does_not_know_later_vectors(engine):
    first, second = notes(2)
    engine.commit(with_vectors(first))
    receipt = engine.commit(with_vectors(second, recorded_at=later(hours=2)))
    with engine.read() as reader:
        limits = SearchLimits()
        before = reader.before(receipt.sequence)
        assert len(reader.nearest(REACH, NAME, anywhere("x"), NO_FILTERS, limits).hits) == 2
        found = before.nearest(REACH, NAME, anywhere("x"), NO_FILTERS, limits)
        known = reader.known_by(later(hours=1))
        assert ids(found) == [first.id]
        assert known.nearest(REACH, NAME, anywhere("x"), NO_FILTERS, limits) == found


def test_a_forgotten_node_is_found_only_when_asked_for(engine):
    kept, gone = notes(2)
    engine.commit(with_vectors(kept, gone))
    engine.commit(removal(gone))
    assert ids(asked(engine, anywhere(gone.text))) == [kept.id]
    assert ids(asked(engine, anywhere(gone.text), filters=Filters(removed=True)))[0] == gone.id


def test_a_purged_node_has_no_vector_and_wants_none(engine):
    kept, gone, forgotten = notes(3)
    engine.commit(with_vectors(kept, gone, forgotten))
    assert len(ids(asked(engine, anywhere("x")))) == 3
    engine.commit(removal(gone, purge=True))
    engine.commit(removal(forgotten))
    engine.commit(purge_of(forgotten))
    assert ids(asked(engine, anywhere(gone.text), filters=Filters(removed=True))) == [kept.id]
    assert missing(engine) == 0
    assert engine.add_vectors(NAME, {gone.id: anywhere(gone.text)}) == 0


def test_what_has_no_vector_is_counted_told_and_filled(engine):
    nodes = [note("text", subject="about"), *notes(4), note("below", namespace=BELOW_HOME)]
    engine.commit(patch_of(*nodes[:5]))
    engine.commit(patch_of(nodes[5], namespace=BELOW_HOME))
    assert (missing(engine), missing(engine, BELOW)) == (5, 6)
    with engine.read() as reader:
        first = reader.unembedded(REACH, NAME, 2)
        rest = reader.unembedded(BELOW, NAME, 9, after=[*first][-1])
    assert first == {nodes[0].id: "about\ntext", nodes[1].id: "note 0"}
    assert list(rest) == [node.id for node in nodes[2:]]
    assert engine.add_vectors(NAME, {i: anywhere(i) for i in first}) == 2
    assert engine.add_vectors(NAME, {i: anywhere(i) for i in [*first, *rest]}) == 4
    assert missing(engine, BELOW) == 0
    assert set(ids(asked(engine, anywhere("x"), BELOW))) == {node.id for node in nodes}


def test_vectors_of_another_dimension_are_left_out_and_the_notes_are_not(engine):
    first, second, third = notes(3)
    engine.commit(with_vectors(first))
    receipt = engine.commit(with_vectors(second, vectors={second.id: unit(1, 2)}))
    mixed = {third.id: anywhere("y"), second.id: b"", first.id: b"abc"}
    assert receipt.vectors == 0
    assert engine.add_vectors(NAME, {second.id: unit(1, 2)}) == 0
    assert engine.commit(with_vectors(third, vectors=mixed)).vectors == 1
    assert missing(engine) == 1
    assert ids(asked(engine, unit(1, 2))) == []
    assert set(ids(asked(engine, anywhere("x")))) == {first.id, third.id}


def test_a_vector_that_holds_no_numbers_outranks_nobody(engine):
    broken, good = notes(2)
    nan = array("f", [math.nan, math.inf, 0.0]).tobytes()
    engine.commit(with_vectors(broken, good, vectors={broken.id: nan, good.id: unit(1, 1, 1)}))
    result = asked(engine, unit(1, 1, 0))
    assert ids(result) == [good.id, broken.id]
    assert result.hits[1].score == 0.0


def test_an_empty_vector_is_none(engine):
    (node,) = notes(1)
    assert engine.commit(with_vectors(node, vectors={node.id: b""})).vectors == 0
    assert missing(engine) == 1


def test_nodes_that_nobody_knows_are_left_out(engine):
    assert engine.add_vectors(NAME, {"nunknown": anywhere("x")}) == 0
    assert engine.add_vectors(NAME, {}) == 0


def test_vectors_are_no_part_of_the_history(engine):
    """What is derived changes no seal, and a rebuild keeps it."""
    nodes = notes(2)
    engine.commit(with_vectors(*nodes))
    with engine.read() as reader:
        (commit,) = reader.log(REACH, 0, 10)
    assert commit.patch.vectors == {}
    engine.rebuild()
    assert (engine.verify(), missing(engine)) == ([], 0)


def test_a_deadline_that_has_passed_cuts_the_search_short(engine):
    nodes = notes(3000)
    engine.commit(with_vectors(*nodes))
    late = asked(engine, anywhere("x"), deadline=time.monotonic() - 1)
    assert (late.partial, late.bound) == (True, 1.0)
    assert late.hits
    # What was loaded is kept: each call comes further, and the last one answers from all.
    while asked(engine, anywhere("x"), deadline=time.monotonic() - 1).bound == 1.0:
        pass
    whole = asked(engine, anywhere("x"), depth=3000)
    assert (len(whole.hits), whole.partial, whole.bound, whole.unseen) == (3000, False, 0.0, 0)


def test_a_late_writer_is_seen_by_who_has_loaded_in_steps(engine):
    engine.commit(with_vectors(*notes(1500)))
    asked(engine, anywhere("x"), deadline=time.monotonic() - 1)
    late = notes(3, subject="late")
    engine.commit(with_vectors(*late))
    result = asked(engine, anywhere("x"), depth=3000)
    assert len(result.hits) == 1503
    assert {node.id for node in late} <= set(ids(result))


def test_negative_cosines_hide_no_one(engine):
    """The last of the first page is below 0, and none of it passes: the others are found."""
    below = notes(80)
    wanted = notes(5, tags=("wanted",))
    vectors = {node.id: unit(-1, n / 1000) for n, node in enumerate(below)}
    vectors |= {node.id: unit(-1, -0.5) for node in wanted}
    engine.commit(with_vectors(*below, *wanted, vectors=vectors))
    result = asked(engine, unit(1, 0), depth=5)
    assert result.bound > 0
    found = asked(engine, unit(1, 0), filters=Filters(tags=("wanted",)), depth=5)
    assert set(ids(found)) == {node.id for node in wanted}


def test_nodes_without_a_vector_to_compare_are_counted(engine):
    nodes = notes(5)
    engine.commit(with_vectors(*nodes, vectors={node.id: unit(1, 0) for node in nodes[:3]}))
    assert asked(engine, unit(1, 0)).unseen == 2
    assert asked(engine, unit(1, 0), embedder="another/1").unseen == 5
    other_size = asked(engine, unit(1, 0, 0))
    assert (other_size.unseen, ids(other_size)) == (5, [])


def test_of_very_many_vectors_the_signs_choose_who_is_ranked(engine, monkeypatch):
    monkeypatch.setattr(ranking, "EXACT_LIMIT", 1000)
    nodes = [note(f"note {n}", tags=("red",) if n % 50 == 0 else ()) for n in range(2000)]
    vectors = {node.id: anywhere(node.text, 96) for node in nodes}
    engine.commit(with_vectors(*nodes[:900], vectors=vectors))
    query = anywhere("question", 96)
    assert asked(engine, query).bound < 1.0
    engine.commit(with_vectors(*nodes[900:], vectors=vectors))
    scores = {node_id: cosine(value, query) for node_id, value in vectors.items()}
    best = sorted(scores, key=scores.__getitem__, reverse=True)
    result = asked(engine, query)
    assert result.bound == 1.0
    assert len({*ids(result)[:20]} & {*best[:20]}) >= 18
    assert [h.score for h in result.hits][:5] == pytest.approx(
        [scores[h.node_id] for h in result.hits][:5], abs=1e-6
    )
    red = [n.id for n in nodes if n.tags]
    few = asked(engine, query, filters=Filters(tags=("red",)), depth=40)
    assert set(ids(few)) == set(red)
    assert few.bound == 0.0


@pytest.mark.parametrize("counts", [True, False], ids=["bitwise_count", "table"])
def test_unequal_signs_are_counted(monkeypatch, counts):
    if not counts:
        monkeypatch.delattr(numpy, "bitwise_count", raising=False)
    vectors = ranking._floats([anywhere(n, 100) for n in range(50)], 100)
    signs = ranking._signs(vectors)
    got = ranking._unequal(signs, signs[7]).tolist()
    expected = [((row > 0) != (vectors[7] > 0)).sum() for row in vectors]
    assert got == expected


def test_deleted_vectors_leave_memory_when_it_grows(engine):
    nodes = notes(50)
    engine.commit(with_vectors(*nodes))
    asked(engine, anywhere("x"))
    for node in nodes[:20]:
        engine.commit(removal(node, purge=True))
    more = [note(f"more {n}") for n in range(100)]
    engine.commit(with_vectors(*more))
    assert len(ids(asked(engine, anywhere("x"), depth=500))) == 130
    (matrix,) = engine._vectors.get()._matrices.values()
    assert matrix._size == 130


def test_memory_is_bounded_and_what_it_lost_is_loaded_again(engine, monkeypatch):
    spaces = [(*HOME, str(n)) for n in range(6)]
    for n, space in enumerate(spaces):
        engine.commit(with_vectors(note(f"n{n}", namespace=space), namespace=space))
    cache = engine._vectors.get()
    monkeypatch.setattr(cache, "_limit", 100)
    for _ in range(2):
        for n, space in enumerate(spaces):
            assert len(ids(asked(engine, anywhere(f"n{n}"), Reach(space)))) == 1
    assert len(cache._matrices) == 2
    assert len(ids(asked(engine, anywhere("x"), BELOW))) == 6


def test_readers_and_writers_at_once_see_whole_states(engine):
    """Each reader finds all that was committed before it began, whoever loaded the vectors."""
    written, stop = [], threading.Event()

    def write():
        for n in range(150):
            node = note(f"race {n}")
            engine.commit(with_vectors(node))
            written.append(node.id)
        stop.set()

    def read():
        looks = 0
        while not stop.is_set() or not looks:
            known = list(written)
            found = ids(asked(engine, anywhere("x"), depth=1000))
            assert set(known) <= set(found)
            assert len(found) == len(set(found))
            looks += 1
        return looks

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        pool.submit(write).result()
        assert all(reader.result() > 0 for reader in readers)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_loads_its_own(engine):
    if engine.location == ":memory:":
        pytest.skip("a memory-only store belongs to one process")
    engine.commit(with_vectors(*notes(3)))
    asked(engine, anywhere("x"))
    pid = os.fork()
    if pid == 0:
        os._exit(len(ids(asked(engine, anywhere("x")))))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
