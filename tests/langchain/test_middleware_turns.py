"""What the middleware keeps of the turns of a run, and when."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import Field

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
    assert event.content == "We picked Stripe. Is that fine?"
    assert str(event.external_id).startswith("m1:")
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


class Failing(BaseChatModel):
    """Fails as often as it is told to, then answers, and keeps what it was asked."""

    failures: int = 1
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "failing"

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.asked.append(messages)
        if len(self.asked) <= self.failures:
            message = "the model is down"
            raise ConnectionError(message)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Ok."))])


def of_user(user) -> Any:
    return {"configurable": {"thread_id": "t", "user_id": user}}


def walled(memory, model, **options):
    kept = EvoMemMiddleware(memory, namespace="users/{user_id}", remember="decisions")
    return create_agent(model, middleware=[kept], **options)


def texts_of(memory, user):
    return [node.text for node in memory.within(f"users/{user}").list().nodes]


async def asked_of(agent, way, given, user):
    result = getattr(agent, way)(given, of_user(user))
    return await result if way == "ainvoke" else result


async def failed_for(agent, way, given, user):
    with pytest.raises(ConnectionError):
        await asked_of(agent, way, given, user)


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("failures", [1, 2])
async def test_what_one_user_said_is_never_kept_for_another(memory, way, failures):
    model = Failing(failures=failures)
    agent = walled(memory, model, checkpointer=InMemorySaver())
    await failed_for(agent, way, said("We picked Stripe, says Ada."), "ada")
    if failures == 2:
        await failed_for(agent, way, said("We picked oak, says Bob."), "bob")
    await asked_of(agent, way, said("We dropped the fax, says Bob."), "bob")
    assert texts_of(memory, "ada") == []
    assert not any("Ada" in text for text in texts_of(memory, "bob"))
    assert "We dropped the fax, says Bob." in texts_of(memory, "bob")
    assert len(texts_of(memory, "bob")) == failures
    # An event and a note for each message of Bob.
    assert memory.within("users/bob").version() == 2 * failures


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_what_one_user_was_told_is_not_told_to_another(memory, way):
    memory.within("users/ada").remember("Stripe has the code 1234.")
    model = Failing()
    agent = walled(memory, model, checkpointer=InMemorySaver())
    await failed_for(agent, way, said("We picked Stripe."), "ada")
    assert "1234" in model.asked[0][0].text
    await asked_of(agent, way, None, "bob")
    assert not any("1234" in message.text for message in model.asked[1])
    assert texts_of(memory, "bob") == []


@pytest.mark.promise("namespace.wall")
def test_an_agent_inside_a_graph_takes_no_words_of_another_user(memory):
    graph = StateGraph(MessagesState)
    graph.add_node("agent", walled(memory, Failing()))
    graph.add_edge(START, "agent")
    app = graph.compile(checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        app.invoke(said("We picked Stripe."), of_user("ada"))
    app.invoke(said("We dropped the fax."), of_user("bob"))
    assert texts_of(memory, "bob") == ["We dropped the fax."]


def test_a_user_whose_run_failed_keeps_the_words_with_the_next(memory):
    agent = walled(memory, Failing(), checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        agent.invoke(said("We picked Stripe."), of_user("ada"))
    agent.invoke(said("We dropped the fax."), of_user("ada"))
    assert set(texts_of(memory, "ada")) == {"We picked Stripe.", "We dropped the fax."}


def test_all_the_messages_of_a_run_are_kept_where_all_share_a_memory(memory, told):
    agent = create_agent(told("Ok."), middleware=[EvoMemMiddleware(memory, remember="decisions")])
    agent.invoke(sent([("user", "We picked Stripe."), ("user", "We dropped the fax.")]))
    assert len(memory.list().nodes) == 2


@pytest.mark.parametrize("threads", [("a", "b"), ("a", "a")], ids=["numbered", "edited"])
def test_a_message_is_told_apart_by_its_thread_and_text(memory, told, threads):
    agent = create_agent(
        told("a", "b"), middleware=[EvoMemMiddleware(memory, remember="decisions")]
    )
    for thread, text in zip(threads, ("We picked Stripe.", "We dropped the fax."), strict=True):
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        agent.invoke(sent([HumanMessage(text, id="1")]), config)
    assert {n.text for n in memory.list().nodes} == {"We picked Stripe.", "We dropped the fax."}
