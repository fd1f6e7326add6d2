"""The retriever: documents in force, options, namespaces, chains and graphs."""

import asyncio
import dataclasses
import json
import pickle
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

import pytest
from langchain_core.load import dumps
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import (
    ConfigurableField,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_tests.integration_tests import RetrieversIntegrationTests
from langgraph.graph import StateGraph
from pytest_socket import SocketBlockedError

import evomem
from langchain_evomem.retriever import OPTIONS, EvoMemRetriever

USERS = ("users", "{user_id}")


def of_user(user):
    return {"configurable": {"user_id": user}}


def texts(documents):
    return [document.page_content for document in documents]


@pytest.fixture
def story(memory):
    old = memory.remember("Deploys run on Mondays.", tags="ops").node
    new = memory.remember("Deploys run on Tuesdays.", tags="ops", supersedes=old.id).node
    memory.remember("Deploys need two reviews.", tags="review")
    return old, new


class TestStandard(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return EvoMemRetriever

    @property
    def retriever_constructor_params(self):
        memory = evomem.open(":memory:", linking="off")
        for day in ("Mondays", "Tuesdays", "Wednesdays", "Thursdays"):
            memory.remember(f"The team of {day} deploys on {day}.")
        return {"memory": memory}

    @property
    def retriever_query_example(self):
        return "which team deploys"


def test_sockets_are_closed_in_these_tests():
    with pytest.warns(UserWarning, match="socket"), pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET)


@pytest.mark.promise("recall.head")
def test_a_query_that_meets_an_old_version_finds_the_one_in_force(memory, story):
    old, new = story
    (document,) = EvoMemRetriever(memory=memory, k=1).invoke("mondays")
    assert document.id == new.id
    assert document.page_content == "Deploys run on Tuesdays."
    known = document.metadata
    assert (known["status"], known["version"], known["tags"]) == ("active", 2, ["ops"])
    assert known["memory_id"] == known["chain_id"] == new.memory_id
    assert known["supersedes"] == [old.id]
    assert [(e["id"], e["status"], e["text"]) for e in known["superseded"]] == [
        (old.id, "superseded", "Deploys run on Mondays.")
    ]
    assert known["matched"] == {"node_id": old.id, "version": 1, "by": "text"}
    assert known["score"] > 0
    assert known["namespace"] == ["default"]
    assert known["history"] == []
    assert known["insufficient"] is False


def test_every_field_of_a_hit_is_in_the_metadata_and_all_is_json(memory, story):
    retriever = EvoMemRetriever(memory=memory, include_history=True, explain=True)
    for document in retriever.invoke("deploys mondays"):
        fields = {field.name for field in dataclasses.fields(evomem.Hit)} - {"node"}
        assert fields <= set(document.metadata)
        assert json.loads(json.dumps(document.metadata)) == document.metadata
        assert type(document.metadata["status"]) is str


def test_documents_come_in_the_order_of_the_memory(memory, story):
    found = EvoMemRetriever(memory=memory).invoke("deploys tuesdays")
    assert [d.id for d in found] == [h.node.id for h in memory.recall("deploys tuesdays").hits]
    scores = [d.metadata["score"] for d in found]
    assert scores == sorted(scores, reverse=True)


def test_history_and_metadata_of_the_user_are_told(memory):
    old = memory.remember("Lunch is at noon.", scope="eu").node
    memory.remember("Lunch is at one.", supersedes=old.id, metadata={"by": "ada"})
    (document,) = EvoMemRetriever(memory=memory, include_history=True).invoke("lunch")
    assert [earlier["text"] for earlier in document.metadata["history"]] == ["Lunch is at noon."]
    assert document.metadata["metadata"] == {"by": "ada"}
    assert document.metadata["scope"] == "eu"


def test_markers_put_into_the_text_what_a_prompt_needs(memory, story):
    old, new = story
    (document,) = EvoMemRetriever(memory=memory, markers=True, k=1).invoke("mondays")
    first, second = document.page_content.splitlines()
    assert first.startswith(f"[status: active | {new.id} | ")
    assert second.startswith(f"   replaced: [status: superseded | {old.id} | ")


def test_markers_tell_what_holds_in_part_or_not_here(memory):
    whole = memory.remember("Deploys run on Mondays at noon.").node
    memory.remember("At six, rather.", amends={"id": whole.id, "part": "at noon"})
    found = EvoMemRetriever(memory=memory, markers=True).invoke("deploys mondays")
    text = next(d.page_content for d in found if d.id == whole.id)
    assert text.startswith("[status: active, in part | ")
    assert '"at noon" was replaced by' in text


def test_every_option_of_a_recall_is_a_field():
    asked = {field.name for field in dataclasses.fields(evomem.RecallRequest)}
    assert set(OPTIONS) == asked - {"query", "warnings"}
    fields = EvoMemRetriever.model_fields
    assert set(OPTIONS) <= set(fields)
    kept = {name for name in OPTIONS if fields[name].default is not None}
    assert kept == {"k"}
    assert fields["k"].default == evomem.RecallRequest(query="").k


VALUES: dict[str, Any] = {
    "k": 1,
    "offset": 1,
    "scope": "us",
    "tags": ["ops"],
    "tags_any": ["ops"],
    "tags_none": ["ops"],
    "session": "s",
    "filter": {"a": 1},
    "relation": "caused_by",
    "since": "2099-01-01",
    "until": "2001-01-01",
    "as_of": "2001-01-01",
    "known_at": "2001-01-01",
    "status": "forgotten",
    "ranking": "lexical",
    "include_history": True,
    "history_depth": 0,
    "include_children": True,
    "include_removed": True,
    "max_tokens": 1,
    "deadline_ms": 600_000,
    "explain": True,
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_works_as_a_field_and_for_one_call(memory, story, name):
    memory.remember(
        "Deploys in the north stop in July.", scope="eu", session="s", metadata={"a": 1}
    )
    gone = memory.remember("Deploys once ran on Sundays.").node.id
    memory.forget(gone)
    memory.within("below").remember("Deploys below run hourly.")
    option = {name: VALUES[name]}

    def shape(hits):
        return [(hit.node.id, len(hit.history), hit.explanation is None) for hit in hits]

    def told(documents):
        known = [(d.id, d.metadata) for d in documents]
        return [(i, len(m["history"]), m["explanation"] is None) for i, m in known]

    meant = shape(memory.recall("deploys mondays", **option).hits)
    plain = shape(memory.recall("deploys mondays").hits)
    assert told(EvoMemRetriever(memory=memory, **option).invoke("deploys mondays")) == meant
    assert told(EvoMemRetriever(memory=memory).invoke("deploys mondays", **option)) == meant
    without_effect = {"ranking", "deadline_ms", "history_depth"}
    assert (meant != plain) or name in without_effect


def test_one_call_overrides_a_field(memory, story):
    retriever = EvoMemRetriever(memory=memory, tags=["review"], k=5)
    assert texts(retriever.invoke("deploys")) == ["Deploys need two reviews."]
    assert texts(retriever.invoke("deploys", tags=["ops"])) == ["Deploys run on Tuesdays."]
    assert len(retriever.invoke("deploys", tags=())) == 2
    given: Any = {"tags": "review"}
    assert len(EvoMemRetriever(memory=memory, **given).invoke("deploys")) == 1
    assert len(retriever.bind(tags=(), k=1).invoke("deploys")) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"scop": "eu"}, "'scope'"),
        ({"kk": 3}, "Unknown argument"),
        ({"k": 0}, "from 1 to 100"),
        ({"query": "x"}, "is no option"),
    ],
)
async def test_what_cannot_be_meant_is_refused_and_never_ignored(memory, story, wrong, says):
    with pytest.raises(ValueError, match=says):
        EvoMemRetriever(memory=memory, **wrong)
    retriever = EvoMemRetriever(memory=memory)
    with pytest.raises(evomem.InvalidRequestError, match=says):
        retriever.invoke("deploys", **wrong)
    with pytest.raises(evomem.InvalidRequestError, match=says):
        await retriever.ainvoke("deploys", **wrong)


