"""The tools: what models send, errors, namespaces and repeats."""

import asyncio
import json
import logging
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool

import evomem
from langchain_evomem.tools import TOOLS, EvoMemToolkit, create_evomem_tools

USERS = ("users", "{user_id}")


def of_user(user):
    return {"configurable": {"user_id": user}}


def tools_of(memory, **options):
    return {tool.name: tool for tool in create_evomem_tools(memory, **options)}


def call(tool, call_id="call-1", config=None, /, **args):
    given = {"name": tool.name, "args": args, "id": call_id, "type": "tool_call"}
    return tool.invoke(given, config)


def nodes(memory, **options):
    return [node.text for node in memory.list(status="all", **options)]


def test_the_schemas_are_small_and_plain(memory):
    published = [convert_to_openai_tool(tool) for tool in create_evomem_tools(memory)]
    text = json.dumps(published)
    assert len(text) < 6_000
    for word in ("anyOf", "null", "$ref", "additionalProperties", "runtime", "tool_call_id"):
        assert f'"{word}"' not in text
    for tool in published:
        properties = tool["function"]["parameters"]["properties"]
        assert all(known["description"] for known in properties.values())
        assert "purge" not in properties


def test_the_five_work_together(memory):
    tools = tools_of(memory)
    told = call(tools["remember"], text="Deploys run on Mondays.", tags=["ops"])
    old = told.artifact["node"]["id"]
    assert told.content == f"Remembered as {old}, version 1 (active)."
    told = call(tools["remember"], text="Deploys run on Tuesdays.", supersedes=[old])
    new = told.artifact["node"]["id"]
    assert f"Replaced {old}." in told.content
    told = call(tools["recall"], query="mondays")
    assert told.content.startswith(f"1. [status: active | {new} | ")
    assert f"replaced: [status: superseded | {old} | " in told.content
    assert told.artifact["hits"][0]["node"]["id"] == new
    told = call(tools["history"], node_id=old)
    assert [node["id"] for node in told.artifact["nodes"]] == [new, old]
    assert [line.split(" | ")[1] for line in told.content.splitlines()] == [new, old]
    other = call(tools["remember"], text="Cats decide when to deploy.").artifact["node"]["id"]
    told = call(tools["link"], node_id=other, supersedes=[new])
    assert told.content == f"{other} now replaces {new}."
    told = call(tools["forget"], node_id=other)
    assert told.content.startswith(f"Forgot {other}")
    assert memory.recall("deploy").hits == ()


def test_artifacts_are_json_values(memory):
    tools = tools_of(memory)
    node = call(tools["remember"], text="Deploys run on Mondays.").artifact["node"]["id"]
    told = [
        call(tools["recall"], query="deploys", include_history=True),
        call(tools["history"], node_id=node),
        call(tools["forget"], node_id=node),
    ]
    for message in told:
        assert json.loads(json.dumps(message.artifact)) == message.artifact
        assert "Status" not in repr(message.artifact)


async def test_every_tool_works_in_a_loop_too(memory):
    tools = tools_of(memory)
    old = memory.remember("Deploys run on Mondays.").node.id
    new = memory.remember("Deploys run on Tuesdays.").node.id
    assert old in await tools["recall"].ainvoke({"query": "deploys"})
    assert "now replaces" in await tools["link"].ainvoke({"node_id": new, "supersedes": [old]})
    assert old in await tools["history"].ainvoke({"node_id": new})
    assert "Forgot" in await tools["forget"].ainvoke({"node_id": new})
    assert "Remembered" in await tools["remember"].ainvoke({"text": "Deploys stop."})


def test_what_is_stored_says_where_it_comes_from(memory):
    tools = tools_of(memory)
    config = {"configurable": {"thread_id": "t-1"}}
    first = call(tools["remember"], "a", config, text="Deploys run on Mondays.").artifact
    assert first["node"]["session"] == "t-1"
    assert memory.patch(first["patch_id"]).source == "langchain"
    gone = call(tools["forget"], "b", config, node_id=first["node"]["id"]).artifact
    assert memory.patch(gone["patch_id"]).source == "langchain"


