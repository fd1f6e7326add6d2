"""Hostile arguments: each has a refusal that says what to do, and nothing is written."""

import math

import pytest

import evomem
from evomem import (
    EngineError,
    InvalidQueryError,
    InvalidRequestError,
    NotFoundError,
    ReadOnlyError,
    TooLargeError,
)

MIB = 1 << 20


@pytest.fixture
def memory(open_memory):
    return open_memory(":memory:")


@pytest.fixture
def known(memory):
    return memory.remember("Ledger on Postgres with nightly dumps").node.id


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize(
    ("options", "match"),
    [
        *[({"text": x}, "text") for x in ("", " \n\t\u3000", None, 5, b"bytes", ["a"], ("a",))],
        *[({"tags": tags}, "tags") for tags in (5, {"a": 1}, [1], [["a"]], b"ab")],
        *[({name: 5}, name) for name in ("session", "subject", "slot", "scope", "actor", "source")],
        *[({name: ["a"]}, name) for name in ("session", "slot", "scope", "idempotency_key")],
        *[({"supersedes": ids}, "supersedes") for ids in (5, [5], {"id": "n"}, [["n"]])],
        *[({"refines": ids}, "refines") for ids in (5, [["n"]])],
        *[
            ({"relations": kinds}, "relation")
            for kinds in ("n", ["n"], {"Bad Kind": "n"}, {5: "n"})
        ],
        ({"relations": {"caused_by": 5}}, "relations"),
        ({"relations": {"supersedes": "n"}}, "supersedes=\\[...\\]"),
        *[({"amends": value}, "amends") for value in (5, "n", ["n"], {"id": "n"}, b"n")],
        ({"amends": {"id": "n", "part": "p", "more": 1}}, "amends"),
        ({"amends": {"id": 5, "part": "p"}}, "amends"),
        ({"amends": {"id": "n", "part": ""}}, "amends"),
        *[
            ({"expected_version": n, "supersedes": "n"}, "expected_version")
            for n in (0, -1, True, "1", 1.0, math.nan)
        ],
        ({"expected_version": 1}, "needs supersedes, refines or slot"),
        ({"overrides": "n"}, "needs a scope"),
        ({"supersedes": "n", "refines": "n"}, "two roles"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "not after"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-02-01"}, "not after"),
        ({"valid_to": "2020-01-01"}, "must lie after"),
    ],
    ids=ascii,
)
def test_an_argument_of_remember_that_cannot_be_meant_is_refused(memory, refused, options, match):
    with refused(memory, InvalidRequestError, match):
        memory.remember(**{"text": "a note", **options})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *[("supersede", "supersedes"), ("supercedes", "supersedes"), ("tag", "tags")],
        *[("Scope", "scope"), ("meta_data", "metadata"), ("refine", "refines")],
        *[("overides", "overrides"), ("idempotencykey", "idempotency_key")],
    ],
)
def test_a_misspelt_argument_is_refused_by_its_right_name(memory, refused, known, name, meant):
    with refused(memory, InvalidRequestError, f"{name}.*did you mean '{meant}'") as caught:
        memory.remember("new", **{name: known})
    assert caught.value.details["did_you_mean"] == meant
    with refused(memory, InvalidRequestError, meant):
        memory.remember_many(["first", {"text": "new", name: known}])


