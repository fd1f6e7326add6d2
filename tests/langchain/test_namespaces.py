"""Which part of the memory a run may see."""

import pickle
from dataclasses import dataclass
from typing import Any, TypedDict
from uuid import UUID

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import StateGraph

import evomem
from langchain_evomem.namespaces import Handles

USERS = ("users", "{user_id}")


def of_user(user):
    return {"configurable": {"user_id": user}}


def test_no_namespace_is_the_memory_itself(memory):
    handles = Handles(memory)
    assert handles.root is memory
    assert handles.of() is memory
    assert handles.of(of_user("ada")) is memory


async def test_an_async_memory_stands_for_its_plain_one(tmp_path):
    async with evomem.aopen(tmp_path / "memory.db") as opened:
        assert Handles(opened).root is opened.memory
        assert Handles(opened, USERS).of(of_user("ada")).namespace == ("default", "users", "ada")


@pytest.mark.parametrize("spec", [USERS, "users/{user_id}", ["users", "{user_id}"]])
def test_a_value_of_the_config_fills_a_label(memory, spec):
    assert Handles(memory, spec).of(of_user("ada")).namespace == ("default", "users", "ada")


def test_a_label_may_hold_text_around_its_place(memory):
    assert Handles(memory, "user-{user_id}").of(of_user(7)).namespace == ("default", "user-7")


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("value", ["ada/secret", "*", "../bob", "{user_id}", "%", "ada.bob", "a:b"])
def test_a_value_stays_one_label(memory, value):
    handle = Handles(memory, "users/{user_id}").of(of_user(value))
    assert handle.namespace == ("default", "users", value)
    handle.remember("Only here.")
    assert not Handles(memory, USERS).of(of_user("ada")).recall("only").hits
    assert not Handles(memory, USERS).of(of_user("bob")).recall("only").hits


def test_numbers_and_uuids_are_values(memory):
    handles = Handles(memory, USERS)
    known = UUID("12345678-1234-5678-1234-567812345678")
    assert handles.of(of_user(0)).namespace[-1] == "0"
    assert handles.of(of_user(known)).namespace[-1] == str(known)


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_value_is_an_error_that_names_it(memory, value):
    with pytest.raises(evomem.InvalidRequestError, match=r"needs 'user_id'.*Nothing was") as error:
        Handles(memory, USERS).of(of_user(value))
    assert error.value.details["missing"] == "user_id"


@pytest.mark.parametrize("value", [True, {"id": 1}, ["ada"], object(), 1.5, b"ada"])
def test_a_value_that_is_no_name_is_refused(memory, value):
    with pytest.raises(evomem.InvalidRequestError, match="as a text or a number"):
        Handles(memory, USERS).of(of_user(value))


@pytest.mark.parametrize("value", ["a\nb", "a\0b", "x" * 201])
def test_a_value_that_makes_no_label_is_refused(memory, value):
    with pytest.raises(evomem.InvalidRequestError, match="no namespace label"):
        Handles(memory, USERS).of(of_user(value))


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize(
    "spec", ["{user-id}", "{}", "{user.id}", "{{user_id}}", "users/{user_id", "user_id}"]
)
def test_a_brace_that_is_no_place_would_be_common_to_all_and_is_refused(memory, spec):
    with pytest.raises(evomem.InvalidRequestError, match="is no label"):
        Handles(memory, spec)


@pytest.mark.promise("namespace.wall")
def test_two_places_in_a_label_could_make_one_of_two_users_and_are_refused(memory):
    with pytest.raises(evomem.InvalidRequestError, match=r"one \{name\} in a label at most"):
        Handles(memory, "{tenant}-{user_id}")


@pytest.mark.parametrize("spec", ["", (), ("users", ""), ("users", 7), "a//b"])
def test_a_namespace_of_no_labels_is_refused(memory, spec):
    with pytest.raises(evomem.InvalidRequestError, match="is no label"):
        Handles(memory, spec)


def test_a_function_makes_labels_of_the_config(memory):
    handles = Handles(memory, lambda config: ("teams", config["configurable"]["team"]))
    assert handles.of({"configurable": {"team": "a/b"}}).namespace == ("default", "teams", "a/b")


def nothing(config: Any) -> Any:
    return None


def test_what_a_function_raises_or_returns_wrongly_is_an_error(memory):
    with pytest.raises(KeyError):
        Handles(memory, lambda config: config["configurable"]["team"]).of({})
    with pytest.raises(evomem.InvalidRequestError):
        Handles(memory, nothing).of({})


def test_something_else_than_a_memory_is_refused():
    path: Any = "memory.db"
    with pytest.raises(TypeError, match=r"evomem\.open"):
        Handles(path)


def test_handles_are_not_pickled(memory):
    with pytest.raises(TypeError, match="open it again"):
        pickle.dumps(Handles(memory))


def test_the_run_under_way_brings_its_config(memory):
    handles = Handles(memory, USERS)
    step: RunnableLambda[Any, str] = RunnableLambda(lambda _: handles.of().namespace[-1])
    assert step.invoke(None, of_user("ada")) == "ada"
    assert (step | step).batch([1, 2], [of_user("ada"), of_user("bob")]) == ["ada", "bob"]
    with pytest.raises(evomem.InvalidRequestError):
        step.invoke(None)


class State(TypedDict, total=False):
    seen: str


@dataclass
class Context:
    user_id: str | None = None


@pytest.mark.parametrize("given", [{"user_id": "ada"}, Context("ada")])
async def test_the_context_of_a_graph_fills_places_too(memory, given):
    handles = Handles(memory, USERS)
    graph = StateGraph(State, context_schema=Context)
    graph.add_node("see", lambda _: {"seen": handles.of().namespace[-1]})
    graph.set_entry_point("see")
    app = graph.compile()
    assert app.invoke({}, context=given) == {"seen": "ada"}
    assert await app.ainvoke({}, context=given) == {"seen": "ada"}
    with pytest.raises(evomem.InvalidRequestError):
        app.invoke({}, context=Context())


def test_values_given_go_before_the_context_and_after_the_config(memory):
    handles = Handles(memory, USERS)
    assert handles.of({}, {"user_id": "bob"}).namespace[-1] == "bob"
    assert handles.of(of_user("ada"), {"user_id": "bob"}).namespace[-1] == "ada"
