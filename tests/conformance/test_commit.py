"""A patch is written whole or not at all, and only while what it took for granted holds."""

from dataclasses import replace
from typing import Any

import pytest
from tests.conformance.builders import (
    HOME,
    NO_FILTERS,
    REACH,
    START,
    next_version,
    note,
    patch_of,
    picture,
    removal,
    replaces,
    step,
    store,
)

from evomem.domain.edge import AMENDS, Edge
from evomem.domain.event import Event
from evomem.domain.identifiers import EVENT, new_id
from evomem.domain.patch import Expectations, MemoryState, Op, Patch, SuggestedLink
from evomem.domain.text import digest
from evomem.engines.base import StaleError
from evomem.errors import EngineError, EvoMemError

ELSEWHERE = ("tenant", "elsewhere")


def event(content, **fields):
    return Event(new_id(EVENT), "user", content, START, **fields)


FOREIGN = event("said elsewhere")


def test_a_commit_answers_with_the_patch_and_the_next_sequence(engine):
    first = patch_of(note("one"))
    second = patch_of(note("two", namespace=ELSEWHERE), namespace=ELSEWHERE)
    one, two = engine.commit(first), engine.commit(second)
    three = engine.commit(patch_of())
    assert (one.patch_id, two.patch_id) == (first.id, second.id)
    assert [two.sequence, three.sequence] == [one.sequence + 1, one.sequence + 2]


@pytest.mark.promise("write.atomic")
def test_all_of_a_patch_is_there_after_the_commit(engine):
    old = note("The ledger runs on Postgres.", slot="ledger/database")
    new = next_version(old, "The ledger runs on SQLite.")
    beside = note("Backups are nightly.")
    suggestion = SuggestedLink(beside.id, new.id, "sounds alike", 0.5, "silent/1")
    receipt = engine.commit(
        patch_of(
            old,
            new,
            beside,
            edges=(replaces(new, old), Edge(AMENDS, beside.id, new.id, part="SQLite")),
            events=(event(old.text), event("a word of the user", external_id="msg-1")),
            suggestions=(suggestion,),
            idempotency_key="key",
            payload_digest=b"digest",
            replay={"notes": [{"node": new.id}]},
        )
    )
    with engine.read() as reader:
        assert set(reader.records(REACH, [old.id, new.id, beside.id])) == {
            old.id,
            new.id,
            beside.id,
        }
        assert {
            (e.kind, e.new, e.old, e.part, e.sequence) for e in reader.edges(REACH, [new.id])
        } == {
            ("supersedes", new.id, old.id, None, receipt.sequence),
            ("amends", beside.id, new.id, "SQLite", receipt.sequence),
        }
        assert reader.memories(REACH, [old.memory_id, "m-unknown"]) == {
            old.memory_id: MemoryState(old.memory_id, 2, new.id, START)
        }
        assert reader.suggestions(REACH) == [(beside.id, new.id, "sounds alike", 0.5)]
        kept = reader.replay(HOME, "key")
        assert (kept.patch_id, kept.payload_digest) == (receipt.patch_id, b"digest")
        assert kept.replay == {"notes": [{"node": new.id}]}
        figures = reader.figures(REACH.namespace, START)
        assert (figures.events, figures.texts, figures.patches) == (2, 3, 1)
        latest = reader.recent(REACH, NO_FILTERS, after=None, limit=9)
        assert latest == [beside.id, new.id, old.id]


def _unknown_end(_old, _foreign):
    new = note("broken")
    return patch_of(note("good"), new, edges=(Edge("supersedes", new.id, "nunknownnode"),))


def _foreign_end(_old, foreign):
    new = note("broken")
    return patch_of(note("good"), new, edges=(replaces(new, foreign),))


def _self_edge(_old, _foreign):
    new = note("broken")
    return patch_of(note("good"), new, edges=(replaces(new, new),))


def _unknown_removal(_old, _foreign):
    return patch_of(note("good"), removed=("nunknownnode",))


def _removed_twice(old, _foreign):
    return patch_of(note("good"), removed=(old.id, old.id))


def _unknown_revival(old, _foreign):
    return patch_of(note("good"), also=(step(Op.RESTORE, old, 2),), revived=("nunknownnode",))


def _revival_of_what_was_not_forgotten(old, _foreign):
    return patch_of(note("good"), also=(step(Op.RESTORE, old, 2),), revived=(old.id,))