@pytest.mark.parametrize("given", ["a", '["a"]', ["a"]])
def test_lists_are_read_as_models_write_them(memory, given):
    told = call(tools_of(memory)["remember"], text="Deploys run on Mondays.", tags=given)
    assert told.artifact["node"]["tags"] == ["a"]


def test_a_bare_text_is_the_first_argument(memory):
    tools = tools_of(memory)
    assert tools["remember"].invoke("Deploys run on Mondays.").startswith("Remembered as ")
    assert "Mondays" in tools["recall"].invoke("deploys")


def test_null_and_blank_count_as_left_out(memory):
    told = call(tools_of(memory)["remember"], text="Deploys run.", scope="", tags=None, slot=None)
    assert told.status == "success"
    assert told.artifact["node"]["scope"] is None


@pytest.mark.parametrize(
    "wrong", ["supersede", "supercedes", "Supersedes", "superseeds", "replaces", "old_id"]
)
async def test_a_misspelt_argument_is_refused_and_nothing_is_stored(memory, wrong):
    old = memory.remember("Deploys run on Mondays.").node.id
    tool = tools_of(memory)["remember"]
    given = {"text": "Deploys run on Tuesdays.", wrong: [old]}
    told = call(tool, **given)
    assert told.status == "error"
    assert "did you mean 'supersedes'? Nothing was done." in told.content
    assert told.content == await tool.ainvoke(given)
    assert nodes(memory) == ["Deploys run on Mondays."]


@pytest.mark.parametrize("name", ["amends", "idempotency_key", "source", "session", "metadata"])
def test_what_a_tool_does_not_offer_is_refused(memory, name):
    told = call(tools_of(memory)["remember"], text="Deploys run.", **{name: "x"})
    assert (told.status, nodes(memory)) == ("error", [])
    assert f"does not take '{name}'" in told.content


def test_a_purge_is_not_for_models(memory):
    node = memory.remember("Deploys run on Mondays.").node.id
    told = call(tools_of(memory)["forget"], node_id=node, purge=True)
    assert told.status == "error"
    assert memory.get_node(node).status == "active"


def test_any_other_argument_is_ignored_and_said(memory):
    told = call(tools_of(memory)["remember"], text="Deploys run.", explanation="because")
    assert told.status == "success"
    assert "Warning: Unknown argument 'explanation' was ignored." in told.content
    assert told.artifact["warnings"] == ["Unknown argument 'explanation' was ignored."]


@pytest.mark.parametrize(
    ("name", "given", "code", "says"),
    [
        ("remember", {}, "INVALID_REQUEST", "text: Field required"),
        ("remember", {"text": " "}, "INVALID_REQUEST", "text"),
        ("remember", {"text": "x", "valid_from": "soon"}, "INVALID_REQUEST", "ISO 8601"),
        ("remember", {"text": "x", "supersedes": ["nope12345678"]}, "NOT_FOUND", "nope12345678"),
        ("recall", {"query": "x", "k": 0}, "INVALID_REQUEST", "1 to 100"),
        ("recall", {"query": "x", "k": "many"}, "INVALID_REQUEST", "k: "),
        ("history", {"node_id": "nope12345678"}, "NOT_FOUND", "nope12345678"),
        ("link", {"node_id": "nope12345678"}, "INVALID_REQUEST", "supersedes: Field required"),
        ("forget", {"node_id": "nope12345678"}, "NOT_FOUND", "nope12345678"),
    ],
)
async def test_errors_are_told_to_the_model(memory, name, given, code, says):
    tool = tools_of(memory)[name]
    told = call(tool, **given)
    assert isinstance(told, ToolMessage)
    assert (told.status, told.tool_call_id) == ("error", "call-1")
    assert told.text.startswith(f"{code}: ")
    assert says in told.content
    assert tool.invoke(given) == await tool.ainvoke(given) == told.content
    assert nodes(memory) == []