def test_any_other_unknown_argument_is_refused_too(memory, refused):
    with refused(memory, InvalidRequestError, "Unknown argument 'thread_id'.*Known: text"):
        memory.remember("new", thread_id=1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"text": "a" * (MIB + 1)}, f"{MIB + 1} bytes.*Split it"),
        ({"text": "\u00e9" * (MIB // 2) + "a"}, f"{MIB + 1} bytes"),
        ({"tags": [f"t{i}" for i in range(10_000)]}, "10000 entries"),
        ({"tags": "t" * 1001}, "1001 characters"),
        ({"supersedes": [f"n{i}" for i in range(10_000)]}, "10000 entries"),
        ({"slot": "s" * 1001}, "slot has 1001 characters"),
        ({"idempotency_key": "s" * 1001}, "idempotency_key has 1001"),
        ({"metadata": {"a": "x" * MIB}}, "metadata has .* bytes"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_what_is_too_large_is_refused_with_its_bound(memory, refused, options, match):
    with refused(memory, TooLargeError, match):
        memory.remember(**{"text": "a note", **options})


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize(
    "text",
    ["a" * MIB, "word " * (MIB // 5), "\u00e9" * (MIB // 2)],
    ids=["one word", "words", "two bytes"],
)
def test_a_text_of_just_the_limit_is_kept(memory, text):
    node_id = memory.remember(text).node.id
    assert memory.get_node(node_id).text == text


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        *[({"k": value}, "k") for value in (math.nan, math.inf, b"b", {1}, object(), (1, 2))],
        *[({"k": {1: "x"}}, "k"), ({"k": [math.nan]}, "k")],
        pytest.param({"k": 10**5000}, "k", id="huge"),
        *[({1: "x"}, "1"), ({None: "x"}, "None"), ({"a\0": 1}, "a"), ({"a\ud83d": 1}, "a")],
    ],
    ids=lambda value: ascii(value).split(" at ")[0][:40],
)
def test_metadata_that_json_cannot_carry_is_refused_by_key(memory, refused, metadata, key):
    with refused(memory, InvalidRequestError, f"metadata.*{key}") as caught:
        memory.remember("a note", metadata={"fine": 1, **metadata})
    assert key in caught.value.details["key"]
    with refused(memory, InvalidRequestError, f"filter.*{key}"):
        memory.recall("a note", filter=metadata)


@pytest.mark.parametrize("metadata", [[], "text", 5, [("a", 1)]], ids=ascii)
def test_metadata_that_is_no_object_is_refused(memory, refused, metadata):
    with refused(memory, InvalidRequestError, "metadata=.* is not an object"):
        memory.remember("a note", metadata=metadata)


def test_metadata_in_a_ring_or_too_deep_is_refused(memory, refused):
    ring: list[object] = []
    ring.append(ring)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (ring, deep):
        with refused(memory, InvalidRequestError, "metadata.*k"):
            memory.remember("a note", metadata={"k": value})


def test_metadata_that_json_can_carry_comes_back_equal(memory):
    metadata = {
        "": "empty",
        "a b": [1, 2.5, None, True],
        "\u00e9": {"x": {"y": []}},
        "big": 2**70,
        "tiny": 5e-324,
        "'\"\\": "\u2028\U0001f680",
        "zero": -0.0,
    }
    node = memory.remember("a note", metadata=metadata).node
    assert memory.get_node(node.id).metadata == metadata


@pytest.mark.promise("query.text")
@pytest.mark.parametrize("query", [None, b"bytes", 5, ["a"], {"query": "a"}, math.nan], ids=ascii)
def test_a_query_that_is_no_text_is_refused(memory, refused, query):
    with refused(memory, InvalidQueryError, "query=.* is not a text"):
        memory.recall(query)


@pytest.mark.promise("query.text")
def test_a_huge_query_is_answered_up_to_its_bound(memory, refused, known, found):
    words = "ledger " + " ".join(f"word{i:06d}" for i in range(10_000))
    result = memory.recall(words)
    assert [hit.node.id for hit in result.hits] == [known]
    assert "characters: the first 10000 were used" in result.warnings[0]
    assert "terms: the first 512 were used" in result.warnings[1]
    assert found(memory, "ledger ".ljust(MIB, "x")) == [known]
    with refused(memory, TooLargeError, f"{MIB + 1} characters"):
        memory.recall("ledger ".ljust(MIB + 1, "x"))


@pytest.mark.parametrize("k", [0, -1, 101, True, "5", 5.0, None, math.nan, [5]], ids=ascii)
def test_k_is_a_whole_number_from_1_to_100(memory, refused, k):
    with refused(memory, InvalidRequestError, "k=.* must be a whole number from 1 to 100"):
        memory.recall("ledger", k=k)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        *[({"history_depth": n}, "from 0 to 100") for n in (-1, 101, True, "5")],
        *[({"tags": 5}, "tags"), ({"session": 5}, "session"), ({"scope": ["eu"]}, "scope")],
        *[({"filter": "a=1"}, "filter"), ({"filter": ["a"]}, "filter"), ({"K": 5}, "Unknown")],
        *[({"include_history": "false"}, "include_history")],
        *[({"include_children": "no"}, "include_children")],
    ],
    ids=ascii,
)
def test_an_option_of_recall_that_cannot_be_meant_is_refused(memory, refused, options, match):
    with refused(memory, InvalidRequestError, match):
        memory.recall("ledger", **options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        *[({"limit": n}, "from 1 to 1000") for n in (0, 1001, True, "5")],
        *[({"status": s}, "none of active") for s in ("", "ACTIVE", None, 5, ["active"])],
        *[({"cursor": "nowhere"}, "cursor"), ({"cursor": 5}, "cursor"), ({"tag": "x"}, "tags")],
    ],
    ids=ascii,
)
def test_an_option_of_list_that_cannot_be_meant_is_refused(memory, refused, options, match):
    with refused(memory, InvalidRequestError, match):
        memory.list(**options)


@pytest.mark.parametrize("wrong", [None, "", " ", 5, b"n", [5], math.nan], ids=ascii)
def test_an_id_that_is_no_text_is_refused_everywhere(memory, refused, known, wrong):
    for call in (
        lambda: memory.get_node(wrong),
        lambda: memory.history(wrong),
        lambda: memory.forget(wrong),
        lambda: memory.unlink(known, wrong),
        lambda: memory.unlink(wrong, known),
        lambda: memory.link(wrong, supersedes=known),
        lambda: memory.link(known, supersedes=wrong),
    ):
        with refused(memory, InvalidRequestError, "id|supersedes"):
            call()


@pytest.mark.parametrize(
    "wrong", ["\ud83dabcdefg", "abcdefg\0", "x" * MIB], ids=["surrogate", "nul", "long"]
)
def test_a_text_that_cannot_be_an_id_is_refused_everywhere(memory, refused, known, wrong):
    for call in (
        lambda: memory.get_node(wrong),
        lambda: memory.history(wrong),
        lambda: memory.forget(wrong),
        lambda: memory.unlink(known, wrong),
        lambda: memory.link(known, supersedes=[wrong[:999]]),
    ):
        with refused(memory, InvalidRequestError, "is no id"):
            call()


@pytest.mark.parametrize("name", ["reason", "actor", "source"])
def test_who_and_why_are_texts(memory, refused, known, name):
    newer = memory.remember("newer").node.id
    for wrong in (["x"], object(), b"x", 5):
        with refused(memory, InvalidRequestError, name):
            memory.link(newer, supersedes=known, **{name: wrong})
        with refused(memory, InvalidRequestError, name):
            memory.forget(known, **{name: wrong})


@pytest.mark.parametrize("name", ["reason", "actor", "source"])
def test_who_and_why_may_hold_damaged_characters(memory, known, name):
    newer = memory.remember("newer").node.id
    assert memory.link(newer, supersedes=known, **{name: "a\ud83d\0"}).superseded == (known,)
    assert memory.unlink(newer, known, **{name: "a\ud83d"}).restored == (known,)
    assert memory.forget(known, **{name: "a\ud83d"}).changed


@pytest.mark.parametrize("wrong", ["false", 1], ids=ascii)
def test_a_purge_is_asked_for_in_so_many_words(memory, refused, known, wrong):
    with refused(memory, InvalidRequestError, "purge"):
        memory.forget(known, purge=wrong)


@pytest.mark.parametrize(
    "notes",
    [
        None,
        5,
        "one text",
        {"text": "a"},
        ["fine", None],
        ["fine", 5],
        [["a"]],
        [{"text": "a", 5: 1}],
    ],
    ids=ascii,
)
@pytest.mark.promise("write.atomic")
def test_a_batch_that_is_no_list_of_notes_is_refused(memory, refused, notes):
    with refused(memory, InvalidRequestError, "."):
        memory.remember_many(notes)


@pytest.mark.promise("write.atomic")
def test_one_bad_note_refuses_the_whole_batch(memory, refused, known):
    for bad, error in (
        ({"text": ""}, InvalidRequestError),
        ({"text": "x", "supersedes": "nowhere"}, NotFoundError),
        ({"text": "a" * (MIB + 1)}, TooLargeError),
        ({"text": "x", "amends": {"id": known, "part": "weekly"}}, InvalidRequestError),
        ({"text": "x", "idempotency_key": "k"}, InvalidRequestError),
        ({}, InvalidRequestError),
    ):
        with refused(memory, error, "."):
            memory.remember_many(["good", {"text": "better", "supersedes": known}, bad, "last"])


def test_an_empty_batch_writes_nothing(memory):
    before = memory.stats()
    assert memory.remember_many([]) == []
    assert memory.remember_many([], idempotency_key="k") == []
    assert memory.stats() == before


@pytest.mark.parametrize(
    ("options", "match"),
    [
        *[({"linking": x}, "off, suggest, auto") for x in ("yes", None, True, ["auto"])],
        *[({"cronista": x}, "cronista") for x in ("none such", None, 5)],
        *[({"linker": x}, "linker") for x in ("none such", None, 5)],
        *[({"path": x}, "path") for x in (5, b"x.db", ["x.db"])],
        *[({"namespace": x}, "namespace") for x in ("", [], ["a\n"], ["x"] * 17, 5)],
        ({"path": "postgresql://user:secret@host/db"}, "is no path of a store"),
    ],
    ids=ascii,
)
def test_an_option_of_open_that_cannot_be_meant_is_refused(tmp_path, monkeypatch, options, match):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequestError, match=match) as caught:
        evomem.open(**{"path": ":memory:", **options})
    assert "secret" not in str(caught.value.to_dict())
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("path", [":memory:", "x.db"])
def test_a_closed_memory_says_so(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    memory = evomem.open(path, linking="off")
    node_id = memory.remember("note").node.id
    below = memory.within("below")
    below.close()
    assert memory.get_node(node_id).text == "note"
    memory.close()
    memory.close()
    for call in (
        lambda: memory.remember("other"),
        lambda: memory.remember_many(["other"]),
        lambda: memory.recall("note"),
        lambda: memory.recall(""),
        lambda: memory.get_node(node_id),
        lambda: memory.history(node_id),
        lambda: memory.list(),
        lambda: memory.forget(node_id),
        lambda: memory.link(node_id, supersedes=node_id),
        lambda: memory.review(),
        lambda: memory.stats(),
        lambda: below.recall("note"),
    ):
        with pytest.raises(EngineError, match=r"was closed\. Open it again"):
            call()


def test_a_read_only_memory_reads_and_refuses_every_write(open_memory, tmp_path, refused, found):
    written = open_memory(tmp_path / "x.db")
    old = written.remember("ledger on postgres").node.id
    new = written.remember("ledger on sqlite", supersedes=old).node.id
    other = written.remember("other").node.id
    memory = open_memory(tmp_path / "x.db", read_only=True)
    assert found(memory, "postgres") == [new]
    for call in (
        lambda: memory.remember("more"),
        lambda: memory.remember_many(["more"]),
        lambda: memory.remember("more", supersedes=new),
        lambda: memory.within("below").remember("more"),
        lambda: memory.link(other, supersedes=new),
        lambda: memory.unlink(new, old),
        lambda: memory.forget(new),
        lambda: memory.forget(new, purge=True),
    ):
        with refused(memory, ReadOnlyError, "opened read-only"):
            call()
    with pytest.raises(EngineError, match="no store"):
        evomem.open(tmp_path / "missing.db", read_only=True)
    assert not (tmp_path / "missing.db").exists()
