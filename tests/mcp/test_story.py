import sys

import pytest

import evomem
from mcp import Client, StdioServerParameters

pytestmark = [pytest.mark.anyio, pytest.mark.subprocess]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_story_over_stdio_is_in_the_file_afterwards(db, says, mode):
    arguments = ["-m", "evomem_mcp", "--db", str(db), "--namespace", "team/ledger"]
    server = StdioServerParameters(command=sys.executable, args=arguments)
    async with Client(server, mode=mode) as client:

        async def call(tool, **given):
            result = await client.call_tool(tool, given)
            assert not result.is_error, result
            assert result.structured_content["ok"] is True
            return result

        old = await call("remember", raw_text="We picked Postgres for the ledger.", tags=["db"])
        old_id = old.structured_content["node"]["id"]
        assert old_id in says(old)
        new = await call(
            "remember",
            raw_text="The ledger moved to SQLite, since one machine is enough.",
            supersedes=[old_id],
        )
        new_id = new.structured_content["node"]["id"]
        assert new.structured_content["superseded"] == [old_id]

        found = await call("recall", query="ledger postgres", include_history=True)
        (hit,) = found.structured_content["hits"]
        assert hit["node"]["id"] == new_id
        assert hit["node"]["scope"] is None
        assert [node["status"] for node in hit["history"]] == ["superseded"]
        assert f"[status: active | {new_id}" in says(found)
        assert f"replaced: [status: superseded | {old_id}" in says(found)

        story = await call("history", node_id=old_id)
        assert [node["id"] for node in story.structured_content["nodes"]] == [new_id, old_id]
        node = await call("get_node", node_id=old_id)
        assert node.structured_content["superseded_by"] == [new_id]
        assert new_id in says(node)

        other = await call("remember", raw_text="Lunch is at noon on Fridays.")
        await call("forget", node_id=other.structured_content["node"]["id"])
        stats = await call("stats")
        assert stats.structured_content["path"] == str(db)
        assert str(db) in says(stats)
        counted = {"active": 1, "superseded": 1, "forgotten": 1}
        assert {k: n for k, n in stats.structured_content["nodes"].items() if n} == counted

    with evomem.open(db, namespace=("team", "ledger"), read_only=True) as memory:
        hit = memory.recall("postgres").hits[0]
        assert (hit.node.id, hit.supersedes[0].id) == (new_id, old_id)
        assert hit.supersedes[0].tags == ("db",)
        (change, *_) = memory.changes()
        assert change.sequence == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_server_introduces_itself_and_teaches(connect, mode):
    async with connect(mode=mode) as client:
        assert client.server_info.name == "evomem"
        text = client.instructions
    for word in ["recall", "remember", "supersedes=[", "link(", "status: active"]:
        assert word in text


async def test_a_read_only_server_says_so(db, memory, connect, refused):
    memory.remember("A note.")
    with evomem.open(db, read_only=True) as reader:
        async with connect(reader, read_only=True) as client:
            assert "read-only" in client.instructions
            assert not (await client.call_tool("recall", {"query": "note"})).is_error
            refused(await client.call_tool("remember", {"raw_text": "Another."}), "READ_ONLY")


async def test_a_candidate_is_offered_and_linked(db, connect, says):
    with evomem.open(db, linking="suggest") as memory:
        async with connect(memory) as client:

            async def call(tool, **given):
                return await client.call_tool(tool, given)

            old = await call("remember", raw_text="Decision: the ledger database is Postgres.")
            new = await call("remember", raw_text="Decision: the ledger database is now SQLite.")
            new_id = new.structured_content["node"]["id"]
            (candidate,) = new.structured_content["candidates"]
            assert candidate["node_id"] == old.structured_content["node"]["id"]
            offer = f"link(node_id='{new_id}', supersedes=['{candidate['node_id']}'])"
            assert offer in says(new)
            linked = await call("link", node_id=new_id, supersedes=[candidate["node_id"]])
            assert linked.structured_content["superseded"] == [candidate["node_id"]]
            again = await call("link", node_id=new_id, supersedes=candidate["node_id"])
            assert again.structured_content["patch_id"] is None
            assert "Nothing was linked." in says(again)


async def test_texts_say_what_happened(connect, says):
    async with connect() as client:

        async def call(tool, **given):
            return await client.call_tool(tool, given)

        first = await call("remember", raw_text="The cache is Redis.", idempotency_key="one")
        node_id = first.structured_content["node"]["id"]
        same = await call("remember", raw_text="The cache  is Redis.")
        assert same.structured_content["deduplicated"] is True
        assert f"Known already as {node_id}" in says(same)
        replay = await call("remember", raw_text="The cache is Redis.", idempotency_key="one")
        assert replay.structured_content["replayed"] is True
        assert "Replayed" in says(replay)
        second = await call("remember", raw_text="The cache is Valkey.", supersedes=[node_id])
        moved = await call("remember", raw_text="The cache is Dragonfly.", supersedes=[node_id])
        current = second.structured_content["node"]["id"]
        assert moved.structured_content["moved"] == [{"named": node_id, "current": current}]
        assert f"{node_id} had been replaced: {current}" in says(moved)
        last = moved.structured_content["node"]["id"]
        assert says(await call("forget", node_id=last, purge=True)).startswith(f"Purged {last}")
        again = await call("forget", node_id=last, purge=True)
        assert again.structured_content["changed"] is False
        assert "before" in says(again)
        assert says(await call("recall", query="zebra")) == "No memory answers this."
