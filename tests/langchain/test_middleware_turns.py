"""What the middleware keeps of the turns of a run, and when."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langchain_evomem.middleware import EvoMemMiddleware

THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}


def sent(messages) -> Any:
    return {"messages": messages}


def said(text) -> Any:
    return {"messages": [("user", text)]}


def test_only_the_turns_of_this_run_are_kept(memory, told):
    model = told("Fine.", "Fine.", "Fine.")
    agent = create_agent(
        model,
        middleware=[EvoMemMiddleware(memory, remember="decisions")],
        checkpointer=InMemorySaver(),
    )
    agent.invoke(sent([HumanMessage("We picked Stripe. Is that fine?", id="m1")]), THREAD)
    first = memory.version()
    agent.invoke(sent([HumanMessage("How are you?", id="m2")]), THREAD)
    assert memory.version() == first + 1  # the event
    agent.invoke(sent([HumanMessage("We dropped the fax.", id="m3")]), THREAD)
    nodes = {node.text: node for node in memory.list().nodes}
    assert set(nodes) == {"We picked Stripe.", "We dropped the fax."}
    node = nodes["We picked Stripe."]
    event = memory.get_event(node.metadata["event_id"])
    assert (event.content, event.external_id) == ("We picked Stripe. Is that fine?", "m1")
    assert (node.session, event.session, event.role) == ("t", "t", "user")


def test_a_history_that_the_caller_sends_is_not_kept_again(memory, told):
    agent = create_agent(told("Ok."), middleware=[EvoMemMiddleware(memory, remember="decisions")])
    history = [("user", "We picked Stripe."), ("ai", "Fine."), ("user", "We dropped the fax.")]
    agent.invoke(sent(history))
    assert [node.text for node in memory.list().nodes] == ["We dropped the fax."]


def test_a_summary_is_not_what_a_human_said(memory, told):
    summary = "We decided to use Oracle."
    summing = SummarizationMiddleware(
        told(summary, summary), trigger=("messages", 3), keep=("messages", 1)
    )
    agent = create_agent(
        told("Ok.", "Ok.", "Ok."),
        middleware=[summing, EvoMemMiddleware(memory, remember="decisions")],
        checkpointer=InMemorySaver(),
    )
    for text in ("Hi.", "We picked Stripe.", "Thanks."):
        state = agent.invoke(said(text), THREAD)
    assert any("Oracle" in message.text for message in state["messages"])
    assert [node.text for node in memory.list().nodes] == ["We picked Stripe."]


def test_what_was_recalled_is_not_kept_again(memory, told):
    memory.remember("From now on we use tabs in Makefiles.")
    agent = create_agent(
        told(*["Ok."] * 5), middleware=[EvoMemMiddleware(memory, remember="decisions")]
    )
    for _ in range(5):
        agent.invoke(said(memory.recall("Makefiles").to_text()))
    assert memory.stats().nodes["active"] == 1


def test_by_default_nothing_is_kept_but_what_the_agent_remembers(memory, told, calls):
    model = told(calls("remember", "c1", text="Payments run on Stripe."), "Done.")
    agent = create_agent(model, middleware=[EvoMemMiddleware(memory)])
    agent.invoke(said("We picked Stripe."))
    assert [node.text for node in memory.list().nodes] == ["Payments run on Stripe."]
    assert memory.stats().patches == 1


@tool
def deploy() -> str:
    """Deploy."""
    return "deployed"


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_run_that_was_interrupted_keeps_its_turns_once(ledger, told, calls, way):
    model = told(calls("deploy", "c1"), "Done.")
    agent = create_agent(
        model,
        [deploy],
        middleware=[
            EvoMemMiddleware(ledger, remember="decisions"),
            HumanInTheLoopMiddleware(interrupt_on={"deploy": True}),
        ],
        checkpointer=InMemorySaver(),
    )

    async def go(asked):
        result = getattr(agent, way)(asked, THREAD)
        return await result if way == "ainvoke" else result

    text = "We decided to ship the ledger database today."
    version = ledger.version()
    paused = await go(said(text))
    assert "__interrupt__" in paused
    assert ledger.version() == version
    state = await go(Command(resume={"decisions": [{"type": "approve"}]}))
    assert state["messages"][-1].text == "Done."
    assert all("status: active" in asked[0].text for asked in model.asked)
    assert [node.text for node in ledger.list().nodes].count(text) == 1
    assert ledger.version() == version + 2  # the event and the note


def test_a_run_that_was_given_up_keeps_its_turns_with_the_next(memory, told, calls):
    agent = create_agent(
        told(calls("deploy", "c1"), "Fine."),
        [deploy],
        middleware=[
            EvoMemMiddleware(memory, remember="decisions"),
            HumanInTheLoopMiddleware(interrupt_on={"deploy": True}),
        ],
        checkpointer=InMemorySaver(),
    )
    agent.invoke(said("We picked Stripe."), THREAD)
    agent.invoke(said("We dropped the fax."), THREAD)
    assert {node.text for node in memory.list().nodes} == {
        "We picked Stripe.",
        "We dropped the fax.",
    }


def test_the_same_message_is_kept_once(memory, told):
    asked = sent([HumanMessage("We picked Stripe.", id="m1")])
    agent = create_agent(
        told("a", "b"), middleware=[EvoMemMiddleware(memory, remember="decisions")]
    )
    agent.invoke(asked)
    version = memory.version()
    agent.invoke(asked)
    assert memory.version() == version
