"""Search finds every version, ranks as `domain.ranking` says, and takes no input for syntax."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import (
    BELOW,
    HOME,
    NO_FILTERS,
    REACH,
    next_version,
    note,
    patch_of,
    purge_of,
    removal,
    replaces,
    store,
)

from evomem.domain.analysis import terms, tokens
from evomem.domain.namespace import Reach
from evomem.domain.ranking import Corpus, Document, Scorer
from evomem.engines.base import Filters

counter = itertools.count()
BELOW_HOME = (*HOME, "below")


def found(engine, words, reach=REACH, filters=NO_FILTERS):
    with engine.read() as reader:
        return [hit.node_id for hit in reader.search(reach, words, filters).hits]


def documents(nodes):
    for node in nodes:
        focus = "\n".join(
            filter(None, (node.subject, node.slot, *node.tags, str(node.extraction.change)))
        )
        yield Document(node.id, " ".join(tokens(focus)), " ".join(tokens(node.text)))


def brute_force(nodes, words):
    """Score every note, without an index; `nodes` are the earliest first."""
    held = list(documents(nodes))
    sets = [{*d.focus.split(), *d.body.split()} for d in held]
    frequency = {word: sum(word in one for one in sets) for word in words}
    length = sum(len(d.focus.split()) + len(d.body.split()) for d in held)
    scorer = Scorer(words, Corpus(len(held), length, frequency))
    hits = [scorer.score(d) for d in reversed(held)]
    return sorted((hit for hit in hits if hit.terms), key=lambda hit: -hit.score)


def equal_hits(got, expected):
    assert [(h.node_id, h.terms) for h in got] == [(h.node_id, h.terms) for h in expected]
    assert [h.score for h in got] == pytest.approx([h.score for h in expected], abs=1e-9)
    assert [h.share for h in got] == pytest.approx([h.share for h in expected], abs=1e-9)


@pytest.mark.promise("recall.head")
def test_every_version_is_found(engine):
    old = note("The ledger runs on Postgres.")
    new = next_version(old, "The ledger runs on SQLite.")
    engine.commit(patch_of(old))
    engine.commit(patch_of(new, edges=(replaces(new, old),)))
    assert found(engine, terms("postgres")) == [old.id]
    assert found(engine, terms("sqlite")) == [new.id]
    assert set(found(engine, terms("ledger"))) == {old.id, new.id}


@pytest.mark.promise("read.own-write")
def test_a_note_is_found_right_after_its_commit(engine):
    for n in range(20):
        (node,) = store(engine, f"needle{n} in the haystack")
        assert found(engine, [f"needle{n}"]) == [node.id]


def test_a_forgotten_note_is_not_found_unless_asked_for(engine):
    kept, gone = store(engine, "zebra", "zebra zebra")
    engine.commit(removal(gone))
    with engine.read() as reader:
        result = reader.search(REACH, ["zebra"], NO_FILTERS)
        every = reader.search(REACH, ["zebra"], Filters(removed=True))
    scored = brute_force([kept, gone], ["zebra"])
    equal_hits(every.hits, scored)
    equal_hits(result.hits, [hit for hit in scored if hit.node_id == kept.id])


def test_a_purged_note_is_not_found_and_no_longer_counts(engine):
    kept, gone, forgotten = store(engine, "zebra", "zebra zebra", "zebra zebra zebra")
    engine.commit(removal(gone, purge=True))
    engine.commit(removal(forgotten))
    engine.commit(purge_of(forgotten))
    for filters in (NO_FILTERS, Filters(removed=True)):
        with engine.read() as reader:
            result = reader.search(REACH, ["zebra"], filters)
        equal_hits(result.hits, brute_force([kept], ["zebra"]))


@pytest.mark.parametrize("words", [[], ["nowhere"], ["", "nowhere"]])
def test_what_is_nowhere_is_not_found(engine, words):
    store(engine, "zebra")
    with engine.read() as reader:
        result = reader.search(REACH, words, NO_FILTERS)
    assert (list(result.hits), result.bound) == ([], 0.0)


def test_subject_slot_and_tags_are_searched_and_weigh_more(engine):
    (in_text,) = store(engine, "about zebra and more words")
    (in_subject,) = store(engine, "something else and more", subject="zebra")
    (in_tag,) = store(engine, "another thing and more", tags=("zebra", "horse"))
    (in_slot,) = store(engine, "a third thing and more", slot="zebra/stripes")
    assert set(found(engine, ["zebra"])) == {in_text.id, in_subject.id, in_tag.id, in_slot.id}
    assert found(engine, ["zebra"])[-1] == in_text.id
    equal_hits_of(engine, [in_text, in_subject, in_tag, in_slot], ["zebra", "horse", "more"])


def equal_hits_of(engine, nodes, words, reach=REACH):
    with engine.read() as reader:
        result = reader.search(reach, words, NO_FILTERS)
    assert result.bound == 0
    equal_hits(result.hits, brute_force(nodes, words))


WORDS = st.sampled_from(["ledger", "postgres", "sqlite", "c++", "账本", "node.js", "übung", "api"])
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS, st.none() | TEXTS), min_size=1, max_size=12), TEXTS)
def test_hits_are_those_of_brute_force(engine, given_notes, query):
    namespace = (*HOME, str(next(counter)))
    nodes = [note(text, subject=about, namespace=namespace) for text, about in given_notes]
    engine.commit(patch_of(*nodes, namespace=namespace))
    equal_hits_of(engine, nodes, terms(query), Reach(namespace))


@pytest.mark.promise("namespace.wall")
def test_neighbours_change_neither_hits_nor_scores(engine):
    nodes = store(engine, "zebra one", "zebra two two", "horse three")

    def asked():
        with engine.read() as reader:
            return reader.search(REACH, ["zebra", "horse"], NO_FILTERS)

    alone = asked()
    for namespace in (HOME[:1], ("tenant", "beside"), BELOW_HOME, (*HOME[:-1], "home2")):
        store(engine, *["zebra horse " * 3] * 5, namespace=namespace)
    assert asked() == alone
    equal_hits(alone.hits, brute_force(nodes, ["zebra", "horse"]))


def test_namespaces_below_are_searched_only_when_asked(engine):
    (own,) = store(engine, "zebra in the house")
    (below,) = store(engine, "zebra far below the house", namespace=BELOW_HOME)
    (deep,) = store(engine, "zebra", namespace=(*BELOW_HOME, "deep"))
    store(engine, "zebra beside", namespace=("tenant", "beside"))
    assert found(engine, ["zebra"]) == [own.id]
    equal_hits_of(engine, [own, below, deep], ["zebra", "house"], BELOW)


def test_equal_scores_are_ranked_latest_first(engine):
    nodes = store(engine, *["zebra stripes"] * 5)
    assert found(engine, ["zebra"]) == [node.id for node in reversed(nodes)]


def test_equal_scores_are_ranked_latest_first_across_namespaces(engine):
    namespaces = [HOME, BELOW_HOME, HOME, (*HOME, "a"), BELOW_HOME, HOME]
    nodes = [store(engine, "zebra", namespace=namespace)[0] for namespace in namespaces]
    assert found(engine, ["zebra"], BELOW) == [node.id for node in reversed(nodes)]


METADATA = [
    {},
    {"team": "core", "n": 1},
    {"team": "core", "n": 2, "deep": {"a": [1, 2]}},
    {"team": "Core", "flag": True},
    {"flag": 1, "none": None},
    {"team": "kern é", 'quo"ted.key': "$.x", "none": "null"},
    {"n": "1", "ratio": 0.5, "flag": False},
]
FILTERS = [
    Filters(),
    Filters(tags=("red",)),
    Filters(tags=("red", "blue")),
    Filters(tags=("re",)),
    Filters(tags=("Red",)),
    Filters(tags=('quo"te', "%")),
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
]


def passes(node, filters):
    return (
        set(filters.tags) <= set(node.tags)
        and filters.session in (None, node.session)
        and all(
            key in node.metadata
            and node.metadata[key] == value
            and isinstance(node.metadata[key], bool) == isinstance(value, bool)
            for key, value in filters.metadata.items()
        )
    )


@pytest.fixture
def labelled(engine):
    tags = [(), ("red",), ("red", "blue"), ('quo"te', "%")]
    sessions = [None, "s1", "s2"]
    nodes = [
        note("zebra", tags=t, session=s, metadata=m)
        for t, s, m in itertools.product(tags, sessions, METADATA)
    ]
    engine.commit(patch_of(*nodes))
    return nodes


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters_choose_what_brute_force_chooses(engine, labelled, filters):
    expected = [node.id for node in reversed(labelled) if passes(node, filters)]
    assert set(found(engine, ["zebra"], filters=filters)) == set(expected)
    assert set(found(engine, ["zebra"], BELOW, filters)) == set(expected)
    with engine.read() as reader:
        assert reader.recent(REACH, filters, after=None, limit=999) == expected


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
    ],
)
def test_an_equal_json_value_passes_a_metadata_filter(engine, stored, asked):
    (node,) = store(engine, "zebra", metadata={"value": stored})
    assert found(engine, ["zebra"], filters=Filters(metadata={"value": asked})) == [node.id]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [(True, 1), (1, True), ("1", 1), (None, "null"), (None, 0), ([], {}), ("[]", []), (0, False)],
)
def test_another_json_value_does_not_pass_a_metadata_filter(engine, stored, asked):
    store(engine, "zebra", metadata={"value": stored})
    assert found(engine, ["zebra"], filters=Filters(metadata={"value": asked})) == []


@pytest.mark.usefixtures("labelled")
def test_filters_do_not_change_scores(engine):
    with engine.read() as reader:
        every = {h.node_id: h.score for h in reader.search(REACH, ["red"], NO_FILTERS).hits}
        some = reader.search(REACH, ["red"], Filters(session="s1")).hits
    assert 0 < len(some) < len(every)
    assert all(hit.score == every[hit.node_id] for hit in some)


SYNTAX = [
    '"',
    "'",
    '""" OR "',
    "NEAR(zebra horse, 2)",
    "zebra*",
    "^zebra",
    "body: zebra",
    "{focus} : zebra",
    "-zebra",
    "zebra AND NOT horse",
    "(",
    "zebra & !horse | (x:*)",
    "a <-> b",
    "%",
    "\\",
    "x' ; DROP TABLE node; --",
    "\x00zebra\x00",
    "\ud800",
    "\u200b",
    "账本 \U0001f680",
    "z" * 10_000,
]


@pytest.mark.promise("query.text")
@pytest.mark.parametrize("query", SYNTAX)
def test_no_query_is_syntax(engine, memory, query):
    store(engine, "horse and zebra")
    memory.recall(query)
    with engine.read() as reader:
        for words in (terms(query), [query.replace("\0", "").replace("\ud800", "")]):
            result = reader.search(REACH, words, NO_FILTERS)
            assert all("zebra" in hit.terms or "horse" in hit.terms for hit in result.hits)


@pytest.mark.promise("query.text")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters()))
def test_no_query_raises(memory, query):
    memory.recall(query)
    memory.recall(query, tags=query, session=query, filter={"x": query}, scope=query[:100])


@pytest.mark.promise("query.text")
@pytest.mark.parametrize("text", ['say "hi" to C++', "it's 100% a_b c:\\d {x}", "NOT OR AND NEAR"])
def test_a_text_of_syntax_is_found_by_itself(engine, text):
    (node,) = store(engine, text)
    assert found(engine, terms(text)) == [node.id]
