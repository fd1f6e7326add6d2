"""Every patch is sealed and chained, from what the tables hold of it."""

import pytest
from hypothesis import HealthCheck, given, settings
from tests.conformance.builders import (
    HOME,
    REACH,
    Clock,
    next_version,
    note,
    open_memory,
    patch_of,
    purge_of,
    removal,
    step,
)
from tests.conformance.histories import STEPS, play
from tests.conformance.story import Story
from tests.engine_sqlite.sealing import DIGEST, HASH, SALT, faults, looking, sealed, told

from evomem.domain.edge import AMENDS, Edge
from evomem.domain.patch import Op
from evomem.domain.seal import GENESIS, SALT_BYTES, chain, items, seal
from evomem.domain.time import from_micros
from evomem.engines.sqlite.engine import SqliteEngine


def check(engine):
    with looking(engine) as connection:
        assert faults(connection) == []


def test_the_seal_of_a_patch_is_that_of_its_facts_as_they_are_read_back(engine):
    for patch in Story().until("revived again"):
        engine.commit(patch)
    with engine.read() as reader, looking(engine) as connection:
        commits = reader.log(REACH, 0, 99)
        for commit, (row, facts, _) in zip(commits, sealed(connection), strict=True):
            assert seal(row[SALT], items(commit.patch)) == commit.digest
            assert seal(row[SALT], facts) == commit.digest
            assert (row[DIGEST], row[HASH]) == (commit.digest, commit.hash)
            assert sorted(map(repr, items(commit.patch))) == sorted(map(repr, facts))


def test_the_seal_of_a_patch_is_that_of_what_was_asked_for(engine):
    for patch in Story().until("revived again"):
        engine.commit(patch)
        with engine.read() as reader, looking(engine) as connection:
            (commit,) = reader.commits(REACH, [patch.id])
            row, *_ = sealed(connection)[-1]
        assert seal(row[SALT], items(patch)) == commit.digest


def test_a_purging_patch_seals_the_digests_that_it_left(engine):
    told(engine)
    with engine.read() as reader, looking(engine) as connection:
        resealed = connection.execute("SELECT by, sequence, digest FROM reseal").fetchall()
        rows = {row[0]: (row, facts, expected) for row, facts, expected in sealed(connection)}
        commits = {commit.sequence: commit for commit in reader.log(REACH, 0, 99)}
    assert len(resealed) == 4
    for by, sequence, left in resealed:
        row, facts, _ = rows[by]
        own = [item for other, *item in resealed if other == by]
        added = [("reseal", *item) for item in own]
        assert ("reseal", sequence, left) in facts
        assert seal(row[SALT], [*items(commits[by].patch), *added]) == commits[by].digest
        row, _, expected = rows[sequence]
        assert expected == left != commits[sequence].digest
        assert seal(row[SALT], items(commits[sequence].patch)) == left
    check(engine)


def test_the_chain_begins_with_nothing_and_holds_every_namespace(engine):
    told(engine)
    with looking(engine) as connection:
        rows = [row for row, *_ in sealed(connection)]
    before = GENESIS
    for place, row in enumerate(rows, 1):
        assert row[0] == place
        before = chain(before, place, from_micros(row[3]), row[DIGEST])
        assert row[HASH] == before
    assert len({row[2] for row in rows}) == 2


def test_every_patch_has_a_salt_of_its_own(engine, tmp_path):
    story = told(engine)
    other = SqliteEngine(tmp_path / "other.db")
    for patch in story.patches.values():
        other.commit(patch)
    with looking(engine) as one, looking(other) as two:
        rows = [row for connection in (one, two) for row, *_ in sealed(connection)]
    other.close()
    assert {len(row[SALT]) for row in rows} == {SALT_BYTES}
    assert len({row[SALT] for row in rows}) == len(rows)
    assert len({row[DIGEST] for row in rows}) == len(rows)


def test_a_purge_deletes_the_salt_and_leaves_the_chain(engine):
    """Who has the digest alone cannot try out what the text may have been."""
    secret = note("swordfish")
    brought = patch_of(secret)
    engine.commit(brought)
    with looking(engine) as connection:
        (before, facts, _), *_ = sealed(connection)
    assert seal(before[SALT], facts) == before[DIGEST]
    engine.commit(removal(secret, purge=True))
    with looking(engine) as connection:
        (after, left, expected), *_ = sealed(connection)
        held = list(connection.iterdump())
    assert after[SALT] != before[SALT]
    assert (after[DIGEST], after[HASH]) == (before[DIGEST], before[HASH])
    assert expected == seal(after[SALT], left) != before[DIGEST]
    assert not any(before[SALT].hex() in line.lower() or "swordfish" in line for line in held)
    check(engine)


def test_a_patch_that_several_purges_touch_is_sealed_anew_by_each(engine):
    nodes = [note(f"secret {n}") for n in range(3)]
    engine.commit(patch_of(*nodes))
    salts = set()
    for node in nodes:
        engine.commit(removal(node))
        engine.commit(purge_of(node))
        check(engine)
        with looking(engine) as connection:
            salts.add(sealed(connection)[0][0][SALT])
    assert len(salts) == 3
    with looking(engine) as connection:
        resealed = connection.execute("SELECT sequence, by FROM reseal").fetchall()
    assert resealed == [(1, 3), (1, 5), (1, 7)]


@pytest.mark.parametrize("held", [True, False])
def test_a_patch_may_purge_what_it_brings_itself(engine, held):
    """A quotation of what is purged goes with it, also in the patch that purges."""
    old = note("swordfish")
    if held:
        engine.commit(patch_of(old))
    new = next_version(old, "no word")
    edge = Edge(AMENDS, new.id, old.id, part="swordfish", reason="it said swordfish")
    nodes = (new,) if held else (old, new)
    also = (step(Op.REMOVE, old, 3),)
    gone = (old.id,)
    engine.commit(patch_of(*nodes, also=also, edges=(edge,), removed=gone, purged=gone))
    check(engine)
    assert engine.verify() == []
    with looking(engine) as connection:
        assert not any("swordfish" in line for line in connection.iterdump())


def test_a_forgotten_note_keeps_its_seal(engine):
    node = note("only forgotten")
    engine.commit(patch_of(node))
    engine.commit(removal(node))
    check(engine)
    with looking(engine) as connection:
        assert connection.execute("SELECT count(*) FROM reseal").fetchone() == (0,)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_the_seals_of_any_history_hold(engine, steps):
    clock = Clock()
    play(engine, open_memory(engine, clock, HOME), clock, steps)
    check(engine)
