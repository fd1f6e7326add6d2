# ruff: noqa: T201  printing is what an example does
"""A graph with one namespace for each user: keys with a history, and a wall between users.

Prints:

    ada: Favourite drink: coffee
    ada drank before: tea
    bob: Nothing is known.
    without a user: INVALID_REQUEST
"""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

import evomem
from langchain_evomem import EvoMemStore


def main() -> None:
    """Let two users ask what is known of them."""
    with evomem.open(":memory:", namespace="app") as memory:
        store = EvoMemStore(memory, namespace=("users", "{user_id}"))

        def answer(state: MessagesState) -> dict[str, Any]:
            found = store.search(("facts",), query=state["messages"][-1].text)
            known = [f"Favourite drink: {item.value['drink']}" for item in found]
            return {"messages": [AIMessage(known[0] if known else "Nothing is known.")]}

        graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()

        ada = EvoMemStore(memory.within(("users", "ada")))
        ada.put(("facts",), "favourite", {"drink": "tea"})
        ada.put(("facts",), "favourite", {"drink": "coffee"})

        question: Any = {"messages": [("user", "What is my favourite drink?")]}
        for user in ("ada", "bob"):
            result = graph.invoke(question, {"configurable": {"user_id": user}})
            print(f"{user}: {result['messages'][-1].text}")
            if user == "ada":
                print("ada drank before:", ada.history(("facts",), "favourite")[1].value["drink"])
        try:
            graph.invoke(question)
        except evomem.InvalidRequestError as error:
            print("without a user:", error.code)


if __name__ == "__main__":
    main()
