import json

import pytest

from evomem_mcp.stdin import repair

pytestmark = pytest.mark.anyio


async def test_lists_and_objects_may_arrive_as_text(connect):
    """ARG-001: JSON text, one text for a list, numbers and flags as words."""
    async with connect() as client:

        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            return result.structured_content

        t1 = (await call("remember", raw_text="t1", tags='["a","b"]'))["node"]
        assert t1["tags"] == ["a", "b"]
        t2 = (await call("remember", raw_text="t2", tags="a"))["node"]
        assert t2["tags"] == ["a"]
        relations = json.dumps({"caused_by": [t1["id"]]})
        t3 = (await call("remember", raw_text="t3", relations=relations))["node"]
        assert t3["relations"] == {"caused_by": [t1["id"]]}
        t4 = await call("remember", raw_text="t4", supersedes=json.dumps([t1["id"], t2["id"]]))
        assert t4["superseded"] == [t1["id"], t2["id"]]
        t5 = await call(
            "remember",
            raw_text="t5",
            supersedes=t4["node"]["id"],
            expected_version="2",
            metadata='{"a": {"b": 1}}',
            relations={"depends_on": t3["id"]},
        )
        assert t5["node"]["version"] == 3
        assert t5["node"]["metadata"] == {"a": {"b": 1}}
        assert t5["node"]["relations"] == {"depends_on": [t3["id"]]}
        found = await call("recall", query="t5", k="3", include_history="true", history_depth=1.0)
        assert len(found["hits"][0]["history"]) == 1
        found = await call("recall", query="t5", k=3.0, include_history="False")
        assert found["hits"][0]["history"] == []
        found = await call("recall", query="", filter='{"a": {"b": 1}}')
        assert len(found["hits"]) == 1
        part = {"id": t3["id"], "part": "t3"}
        for amends in [part, [part], json.dumps(part), json.dumps([part])]:
            answer = await call("remember", raw_text=f"t6 {type(amends)}", amends=amends)
            assert answer["node"]["relations"] == {"amends": [t3["id"]]}
        assert (await call("forget", node_id=t3["id"], purge="false"))["purged"] is False


async def test_null_and_blank_equal_leaving_out(connect):
    from evomem_mcp.note_parameters import RECALL, REMEMBER

    async with connect() as client:
        for nothing in (None, ""):
            given = {p.name: nothing for p in REMEMBER} | {"raw_text": f"Note {nothing}."}
            kept = await client.call_tool("remember", given)
            assert not kept.is_error, kept.content
            assert kept.structured_content["warnings"] == []
            given = {p.name: nothing for p in RECALL} | {"query": "note"}
            found = await client.call_tool("recall", given)
            assert not found.is_error, found.content
        assert len(found.structured_content["hits"]) == 2


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"raw_text": "b", "supersede": ["x"]}, "supersedes"),
        ({"raw_text": "b", "supercedes": ["x"]}, "supersedes"),
        ({"raw_text": "b", "Supersedes": ["x"]}, "supersedes"),
        ({"raw_text": "b", "replaces": "x"}, "supersedes"),
        ({"text": "b"}, "raw_text"),
        ({"content": "b"}, "raw_text"),
        ({"rawText": "b"}, "raw_text"),
        ({"raw_text": "b", "tag": "x"}, "tags"),
        ({"raw_text": "b", "session_id": "x"}, "session"),
        ({"raw_text": "b", "idempotencyKey": "x"}, "idempotency_key"),
        ({"raw_text": "b", "relation": {}}, "relations"),
    ],
)
async def test_a_near_miss_is_refused_and_nothing_is_written(
    memory, connect, refused, given, meant
):
    async with connect() as client:
        error = refused(await client.call_tool("remember", given), "INVALID_REQUEST")
    assert repr(meant) in error["message"]
    assert error["details"]["did_you_mean"] == meant
    assert memory.version() == 0


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("recall", {"question": "x"}, "query"),
        ("recall", {"query": "x", "limit": 3}, "k"),
        ("recall", {"query": "x", "filters": {}}, "filter"),
        ("get_node", {"id": "x"}, "node_id"),
        ("history", {"nodeid": "x"}, "node_id"),
        ("link", {"node_id": "x", "supersede": "y"}, "supersedes"),
        ("forget", {"node_id": "x", "purged": True}, "purge"),
    ],
)
async def test_every_tool_names_the_argument_that_was_meant(connect, refused, tool, given, meant):
    async with connect() as client:
        error = refused(await client.call_tool(tool, given), "INVALID_REQUEST")
    assert error["details"]["did_you_mean"] == meant


