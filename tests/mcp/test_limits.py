import json

import pytest

import evomem

pytestmark = pytest.mark.anyio


def size(result):
    return len(json.dumps(result.structured_content, ensure_ascii=False)) + sum(
        len(block.text) for block in result.content
    )


def body(number, n_chars, word="common"):
    return f"Note {number} has the {word} word. " + f"filler{number} " * (n_chars // 9)


async def test_a_reply_stays_within_the_budget(memory, connect, says):
    """SIZ-001: whole answers only, with a count of what was left out and how to get it."""
    memory.remember_many([body(number, 8 << 10) for number in range(300)])
    given = {"query": "common", "k": 100, "include_history": True, "history_depth": 50}
    async with connect() as client:
        result = await client.call_tool("recall", given)
        assert not result.is_error
        assert size(result) <= 60_000
        hits = result.structured_content["hits"]
        (warning,) = result.structured_content["warnings"]
        assert 10 < len(hits) < 100
        assert f"{100 - len(hits)} of the nodes" in warning
        assert "get_node(id)" in warning
        assert warning in says(result)
        first = hits[0]["node"]
        assert first["text"].endswith(f"more characters, get_node('{first['id']}')]")
        whole = await client.call_tool("get_node", {"node_id": first["id"]})
    assert len(whole.structured_content["text"]) > 8_000


async def test_texts_are_cut_no_shorter_than_needed(memory, connect):
    memory.remember_many([body(number, 8 << 10) for number in range(5)])
    async with connect() as client:
        result = await client.call_tool("recall", {"query": "common"})
    hits = result.structured_content["hits"]
    assert len(hits) == 5
    assert all("[cut: " in hit["node"]["text"] for hit in hits)
    assert 30_000 < size(result) <= 60_000


async def test_small_answers_are_not_touched(memory, connect):
    node = memory.remember(body(1, 4 << 10)).node
    async with connect() as client:
        result = await client.call_tool("recall", {"query": "common"})
    assert result.structured_content["hits"][0]["node"]["text"] == node.text


async def test_a_long_story_is_cut_at_its_old_end(memory, connect, says):
    node = memory.remember(body(0, 2_000))
    first = node.node.id
    for number in range(1, 120):
        node = memory.remember(body(number, 2_000), supersedes=node.node.id)
    async with connect() as client:
        story = await client.call_tool("history", {"node_id": first})
        found = await client.call_tool(
            "recall", {"query": "common", "include_history": True, "history_depth": 100}
        )
    assert size(story) <= 60_000
    nodes = story.structured_content["nodes"]
    (warning,) = story.structured_content["warnings"]
    assert nodes[0]["id"] == node.node.id
    assert f"{120 - len(nodes)} of the nodes" in warning
    assert warning in says(story)
    assert size(found) <= 60_000
    (hit,) = found.structured_content["hits"]
    assert hit["node"]["id"] == node.node.id
    assert 10 < len(hit["history"]) < 100
    (warning,) = found.structured_content["warnings"]
    assert f"{100 - len(hit['history'])} earlier versions" in warning


async def test_a_node_is_returned_whole_up_to_1_mib(connect, says):
    text = "x" * (1 << 20)
    async with connect() as client:
        kept = await client.call_tool("remember", {"raw_text": text})
        assert size(kept) <= 60_000
        node_id = kept.structured_content["node"]["id"]
        assert "[cut: " in kept.structured_content["node"]["text"]
        whole = await client.call_tool("get_node", {"node_id": node_id})
    assert whole.structured_content["text"] == text
    assert text in says(whole)


async def test_long_candidates_and_metadata_are_cut_too(db, connect):
    long = "Decision: the ledger database is {}. " + "More about it follows. " * 4_000
    metadata = {"log": "x" * 200_000}
    tags = [f"{number} " + "y" * 900 for number in range(500)]
    with evomem.open(db, linking="suggest") as memory:
        async with connect(memory) as client:
            old = await client.call_tool("remember", {"raw_text": long.format("Postgres")})
            given = {"raw_text": long.format("SQLite"), "metadata": metadata, "tags": tags}
            new = await client.call_tool("remember", given)
            found = await client.call_tool("recall", {"query": "ledger"})
            ids = [result.structured_content["node"]["id"] for result in (old, new)]
            linked = await client.call_tool("link", {"node_id": ids[1], "supersedes": ids[0]})
            whole = await client.call_tool("get_node", {"node_id": ids[1]})
    for result in (old, new, found, linked):
        assert not result.is_error
        assert size(result) <= 60_000
    assert whole.structured_content["metadata"] == metadata
    assert len(whole.structured_content["tags"]) == 500


async def test_the_budget_can_be_chosen(memory, connect):
    memory.remember_many([body(number, 1_000) for number in range(20)])
    async with connect(max_chars=5_000) as client:
        result = await client.call_tool("recall", {"query": "common", "k": 20})
    assert size(result) <= 5_000
    assert result.structured_content["hits"]


async def test_cut_spans_stay_verbatim(memory, connect):
    start = "We moved the ledger to SQLite because Postgres cost too much. "
    memory.remember(start + "word " * 20_000 + "As a result, deploys are simpler.")
    async with connect(max_chars=8_000) as client:
        result = await client.call_tool("recall", {"query": "ledger"})
    node = result.structured_content["hits"][0]["node"]
    for name in ("trigger", "change", "alternatives_tried", "consequences"):
        for span in node[name]:
            assert node["text"][span["start"] : span["end"]] == span["text"]


async def test_very_large_requests_and_replies_leave_the_server_alive(memory, connect, refused):
    """SIZ-103: a limited reply, a clear error for the oversized note, and an answer after it."""
    memory.remember_many([f"w {number} " + "filler " * 500 for number in range(500)])
    async with connect() as client:
        refused(await client.call_tool("recall", {"query": "w", "k": 5000}), "INVALID_REQUEST")
        result = await client.call_tool("recall", {"query": "w", "k": 100})
        assert size(result) <= 60_000
        result = await client.call_tool("remember", {"raw_text": "x " * 10_000_000})
        refused(result, "TOO_LARGE")
        assert not (await client.call_tool("stats", {})).is_error
