"""Agents of LangChain with the tools: a model that calls each, repeats, and runs that go wrong."""

from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

import evomem
from langchain_evomem.tools import create_evomem_tools

USERS = ("users", "{user_id}")
ASKED = {"messages": [("user", "When do deploys run?")]}
WAYS = ("invoke", "ainvoke", "stream", "astream")


async def run(agent, way, **options):
    """Run an agent in one of the ways and return the messages of its tools."""
    if way in {"stream", "astream"}:
        chunks = getattr(agent, way)(ASKED, stream_mode="values", **options)
        states = [s async for s in chunks] if way == "astream" else list(chunks)
        state = states[-1]
    else:
        state = getattr(agent, way)(ASKED, **options)
        state = await state if way == "ainvoke" else state
    return [m for m in state["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize("way", WAYS)
async def test_an_agent_calls_each_tool(memory, told, calls, way):
    old = memory.remember("Deploys run on Mondays.").node.id
    other = memory.remember("Cats sleep all day.").node.id
    model = told(
        calls("recall", "c1", query="deploys"),
        calls("remember", "c2", text="Deploys run on Tuesdays.", supersedes=[old]),
        calls("history", "c3", node_id=old),
        calls("link", "c4", node_id=old, supersedes=[other]),
        calls("forget", "c5", node_id=old),
        "On Tuesdays.",
    )
    agent = create_agent(model, create_evomem_tools(memory))
    messages = await run(agent, way)
    assert [m.name for m in messages] == ["recall", "remember", "history", "link", "forget"]
    assert {m.status for m in messages} == {"success"}
    assert all(m.artifact for m in messages)
    assert f"[status: active | {old} | " in messages[0].content
    assert memory.get_node(old).status == "forgotten"
    # The model saw each answer before it went on.
    assert [type(m).__name__ for m in model.asked[-1]].count("ToolMessage") == 5


@pytest.mark.parametrize("way", WAYS)
async def test_no_error_of_a_tool_ends_a_run(memory, told, calls, way):
    model = told(
        calls("history", "c1", node_id="nope12345678"),
        calls("remember", "c2", text="x", supercedes=["nope12345678"]),
        calls("recall", "c3", k=3),
        "I could not.",
    )
    messages = await run(create_agent(model, create_evomem_tools(memory)), way)
    assert [m.status for m in messages] == ["error"] * 3
    assert [m.content.split(":")[0] for m in messages] == [
        "NOT_FOUND",
        "INVALID_REQUEST",
        "INVALID_REQUEST",
    ]


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("way", WAYS)
async def test_the_config_of_a_run_says_whose_memory_it_is(memory, told, calls, way):
    for user in ("ada", "bob"):
        model = told(
            calls("remember", text=f"The code of {user}."), calls("recall", query="code"), ""
        )
        agent = create_agent(model, create_evomem_tools(memory, namespace=USERS))
        _, found = await run(agent, way, config={"configurable": {"user_id": user}})
        assert [hit["node"]["text"] for hit in found.artifact["hits"]] == [f"The code of {user}."]


@dataclass
class Context:
    user_id: str = ""


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("way", WAYS)
async def test_the_context_of_a_run_may_say_it_too(memory, told, calls, way):
    model = told(calls("remember", text="The code of ada."), "")
    tools = create_evomem_tools(memory, namespace=USERS)
    agent = create_agent(model, tools, context_schema=Context)
    await run(agent, way, context=Context("ada"))
    assert [n.text for n in memory.within("users/ada").list()] == ["The code of ada."]


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("way", WAYS)
async def test_a_run_that_does_not_say_whose_memory_ends_and_stores_nothing(
    memory, told, calls, way
):
    agent = create_agent(
        told(calls("remember", text="The code."), ""), create_evomem_tools(memory, namespace=USERS)
    )
    with pytest.raises(evomem.InvalidRequestError, match="needs 'user_id'"):
        await run(agent, way)
    assert not memory.list(status="all", include_children=True)


class BreakDown(AgentMiddleware):
    """Breaks the step down once, after its tool has done its work."""

    def __init__(self):
        super().__init__()
        self.results: list[Any] = []

    def _break_down_once(self, result):
        self.results.append(result)
        if len(self.results) == 1:
            raise ConnectionError
        return result

    def wrap_tool_call(self, request, handler):
        return self._break_down_once(handler(request))

    async def awrap_tool_call(self, request, handler):
        return self._break_down_once(await handler(request))


@pytest.mark.promise("write.idempotent")
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_step_that_is_run_again_after_a_failure_stores_nothing_twice(
    memory, told, calls, way
):
    """The note is superseded before the step is run again: an equal one would be no copy of it."""
    fault = BreakDown()
    agent = create_agent(
        told(calls("remember", text="Deploys run on Mondays."), "done"),
        create_evomem_tools(memory, include="remember"),
        middleware=[fault],
        checkpointer=InMemorySaver(),
    )
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    with pytest.raises(ConnectionError):
        await run(agent, way, config=config)
    (first,) = memory.list()
    memory.remember("Deploys run on Tuesdays.", supersedes=first.id)
    state = getattr(agent, way)(None, config)
    state = await state if way == "ainvoke" else state
    assert state["messages"][-1].text == "done"
    assert [r.artifact["replayed"] for r in fault.results] == [False, True]
    assert [node.text for node in memory.list()] == ["Deploys run on Tuesdays."]


@pytest.mark.promise("write.idempotent")
async def test_turns_of_a_thread_that_reuse_an_id_store_both(memory, told, calls):
    (remember,) = create_evomem_tools(memory, include="remember")
    monday = "Deploys run on Mondays."
    model = told(calls("remember", "c0", text=monday), "", calls("remember", "c0", text=monday), "")
    agent = create_agent(model, [remember], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    (first,) = await run(agent, "invoke", config=config)
    memory.forget(first.artifact["node"]["id"])
    *_, second = await run(agent, "invoke", config=config)
    assert second.artifact["replayed"] is False
    assert [node.text for node in memory.list()] == [monday]
    assert memory.list().nodes[0].session == "t"
