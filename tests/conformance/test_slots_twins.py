"""Equal notes are found by digest, current values by slot and scope."""

import contextlib

import pytest
from tests.conformance.builders import BELOW, HOME, REACH, later, note, patch_of, removal, store

from evomem import EvoMemError, Status
from evomem.domain.text import digest

BELOW_HOME = (*HOME, "below")


def twins(engine, text, scope=None, reach=REACH):
    key = digest(text, scope, None)
    with engine.read() as reader:
        return list(reader.twins(reach, [key])[key])


def slot(engine, name, scope=None, reach=REACH):
    with engine.read() as reader:
        return reader.slots(reach, [(name, scope)])[name, scope]


def test_equal_notes_are_found_the_latest_first(engine):
    first, second = store(engine, "said  twice", "said twice ")
    store(engine, "said once")
    assert twins(engine, "said twice") == [second.id, first.id]
    assert twins(engine, "Said twice") == []


def test_a_forgotten_note_has_no_twins(engine):
    first, second = store(engine, "said twice", "said twice")
    engine.commit(removal(second))
    assert twins(engine, "said twice") == [first.id]
    engine.commit(removal(first, purge=True))
    assert twins(engine, "said twice") == []


def test_notes_of_different_scopes_are_no_twins(engine):
    (everywhere,) = store(engine, "said twice")
    (in_eu,) = store(engine, "said twice", scope="eu")
    assert twins(engine, "said twice") == [everywhere.id]
    assert twins(engine, "said twice", "eu") == [in_eu.id]


def test_the_value_of_a_slot_is_no_twin(engine):
    store(engine, "main", slot="branch")
    assert twins(engine, "main") == []


def test_every_digest_asked_for_is_answered(engine):
    (node,) = store(engine, "one")
    keys = [digest(text, None, None) for text in ("one", "two")]
    with engine.read() as reader:
        assert reader.twins(REACH, keys) == {keys[0]: (node.id,), keys[1]: ()}


@pytest.mark.promise("namespace.wall")
def test_twins_and_slots_stay_in_their_namespace(engine):
    for namespace in (HOME[:1], BELOW_HOME, ("tenant", "beside")):
        store(engine, "said twice", namespace=namespace)
        store(engine, "main", slot="branch", namespace=namespace)
    assert twins(engine, "said twice") == []
    assert slot(engine, "branch") is None
    assert len(twins(engine, "said twice", reach=BELOW)) == 1
    assert slot(engine, "branch", reach=BELOW) is not None


def test_twins_are_the_latest_first_across_namespaces(engine):
    namespaces = [HOME, BELOW_HOME, HOME]
    nodes = [store(engine, "said", namespace=namespace)[0].id for namespace in namespaces]
    assert twins(engine, "said", reach=BELOW) == nodes[::-1]


def test_a_slot_is_answered_by_its_latest_value_in_the_scope(engine):
    _, second = store(engine, "main", "trunk", slot="branch")
    (in_eu,) = store(engine, "haupt", slot="branch", scope="eu")
    assert slot(engine, "branch") == second.id
    assert slot(engine, "branch", "eu") == in_eu.id
    assert slot(engine, "branch", "eu/de") is None
    assert slot(engine, "Branch") is None
    assert slot(engine, "bran%") is None


def test_a_forgotten_value_still_holds_its_slot(engine):
    (node,) = store(engine, "main", slot="branch")
    engine.commit(removal(node))
    assert slot(engine, "branch") == node.id


def test_every_slot_asked_for_is_answered(engine):
    (node,) = store(engine, "main", slot="branch")
    keys = [("branch", None), ("branch", "eu"), ("other", None)]
    with engine.read() as reader:
        found = reader.slots(REACH, keys)
    assert found == {keys[0]: node.id, keys[1]: None, keys[2]: None}


def test_a_slot_is_answered_by_its_latest_value_across_namespaces(engine):
    namespaces = [HOME, BELOW_HOME, HOME]
    nodes = [
        store(engine, "main", slot="branch", namespace=namespace)[0].id for namespace in namespaces
    ]
    assert slot(engine, "branch", reach=BELOW) == nodes[-1]


