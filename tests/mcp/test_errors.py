import sqlite3

import pytest

import evomem
from evomem_mcp.server import create_server

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("tool", "given", "named"),
    [
        ("remember", {}, "raw_text"),
        ("remember", {"raw_text": ""}, "raw_text"),
        ("remember", {"raw_text": "   "}, "raw_text"),
        ("get_node", {"node_id": "nope"}, "nope"),
        ("forget", {"node_id": "nope"}, "nope"),
        ("recall", {"query": "x", "k": "many"}, "k"),
        ("no_such_tool", {}, "no_such_tool"),
    ],
)
async def test_an_error_says_so_and_shows_no_insides(db, connect, says, tool, given, named):
    """MCP-103: is_error, the field's name, no traceback, no path."""
    async with connect() as client:
        result = await client.call_tool(tool, given)
    assert result.is_error is True
    text = says(result)
    assert named in text
    assert len(text) < 300
    for inside in ["Traceback", str(db.parent), "site-packages", ".py"]:
        assert inside not in text


async def test_every_code_that_can_be_reached_comes_in_the_envelope(memory, connect, refused):
    old = memory.remember("We picked Postgres.").node.id
    memory.remember("We moved to SQLite.", supersedes=old)
    wide = memory.remember("Backups are weekly.").node.id
    memory.remember("Keyed.", idempotency_key="one")
    before = memory.version()
    async with connect() as client:

        async def check(code, tool, **given):
            return refused(await client.call_tool(tool, given), code)

        text = {"raw_text": "A note."}
        await check("INVALID_REQUEST", "remember", **text, supersedes=[wide], refines=[wide])
        await check("NOT_FOUND", "remember", **text, supersedes=["nothing12345"])
        await check("NOT_FOUND", "history", node_id="nothing12345")
        error = await check(
            "VERSION_CONFLICT", "remember", **text, supersedes=[old], expected_version=1
        )
        assert error["details"]["current"]
        await check("IDEMPOTENCY_CONFLICT", "remember", **text, idempotency_key="one")
        await check("SCOPE_MISMATCH", "remember", **text, supersedes=[wide], scope="eu")
        error = await check("TOO_LARGE", "remember", raw_text="x" * (1 << 20 | 1))
        assert error["details"]["field"] == "raw_text"
        assert error["message"].startswith("raw_text has 1048577 bytes")
        await check("TOO_LARGE", "remember", **text, session="x" * 2000)
        await check("INVALID_REQUEST", "link", node_id=wide, supersedes=[wide])
        await check("INVALID_REQUEST", "recall", query="x", k=101)
    assert memory.version() == before


async def test_a_purged_node_is_not_found_and_the_message_says_where_its_place_is(
    memory, connect, refused
):
    node_id = memory.remember("A secret.").node.id
    memory.forget(node_id, purge=True)
    async with connect() as client:
        error = refused(await client.call_tool("get_node", {"node_id": node_id}), "NOT_FOUND")
    assert "history" in error["message"]


async def test_a_store_held_by_another_process_is_busy(db, memory, connect, refused, monkeypatch):
    memory.remember("A note.")
    monkeypatch.setattr("evomem.engines.sqlite.connection.BUSY_TIMEOUT_S", 0.1)
    with evomem.open(db) as hurried:
        holder = sqlite3.connect(db, isolation_level=None)
        try:
            holder.execute("BEGIN IMMEDIATE")
            async with connect(hurried) as client:
                result = await client.call_tool("remember", {"raw_text": "Another."})
                refused(result, "ENGINE_BUSY")
                assert not (await client.call_tool("recall", {"query": "note"})).is_error
        finally:
            holder.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_defect_is_logged_and_not_shown(memory, says, monkeypatch, caplog, mode):
    from mcp import Client

    def fail(*_, **__):
        message = "secret path /home/someone"
        raise RuntimeError(message)

    monkeypatch.setattr(evomem.Memory, "stats", fail)
    async with Client(create_server(memory), mode=mode) as client:
        result = await client.call_tool("stats", {})
        assert result.is_error is True
        assert says(result) == "Error executing tool stats"
        assert not (await client.call_tool("recall", {"query": "x"})).is_error
    assert "secret path" in caplog.text