def _unknown_step(_old, _foreign):
    return patch_of(note("good"), also=(step(Op.LINK, note("unknown"), 2),))


def _foreign_step(_old, foreign):
    return patch_of(note("good"), also=(step(Op.LINK, foreign, 2),))


def _unknown_evidence(_old, _foreign):
    return patch_of(note("good"), evidence=("eunknownevent",))


def _foreign_evidence(_old, _foreign):
    return patch_of(note("good"), evidence=(FOREIGN.id,))


def _evidence_twice(_old, _foreign):
    said = event("said")
    return patch_of(note("good"), events=(said,), evidence=(said.id, said.id))


def _foreign_suggestion(_old, foreign):
    new = note("broken")
    link = SuggestedLink(new.id, foreign.id, "why", 0.5, "silent/1")
    return patch_of(note("good"), new, suggestions=(link,))


def _known_node_id(old, _foreign):
    return patch_of(note("good"), note("broken", id=old.id))


def _known_version(old, _foreign):
    return patch_of(note("good"), note("broken", memory_id=old.memory_id, version=old.version))


def _event_id_twice(_old, _foreign):
    one = event("said")
    return patch_of(note("good"), events=(one, replace(one, content="said again")))


def _external_id_twice(_old, _foreign):
    events = (event("said", external_id="x"), event("again", external_id="x"))
    return patch_of(note("good"), events=events)


def _metadata_no_engine_can_hold(_old, _foreign):
    return patch_of(note("good"), note("broken", metadata={"value": object()}))


FAULTS: dict[str, tuple[Any, Any]] = {
    fault.__name__.strip("_"): (fault, error)
    for fault, error in {
        _unknown_end: StaleError,
        _foreign_end: StaleError,
        _self_edge: EvoMemError,
        _unknown_removal: StaleError,
        _removed_twice: (EvoMemError, StaleError),
        _unknown_revival: StaleError,
        _revival_of_what_was_not_forgotten: StaleError,
        _unknown_step: StaleError,
        _foreign_step: StaleError,
        _unknown_evidence: StaleError,
        _foreign_evidence: StaleError,
        _evidence_twice: EvoMemError,
        _foreign_suggestion: StaleError,
        _known_node_id: EvoMemError,
        _known_version: StaleError,
        _event_id_twice: EvoMemError,
        _external_id_twice: StaleError,
        _metadata_no_engine_can_hold: TypeError,
    }.items()
}


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize("name", FAULTS)
def test_a_patch_that_fails_midway_leaves_nothing(engine, name):
    fault, error = FAULTS[name]
    (old,) = store(engine, "the old one")
    foreign = note("the foreign one", namespace=ELSEWHERE)
    engine.commit(patch_of(foreign, namespace=ELSEWHERE, events=(FOREIGN,)))
    before = picture(engine), picture(engine, ELSEWHERE)
    last = engine.commit(patch_of()).sequence
    before[0]["counts"] = picture(engine)["counts"]

    with pytest.raises(error):
        engine.commit(fault(old, foreign))

    assert (picture(engine), picture(engine, ELSEWHERE)) == before
    assert engine.verify() == []
    assert engine.commit(patch_of(note("after"))).sequence == last + 1


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize("purge", [False, True])
def test_what_was_forgotten_is_not_forgotten_again(engine, purge):
    (node,) = store(engine, "one")
    engine.commit(removal(node))
    refused(engine, removal(node, 3, purge=purge), (StaleError, EvoMemError))


@pytest.mark.promise("write.atomic")
def test_what_was_purged_does_not_come_back(engine):
    (node,) = store(engine, "one")
    engine.commit(removal(node, purge=True))
    refused(engine, patch_of(also=(step(Op.RESTORE, node, 3),), revived=(node.id,)))


def refused(engine, patch: Patch, errors=StaleError):
    before = picture(engine)
    with pytest.raises(errors):
        engine.commit(patch)
    assert picture(engine) == before


@pytest.mark.promise("head.cas", "write.atomic")
@pytest.mark.parametrize("version", [0, 2, 7])
def test_a_patch_that_expects_another_version_is_stale(engine, version):
    (old,) = store(engine, "the old one")
    expects = Expectations(versions={old.memory_id: version})
    refused(engine, patch_of(note("new"), expects=expects))


def test_a_patch_that_expects_an_unknown_memory_is_stale(engine):
    refused(engine, patch_of(note("new"), expects=Expectations(versions={"munknownmemo": 1})))


