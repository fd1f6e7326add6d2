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
from tests.conformance.searching import brute_force, equal_hits, found, search

from evomem.domain.analysis import terms
from evomem.domain.namespace import Reach
from evomem.engines.base import Filters, SearchLimits

counter = itertools.count()
BELOW_HOME = (*HOME, "below")


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
    result = search(engine, ["zebra"])
    every = search(engine, ["zebra"], filters=Filters(removed=True))
    scored = brute_force([kept, gone], ["zebra"])
    equal_hits(every.hits, scored)
    equal_hits(result.hits, [hit for hit in scored if hit.node_id == kept.id])


def test_a_purged_note_is_not_found_and_no_longer_counts(engine):
    kept, gone, forgotten = store(engine, "zebra", "zebra zebra", "zebra zebra zebra")
    engine.commit(removal(gone, purge=True))
    engine.commit(removal(forgotten))
    engine.commit(purge_of(forgotten))
    for filters in (NO_FILTERS, Filters(removed=True)):
        result = search(engine, ["zebra"], filters=filters)
        equal_hits(result.hits, brute_force([kept], ["zebra"]))


@pytest.mark.parametrize("words", [[], ["nowhere"], ["", "nowhere"]])
def test_what_is_nowhere_is_not_found(engine, words):
    store(engine, "zebra")
    result = search(engine, words)
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
    result = search(engine, words, reach)
    assert result.bound == 0
    assert not result.partial
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

    alone = search(engine, ["zebra", "horse"])
    for namespace in (HOME[:1], ("tenant", "beside"), BELOW_HOME, (*HOME[:-1], "home2")):
        store(engine, *["zebra horse " * 3] * 5, namespace=namespace)
    assert search(engine, ["zebra", "horse"]) == alone
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


def test_equal_scores_are_ranked_latest_first_in_each_namespace(engine):
    namespaces = [HOME, BELOW_HOME, HOME, (*HOME, "a"), BELOW_HOME, HOME]
    nodes = [store(engine, "zebra", namespace=namespace)[0] for namespace in namespaces]
    hits = found(engine, ["zebra"], BELOW)
    assert sorted(hits) == sorted(node.id for node in nodes)
    for namespace in namespaces:
        own = [node.id for node in reversed(nodes) if node.namespace == namespace]
        start = hits.index(own[0])
        assert hits[start : start + len(own)] == own


SYNTAX = [
    '"',
    "'",
    '""" OR "',
    "NEAR(zebra horse, 2)",
    "zebra*",
    "^zebra",
    "tokens: zebra",
    "{tokens} : zebra",
    "~zebra ~",
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
        hits = reader.search(REACH, terms(query), NO_FILTERS, SearchLimits()).hits
    assert all({"zebra", "horse"} & dict(hit.terms).keys() for hit in hits)


@pytest.mark.promise("query.text")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters()))
def test_no_query_raises(memory, query):
    memory.recall(query)
    memory.recall(query, tags=query, session=query, filter={"x": query}, scope=query[:100])


@pytest.mark.promise("query.text")
@pytest.mark.parametrize(
    "text", ['say "hi" to C++', "it's 100% a_b c:\\d {x}", "NOT OR AND NEAR", "~abc ~~"]
)
def test_a_text_of_syntax_is_found_by_itself(engine, text):
    (node,) = store(engine, text)
    assert found(engine, terms(text)) == [node.id]


def test_what_looks_like_a_facet_is_plain_text(engine):
    text = "~abc and ~0123456789abcdef"
    (node,) = store(engine, text)
    (tagged,) = store(engine, "other words", tags=("abc",), metadata={"~": "~"}, session="~")
    assert set(found(engine, terms("~abc"))) == {node.id, tagged.id}
    assert found(engine, terms("~0123456789abcdef")) == [node.id]
    assert found(engine, terms("abc"), filters=Filters(tags=("abc",))) == [tagged.id]
    assert found(engine, terms("words"), filters=Filters(session="~", tags=("abc",))) == [tagged.id]
    assert found(engine, terms("~")) == []


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_the_first_are_certain_however_few_are_wanted(engine, depth):
    nodes = store(engine, *[" ".join(["zebra"] * n + ["horse"] * 3) for n in (1, 3, 6, 12, 24)])
    expected = brute_force(nodes, ["zebra"])
    result = search(engine, ["zebra"], limits=SearchLimits(depth))
    equal_hits(result.hits[:depth], expected[:depth])
    assert result.hits[depth - 1].score >= result.bound


def test_a_search_whose_time_is_up_says_that_anything_may_be_left_out(engine):
    nodes = store(engine, "zebra", "zebra horse")
    result = search(engine, ["zebra"], limits=SearchLimits(deadline=0.0))
    expected = brute_force(nodes, ["zebra"])
    assert result.partial
    assert result.bound > expected[0].score
    equal_hits(result.hits, expected)