async def test_other_unknown_arguments_are_ignored_and_named(connect, says):
    foreign = {"sessionId": "1", "action": "x", "chatInput": "y", "toolCallId": "z"}
    async with connect() as client:
        kept = await client.call_tool("remember", {"raw_text": "A note.", "zzz": 1} | foreign)
        many = {f"{number}zzz": None for number in range(30)}
        counted = await client.call_tool("stats", many | {"q" * 10_000: 1})
    assert kept.structured_content["node"]["text"] == "A note."
    assert len(kept.structured_content["warnings"]) == 5
    assert "'zzz' was ignored" in says(kept)
    assert "'sessionId' was ignored" in says(kept)
    assert len(counted.structured_content["warnings"]) == 11
    assert "21 more unknown arguments" in says(counted)
    assert len(says(counted)) < 1500


async def test_a_synonym_beside_the_real_one_is_only_ignored(connect):
    async with connect() as client:
        kept = await client.call_tool("remember", {"raw_text": "A note.", "message": "hello"})
    assert kept.structured_content["warnings"] == ["Unknown argument 'message' was ignored."]


@pytest.mark.parametrize(
    ("tool", "given", "field"),
    [
        ("remember", {}, "raw_text"),
        ("remember", {"raw_text": None}, "raw_text"),
        ("remember", {"raw_text": " \n"}, "raw_text"),
        ("remember", {"raw_text": 7}, "raw_text"),
        ("remember", {"raw_text": ["a"]}, "raw_text"),
        ("remember", {"raw_text": "a", "tags": 7}, "tags"),
        ("remember", {"raw_text": "a", "tags": [7]}, "tags"),
        ("remember", {"raw_text": "a", "tags": {"a": 1}}, "tags"),
        ("remember", {"raw_text": "a", "relations": "caused"}, "relations"),
        ("remember", {"raw_text": "a", "relations": ["x"]}, "relations"),
        ("remember", {"raw_text": "a", "relations": {"caused_by": 7}}, "relations.caused_by"),
        ("remember", {"raw_text": "a", "amends": "x"}, "amends"),
        ("remember", {"raw_text": "a", "amends": [{"id": "x"}]}, "amends"),
        ("remember", {"raw_text": "a", "expected_version": "two"}, "expected_version"),
        ("remember", {"raw_text": "a", "expected_version": 1.5}, "expected_version"),
        ("remember", {"raw_text": "a", "expected_version": True}, "expected_version"),
        ("remember", {"raw_text": "a", "valid_from": "soon"}, "valid_from"),
        ("remember", {"raw_text": "a", "valid_from": True}, "valid_from"),
        ("remember", {"raw_text": "a", "metadata": "[1]"}, "metadata"),
        ("recall", {"query": ["x"]}, "query"),
        ("recall", {"query": "x", "k": "many"}, "k"),
        ("recall", {"query": "x", "k": 0}, "k"),
        ("recall", {"query": "x", "history_depth": 101}, "history_depth"),
        ("recall", {"query": "x", "include_history": "perhaps"}, "include_history"),
        ("recall", {"query": "x", "include_history": 2}, "include_history"),
        ("recall", {"query": "x", "include_history": []}, "include_history"),
        ("get_node", {"node_id": 7}, "node_id"),
        ("link", {"node_id": "x"}, "supersedes"),
        ("link", {"node_id": "x", "supersedes": []}, "supersedes"),
        ("forget", {"node_id": ""}, "node_id"),
    ],
)
async def test_a_wrong_argument_is_refused_by_its_name(
    memory, connect, refused, tool, given, field
):
    async with connect() as client:
        error = refused(await client.call_tool(tool, given), "INVALID_REQUEST")
    assert error["details"]["field"] == field
    assert field in error["message"]
    assert memory.version() == 0


async def test_a_message_never_repeats_a_long_value(connect, refused):
    async with connect() as client:
        result = await client.call_tool("recall", {"query": "x", "k": "9" * 100_000})
    assert len(refused(result, "INVALID_REQUEST")["message"]) < 200


@pytest.mark.parametrize(
    ("line", "repaired"),
    [
        (rb'{"a": "plain \\u00e9 \n"}', None),
        (rb'{"a": "\ud83d\ude00"}', None),
        (rb'{"a": "\uD83D\uDE00\ud83d\ude00"}', None),
        (rb'{"a": "\\ud83d"}', None),
        (rb'{"a": "\ud83d"}', rb'{"a": "\ufffd"}'),
        (rb'{"a": "\ude00\ud83d x"}', rb'{"a": "\ufffd\ufffd x"}'),
        (rb'{"a": "\\\ud83d\ud83d\ude00"}', rb'{"a": "\\\ufffd\ud83d\ude00"}'),
    ],
)
def test_half_an_emoji_is_replaced_and_nothing_else(line, repaired):
    assert repair(line) == (repaired or line)
    json.loads(repair(line)).get("a").encode()