def test_a_wrong_memory_or_namespace_is_refused_at_once(memory):
    with pytest.raises(TypeError, match=r"evomem\.open"):
        EvoMemRetriever(memory="memory.db")
    with pytest.raises(ValueError, match="no label"):
        EvoMemRetriever(memory=memory, namespace="{user-id}")


def test_errors_of_the_memory_come_as_they_are(tmp_path):
    memory = evomem.open(tmp_path / "memory.db")
    memory.close()
    with pytest.raises(evomem.EvoMemError):
        EvoMemRetriever(memory=memory).invoke("deploys")


def test_flags_of_langchain_are_no_options(memory, story):
    assert EvoMemRetriever(memory=memory).invoke("deploys", verbose=False)


def test_no_dump_carries_the_memory(memory):
    retriever = EvoMemRetriever(memory=memory, namespace=USERS)
    assert "memory" not in retriever.model_dump()
    assert ":memory:" not in repr(retriever)
    assert ":memory:" not in dumps(retriever)
    assert json.loads(retriever.model_dump_json())["k"] == 5
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(retriever)


def test_traces_name_it(memory):
    assert EvoMemRetriever(memory=memory)._get_ls_params() == {"ls_retriever_name": "evomem"}


@pytest.mark.promise("namespace.wall")
async def test_two_users_never_meet(memory):
    retriever = EvoMemRetriever(memory=memory, namespace=USERS)
    memory.within(("users", "ada")).remember("The code is 1234.")
    memory.within(("users", "bob")).remember("The code is 9876.")
    memory.remember("The code is common.")
    assert texts(retriever.invoke("code", of_user("ada"))) == ["The code is 1234."]
    assert texts(await retriever.ainvoke("code", of_user("bob"))) == ["The code is 9876."]
    for other in ("a", "*", "ada/", "users/ada"):
        assert retriever.invoke("code", of_user(other), include_children=True) == []
    found = retriever.batch(["code"] * 4, [of_user(u) for u in ("ada", "bob", "ada", "bob")])
    assert [texts(f) for f in found[:2]] == [["The code is 1234."], ["The code is 9876."]]
    found = await retriever.abatch(["code"] * 2, [of_user("ada"), of_user("bob")])
    assert [texts(f) for f in found] == [["The code is 1234."], ["The code is 9876."]]