def test_the_values_of_slots_are_the_latest_that_had_begun(engine):
    begins = [later(days=day) for day in (1, 3, 2)]
    nodes = [store(engine, "v", slot="s", valid_from=at)[0].id for at in begins]
    (in_eu,) = store(engine, "v", slot="s", scope="eu")
    keys = [("s", None), ("s", "eu"), ("s", "us"), ("t", None)]
    with engine.read() as reader:
        found = [reader.slot_values(REACH, keys, later(days=day)) for day in range(4)]
        known = reader.before(3).slot_values(REACH, keys, later(days=9))
    assert [values.get(("s", None)) for values in found] == [None, nodes[0], nodes[2], nodes[2]]
    assert all(values.get(("s", "eu")) == in_eu.id for values in found)
    assert all(set(values) <= set(keys[:2]) for values in found)
    assert known == {("s", None): nodes[1]}


def test_the_value_of_a_slot_is_the_latest_across_namespaces(engine):
    spaces = [HOME, BELOW_HOME, HOME]
    nodes = [store(engine, "v", slot="s", namespace=space)[0].id for space in spaces]
    with engine.read() as reader:
        assert reader.slot_values(BELOW, [("s", None)], later()) == {("s", None): nodes[2]}
        within = reader.before(3).slot_values(BELOW, [("s", None)], later())
    assert within == {("s", None): nodes[1]}


def test_slots_and_twins_of_one_patch_are_ordered_as_given(engine):
    nodes = [note("same"), note("same"), note("v1", slot="s"), note("v2", slot="s")]
    engine.commit(patch_of(*nodes))
    assert twins(engine, "same") == [nodes[1].id, nodes[0].id]
    assert slot(engine, "s") == nodes[3].id


def test_an_equal_active_note_is_returned_instead_of_stored(memory):
    first = memory.remember("Said twice.", tags=["red"])
    again = memory.remember("Said  twice.\n", tags=["blue"])
    assert (again.deduplicated, again.node.id, again.patch_id) == (True, first.node.id, None)
    assert any("tags" in warning for warning in again.warnings)
    assert memory.stats().texts == 1


def test_an_equal_note_that_was_replaced_is_said_anew(memory):
    first = memory.remember("We use Postgres.")
    second = memory.remember("We use SQLite.", supersedes=first.node.id)
    back = memory.remember("We use Postgres.", supersedes=second.node.id)
    assert not back.deduplicated
    assert memory.get_node(back.node.id).version == 3


def test_an_equal_active_note_replaces_what_the_call_names(memory):
    kept = memory.remember("We use SQLite.").node.id
    old = memory.remember("We use Postgres.").node.id
    again = memory.remember("We use SQLite.", supersedes=old)
    assert (again.deduplicated, again.superseded, again.node.id) == (True, (old,), kept)
    assert memory.get_node(old).status is Status.SUPERSEDED


@pytest.mark.timeout(3)
@pytest.mark.promise("resolve.total")
def test_an_equal_note_never_comes_to_replace_its_own_successor(memory, clock):
    kept, old = (memory.remember(text).node.id for text in ("kept", "old"))
    to_come = clock.now.replace(year=2027)
    merged = memory.remember("to come", supersedes=[kept, old], valid_from=to_come).node.id
    with contextlib.suppress(EvoMemError):
        memory.remember("kept", supersedes=old)
    assert set(memory.get_node(merged).supersedes) == {kept, old}
    assert kept not in memory.get_node(merged).superseded_by


def test_an_equal_slot_is_replaced_and_an_equal_value_kept_apart(memory):
    first = memory.remember("main", slot="branch").node.id
    second = memory.remember("main", slot="branch")
    assert (second.deduplicated, second.superseded) == (False, (first,))
    elsewhere = memory.remember("main", slot="branch", scope="eu")
    assert elsewhere.superseded == ()


def test_a_slot_below_is_another_slot(memory):
    memory.remember("main", slot="branch")
    assert memory.within("below").remember("trunk", slot="branch").superseded == ()