def test_what_an_error_advises_can_be_done(memory):
    """A narrower note may not replace a broader one; the refusal offers overrides."""
    broad = memory.remember("Deploys run on Mondays.").node.id
    tool = tools_of(memory)["remember"]
    given = {"text": "Deploys run on Tuesdays in the north.", "scope": "eu"}
    told = call(tool, **given, supersedes=[broad])
    assert told.content.startswith("SCOPE_MISMATCH: ")
    assert f"overrides=[{broad}]" in told.content
    assert call(tool, **given, overrides=[broad]).status == "success"


async def test_a_defect_is_logged_and_told_without_our_insides(memory, caplog, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        message = "secret inside"
        raise RuntimeError(message)

    monkeypatch.setattr(evomem.Memory, "recall", fail)
    tool = tools_of(memory)["recall"]
    with caplog.at_level(logging.ERROR, "langchain_evomem"):
        told = call(tool, query="deploys")
        assert await tool.ainvoke({"query": "deploys"}) == told.content
    assert told.status == "error"
    assert told.content.startswith("ENGINE: recall failed")
    assert "secret" not in told.content
    assert "secret inside" in caplog.text
    assert "Traceback" in caplog.text


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    path = tmp_path / "memory.db"
    evomem.open(path).close()
    with evomem.open(path, read_only=True) as memory:
        assert call(tools_of(memory)["remember"], text="x").content.startswith("READ_ONLY: ")


def test_a_long_answer_is_cut_and_says_so(memory):
    node = memory.remember("deploy " * 5_000).node.id
    memory.remember("deploy now " * 20)
    tools = tools_of(memory, max_chars=1_000)
    told = call(tools["history"], node_id=node)
    assert len(told.content) < 1_100
    assert told.content.endswith("more characters; ask for less]")
    assert len(call(tools["recall"], query="deploy").content) < 1_100


def test_the_longest_answer_that_may_be_asked_for_is_given(memory):
    memory.remember("Deploys run on Mondays.")
    assert "Mondays" in call(tools_of(memory, max_chars=4_000_000)["recall"], query="deploys").text


@pytest.mark.parametrize(("versions", "left"), [(50, 0), (53, 3)])
def test_a_long_story_is_told_from_its_newest_part(memory, versions, left):
    node = memory.remember("Deploy 0.").node.id
    for n in range(1, versions):
        node = memory.remember(f"Deploy {n}.", supersedes=node).node.id
    told = call(tools_of(memory)["history"], node_id=node)
    assert len(told.artifact["nodes"]) == 50
    assert told.artifact["nodes"][0]["id"] == node
    assert told.content.count("[status:") == 50
    says = f"The newest 50 follow; {left} older ones are left out."
    assert told.content.startswith(says if left else "1. ")
    assert told.artifact["warnings"] == [says] * bool(left)


@pytest.mark.promise("write.idempotent")
async def test_a_repeated_call_stores_nothing_twice(memory):
    tool = tools_of(memory)["remember"]
    first = call(tool, "call-9", text="Deploys run on Mondays.").artifact
    memory.remember("Deploys run on Tuesdays.", supersedes=first["node"]["id"])
    again = call(tool, "call-9", text="Deploys run on Mondays.")
    assert again.artifact["replayed"] is True
    assert "now superseded" in again.content
    given = {"name": "remember", "args": {"text": "Deploys run on Mondays."}, "id": "call-9"}
    assert (await tool.ainvoke({**given, "type": "tool_call"})).artifact["replayed"] is True
    assert len(nodes(memory)) == 2


def test_calls_that_only_share_an_id_are_not_taken_for_one(memory):
    """Some models number their calls from nought in every conversation."""
    tool = tools_of(memory)["remember"]
    one, two = ({"configurable": {"thread_id": thread}} for thread in "12")
    first = call(tool, "remember:0", one, text="Deploys run on Mondays.").artifact["node"]["id"]
    call(tool, "remember:0", one, text="Deploys run on Tuesdays.", supersedes=[first])
    back = call(tool, "remember:0", two, text="Deploys run on Mondays.")
    assert back.artifact["replayed"] is False
    assert back.artifact["node"]["status"] == "active"


def test_calls_without_an_id_are_never_repeats(memory):
    tool = tools_of(memory)["remember"]
    first = tool.invoke({"text": "Deploys run on Mondays."})
    assert "Replayed" not in tool.invoke({"text": "Deploys run on Mondays."})
    assert first.startswith("Remembered as ")


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("user", ["bob", "*", "ada/", "a", "users/ada"])
def test_two_users_never_meet(memory, user):
    tools = tools_of(memory, namespace=USERS)
    ada = call(tools["remember"], "1", of_user("ada"), text="The code is 1234.").artifact["node"]
    assert ada["namespace"] == ["default", "users", "ada"]
    assert call(tools["recall"], "2", of_user(user), query="code").artifact["hits"] == []
    for name in ("history", "forget"):
        told = call(tools[name], "3", of_user(user), node_id=ada["id"])
        assert told.content.startswith("NOT_FOUND: ")
        assert "1234" not in told.content
    told = call(tools["remember"], "4", of_user(user), text="x", supersedes=[ada["id"]])
    assert told.status == "error"
    assert call(tools["recall"], "5", of_user("ada"), query="code").artifact["hits"]


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("name", TOOLS)
async def test_a_run_without_its_user_is_a_mistake_of_the_program_and_raised(memory, name):
    given = {"text": "x", "query": "x", "node_id": "nope12345678", "supersedes": ["nope12345678"]}
    tool = tools_of(memory, namespace=USERS)[name]
    given = {key: given[key] for key in tool.args if key in given}
    with pytest.raises(evomem.InvalidRequestError, match="needs 'user_id'"):
        tool.invoke(given)
    with pytest.raises(evomem.InvalidRequestError, match="needs 'user_id'"):
        await tool.ainvoke(given, of_user(""))
    assert nodes(memory, include_children=True) == []


def test_the_run_under_way_brings_the_namespace(memory):
    tool = tools_of(memory, namespace=USERS)["remember"]
    step = RunnableLambda(lambda text: tool.invoke({"text": text}))
    step.batch(["one", "two"], [of_user("ada"), of_user("bob")])
    assert nodes(memory.within(("users", "ada"))) == ["one"]
    assert nodes(memory.within(("users", "bob"))) == ["two"]


def test_threads_share_the_tools(on_disk):
    tools = tools_of(on_disk, namespace=USERS)
    users = [f"user-{n}" for n in range(4)]

    def work(number):
        user = users[number % 4]
        call(tools["remember"], f"c{number}", of_user(user), text=f"Note {number} of {user}.")
        return call(tools["recall"], "r", of_user(user), query="note", k=100).artifact["hits"]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(40)))
    for number, hits in enumerate(found):
        assert {hit["node"]["namespace"][-1] for hit in hits} == {users[number % 4]}
    assert all(len(nodes(on_disk.within(("users", user)))) == 10 for user in users)


