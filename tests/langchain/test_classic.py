"""The memory of classic chains and agents: what they are told, what is kept, what clear forgets."""

import pickle
import runpy
import sys
from typing import Any

import pytest
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_classic.chains import ConversationChain
from langchain_classic.memory import CombinedMemory, ConversationBufferMemory
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate

import evomem
from langchain_evomem import classic
from langchain_evomem.classic import EvoMemMemory
from langchain_evomem.tools import create_evomem_tools

# LangChain says of its own classic classes that they are, once in a process.
pytestmark = pytest.mark.filterwarnings(
    "ignore:(The class `(Conversation|InMemoryChat)|Please see the migration guide):langchain_core._api.deprecation.LangChainDeprecationWarning"
)

QUESTION = "Which database does the ledger use?"
WAYS = ("invoke", "ainvoke")


async def run(chain, way, asked):
    result = getattr(chain, way)(asked)
    return await result if way == "ainvoke" else result


def conversation(llm, memory, **options):
    return ConversationChain(llm=llm, memory=memory, **options)


@pytest.mark.parametrize("way", WAYS)
async def test_a_chain_does_not_act_on_what_was_given_up(memory, ledger, choosing, way):
    with evomem.open(":memory:") as empty:
        chain = conversation(choosing, EvoMemMemory(memory=empty))
        assert (await run(chain, way, {"input": QUESTION}))["response"] == "Postgres"
    chain = conversation(choosing, EvoMemMemory(memory=ledger))
    assert (await run(chain, way, {"input": QUESTION}))["response"] == "SQLite"


class Calling(FakeMessagesListChatModel):
    """Says what it is told to, and keeps what it was asked."""

    asked: list[list[BaseMessage]]

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, *args, **kwargs):
        self.asked.append(messages)
        return super()._generate(messages, *args, **kwargs)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("messages", [True, False])
async def test_an_agent_executor_is_told_on_every_step(ledger, calls, way, messages):
    history = MessagesPlaceholder("history") if messages else ("system", "{history}")
    prompt = ChatPromptTemplate.from_messages(
        [
            ("system", "Be brief."),
            history,
            ("human", "{input}"),
            MessagesPlaceholder("agent_scratchpad"),
        ]
    )
    model = Calling(
        responses=[calls("recall", "c1", query="ledger"), AIMessage("SQLite")], asked=[]
    )
    tools = create_evomem_tools(ledger)
    executor = AgentExecutor(
        agent=create_tool_calling_agent(model, tools, prompt),
        tools=tools,
        memory=EvoMemMemory(memory=ledger, return_messages=messages),
    )
    text = "We decided to test the ledger database."
    result = await run(executor, way, {"input": text})
    assert result["output"] == "SQLite"
    assert len(model.asked) == 2
    for asked in model.asked:
        assert isinstance(asked[1], SystemMessage)
        assert "status: active" in asked[1].text
    assert ledger.list().nodes[0].text == text


@pytest.mark.parametrize("way", WAYS)
async def test_it_stands_beside_a_buffer_of_the_dialogue(ledger, told, way):
    both = CombinedMemory(
        memories=[
            ConversationBufferMemory(memory_key="dialogue", input_key="input"),
            EvoMemMemory(memory=ledger, input_key="input"),
        ]
    )
    template = "{history}\n\nDialogue:\n{dialogue}\nHuman: {input}\nAI:"
    prompt = PromptTemplate.from_template(template)
    model = told("Hello Ada.", "Ada.")
    chain = conversation(model, both, prompt=prompt)
    await run(chain, way, {"input": "I am Ada; about the ledger database"})
    await run(chain, way, {"input": "Who am I in the ledger database?"})
    last = model.asked[1][0].text
    assert "Human: I am Ada; about the ledger database\nAI: Hello Ada." in last
    assert "status: superseded" in last


@pytest.mark.parametrize("way", WAYS)
async def test_what_was_decided_is_kept_and_no_answer(memory, told, way):
    chain = conversation(
        told("We decided to use Oracle.", "Ok."), EvoMemMemory(memory=memory, session="chat-7")
    )
    await run(chain, way, {"input": "Hi! We picked Stripe. Is that fine?"})
    await run(chain, way, {"input": "How are you?"})
    node = memory.list().nodes[0]
    assert [n.text for n in memory.list().nodes] == ["We picked Stripe."]
    event = memory.get_event(node.metadata["event_id"])
    assert (event.role, event.content) == ("user", "Hi! We picked Stripe. Is that fine?")
    assert (node.session, event.session) == ("chat-7", "chat-7")
    assert memory.version() == 3  # two events, one note