def test_a_patch_is_written_while_its_expectations_hold(engine):
    (old,) = store(engine, "the old one")
    (valued,) = store(engine, "main", slot="branch")
    expects = Expectations(
        versions={old.memory_id: 1, valued.memory_id: 1},
        twins={digest(old.text, None, None): old.id, digest("no such", None, None): None},
        slots={("branch", None): valued.id, ("branch", "ci"): None, ("free", None): None},
    )
    new = next_version(old, "the new one")
    engine.commit(patch_of(new, edges=(replaces(new, old),), expects=expects))
    with engine.read() as reader:
        assert reader.memories(REACH, [old.memory_id])[old.memory_id].version == 2


def test_a_twin_that_appeared_makes_a_patch_stale(engine):
    store(engine, "said twice")
    expects = Expectations(twins={digest("said  twice", None, None): None})
    refused(engine, patch_of(note("new"), expects=expects))


def test_a_twin_that_was_forgotten_makes_a_patch_stale(engine):
    (twin,) = store(engine, "said twice")
    engine.commit(removal(twin))
    expects = Expectations(twins={digest(twin.text, None, None): twin.id})
    refused(engine, patch_of(note("new"), expects=expects))


def test_a_later_twin_makes_a_patch_stale(engine):
    first, _ = store(engine, "said twice", "said twice")
    expects = Expectations(twins={digest(first.text, None, None): first.id})
    refused(engine, patch_of(note("new"), expects=expects))


@pytest.mark.parametrize("scope", [None, "eu"])
def test_a_slot_that_was_filled_makes_a_patch_stale(engine, scope):
    store(engine, "main", slot="branch", scope=scope)
    expects = Expectations(slots={("branch", scope): None})
    refused(engine, patch_of(note("new"), expects=expects))


def test_a_slot_with_a_later_value_makes_a_patch_stale(engine):
    first, _ = store(engine, "main", "trunk", slot="branch")
    refused(engine, patch_of(note("new"), expects=Expectations(slots={("branch", None): first.id})))


def test_twins_and_slots_of_another_namespace_make_nothing_stale(engine):
    store(engine, "said twice", namespace=ELSEWHERE)
    store(engine, "main", slot="branch", namespace=ELSEWHERE)
    store(engine, "main", slot="branch", namespace=(*HOME, "below"))
    twins = {digest("said twice", None, None): None}
    expects = Expectations(twins=twins, slots={("branch", None): None})
    engine.commit(patch_of(note("new"), expects=expects))


def keyed(namespace=HOME):
    node = note("keyed", namespace=namespace)
    return patch_of(
        node, namespace=namespace, idempotency_key="k", payload_digest=b"d", replay={"notes": []}
    )


@pytest.mark.promise("write.idempotent")
def test_an_idempotency_key_is_used_once_in_a_namespace(engine):
    first = engine.commit(keyed())
    refused(engine, keyed())
    with engine.read() as reader:
        assert reader.replay(HOME, "k").patch_id == first.patch_id


@pytest.mark.promise("write.idempotent", "namespace.wall")
@pytest.mark.parametrize("namespace", [ELSEWHERE, HOME[:1], (*HOME, "below")])
def test_another_namespace_may_use_the_same_key(engine, namespace):
    first, second = engine.commit(keyed()), engine.commit(keyed(namespace))
    with engine.read() as reader:
        assert reader.replay(HOME, "k").patch_id == first.patch_id
        assert reader.replay(namespace, "k").patch_id == second.patch_id
        assert reader.replay(("tenant",) if namespace != HOME[:1] else ("t",), "k") is None


def test_many_patches_may_have_no_key(engine):
    store(engine, "one", "two", "three")
    with engine.read() as reader:
        assert reader.figures(REACH.namespace, START).patches == 3


def test_a_patch_of_many_notes_is_one_commit(engine):
    nodes = [note(f"note number {n}") for n in range(500)]
    receipt = engine.commit(patch_of(*nodes))
    with engine.read() as reader:
        records = reader.records(REACH, [n.id for n in nodes])
        assert {record.sequence for record in records.values()} == {receipt.sequence}
        assert len(records) == 500
        assert reader.figures(REACH.namespace, START).patches == 1


def test_a_closed_engine_says_so(engine):
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.commit(patch_of(note("late")))
    with pytest.raises(EngineError, match="closed"), engine.read():
        pass
    with pytest.raises(EngineError, match="closed"):
        engine.verify()
    engine.close()
