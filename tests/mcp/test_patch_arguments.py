"""Arguments of the patch toolset, as models and clients send them."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

EVENT = {"role": "user", "content": "Postgres, please.", "session": "s"}
ADD = {"op": "ADD", "subject": "ledger", "content": "The ledger is in Postgres.", "tags": ["db"]}


def flat(name, value):
    return value


def as_object(name, value):
    return {name: value}


def as_text(name, value):
    return {name: json.dumps(value)}


def half_beside(name, value):
    (first, *_), *_ = value.items()
    return {first: value[first], name: {k: v for k, v in value.items() if k != first}}


def with_nulls_beside(name, value):
    return {name: value, **dict.fromkeys(value)}


def twice_the_same(name, value):
    return {name: value, **value}


def beside_null(name, value):
    return {name: None, **value}


FORMS = [flat, as_object, as_text, half_beside, with_nulls_beside, twice_the_same, beside_null]


@pytest.fixture
def patches(connect):
    return lambda: connect(toolset="patch")


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.parametrize("form", FORMS)
async def test_the_fields_of_an_object_may_stand_beside_it_or_in_text(patches, form):
    async with patches() as client:
        said = await call(client, "memory_record_event", **form("event", EVENT))
        assert {name: said[name] for name in EVENT} == EVENT
        assert said["warnings"] == []
        request: dict[str, Any]
        request = {"operations": [ADD], "evidence": [said["id"]], "actor": "ana"}
        done = await call(client, "memory_apply", **form("request", request))
        assert done["evidence"] == [said["id"]]
        assert done["warnings"] == []
        patch = await call(client, "memory_patch_read", patch_id=done["patch_id"])
        assert patch["actor"] == "ana"
        request = {"query": "ledger", "k": 1, "tags": ["db"]}
        found = await call(client, "memory_search", **form("request", request))
        assert len(found["hits"]) == 1
        assert found["warnings"] == []
        request = {"query": "ledger", "tags": ["other"]}
        assert (await call(client, "memory_search", **form("request", request)))["hits"] == []


async def test_values_of_operations_may_arrive_as_text(patches):
    async with patches() as client:
        said = await call(client, "memory_record_event", event=EVENT)
        evidence = said["id"]
        for step in [ADD, [ADD], json.dumps(ADD), json.dumps([ADD]), [json.dumps(ADD)]]:
            done = await call(client, "memory_apply", operations=step, evidence=evidence)
            memory_id = done["operations"][0]["memory_id"]
            change = {"op": "update", "memory_id": memory_id, "expected_version": "1"}
            change |= {"new_content": "It is in Postgres.", "tags": '["a", "b"]'}
            change |= {"metadata": '{"a": 1}'}
            await call(client, "memory_apply", operations=[change], evidence=evidence)
            read = await call(client, "memory_read", memory_id=memory_id, include_history="false")
            assert read["node"]["tags"] == ["a", "b"]
            assert read["node"]["metadata"] == {"a": 1}
            remove = {"op": "REMOVE", "memory_id": memory_id, "expected_version": 2.0}
            await call(client, "memory_apply", operations=remove, evidence=[evidence])


@pytest.mark.parametrize("nothing", [None, ""])
async def test_names_without_a_value_are_dropped(patches, nothing):
    """Clients that fill in a whole schema send every property of every operation."""
    from evomem_mcp.operations import OPERATION
    from evomem_mcp.patch_parameters import APPLY_FIELDS, EVENT_FIELDS, SEARCH_FIELDS

    async with patches() as client:
        event = dict.fromkeys([p.name for p in EVENT_FIELDS], nothing) | EVENT
        said = await call(client, "memory_record_event", event=event)
        every = dict.fromkeys([p.name for p in OPERATION], nothing)
        request = dict.fromkeys([p.name for p in APPLY_FIELDS], nothing)
        request |= {"operations": [every | ADD], "evidence": [said["id"]]}
        done = await call(client, "memory_apply", request=request)
        memory_id = done["operations"][0]["memory_id"]
        step = {"op": "REMOVE", "memory_id": memory_id, "expected_version": 1}
        await call(client, "memory_apply", request=request | {"operations": [every | step]})
        request = dict.fromkeys([p.name for p in SEARCH_FIELDS], nothing) | {"query": "ledger"}
        assert (await call(client, "memory_search", request=request))["hits"] == []


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("memory_record_event", {"events": EVENT}, "event"),
        ("memory_record_event", {"input": EVENT}, "event"),
        ("memory_record_event", {"event": {"role": "user", "text": "x"}}, "content"),
        ("memory_record_event", {"role": "user", "text": "x"}, "content"),
        ("memory_record_event", {"event": {"role": "user"}, "message": "x"}, "content"),
        ("memory_record_event", {"event": EVENT, "externalId": "x"}, "external_id"),
        ("memory_apply", {"request": {"operation": [ADD]}}, "operations"),
        ("memory_apply", {"request": {"operations": [ADD], "event_ids": ["e"]}}, "evidence"),
        ("memory_apply", {"request": {"operations": [ADD]}, "evidences": ["e"]}, "evidence"),
        ("memory_apply", {"operations": [ADD], "idempotencyKey": "x"}, "idempotency_key"),
        ("memory_apply", {"operations": [{**ADD, "subjects": "x"}]}, "subject"),
        ("memory_apply", {"operations": [{**ADD, "valid_form": "2026-01-01"}]}, "valid_from"),
        ("memory_search", {"request": {"q": "x"}}, "query"),
        ("memory_search", {"q": "x"}, "query"),
        ("memory_search", {"query": "x", "limit": 3}, "k"),
        ("memory_search", {"query": "x", "include_remove": True}, "include_removed"),
        ("memory_read", {"node_id": "x"}, "memory_id"),
        ("memory_history", {"id": "x"}, "memory_id"),
        ("memory_patch_read", {"patch": "x"}, "patch_id"),
    ],
)
async def test_a_near_miss_is_refused_and_nothing_is_written(
    memory, patches, refused, tool, given, meant
):
    async with patches() as client:
        error = refused(await client.call_tool(tool, given), "INVALID_REQUEST")
    assert error["details"]["did_you_mean"] == meant
    assert memory.version() == 0


async def test_other_unknown_names_are_ignored_and_named_but_not_in_operations(patches, refused):
    async with patches() as client:
        said = await call(
            client, "memory_record_event", event={**EVENT, "zzz": 1}, sessionId="x", mood="good"
        )
        assert [warning.split("'")[1] for warning in said["warnings"]] == [
            "sessionId",
            "mood",
            "zzz",
        ]
        said = await call(client, "memory_record_event", **EVENT, sessionId="x")
        assert said["warnings"] == ["Unknown argument 'sessionId' was ignored."]
        read = await client.call_tool("memory_apply", {"operations": [{**ADD, "zzz": 1}]})
        error = refused(read, "INVALID_REQUEST")
        assert error["details"]["argument"] == "zzz"
        assert error["details"]["item"] == 0


@pytest.mark.parametrize(
    ("tool", "given", "field"),
    [
        ("memory_record_event", {}, "event"),
        ("memory_record_event", {"event": {}}, "role"),
        ("memory_record_event", {"event": "hello"}, "event"),
        ("memory_record_event", {"event": [EVENT]}, "event"),
        ("memory_record_event", {"event": EVENT, "role": "tool"}, "role"),
        ("memory_record_event", {"role": "user"}, "content"),
        ("memory_record_event", {"event": {**EVENT, "content": 7}}, "content"),
        ("memory_record_event", {"event": {**EVENT, "content": " "}}, "content"),
        ("memory_record_event", {"event": {**EVENT, "role": "oracle"}}, "role"),
        ("memory_record_event", {"event": {**EVENT, "occurred_at": "soon"}}, "occurred_at"),
        ("memory_apply", {}, "request"),
        ("memory_apply", {"request": {}}, "operations"),
        ("memory_apply", {"request": None, "evidence": "e"}, "operations"),
        ("memory_apply", {"request": {"operations": []}}, "operations"),
        ("memory_apply", {"request": {"operations": "delete all"}}, "operations"),
        ("memory_apply", {"request": {"operations": [7]}}, "operations"),
        ("memory_apply", {"request": {"operations": [{}]}}, "op"),
        ("memory_apply", {"request": {"operations": [{"op": "DROP"}]}}, "op"),
        ("memory_apply", {"request": {"operations": [{"op": 7}]}}, "op"),
        ("memory_apply", {"request": {"operations": [{"op": "ADD"}]}}, "subject"),
        ("memory_apply", {"request": {"operations": [{**ADD, "content": ""}]}}, "content"),
        ("memory_apply", {"request": {"operations": [{**ADD, "content": 7}]}}, "content"),
        ("memory_apply", {"request": {"operations": [{**ADD, "tags": 7}]}}, "tags"),
        ("memory_apply", {"request": {"operations": [{**ADD, "metadata": "x"}]}}, "metadata"),
        ("memory_apply", {"request": {"operations": [ADD], "evidence": [7]}}, "evidence"),
        ("memory_apply", {"request": {"operations": [ADD], "evidence": [""]}}, "evidence"),
        ("memory_read", {}, "memory_id"),
        ("memory_read", {"memory_id": "m", "include_history": "perhaps"}, "include_history"),
        ("memory_read", {"memory_id": "m", "as_of": "soon"}, "as_of"),
        ("memory_search", {"request": "ledger"}, "request"),
        ("memory_search", {"request": {"k": 3}}, "query"),
        ("memory_search", {"request": {"query": "x", "k": 0}}, "k"),
        ("memory_search", {"query": "x", "request": {"query": "y"}}, "query"),
        ("memory_history", {"memory_id": 7}, "memory_id"),
        ("memory_patch_read", {"patch_id": ""}, "patch_id"),
    ],
)
async def test_a_wrong_argument_is_refused_by_its_name(
    memory, patches, refused, tool, given, field
):
    async with patches() as client:
        error = refused(await client.call_tool(tool, given), "INVALID_REQUEST")
    assert error["details"]["field"] == field
    assert field.removesuffix("s") in error["message"].lower()
    assert memory.version() == 0