async def test_tasks_keep_their_call_ids_apart(on_disk):
    tool = tools_of(on_disk)["remember"]
    given = [
        {
            "name": "remember",
            "args": {"text": f"Note {n}."},
            "id": f"c{n % 10}",
            "type": "tool_call",
        }
        for n in range(10)
    ]
    told = await asyncio.gather(*(tool.ainvoke(one) for one in given * 2))
    assert len(nodes(on_disk)) == 10
    assert sum(message.artifact["replayed"] for message in told) == 10


def test_only_what_is_named_is_made(memory):
    assert [tool.name for tool in create_evomem_tools(memory)] == list(TOOLS)
    assert [t.name for t in create_evomem_tools(memory, include=("recall",))] == ["recall"]
    assert [t.name for t in create_evomem_tools(memory, include="history")] == ["history"]
    wrong_chars = ({"max_chars": 0}, {"max_chars": 4_000_001})
    for wrong in ({"include": ("purge",)}, {"k": 0}, *wrong_chars, {"namespace": "{a-b}"}):
        with pytest.raises(evomem.InvalidRequestError):
            create_evomem_tools(memory, **wrong)
    path: Any = "memory.db"
    with pytest.raises(TypeError, match=r"evomem\.open"):
        create_evomem_tools(path)


def test_k_holds_where_a_call_does_not_say(memory):
    for n in range(4):
        memory.remember(f"Deploy number {n} went well.")
    tool = tools_of(memory, k=2)["recall"]
    assert len(call(tool, query="deploy").artifact["hits"]) == 2
    assert len(call(tool, query="deploy", k=3).artifact["hits"]) == 3


