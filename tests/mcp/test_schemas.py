import dataclasses

import jsonschema  # type: ignore[import-untyped]
import pytest

import evomem
from evomem_mcp.notes import NOTES

pytestmark = pytest.mark.anyio

TOOLS = ["remember", "recall", "get_node", "history", "link", "forget", "stats"]
WORDS = {"$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "if", "const"}


def every_schema(schema):
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from every_schema(inner)
    if "items" in schema:
        yield from every_schema(schema["items"])


async def listed(connect):
    async with connect() as client:
        tools = (await client.list_tools()).tools
    return {tool.name: tool for tool in tools}


async def test_the_tools_are_those_of_the_notes_toolset(connect):
    tools = await listed(connect)
    assert list(tools) == TOOLS
    for tool in tools.values():
        assert tool.title
        assert 100 < len(tool.description) < 700
        assert "Use it" in tool.description
        assert "Not " in tool.description


@pytest.mark.parametrize("which", ["input_schema", "output_schema"])
async def test_optional_fields_are_no_unions(connect, which):
    """ARG-002: every type is a single word, every property has a type and a description."""
    for tool in (await listed(connect)).values():
        for schema in every_schema(getattr(tool, which)):
            assert isinstance(schema, dict)
            assert isinstance(schema["type"], str)
            assert (schema["type"] == "array") == ("items" in schema)
            for name, inner in schema.get("properties", {}).items():
                assert inner["description"], (tool.name, name)


@pytest.mark.parametrize("which", ["input_schema", "output_schema"])
async def test_schemas_are_free_of_references(connect, which):
    """ARG-003: no $ref, no $defs, and the root is an object."""
    for tool in (await listed(connect)).values():
        root = getattr(tool, which)
        assert root["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(root)
        for schema in every_schema(root):
            assert WORDS.isdisjoint(schema)
            assert schema.get("additionalProperties", True) is not False


async def test_only_what_is_needed_is_required(connect):
    tools = await listed(connect)
    assert {name: tool.input_schema.get("required", []) for name, tool in tools.items()} == {
        "remember": ["raw_text"],
        "recall": ["query"],
        "get_node": ["node_id"],
        "history": ["node_id"],
        "link": ["node_id", "supersedes"],
        "forget": ["node_id"],
        "stats": [],
    }


async def test_annotations_tell_reads_from_writes(connect):
    tools = await listed(connect)
    assert all(tool.annotations.open_world_hint is False for tool in tools.values())
    reads = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert reads == {"recall", "get_node", "history", "stats"}
    destroys = {name for name, tool in tools.items() if tool.annotations.destructive_hint}
    assert destroys == {"forget"}
    repeatable = {name for name, tool in tools.items() if tool.annotations.idempotent_hint}
    assert repeatable == {*reads, "link", "forget"}


@pytest.mark.parametrize(
    ("tool", "request_class", "hidden"),
    [
        ("remember", evomem.RememberRequest, {"source"}),
        ("recall", evomem.RecallRequest, {"include_children"}),
    ],
)
def test_the_parameters_are_the_fields_of_the_request(tool, request_class, hidden):
    (spec,) = [spec for spec in NOTES if spec.name == tool]
    fields = {field.name: field for field in dataclasses.fields(request_class)}
    for name in {"warnings", *hidden}:
        del fields[name]
    published = {parameter.name.removeprefix("raw_"): parameter for parameter in spec.parameters}
    assert set(published) == set(fields)
    for name, parameter in published.items():
        if parameter.default is not None:
            assert parameter.default == fields[name].default


async def test_every_answer_is_valid_under_its_schema(connect):
    """ARG-104: with an empty store, with history, with fields left out, and for refusals."""
    tools = await listed(connect)

    async def check(client, tool, **arguments):
        result = await client.call_tool(tool, arguments)
        jsonschema.validate(result.structured_content, tools[tool].output_schema)
        assert result.content[0].text
        return result.structured_content

    async with connect() as client:
        assert (await check(client, "recall", query=""))["hits"] == []
        await check(client, "stats")
        assert (await check(client, "get_node", node_id="nothing"))["ok"] is False
        old = await check(client, "remember", raw_text="We picked Postgres. Because of joins.")
        full = {"tags": "a", "session": "s", "subject": "db", "slot": "ledger/db", "actor": "me"}
        full |= {"scope": "eu", "valid_to": "2999-01-01"}
        new = await check(
            client, "remember", raw_text="In the EU it is SQLite.", metadata={"a": None}, **full
        )
        lone = await check(client, "remember", raw_text="We use MySQL.")
        ids = [answer["node"]["id"] for answer in (old, new, lone)]
        await check(client, "link", node_id=ids[2], supersedes=[ids[0]])
        for query in ["", "postgres", "sqlite mysql"]:
            found = await check(client, "recall", query=query, include_history=True)
            assert found["hits"]
        for node_id in ids:
            await check(client, "get_node", node_id=node_id)
            await check(client, "history", node_id=node_id)
        for purge in (False, True):
            await check(client, "forget", node_id=ids[2], purge=purge)
        await check(client, "history", node_id=ids[2])
        await check(client, "stats")


async def test_fields_that_may_be_null_are_named_in_the_description(connect):
    tool = (await listed(connect))["get_node"]
    described = tool.output_schema["description"]
    fields = {field.name for field in dataclasses.fields(evomem.MemoryNode)}
    for name in fields - set(tool.output_schema["properties"]):
        assert name in described


async def test_structured_content_holds_the_fields_of_the_result(memory, connect):
    node = memory.remember("We picked Postgres for the ledger.").node
    memory.remember("We moved to SQLite.", supersedes=node.id)
    async with connect() as client:

        async def call(tool, **arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        assert await call("recall", query="postgres") == {
            "ok": True,
            **memory.recall("postgres").to_dict(),
        }
        stats = await call("stats")
        assert stats == {"ok": True, **memory.stats().to_dict(), "namespace": ["default"]}
        shown = await call("get_node", node_id=node.id)
        plain = evomem.Page((memory.get_node(node.id),)).to_dict()["nodes"][0]
        assert shown == {"ok": True, **plain}
        kept = await call("remember", raw_text="A third.")
        fields = {field.name for field in dataclasses.fields(evomem.RememberResult)}
        assert set(kept) == {"ok", *fields}
