"""What any store of LangGraph does, told in the words of its contract."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

import evomem
from langchain_evomem.store import EvoMemStore

USER = ("users", "ada")


@pytest.fixture
def memory(tmp_path):
    with evomem.open(tmp_path / "m.db", namespace="app", linking="off") as opened:
        yield opened


@pytest.fixture
def store(memory):
    return EvoMemStore(memory)


def deep(levels):
    value: Any = 1
    for _ in range(levels):
        value = {"v": value}
    return value


def keys(items):
    return [item.key for item in items]


def test_an_item_comes_back_as_it_was_put(store):
    value = {"text": "tea", "n": 1, "x": 1.5, "ok": True, "none": None, "deep": {"list": [1, "b"]}}
    store.put(USER, "drink", value)
    item = store.get(USER, "drink")
    assert (item.namespace, item.key, item.value) == (USER, "drink", value)
    assert item.created_at == item.updated_at or item.created_at <= item.updated_at
    assert item.created_at.tzinfo is not None


def test_an_unknown_key_or_namespace_is_none(store):
    store.put(USER, "drink", {"a": 1})
    assert store.get(USER, "food") is None
    assert store.get(("users", "bob"), "drink") is None
    assert store.get((), "drink") is None
    assert store.search(("nowhere",)) == []


def test_the_last_value_holds_and_created_at_stays(store):
    store.put(USER, "drink", {"v": 1})
    first = store.get(USER, "drink")
    time.sleep(0.002)
    store.put(USER, "drink", {"v": 2})
    second = store.get(USER, "drink")
    assert second.value == {"v": 2}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_what_is_deleted_is_gone_and_a_new_value_begins_anew(store):
    store.put(USER, "drink", {"v": 1})
    born = store.get(USER, "drink").created_at
    store.delete(USER, "drink")
    store.delete(USER, "drink")
    store.delete(USER, "never")
    assert store.get(USER, "drink") is None
    assert store.search(USER) == []
    assert store.search(USER, query="v") == []
    time.sleep(0.002)
    store.put(USER, "drink", {"v": 2})
    assert store.get(USER, "drink").value == {"v": 2}
    assert store.get(USER, "drink").created_at > born


def test_results_stand_in_the_order_of_the_operations(store):
    store.put(USER, "a", {"v": 1})
    ops = [
        GetOp(USER, "a"),
        PutOp(USER, "b", {"v": 2}),
        SearchOp(("users",)),
        ListNamespacesOp(),
        GetOp(USER, "b"),
    ]
    got, put, found, spaces, missing = store.batch(ops)
    assert (got.key, put, keys(found), spaces, missing) == ("a", None, ["a"], [USER], None)


def test_reads_of_a_batch_see_the_state_before_it_and_the_last_put_counts(store):
    store.put(USER, "a", {"v": 1})
    results = store.batch(
        [
            PutOp(USER, "a", {"v": 2}),
            GetOp(USER, "a"),
            PutOp(USER, "a", {"v": 3}),
            PutOp(USER, "gone", {"v": 1}),
            PutOp(USER, "gone", None),
        ]
    )
    assert results[1].value == {"v": 1}
    assert store.get(USER, "a").value == {"v": 3}
    assert store.get(USER, "gone") is None


@pytest.mark.parametrize(
    "bad",
    [
        PutOp(("a.b",), "k", {}),
        PutOp((), "k", {}),
        PutOp(("",), "k", {}),
        GetOp(("a\x00b",), "k"),
        SearchOp(("a.b",)),
        SearchOp(("a",), filter={"v": {"$like": 1}}),
        SearchOp(("a",), filter={"$ne": 1}),
        SearchOp(("a",), filter=cast("Any", "zz")),
        SearchOp(("a",), query=cast("Any", 5)),
        SearchOp(("a",), limit=cast("Any", "3")),
        GetOp(("a",), cast("Any", 5)),
        GetOp(cast("Any", "ab"), "k"),
        PutOp(("a",), "k", {"v": 1}, index=cast("Any", True)),
        PutOp(("a",), "k", {"v": 1}, index=cast("Any", "v")),
        PutOp(("a",), "k", {"v": {("a", 1): None}}),
        PutOp(("a",), "k", {"v": deep(5000)}),
        ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
        PutOp(("a",), "k", {"v": {1, 2}}),
        PutOp(("a",), "k", {"v": (1, 2)}),
        PutOp(("a",), "k", {"v": float("nan")}),
        PutOp(("a",), "k", cast("Any", {1: "x"})),
        PutOp(("a",), "k", cast("Any", ["no mapping"])),
        PutOp(("line\nend",), "k", {}),
        "no operation",
    ],
)
def test_one_bad_operation_makes_the_whole_batch_none(store, bad):
    with pytest.raises((ValueError, TypeError)):
        store.batch([PutOp(USER, "good", {"v": 1}), bad])
    assert store.get(USER, "good") is None
    assert store.list_namespaces() == []


def test_a_refused_value_names_its_key(store):
    with pytest.raises(ValueError, match=r"\['when'\]\['at'\]"):
        store.put(USER, "k", {"when": {"at": object()}})


@pytest.mark.parametrize("namespace", [(), ("langgraph",), ("langgraph", "x"), ("a.b",), ("",)])
def test_a_put_refuses_namespaces_as_the_contract_says(store, namespace):
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"v": 1})
    with pytest.raises(InvalidNamespaceError):
        asyncio.run(store.aput(namespace, "k", {"v": 1}))


def test_no_item_expires(store):
    assert store.supports_ttl is False
    with pytest.raises(NotImplementedError):
        store.put(USER, "k", {"v": 1}, ttl=5)
    with pytest.raises(NotImplementedError):
        store.batch([PutOp(USER, "k", {"v": 1}, ttl=5)])
    store.put(USER, "k", {"v": 1}, ttl=None)
    assert store.get(USER, "k", refresh_ttl=True).value == {"v": 1}


def test_filters(store):
    for key, value in {
        "a": {"n": 1, "s": "x", "d": {"e": 1, "f": 2}, "l": [1, 2]},
        "b": {"n": 2, "s": "y", "d": {"e": 2}, "l": [1]},
        "c": {"n": 3.0, "s": "x", "a.b": 1},
    }.items():
        store.put(USER, key, value)

    def found(condition, query=None):
        return sorted(keys(store.search(USER, filter=condition, query=query)))

    for condition, expected in [
        ({"s": "x"}, ["a", "c"]),
        ({"s": {"$eq": "x"}, "n": 3}, ["c"]),
        ({"s": {"$ne": "x"}}, ["b"]),
        ({"n": {"$gt": 1, "$lt": 3}}, ["b"]),
        ({"n": {"$gte": 2}}, ["b", "c"]),
        ({"n": {"$lte": 1}}, ["a"]),
        ({"d": {"e": 1}}, ["a"]),
        ({"d": {"e": {"$gte": 1}}}, ["a", "b"]),
        ({"l": [1, 2]}, ["a"]),
        ({"l": [1, {"$gt": 1}]}, ["a"]),
        ({"a.b": 1}, ["c"]),
        ({"d": None}, ["c"]),
        ({"missing": {"$gte": 1}}, []),
        ({"s": "z"}, []),
        ({}, ["a", "b", "c"]),
    ]:
        assert found(condition) == expected, condition
        assert found(condition, query="s") == expected, condition


def test_a_filter_looks_at_the_present_value_only(store):
    store.put(USER, "task", {"state": "open", "text": "water the plants"})
    store.put(USER, "task", {"state": "closed", "text": "water the plants"})
    assert store.search(USER, filter={"state": "open"}) == []
    assert store.search(USER, filter={"state": "open"}, query="plants") == []
    assert keys(store.search(USER, filter={"state": "closed"}, query="plants")) == ["task"]


def test_pages_of_a_search_are_the_whole(store):
    store.batch([PutOp(USER, f"k{n}", {"text": f"note {n}", "n": n}) for n in range(25)])
    for query in (None, "note"):
        whole = store.search(USER, query=query, limit=100)
        pages = [store.search(USER, query=query, limit=7, offset=o) for o in range(0, 28, 7)]
        assert [len(page) for page in pages] == [7, 7, 7, 4]
        assert [item.key for page in pages for item in page] == keys(whole)
    assert store.search(USER, limit=0) == []
    assert store.search(USER, offset=30) == []


def test_a_query_ranks_and_a_listing_does_not(store):
    store.put(USER, "a", {"text": "The ledger runs on SQLite."})
    store.put(USER, "b", {"text": "Ada likes green tea."})
    (best,) = store.search(USER, query="which database holds the ledger")
    assert best.key == "a"
    assert best.score > 0
    assert [item.score for item in store.search(USER)] == [None, None]
    assert keys(store.search(USER)) == ["b", "a"]


@pytest.mark.parametrize("query", ['"', "AND OR NOT", "a*", "col:x", "%", "(", "' --", "\x00"])
def test_a_query_is_text(store, query):
    store.put(USER, "a", {"text": "plain"})
    store.search(USER, query=query)


def test_what_is_indexed_can_be_chosen(store):
    store.put(USER, "whole", {"title": "alpha", "body": {"text": "beta"}})
    store.put(USER, "part", {"title": "alpha", "body": {"text": "beta"}}, index=["body.text"])
    store.put(USER, "none", {"title": "alpha", "body": {"text": "beta"}}, index=False)
    store.put(USER, "list", {"parts": [{"t": "gamma"}, {"t": "delta"}]}, index=["parts[*].t"])
    assert keys(store.search(USER, query="alpha")) == ["whole"]
    assert sorted(keys(store.search(USER, query="beta"))) == ["part", "whole"]
    assert keys(store.search(USER, query="delta")) == ["list"]
    assert len(store.search(USER)) == 4


@pytest.mark.parametrize("index", [[], ["title"], False])
def test_what_is_left_out_of_the_index_is_not_found(store, index):
    store.put(USER, "k", {"secret": "zebra"}, index=index)
    assert store.search(USER, query="zebra") == []
    assert store.search(USER, query="secret") == []
    assert keys(store.search(USER)) == ["k"]


def test_questions_that_reach_too_far_have_no_answer(store):
    store.put(USER, "k", {"text": "note"})
    assert store.search(USER, query="note", offset=20_000) == []
    assert store.search(USER, query="note", offset=10_050, limit=100) == []
    assert store.list_namespaces(max_depth=30) == [USER]
    assert store.list_namespaces(prefix=("*",) * 17) == []
    assert keys(store.search(USER, filter={"text": {"$eq": "note"}})) == ["k"]
    store.put(USER, "l", {"list": [1, 2]})
    assert keys(store.search(USER, filter={"list": (1, 2)})) == ["l"]


def test_images_inside_a_value_are_no_text(store):
    url = "data:image/png;base64," + "iVBORw0KGgo=" * 300
    value = {"content": [{"type": "text", "text": "see picture"}, {"image_url": {"url": url}}]}
    store.put(USER, "m", value)
    assert store.get(USER, "m").value == value
    assert store.search(USER, query="iVBORw0KGgo") == []
    assert keys(store.search(USER, query="picture")) == ["m"]


def test_a_text_is_no_namespace_and_no_list_of_fields(memory, store):
    text: Any = "users"
    for call in (
        lambda: store.put(text, "k", {"v": 1}),
        lambda: store.get(text, "k"),
        lambda: store.search(text),
        lambda: EvoMemStore(memory, fields=text),
    ):
        with pytest.raises(ValueError, match="users"):
            call()
    assert store.list_namespaces() == []


def test_the_store_may_say_what_is_indexed(memory):
    store = EvoMemStore(memory, fields=["title"])
    store.put(USER, "a", {"title": "alpha", "body": "beta"})
    store.put(USER, "b", {"title": "alpha", "body": "beta"}, index=["body"])
    assert keys(store.search(USER, query="alpha")) == ["a"]
    assert keys(store.search(USER, query="beta")) == ["b"]


@pytest.mark.promise("namespace.wall")
def test_a_prefix_means_labels(store):
    for namespace in [("tenant", "acme"), ("tenant", "acme-corp"), ("tenant", "acme", "deep")]:
        store.put(namespace, "k", {"text": f"secret of {'/'.join(namespace)}"})
    for query in (None, "secret"):
        found = store.search(("tenant", "acme"), query=query)
        assert {item.namespace for item in found} == {
            ("tenant", "acme"),
            ("tenant", "acme", "deep"),
        }
        assert len(store.search((), query=query)) == 3
    assert store.get(("tenant",), "k") is None


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("label", ["%", "_", "john_doe", "*", "a/b", "\\", "'", "ü"])
def test_no_label_is_a_wildcard(store, label):
    store.put(("users", "john-doe"), "k", {"text": "foreign"})
    assert store.search(("users", label), query="foreign") == []
    assert store.search(("users", label)) == []
    store.put(("users", label), "k", {"text": "own"})
    assert [item.value["text"] for item in store.search(("users", label))] == ["own"]
    assert store.get(("users", label), "k").namespace == ("users", label)


@pytest.mark.promise("namespace.wall")
def test_the_store_shows_nothing_outside_of_its_memory(memory):
    outer, inner = EvoMemStore(memory), EvoMemStore(memory.within("inner"))
    outer.put(("beside",), "k", {"text": "secret"})
    inner.put(("a",), "k", {"text": "mine"})
    assert keys(inner.search((), query="secret")) == []
    assert inner.list_namespaces() == [("a",)]
    assert inner.get(("beside",), "k") is None
    assert outer.list_namespaces() == [("beside",), ("inner", "a")]


def test_namespaces_are_listed(store):
    spaces = [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "b", "f"),
        ("a", "c", "f"),
    ]
    store.batch([PutOp(space, "k", {"v": 1}) for space in spaces])
    assert store.list_namespaces() == spaces
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("a", "b", "f"),
    ]
    assert store.list_namespaces(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
    assert store.list_namespaces(prefix=("a", "*"), suffix=("*", "f"))[0] == ("a", "b", "f")
    assert store.list_namespaces(prefix=("*", "c")) == [("a", "c", "f")]
    assert store.list_namespaces(limit=2, offset=1) == spaces[1:3]
    assert store.list_namespaces(prefix=("b",)) == []


def test_several_conditions_hold_together(store):
    store.batch([PutOp(space, "k", {"v": 1}) for space in [("a", "b"), ("a", "c"), ("b", "c")]])

    def listed(*conditions):
        return store.batch([ListNamespacesOp(tuple(MatchCondition(*c) for c in conditions))])[0]

    assert listed(("prefix", ("a", "*")), ("prefix", ("*", "c"))) == [("a", "c")]
    assert listed(("prefix", ("a",)), ("prefix", ("b",))) == []
    assert listed(("suffix", ("c",)), ("suffix", ("b", "*"))) == [("b", "c")]
    with pytest.raises(ValueError, match="middle"):
        listed(("middle", ("a",)))


def test_an_emptied_namespace_is_not_listed(store):
    store.put(("a",), "k", {"v": 1})
    store.delete(("a",), "k")
    assert store.list_namespaces() == []


@pytest.mark.parametrize(
    "key",
    [
        "",
        " ",
        " padded ",
        '"quoted"',
        "ключ",
        "鍵",
        "🔑",
        "a\x00b",
        "a\nb",
        "\ud800",
        "%",
        "*",
        "a/b",
        "x" * 900,
    ],
    ids=ascii,
)
def test_any_text_is_a_key(store, key):
    store.put(USER, key, {"v": key.isprintable()})
    store.put(USER, "other", {"v": 1})
    assert store.get(USER, key).key == key
    assert sorted(keys(store.search(USER))) == sorted([key, "other"])
    store.delete(USER, key)
    assert keys(store.search(USER)) == ["other"]


def test_keys_that_look_alike_are_different(store):
    for key in ("k", "K", " k", "k ", '"k"', '" k"'):
        store.put(USER, key, {"own": key})
    assert {item.key: item.value["own"] for item in store.search(USER)} == {
        key: key for key in ("k", "K", " k", "k ", '"k"', '" k"')
    }


def test_two_thousand_items(store):
    store.batch([PutOp(USER, f"k{n:04}", {"text": f"note {n}", "n": n}) for n in range(2000)])
    assert len(store.search(USER, limit=5000)) == 2000
    assert len(store.search(USER, limit=5000, filter={"n": {"$gte": 1500}})) == 500
    assert keys(store.search(USER, query="1234", limit=1)) == ["k1234"]
    assert len(store.search(USER, query="note", limit=150)) == 150


def test_the_async_twins_do_the_same(store):
    async def play():
        await store.aput(USER, "a", {"text": "alpha"})
        await store.aput(USER, "b", {"text": "beta"})
        await store.adelete(USER, "b")
        return (
            await store.aget(USER, "a"),
            await store.aget(USER, "b"),
            await store.asearch(("users",), query="alpha"),
            await store.alist_namespaces(prefix=("users",)),
        )

    got, gone, found, spaces = asyncio.run(play())
    assert (got.value, gone, keys(found), spaces) == ({"text": "alpha"}, None, ["a"], [USER])
    # A second loop finds the same store usable.
    assert asyncio.run(store.aget(USER, "a")).value == {"text": "alpha"}


async def test_every_sync_call_returns_inside_a_running_loop(store):
    store.put(USER, "a", {"text": "alpha"})
    assert store.get(USER, "a").value == {"text": "alpha"}
    assert keys(store.search(USER, query="alpha")) == ["a"]
    assert store.list_namespaces() == [USER]
    store.delete(USER, "a")
    assert store.batch([GetOp(USER, "a")]) == [None]
