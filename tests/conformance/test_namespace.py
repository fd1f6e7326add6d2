"""The wall: nothing above or beside a namespace is visible, below it only when asked."""

import pytest
from tests.conformance.builders import (
    HOME,
    NO_FILTERS,
    START,
    next_version,
    note,
    open_memory,
    patch_of,
    removal,
    replaces,
    store,
)

from evomem import NotFoundError
from evomem.domain.edge import Edge
from evomem.domain.event import Event
from evomem.domain.identifiers import EVENT, new_id
from evomem.domain.namespace import Reach
from evomem.domain.patch import SuggestedLink
from evomem.domain.text import digest

ASIDE = ("tenant", "aside")
SAID = Event(new_id(EVENT), "user", "zebra", START, external_id="msg")
OUTSIDE = [HOME[:1], ("tenant", "home2"), ("tenant", "hom"), ("home",), ("tenant", "home", "in")]


@pytest.fixture
def foreign(engine):
    """Two linked notes, a slot, a key, an event and a suggestion in a namespace of their own."""
    old = note("zebra", namespace=ASIDE)
    new = next_version(old, "zebra", slot="branch")
    engine.commit(
        patch_of(
            old,
            new,
            namespace=ASIDE,
            edges=(replaces(new, old), Edge("caused_by", new.id, old.id)),
            suggestions=(SuggestedLink(new.id, old.id, "why", 0.5, "silent/1"),),
            events=(SAID,),
            evidence=(SAID.id,),
            idempotency_key="key",
            payload_digest=b"d",
            replay={},
        )
    )
    return old, new


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("namespace", OUTSIDE, ids="/".join)
def test_foreign_ids_answer_nothing(engine, foreign, namespace):
    store(engine, "own", namespace=namespace)
    old, new = foreign
    ids = [old.id, new.id]
    key = digest("zebra", None, None)
    children = namespace != HOME[:1]
    for reach in (Reach(namespace), Reach(namespace, include_children=children)):
        with engine.read() as reader:
            assert list(reader.search(reach, ["zebra"], NO_FILTERS).hits) == []
            assert not set(ids) & set(reader.recent(reach, NO_FILTERS, after=None, limit=99))
            assert reader.lineage(reach, ids, START).facts == {}
            assert reader.before(2).lineage(reach, ids, START).facts == {}
            assert reader.story(reach, ids).facts == {}
            assert reader.records(reach, ids) == {}
            assert reader.edges(reach, ids) == []
            assert reader.memories(reach, [old.memory_id]) == {}
            prefixes = [old.id[:6], old.memory_id[:6], SAID.id[:6], new.id]
            assert [reader.expand(reach, prefix, 9) for prefix in prefixes] == [[], [], [], []]
            assert reader.twins(reach, [key]) == {key: ()}
            assert reader.slots(reach, [("branch", None)]) == {("branch", None): None}
            assert reader.slot_values(reach, [("branch", None)], START) == {}
            assert ASIDE not in reader.namespaces(reach)
            assert reader.replay(namespace, "key") is None
            assert reader.suggestions(reach) == []
            # The commits of the store are 1, theirs, and 2, our own.
            (own,) = reader.log(reach, 0, 99)
            assert own.sequence == 2
            theirs = [c.patch.id for c in reader.log(Reach(ASIDE), 0, 99)]
            assert reader.commits(reach, theirs) == []
            assert reader.expand(reach, theirs[0], 9) == []
            assert reader.patch_ids(reach, [1, 2]) == [own.patch.id]
            assert reader.later_patches(reach, [old.memory_id], 0) == []
            assert reader.steps(reach, old.memory_id) == []
            assert reader.events(reach, [SAID.id]) == {}
            assert reader.event_of(reach, "msg") is None
            assert reader.last_commit(namespace).sequence == 2
            figures = reader.figures(reach.namespace, START)
            assert (figures.texts, figures.patches, figures.unplain) == (1, 1, [])


@pytest.mark.promise("namespace.wall")
def test_what_lies_below_is_visible_only_when_asked(engine, foreign):
    old, new = foreign
    ids = [old.id, new.id]
    above, below = Reach(ASIDE[:1]), Reach(ASIDE[:1], include_children=True)
    with engine.read() as reader:
        assert reader.records(above, ids) == {}
        assert reader.edges(above, ids) == []
        assert set(reader.records(below, ids)) == {old.id, new.id}
        assert {r.namespace for r in reader.records(below, ids).values()} == {ASIDE}
        assert len(reader.edges(below, ids)) == 2
        assert set(reader.story(below, [old.id]).facts) == {old.id, new.id}
        assert set(reader.memories(below, [old.memory_id])) == {old.memory_id}
        assert len(reader.suggestions(below)) == 1
        (commit,) = reader.log(below, 0, 9)
        assert reader.log(above, 0, 9) == reader.commits(above, [commit.patch.id]) == []
        assert reader.commits(below, [commit.patch.id]) == [commit]
        assert reader.patch_ids(above, [1]) == []
        assert reader.patch_ids(below, [1]) == [commit.patch.id]
        assert len(reader.later_patches(below, [old.memory_id], 0)) == 1
        assert len(reader.steps(below, old.memory_id)) == 2
        assert set(reader.events(below, [SAID.id])) == {SAID.id}
        assert (reader.event_of(above, "msg"), reader.event_of(below, "msg")) == (None, SAID.id)