@pytest.mark.parametrize(
    ("remember", "kept"),
    [("all", ["We picked Stripe, right?"]), ("decisions", []), ("none", [])],
)
def test_what_is_kept_can_be_chosen(memory, remember, kept):
    chain = EvoMemMemory(memory=memory, remember=remember)
    chain.save_context({"input": "We picked Stripe, right?"}, {"output": "Yes."})
    assert [node.text for node in memory.list().nodes] == kept
    assert memory.version() == {"all": 2, "decisions": 1, "none": 0}[remember]


@pytest.mark.parametrize("remember", ["all", "decisions"])
def test_what_was_recalled_is_not_kept_again(memory, remember):
    memory.remember("From now on we use tabs in Makefiles.")
    chain = EvoMemMemory(memory=memory, remember=remember)
    for _ in range(5):
        told = chain.load_memory_variables({"input": "Makefiles"})["history"]
        chain.save_context({"input": told}, {"output": told})
    assert memory.stats().nodes["active"] == 1


def test_clear_forgets_what_this_object_kept_and_nothing_else(memory):
    old = memory.remember("We picked Postgres for the ledger.").node
    kept = memory.remember("We dropped the fax.").node
    chain = EvoMemMemory(memory=memory)
    other = EvoMemMemory(memory=memory)
    other.save_context({"input": "We picked oak for the floor."}, {"output": "Ok."})
    chain.save_context({"input": "We dropped the fax."}, {"output": "Ok."})
    chain.save_context({"input": "We picked Stripe for payments."}, {"output": "Ok."})
    chain.clear()
    chain.clear()
    active = {node.text for node in memory.list().nodes}
    assert active == {old.text, kept.text, "We picked oak for the floor."}
    gone = memory.list(status="forgotten").nodes
    assert [node.text for node in gone] == ["We picked Stripe for payments."]


async def test_what_a_cleared_note_had_replaced_holds_again():
    with evomem.open(":memory:", linking="auto") as memory:
        old = memory.remember("We use Postgres for the ledger database.").node
        chain = EvoMemMemory(memory=memory)
        text = "We switched the ledger database from Postgres to SQLite."
        await chain.asave_context({"input": text}, {"output": "Ok."})
        assert memory.get_node(old.id).status == "superseded"
        await chain.aclear()
        assert memory.get_node(old.id).status == "active"
        assert [node.text for node in memory.list().nodes] == [old.text]


def test_clear_passes_over_what_was_purged(memory):
    chain = EvoMemMemory(memory=memory)
    chain.save_context({"input": "We picked Stripe."}, {"output": "Ok."})
    chain.save_context({"input": "We picked oak."}, {"output": "Ok."})
    memory.forget(memory.list().nodes[0].id, purge=True)
    chain.clear()
    assert memory.list().nodes == ()


async def test_without_inputs_the_latest_decisions_come(ledger):
    chain = EvoMemMemory(memory=ledger)
    assert "The ledger database is SQLite." in chain.load_memory_variables({})["history"]
    assert await chain.aload_memory_variables({}) == chain.load_memory_variables({})


@pytest.mark.parametrize(
    ("messages", "nothing"), [(True, []), (False, "")], ids=["messages", "text"]
)
def test_nothing_found_is_nothing(ledger, messages, nothing):
    chain = EvoMemMemory(memory=ledger, return_messages=messages, memory_key="known")
    assert chain.memory_variables == ["known"]
    assert chain.load_memory_variables({"input": "Xylophones?"}) == {"known": nothing}


@pytest.mark.parametrize(
    "inputs",
    [
        {"input": QUESTION},
        {"question": QUESTION, "history": "x", "stop": ["\n"], "agent_scratchpad": []},
        {"input": HumanMessage([{"type": "text", "text": QUESTION}])},
        {"input": [AIMessage("Xylophones?"), HumanMessage(QUESTION), AIMessage("Hm.")]},
    ],
)
def test_the_question_is_the_only_other_input(ledger, inputs):
    assert "SQLite" in EvoMemMemory(memory=ledger).load_memory_variables(inputs)["history"]


