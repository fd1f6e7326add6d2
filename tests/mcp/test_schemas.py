import dataclasses
import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import evomem
from evomem_mcp.bounds import TOOLSETS
from evomem_mcp.note_parameters import RECALL, REMEMBER
from evomem_mcp.operations import OPERATION
from evomem_mcp.patch_parameters import APPLY_FIELDS, EVENT_FIELDS, SEARCH_FIELDS

pytestmark = pytest.mark.anyio

NOTE_TOOLS = ["remember", "recall", "get_node", "history", "link", "forget", "stats"]
PATCH_TOOLS = [
    "memory_record_event",
    "memory_apply",
    "memory_read",
    "memory_search",
    "memory_history",
    "memory_patch_read",
]
TOOLS = {"notes": NOTE_TOOLS, "patch": PATCH_TOOLS, "all": NOTE_TOOLS + PATCH_TOOLS}
OPERATIONS: list[Any] = [evomem.Add, evomem.Update, evomem.Supersede, evomem.Remove]
WORDS = {"$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "if", "const"}


def every_schema(schema):
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from every_schema(inner)
    if "items" in schema:
        yield from every_schema(schema["items"])


async def listed(connect, toolset="all"):
    async with connect(toolset=toolset) as client:
        tools = (await client.list_tools()).tools
    return {tool.name: tool for tool in tools}


@pytest.mark.parametrize("toolset", TOOLSETS)
async def test_the_tools_are_those_of_the_toolset(connect, toolset):
    tools = await listed(connect, toolset)
    assert list(tools) == TOOLS[toolset]
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


async def test_no_tool_takes_more_room_than_it_is_worth(connect):
    """Some clients drop what is long, and every tool is read with every request."""
    for tool in (await listed(connect)).values():
        assert len(json.dumps(tool.input_schema)) < 3_000
        for schema in every_schema(tool.input_schema):
            assert len(schema.get("description", "")) < 200


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
        "memory_record_event": ["event"],
        "memory_apply": ["request"],
        "memory_read": ["memory_id"],
        "memory_search": ["request"],
        "memory_history": ["memory_id"],
        "memory_patch_read": ["patch_id"],
    }
    request = tools["memory_apply"].input_schema["properties"]["request"]
    assert request["required"] == ["operations"]
    assert request["properties"]["operations"]["items"]["required"] == ["op"]
    event = tools["memory_record_event"].input_schema["properties"]["event"]
    assert event["required"] == ["role", "content"]
    search = tools["memory_search"].input_schema["properties"]["request"]
    assert search["required"] == ["query"]


async def test_annotations_tell_reads_from_writes(connect):
    tools = await listed(connect)
    assert all(tool.annotations.open_world_hint is False for tool in tools.values())
    reads = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    patch_reads = {"memory_read", "memory_search", "memory_history", "memory_patch_read"}
    assert reads == {"recall", "get_node", "history", "stats", *patch_reads}
    destroys = {name for name, tool in tools.items() if tool.annotations.destructive_hint}
    assert destroys == {"forget", "memory_apply"}
    repeatable = {name for name, tool in tools.items() if tool.annotations.idempotent_hint}
    assert repeatable == {*reads, "link", "forget"}


@pytest.mark.parametrize(
    ("parameters", "request_class", "hidden"),
    [
        # What may be found is for stores of keys and values, which programs write.
        (REMEMBER, evomem.RememberRequest, {"source", "searchable"}),
        # What was forgotten is out of recall; who works with patches may ask for it.
        (
            RECALL,
            evomem.RecallRequest,
            {"include_children", "include_removed", "offset", "status", "ranking"},
        ),
        (EVENT_FIELDS, evomem.EventRequest, {"source"}),
        (APPLY_FIELDS, evomem.ApplyRequest, {"source"}),
        (
            SEARCH_FIELDS,
            evomem.RecallRequest,
            {
                *("filter", "include_children", "include_history", "history_depth"),
                *("offset", "relation", "status", "ranking"),
                *("max_tokens", "deadline_ms", "explain"),
            },
        ),
    ],
)
def test_the_parameters_are_the_fields_of_the_request(parameters, request_class, hidden):
    fields = {field.name: field for field in dataclasses.fields(request_class)}
    for name in {"warnings", *hidden}:
        del fields[name]
    published = {parameter.name.removeprefix("raw_"): parameter for parameter in parameters}
    assert set(published) == set(fields)
    for name, parameter in published.items():
        if parameter.default is not None:
            assert parameter.default == fields[name].default


def test_an_operation_has_the_fields_of_all_and_says_to_which_it_belongs():
    (op, *others) = OPERATION
    assert op.kind.schema["enum"] == [kind.op for kind in OPERATIONS]
    fields = {kind.op: {f.name: f for f in dataclasses.fields(kind)} for kind in OPERATIONS}
    assert {p.name for p in others} == set().union(*fields.values())
    for parameter in others:
        named = parameter.description.replace("All but REMOVE", "ADD, UPDATE, SUPERSEDE")
        owners = {name for name, of in fields.items() if parameter.name in of}
        assert {name for name in fields if name in named} == owners, parameter.name


def test_the_roles_are_those_of_the_memory():
    from evomem.domain.event import ROLES

    (role, *_) = EVENT_FIELDS
    assert role.kind.schema["enum"] == list(ROLES)


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


async def test_every_answer_of_the_patch_toolset_is_valid_under_its_schema(connect):
    tools = await listed(connect, "patch")

    async def check(client, tool, **arguments):
        result = await client.call_tool(tool, arguments)
        jsonschema.validate(result.structured_content, tools[tool].output_schema)
        assert result.content[0].text
        return result.structured_content

    async with connect(toolset="patch") as client:
        assert (await check(client, "memory_search", request={"query": ""}))["hits"] == []
        for tool, name in [
            ("memory_read", "memory_id"),
            ("memory_history", "memory_id"),
            ("memory_patch_read", "patch_id"),
        ]:
            assert (await check(client, tool, **{name: "nothing"}))["ok"] is False
        assert (await check(client, "memory_apply", request={}))["ok"] is False
        said = await check(client, "memory_record_event", event={"role": "user", "content": "x"})
        add = {"op": "ADD", "subject": "db", "content": "We picked Postgres.", "slot": "l/db"}
        request = {"operations": [add], "evidence": [said["id"]], "foreign": 1}
        added = await check(client, "memory_apply", request=request)
        memory_id = added["operations"][0]["memory_id"]
        steps: list[dict[str, Any]] = [
            {"op": "UPDATE", "new_content": "We picked PostgreSQL."},
            {"op": "SUPERSEDE", "new_content": "SQLite it is.", "valid_to": "2999-01-01"},
            {"op": "REMOVE"},
        ]
        for version, step in enumerate(steps, start=1):
            step |= {"memory_id": memory_id, "expected_version": version}
            done = await check(
                client, "memory_apply", operations=[step], evidence=[said["id"]], reason="r"
            )
            assert done["ok"] is True, done
            await check(client, "memory_patch_read", patch_id=done["patch_id"])
        stale = await check(client, "memory_apply", operations=[step], evidence=[said["id"]])
        assert stale["error"]["code"] == "VERSION_CONFLICT"
        extras: list[dict[str, Any]]
        extras = [{}, {"include_history": True}, {"known_at": "2999-01-01"}, {"more": 1}]
        for extra in extras:
            await check(client, "memory_read", memory_id=memory_id, **extra)
        assert len((await check(client, "memory_history", memory_id=memory_id))["versions"]) == 4
        request = {"query": "postgres", "include_removed": True}
        assert (await check(client, "memory_search", request=request))["hits"]


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
