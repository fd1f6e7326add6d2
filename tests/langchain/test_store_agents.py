"""The store inside of LangGraph: graphs, agents, and the tools of langmem."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph

import evomem
from langchain_evomem.store import EvoMemStore

QUESTION: Any = {"messages": [("user", "Which database holds the ledger?")]}


@pytest.fixture
def store(tmp_path):
    with evomem.open(tmp_path / "m.db", namespace="app", linking="off") as memory:
        store = EvoMemStore(memory)
        store.put(("memories",), "ledger", {"content": "The ledger runs on Postgres."})
        store.put(("memories",), "ledger", {"content": "The ledger runs on SQLite."})
        yield store


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


def graph(store):
    def answer(state: MessagesState) -> dict[str, Any]:
        (item,) = get_store().search(("memories",), query=state["messages"][-1].text)
        return {"messages": [AIMessage(item.value["content"])]}

    built = StateGraph(MessagesState)
    built.add_node("answer", answer)
    built.add_edge(START, "answer")
    return built.compile(store=store)


def test_a_graph_finds_the_store_in_every_mode(store):
    compiled = graph(store)
    expected = "The ledger runs on SQLite."
    assert compiled.invoke(QUESTION)["messages"][-1].text == expected
    chunks = list(compiled.stream(QUESTION))
    assert chunks[-1]["answer"]["messages"][-1].text == expected

    async def play():
        result = await compiled.ainvoke(QUESTION)
        streamed = [chunk async for chunk in compiled.astream(QUESTION)]
        events = [event async for event in compiled.astream_events(QUESTION, version="v2")]
        return result["messages"][-1].text, streamed[-1]["answer"]["messages"][-1].text, events

    told, streamed, events = asyncio.run(play())
    assert (told, streamed) == (expected, expected)
    assert events[-1]["event"] == "on_chain_end"


def langmem_tools():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        langmem = pytest.importorskip("langmem")
    return [
        langmem.create_manage_memory_tool(namespace=("memories",)),
        langmem.create_search_memory_tool(namespace=("memories",)),
    ]


def calls(*made):
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": args, "id": str(n)} for n, (name, args) in enumerate(made)
        ],
    )


def test_the_tools_of_langmem_search_and_manage(store):
    model = Model(
        messages=iter(
            [
                calls(
                    ("search_memory", {"query": "ledger"}),
                    ("manage_memory", {"action": "create", "content": "Ada likes green tea."}),
                ),
                AIMessage("done"),
            ]
        )
    )
    agent = create_agent(model, tools=langmem_tools(), store=store)
    told = {m.name: m.text for m in agent.invoke(QUESTION)["messages"] if m.type == "tool"}
    assert "SQLite" in told["search_memory"]
    assert "Postgres" not in told["search_memory"]
    (tea,) = store.search(("memories",), query="tea")
    assert tea.value["content"] == "Ada likes green tea."

    model = Model(
        messages=iter(
            [
                calls(
                    (
                        "manage_memory",
                        {"action": "update", "id": tea.key, "content": "Ada likes mint."},
                    )
                ),
                calls(("manage_memory", {"action": "delete", "id": tea.key})),
                AIMessage("done"),
            ]
        )
    )
    create_agent(model, tools=langmem_tools(), store=store).invoke(QUESTION)
    assert store.get(("memories",), tea.key) is None
    values = [item.value["content"] for item in store.history(("memories",), tea.key)]
    assert values == ["Ada likes mint.", "Ada likes green tea."]


async def test_the_tools_of_langmem_run_async(store):
    model = Model(messages=iter([calls(("search_memory", {"query": "ledger"})), AIMessage("done")]))
    agent = create_agent(model, tools=langmem_tools(), store=store)
    out = await agent.ainvoke(QUESTION)
    assert "SQLite" in out["messages"][-2].text


def test_the_namespace_of_a_store_may_come_from_the_run(tmp_path):
    with evomem.open(tmp_path / "m.db", namespace="app") as memory:
        store = EvoMemStore(memory, namespace=("users", "{user_id}"))

        def note(state: MessagesState) -> dict[str, Any]:
            store.put(("facts",), "name", {"who": state["messages"][-1].text})
            return {}

        built = StateGraph(MessagesState)
        built.add_node("note", note)
        built.add_edge(START, "note")
        compiled = built.compile()
        for user in ("ada", "../bob"):
            said: Any = {"messages": [("user", user)]}
            compiled.invoke(said, {"configurable": {"user_id": user}})
        with pytest.raises(evomem.InvalidRequestError, match="user_id"):
            compiled.invoke(QUESTION)
        assert memory.within("users").namespaces() == [("../bob", "facts"), ("ada", "facts")]
