"""Filters choose what the notes themselves say, however a search narrows its lists by them."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import (
    BELOW,
    HOME,
    REACH,
    Clock,
    later,
    note,
    patch_of,
    removal,
    store,
)
from tests.conformance.searching import brute_force, equal_hits, found, passes, search

from evomem.domain.edge import Edge
from evomem.domain.metadata import matches
from evomem.domain.namespace import Reach
from evomem.engines.base import Filters, SearchLimits

counter = itertools.count()

OBJECTS = [
    {},
    {"team": "core", "n": 1},
    {"team": "core", "n": 2, "deep": {"a": [1, 2]}},
    {"team": "Core", "flag": True},
    {"flag": 1, "none": None},
    {"team": "kern é", 'quo"ted.key': "$.x", "none": "null"},
    {"n": "1", "ratio": 0.5, "flag": False},
    {"deep": {"a": [1, {"b": "x"}], "er": {"n": 1, "none": None}}, "$ne": 1},
    {"deep": {"a": [1], "er": {"n": 10}, "é": True}, "ratio": 12},
]
FILTERS = [
    Filters(),
    Filters(tags=("red",)),
    Filters(tags=("red", "blue")),
    Filters(tags=("re",)),
    Filters(tags=("Red",)),
    Filters(tags=('quo"te', "%")),
    Filters(tags_any=("red",)),
    Filters(tags_any=("blue", "%", "none")),
    Filters(tags_any=("none",)),
    Filters(tags_none=("red", "none")),
    Filters(tags=("red",), tags_any=("blue", "%"), tags_none=("none",)),
    Filters(tags=("red",), tags_none=("red",)),
    Filters(session="s1"),
    Filters(session="s_"),
    Filters(session="s1", tags=("red",), metadata={"n": 1}),
    Filters(metadata={"team": "core"}),
    Filters(metadata={"team": "core", "n": 2}),
    Filters(metadata={"team": "kern é"}),
    Filters(metadata={'quo"ted.key': "$.x"}),
    Filters(metadata={"flag": True}),
    Filters(metadata={"flag": False}),
    Filters(metadata={"flag": 1}),
    Filters(metadata={"n": "1"}),
    Filters(metadata={"none": None}),
    Filters(metadata={"none": "null"}),
    Filters(metadata={"missing": None}),
    Filters(metadata={"ratio": 0.5}),
    Filters(metadata={"deep": {"a": [1, 2]}}),
    Filters(metadata={"deep": {"a": [2, 1]}}),
    Filters(metadata={"deep": {}}),
    Filters(metadata={"deep": {"er": {"n": 1.0}}}),
    Filters(metadata={"deep": {"er": {"none": None}}}),
    Filters(metadata={"deep": {"er": {"n": {"$gte": 1, "$lt": 10}}}}),
    Filters(metadata={"deep": {"a": [1, {"b": {"$gt": "w"}}]}}),
    Filters(metadata={"deep": {"$eq": {"a": [1], "er": {"n": 10}, "é": True}}}),
    Filters(metadata={"deep": {"é": True}, "ratio": {"$gt": 0.5}}),
    Filters(metadata={"deep": {"$ne": None}}),
    Filters(metadata={"deep": None, "team": {"$ne": "core"}}),
    Filters(metadata={"n": {"$gt": 1}}),
    Filters(metadata={"n": {"$gte": ""}}),
    Filters(metadata={"n": {"$eq": 1, "$ne": "1"}}),
    Filters(metadata={"flag": {"$lte": 1}}),
    Filters(metadata={"$ne": 1}),
]


def listed(engine, filters, reach=REACH):
    with engine.read() as reader:
        return reader.recent(reach, filters, after=None, limit=999)


@pytest.fixture
def labelled(engine):
    tags = [(), ("red",), ("red", "blue"), ('quo"te', "%")]
    sessions = [None, "s1", "s2"]
    nodes = [
        note("zebra", tags=t, session=s, metadata=m)
        for t, s, m in itertools.product(tags, sessions, OBJECTS)
    ]
    engine.commit(patch_of(*nodes))
    return nodes


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters_choose_what_brute_force_chooses(engine, labelled, filters):
    expected = [node.id for node in reversed(labelled) if passes(node, filters)]
    assert set(found(engine, ["zebra"], filters=filters)) == set(expected)
    assert set(found(engine, ["zebra"], BELOW, filters)) == set(expected)
    assert listed(engine, filters) == expected


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}),
        ({"name": "é"}, {"name": "é"}),
        ([{"name": "账"}], [{"name": "账"}]),
        ([1, "two", None, True], [1, "two", None, True]),
        (1, 1.0),
        (0.5, 0.5),
        (2**53 + 1, 2**53 + 1),
        (1.0, 1),
        (0, -0.0),
        (-0.0, 0),
        (2**63 - 1, 2**63 - 1),
        (1e300, 1e300),
        ({"deep": [1.5, {"er": None}]}, {"deep": [1.5, {"er": None}]}),
        (10**22, 1e22),
        (1e22, 10**22),
        (10**16, 1e16),
        (1e16 - 2, 10**16 - 2),
        (int(1e308), 1e308),
        (-2.0, -2),
        (1e-7, 0.0000001),
        ([1, {"a": 1}], [1.0, {"a": 1.0}]),
        ('"\\/\t\x7f\u2028', '"\\/\t\x7f\u2028'),
    ],
)
@pytest.mark.parametrize("inside", [dict, lambda **value: {"deep": value}], ids=["top", "deep"])
def test_an_equal_json_value_passes_a_metadata_filter(engine, stored, asked, inside):
    (node,) = store(engine, "zebra", metadata=inside(value=stored))
    for wanted in (asked, {"$eq": stored}):
        filters = Filters(metadata=inside(value=wanted))
        assert found(engine, ["zebra"], filters=filters) == listed(engine, filters) == [node.id]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        (True, 1),
        (1, True),
        ("1", 1),
        (None, "null"),
        (None, 0),
        ([], {}),
        ("[]", []),
        (0, False),
        (2**53, 2**53 + 1),
    ],
)
def test_another_json_value_does_not_pass_a_metadata_filter(engine, stored, asked):
    store(engine, "zebra", metadata={"value": stored})
    for wanted in (asked, {"$eq": asked}):
        filters = Filters(metadata={"value": wanted})
        assert found(engine, ["zebra"], filters=filters) == listed(engine, filters) == []


@pytest.mark.usefixtures("labelled")
def test_filters_do_not_change_scores(engine):
    every = {hit.node_id: hit.score for hit in search(engine, ["red"]).hits}
    some = search(engine, ["red"], filters=Filters(session="s1")).hits
    assert 0 < len(some) < len(every)
    assert all(hit.score == every[hit.node_id] for hit in some)


TAGS = st.lists(st.sampled_from(["red", "blue", "Red", "", '"', "é", "~"]), max_size=3, unique=True)
SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, 2, 1.0, 0.0, 1.5, "1", "1.0", "true", "null", "", "é"])
)
KEYS = st.sampled_from(["k", "K", 'a.b"c'])


def nested(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
        max_leaves=4,
    )


VALUES = nested(SCALARS)
METADATA = st.dictionaries(KEYS, VALUES, max_size=2)
ORDERED = st.sampled_from([0, 1, 1.0, 1.5, "1", "", "é"])
COMPARISONS = st.dictionaries(st.sampled_from(["$eq", "$ne"]), VALUES, min_size=1) | (
    st.dictionaries(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), ORDERED, min_size=1)
)
WANTED = st.dictionaries(KEYS, nested(SCALARS | COMPARISONS), max_size=2)
SESSIONS = st.none() | st.sampled_from(["s1", "S1"])
NOTES = st.builds(
    lambda n, tags, session, metadata: {
        "text": "zebra " * n + "horse",
        "tags": tuple(tags),
        "session": session,
        "metadata": metadata,
    },
    st.integers(0, 3),
    TAGS,
    SESSIONS,
    METADATA,
)


@st.composite
def filters_for(draw, notes):
    """Filters of which most hold for one of the notes."""
    one = draw(st.sampled_from(notes))
    keys = draw(st.sets(st.sampled_from(sorted(one["metadata"])))) if one["metadata"] else ()
    metadata = {key: one["metadata"][key] for key in sorted(keys)}
    return Filters(
        tags=tuple(draw(st.just(one["tags"][:1]) | TAGS.map(tuple) | st.just(()))),
        tags_any=tuple(draw(st.just([]) | TAGS)),
        tags_none=tuple(draw(st.just([]) | TAGS)),
        session=draw(st.none() | st.just(one["session"]) | SESSIONS),
        metadata=draw(st.just(metadata) | st.just({}) | WANTED),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_any_filters_choose_and_rank_as_brute_force(engine, data):
    given_notes = data.draw(st.lists(NOTES, min_size=1, max_size=10))
    namespace = (*HOME, str(next(counter)))
    nodes = [note(**fields, namespace=namespace) for fields in given_notes]
    engine.commit(patch_of(*nodes, namespace=namespace))
    for _ in range(3):
        filters = data.draw(filters_for(given_notes))
        passing = [node.id for node in nodes if passes(node, filters)]
        reach = Reach(namespace, include_children=data.draw(st.booleans()))
        result = search(engine, ["zebra", "red"], reach, filters)
        equal_hits(result.hits, brute_force(nodes, ["zebra", "red"], passing))
        depth = SearchLimits(depth=2, budget=data.draw(st.integers(0, 5)), least=2)
        some = search(engine, ["zebra", "red"], reach, filters, depth)
        assert len(some.hits) >= min(2, len(result.hits))
        assert listed(engine, filters, reach) == passing[::-1]


def test_since_until_relation_and_removed_choose_what_they_say(engine):
    clock = Clock()
    nodes = []
    for _ in range(6):
        nodes.append(note("zebra"))
        edges = (Edge("caused_by", nodes[-1].id, nodes[0].id),) if len(nodes) % 2 == 0 else ()
        engine.commit(patch_of(nodes[-1], edges=edges, recorded_at=clock.now))
        clock.advance(hours=1)
    engine.commit(removal(nodes[3], recorded_at=clock.now))
    ids = [node.id for node in nodes]
    kept = [node_id for node_id in ids if node_id != ids[3]]
    chosen = [
        (Filters(since=later(hours=2)), kept[2:]),
        (Filters(since=later(hours=1, seconds=1), until=later(hours=4)), [ids[2]]),
        (Filters(until=later(hours=4), removed=True), ids[:4]),
        (Filters(until=later(hours=-1)), []),
        (Filters(since=later(days=1)), []),
        (Filters(relation="caused_by"), [ids[1], ids[5]]),
        (Filters(relation="caused_by", removed=True), [ids[1], ids[3], ids[5]]),
        (Filters(relation="depends_on"), []),
    ]
    for filters, expected in chosen:
        hits = search(engine, ["zebra"], filters=filters).hits
        equal_hits(hits, brute_force(nodes, ["zebra"], expected))


@pytest.mark.parametrize("count", [31, 32, 33, 40])
def test_a_note_with_many_facets_is_found_by_each_of_them(engine, count):
    tags = tuple(f"tag{n}" for n in range(count))
    metadata = {f"key{n}": n for n in range(count)}
    (node,) = store(engine, "zebra", tags=tags, session="s", metadata=metadata)
    (other,) = store(engine, "zebra", tags=("tag0", "other"), session="t", metadata={"key0": 1})
    for filters in (
        *(Filters(tags=(tag,), session="s") for tag in tags),
        *(Filters(metadata={key: n}) for key, n in metadata.items()),
        Filters(tags=tags, metadata=metadata),
        Filters(tags_any=("none", tags[-1])),
        Filters(tags_none=("other",)),
    ):
        assert found(engine, ["zebra"], filters=filters) == [node.id], filters
    assert found(engine, ["zebra"], filters=Filters(tags=("tag0",), session="t")) == [other.id]
    assert found(engine, ["zebra"], filters=Filters(tags=("tag0",), session="u")) == []


@pytest.mark.parametrize("count", [31, 32, 33, 40])
def test_a_note_with_many_values_inside_objects_is_found_by_each_of_them(engine, count):
    held = {f"key{n}": n for n in range(count)}
    (node,) = store(engine, "zebra", metadata={"deep": held})
    store(engine, "zebra", metadata={"deep": {"key0": -1}, **held})
    for key, n in held.items():
        filters = Filters(metadata={"deep": {key: n}})
        assert found(engine, ["zebra"], filters=filters) == listed(engine, filters) == [node.id]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(METADATA, min_size=1, max_size=8), st.lists(WANTED, min_size=1, max_size=8))
def test_what_matches_a_filter_is_found_and_listed(engine, held, asked):
    namespace = (*HOME, str(next(counter)))
    nodes = [note("zebra", metadata=metadata, namespace=namespace) for metadata in held]
    engine.commit(patch_of(*nodes, namespace=namespace))
    for wanted in asked:
        expected = [node.id for node in reversed(nodes) if matches(node.metadata, wanted)]
        filters = Filters(metadata=wanted)
        assert listed(engine, filters, Reach(namespace)) == expected
        assert set(found(engine, ["zebra"], Reach(namespace), filters)) == set(expected)


def test_very_many_tags_on_a_note_and_in_a_filter_are_no_more_than_many(engine):
    tags = tuple(f"tag{n}" for n in range(3000))
    (node,) = store(engine, "zebra", tags=tags)
    (few,) = store(engine, "zebra", tags=tags[:2])
    (bare,) = store(engine, "zebra")
    assert set(found(engine, ["zebra"], filters=Filters(tags_any=tags))) == {few.id, node.id}
    assert found(engine, ["zebra"], filters=Filters(tags_none=tags)) == [bare.id]
    assert found(engine, ["zebra"], filters=Filters(tags=(*tags[:9], "other"))) == []
    (several,) = store(engine, "zebra", tags=tags[:100])
    assert set(found(engine, ["zebra"], filters=Filters(tags=tags[:100]))) == {several.id, node.id}