def test_a_toolkit_hands_the_same_tools_out(memory):
    toolkit = EvoMemToolkit(memory=memory, namespace=USERS, include=("recall", "remember"), k=2)
    recall, remember = toolkit.get_tools()
    call(remember, "1", of_user("ada"), text="Deploys run on Mondays.")
    assert "Mondays" in recall.invoke({"query": "deploys"}, of_user("ada"))
    assert set(toolkit.model_dump()) == {"include", "k", "max_chars"}
    assert ":memory:" not in repr(toolkit)
    misspelt: Any = {"includes": ("recall",)}
    with pytest.raises(ValueError, match="includes"):
        EvoMemToolkit(memory=memory, **misspelt)
    with pytest.raises(ValueError, match="purge"):
        EvoMemToolkit(memory=memory, include=("purge",))


def test_no_dump_carries_the_memory(memory):
    (tool,) = create_evomem_tools(memory, include=("recall",))
    assert {"handles", "action"}.isdisjoint(tool.model_dump())
    assert "Handles" not in repr(tool)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(tool)


def test_a_copy_under_another_name_serves_a_second_memory(memory):
    (tool,) = create_evomem_tools(memory, include=("recall",))
    team = tool.model_copy(update={"name": "team_recall"})
    assert convert_to_openai_tool(team)["function"]["name"] == "team_recall"
    assert team.invoke({"query": "x"}) == "No memory answers this."


async def test_an_async_memory_serves_both_ways(tmp_path):
    async with evomem.aopen(tmp_path / "memory.db") as memory:
        tools = tools_of(memory)
        await tools["remember"].ainvoke({"text": "Deploys run on Mondays."})
        assert "Mondays" in tools["recall"].invoke({"query": "deploys"})


async def test_no_name_of_an_argument_ends_a_run(memory):
    (recall,) = create_evomem_tools(memory, include=("recall",))
    for name in ("self", "cls", "config", "run_manager"):
        given = {"query": "x", name: "v"}
        asked: Any = {"name": "recall", "args": given, "id": "1", "type": "tool_call"}
        assert recall.invoke(asked).name == "recall"
        assert (await recall.ainvoke(asked)).name == "recall"


def test_what_was_recalled_is_not_stored_again(memory):
    recall, remember = create_evomem_tools(memory, include=("recall", "remember"))
    memory.remember("Use tabs in Makefiles.")
    for _ in range(3):
        told = remember.invoke({"text": f"I found: {recall.invoke({'query': 'Makefiles'})}"})
        assert told.startswith("INVALID_REQUEST")
    assert memory.stats().nodes["active"] == 1


@pytest.mark.parametrize("name", ["replace", "old_ids", "updates", "namespace", "user_id"])
def test_another_word_for_what_matters_is_refused(memory, name):
    (remember,) = create_evomem_tools(memory, include=("remember",))
    given: Any = {"text": "We moved to SQLite.", name: ["n123456789ab"]}
    assert remember.invoke(given).startswith("INVALID_REQUEST")
    assert len(memory.list()) == 0