def test_among_several_inputs_the_question_must_be_named(ledger):
    inputs = {"question": QUESTION, "style": "brief"}
    with pytest.raises(ValueError, match="input_key='question'"):
        EvoMemMemory(memory=ledger).load_memory_variables(inputs)
    with pytest.raises(ValueError, match="input_key='question'"):
        EvoMemMemory(memory=ledger).save_context(inputs, {"output": "x"})
    named = EvoMemMemory(memory=ledger, input_key="question", output_key="text")
    assert "SQLite" in named.load_memory_variables(inputs)["history"]
    assert named.load_memory_variables({"style": "brief"})["history"]


@pytest.mark.parametrize("way", WAYS)
async def test_users_are_walled_off(memory, told, way):
    model = told("Ok.", "Ok.", "Ok.")
    chain = conversation(model, EvoMemMemory(memory=memory, namespace=("users", "{user_id}")))
    await run(chain, way, {"input": "We picked Stripe.", "user_id": "ada"})
    await run(chain, way, {"input": "Stripe?", "user_id": "bob"})
    await run(chain, way, {"input": "Stripe?", "user_id": "ada"})
    asked = [messages[0].text for messages in model.asked]
    assert ["status: active" in text for text in asked] == [False, False, True]
    with pytest.raises(evomem.InvalidRequestError, match="user_id"):
        await run(chain, way, {"input": "Stripe?"})


@pytest.mark.parametrize("way", WAYS)
async def test_a_chain_goes_on_without_its_memory(on_disk, told, caplog, way):
    model = told("Ok.")
    chain = conversation(model, EvoMemMemory(memory=on_disk))
    on_disk.close()
    assert (await run(chain, way, {"input": "We picked Stripe."}))["response"] == "Ok."
    assert "unavailable" in model.asked[0][0].text
    assert "A turn was not remembered: ENGINE" in caplog.text


def test_braces_in_notes_are_no_variables(memory, told):
    memory.remember("Write {name} and {{x}} in Stripe templates.")
    model = told("Ok.")
    conversation(model, EvoMemMemory(memory=memory)).invoke({"input": "Stripe templates"})
    assert "Write {name} and {{x}} in Stripe" in model.asked[0][0].text


def test_the_budget_holds(memory):
    memory.remember("ledger " * 20_000)
    chain = EvoMemMemory(memory=memory, max_tokens=200)
    assert len(chain.load_memory_variables({"input": "ledger"})["history"]) < 200 * 4 + 500


def test_options_scope_and_tags_are_those_of_recall(ledger):
    chain = EvoMemMemory(memory=ledger, scope="eu", tags=["db"], options={"include_history": True})
    chain.save_context({"input": "We decided to back up the ledger."}, {"output": "Ok."})
    node = ledger.list().nodes[0]
    assert (node.scope, node.tags) == ("eu", ("db",))
    told = chain.load_memory_variables({"input": "ledger"})["history"]
    assert "back up" in told
    assert "SQLite" not in told


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"k": 0}, "k"),
        ({"options": {"includ_history": True}}, "include_history"),
        ({"options": {"query": "x"}}, "query"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(memory, options, reason):
    with pytest.raises(ValueError, match=reason):
        EvoMemMemory(memory=memory, **options)
    with pytest.raises(TypeError, match="memory"):
        EvoMemMemory(memory="memory.db")
    prefix: dict[str, Any] = {"human_prefix": "User"}
    with pytest.raises(ValueError, match="human_prefix"):
        EvoMemMemory(memory=memory, **prefix)


def test_a_dump_holds_no_memory(ledger):
    chain = EvoMemMemory(memory=ledger, namespace="x")
    assert not {"memory", "namespace"} & set(chain.model_dump())
    assert "Memory(':memory:'" not in repr(chain)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(chain)


def test_without_langchain_classic_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_classic.base_memory", None)
    with pytest.raises(ImportError, match=r"pip install 'langchain-evomem\[classic\]'"):
        runpy.run_path(classic.__file__)