@pytest.mark.promise("namespace.wall")
def test_a_patch_does_not_tell_who_claims_to_have_undone_it_elsewhere(engine):
    own = patch_of(note("own"))
    engine.commit(own)
    engine.commit(patch_of(namespace=ASIDE, rollback_of=own.id))
    with engine.read() as reader:
        assert reader.commits(Reach(HOME), [own.id])[0].rolled_back_by is None


@pytest.mark.promise("namespace.wall")
def test_no_use_case_reaches_a_foreign_node(foreign, memory):
    old, new = (node.id for node in foreign)
    own = memory.remember("own").node.id
    calls = [
        lambda: memory.get_node(old),
        lambda: memory.get_node(old[:8]),
        lambda: memory.history(old),
        lambda: memory.forget(old),
        lambda: memory.link(own, supersedes=[old]),
        lambda: memory.link(old, supersedes=[own]),
        lambda: memory.unlink(new, old),
        lambda: memory.remember("x", supersedes=old),
        lambda: memory.remember("x", refines=old),
        lambda: memory.remember("x", overrides=old, scope="eu"),
        lambda: memory.remember("x", amends={"id": old, "part": "zebra"}),
        lambda: memory.remember("x", relations={"caused_by": [old]}),
    ]
    for call in calls:
        with pytest.raises(NotFoundError) as refusal:
            call()
        assert "zebra" not in str(refusal.value.to_dict())
    assert memory.stats().texts == 1


LABELS = [
    "a",
    "a b",
    "ab",
    "a%",
    "a_",
    "%",
    "_",
    "a'",
    'a"',
    "a/b",
    "a\\b",
    "A",
    "é",
    "e\u0301",
    "账本",
    "🚀",
    "[a]",
    "a*",
    "a\u00a0",
    ";--",
]


@pytest.mark.promise("namespace.wall")
def test_no_label_is_a_pattern_or_a_prefix_of_another(engine):
    made = {}
    for label in LABELS:
        for namespace in ((label,), (label, "a"), ("x", label)):
            made[namespace] = store(engine, "zebra", namespace=namespace)[0].id
    for reach in [Reach(n, include_children=c) for n in made for c in (False, True)]:
        depth = len(reach.namespace)
        expected = {
            node_id
            for n, node_id in made.items()
            if n == reach.namespace or (reach.include_children and n[:depth] == reach.namespace)
        }
        with engine.read() as reader:
            assert set(reader.recent(reach, NO_FILTERS, after=None, limit=999)) == expected
            hits = reader.search(reach, ["zebra"], NO_FILTERS).hits
            assert {hit.node_id for hit in hits} == expected
            assert set(reader.records(reach, made.values())) == expected
    with engine.read() as reader:
        below = Reach(("x",), include_children=True)
        assert len(reader.recent(below, NO_FILTERS, after=None, limit=99)) == len(LABELS)


def test_a_label_of_the_last_character_there_is_lies_below(engine):
    (node,) = store(engine, "zebra", namespace=(*HOME, "\U0010ffff"))
    with engine.read() as reader:
        below = Reach(HOME, include_children=True)
        assert reader.recent(below, NO_FILTERS, after=None, limit=9) == [node.id]


def test_a_handle_within_sees_its_own_and_shares_the_store(engine, clock):
    top = open_memory(engine, clock, ("t",))
    inner = top.within("u").within(["v", "w"])
    assert inner.namespace == ("t", "u", "v", "w")
    node = inner.remember("zebra").node
    assert top.recall("zebra").hits == ()
    hits = top.recall("zebra", include_children=True).hits
    assert [(hit.node.id, hit.node.namespace) for hit in hits] == [(node.id, inner.namespace)]
    inner.close()
    assert top.recall("zebra", include_children=True).hits


def spaces(engine, reach, known=None):
    with engine.read() as reader:
        return (reader if known is None else reader.before(known + 1)).namespaces(reach)


@pytest.mark.promise("namespace.wall")
def test_namespaces_in_reach_are_told_in_order_and_none_beside(engine):
    inside = [HOME, (*HOME, "a"), (*HOME, "a", "b"), (*HOME, "a-"), (*HOME, "é"), (*HOME, "日本")]
    for namespace in [*reversed(inside), *OUTSIDE[:4], ("tenant", "home "), ("tenant", "home%")]:
        store(engine, "one", namespace=namespace)
    assert spaces(engine, Reach(HOME, include_children=True)) == sorted(inside)
    assert spaces(engine, Reach(HOME)) == [HOME]
    assert spaces(engine, Reach((*HOME, "a"), include_children=True)) == sorted(inside)[1:3]
    for none in [("tenant", "%"), ("tenant", "hom_"), ("ten",), ("tenant", "home", "_")]:
        assert spaces(engine, Reach(none, include_children=True)) == []


def test_a_namespace_is_told_while_the_last_version_of_a_memory_is_not_forgotten(engine):
    old = note("old")
    first = engine.commit(patch_of(old)).sequence
    new = next_version(old, "new")
    engine.commit(patch_of(new, edges=(replaces(new, old),)))
    gone = engine.commit(removal(new, 3)).sequence
    other = note("other")
    back = engine.commit(patch_of(other)).sequence
    engine.commit(removal(other, purge=True))
    told = [bool(spaces(engine, Reach(HOME), n)) for n in (first - 1, first, gone - 1, gone, back)]
    assert told == [False, True, True, False, True]
    assert spaces(engine, Reach(HOME)) == []


def test_a_namespace_of_events_alone_is_not_told(engine):
    engine.commit(patch_of(events=(SAID,)))
    assert spaces(engine, Reach(HOME)) == []