@pytest.mark.promise("namespace.wall")
async def test_a_run_without_its_user_reads_nothing(memory):
    memory.remember("The code is common.")
    retriever = EvoMemRetriever(memory=memory, namespace=USERS)
    with pytest.raises(evomem.InvalidRequestError, match="user_id"):
        retriever.invoke("code")
    with pytest.raises(evomem.InvalidRequestError, match="user_id"):
        await retriever.ainvoke("code", {"configurable": {}})


async def test_it_streams(memory, story):
    retriever = EvoMemRetriever(memory=memory, k=1)
    (chunk,) = list(retriever.stream("mondays"))
    assert texts(chunk) == ["Deploys run on Tuesdays."]
    assert [texts(chunk) async for chunk in retriever.astream("mondays")] == [texts(chunk)]


async def test_a_chain_answers_from_it(memory, told):
    memory.within(("users", "ada")).remember("Deploys run on Tuesdays.")
    retriever = EvoMemRetriever(memory=memory, namespace=USERS)
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    for way in ("invoke", "ainvoke"):
        model = told("On Tuesdays.")
        known = retriever | RunnableLambda(lambda found: " ".join(texts(found)))
        both = RunnableParallel(context=known, question=RunnablePassthrough())
        chain = both | prompt | model | StrOutputParser()
        said = getattr(chain, way)("deploys when?", of_user("ada"))
        assert (await said if way == "ainvoke" else said) == "On Tuesdays."
        assert "Deploys run on Tuesdays. deploys when?" in model.asked[0][0].text


class State(TypedDict, total=False):
    found: list[str]


async def test_a_node_of_a_graph_hands_its_config_on(memory):
    memory.within(("users", "ada")).remember("Deploys run on Tuesdays.")
    retriever = EvoMemRetriever(memory=memory, namespace=USERS)

    def look(state):
        return {"found": texts(retriever.invoke("deploys"))}

    async def alook(state):
        return {"found": texts(await retriever.ainvoke("deploys", {"tags": ["of a trace"]}))}

    graph = StateGraph(State)
    graph.add_node("look", RunnableLambda(look, alook))
    graph.set_entry_point("look")
    app = graph.compile()
    assert app.invoke({}, of_user("ada")) == {"found": ["Deploys run on Tuesdays."]}
    assert await app.ainvoke({}, of_user("ada")) == {"found": ["Deploys run on Tuesdays."]}
    assert app.invoke({}, of_user("bob")) == {"found": []}


def test_fields_can_be_set_by_the_config(memory, story):
    retriever = EvoMemRetriever(memory=memory).configurable_fields(k=ConfigurableField("k"))
    assert len(retriever.invoke("deploys")) == 2
    assert len(retriever.invoke("deploys", {"configurable": {"k": 1}})) == 1


async def test_the_loop_goes_on_while_it_reads(on_disk):
    """A recall that waits for another one's lock leaves the loop to others."""
    waiting, go = threading.Event(), threading.Event()

    class Slow(EvoMemRetriever):
        def _documents(self, memory, query, options):
            waiting.set()
            assert go.wait(10)
            return super()._documents(memory, query, options)

    on_disk.remember("Deploys run on Tuesdays.")
    task = asyncio.create_task(Slow(memory=on_disk).ainvoke("deploys"))
    while not waiting.is_set():
        await asyncio.sleep(0)
    go.set()
    assert texts(await task) == ["Deploys run on Tuesdays."]


async def test_an_async_memory_serves_both_ways(tmp_path):
    async with evomem.aopen(tmp_path / "memory.db") as memory:
        await memory.remember("Deploys run on Tuesdays.")
        retriever = EvoMemRetriever(memory=memory)
        assert texts(retriever.invoke("deploys")) == texts(await retriever.ainvoke("deploys"))


def test_threads_share_it(on_disk):
    retriever = EvoMemRetriever(memory=on_disk, namespace=USERS)
    users = [f"user-{n}" for n in range(8)]
    for user in users:
        on_disk.within(("users", user)).remember(f"The code of {user} is secret.")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda u: texts(retriever.invoke("code", of_user(u))), users * 10))
    assert found == [[f"The code of {user} is secret."] for user in users] * 10
