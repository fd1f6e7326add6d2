# ruff: noqa: T201  printing is what an example does
"""An agent with EvoMem acts on the decision in force; the same agent without it does not.

The model stands in for a real one that acts on what it reads last about a database, unless the text
says that it was superseded. No key is needed.

Prints:

    without EvoMem: Postgres
    with EvoMem:    SQLite
"""

import re
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage

import evomem
from langchain_evomem import EvoMemMiddleware

QUESTION: Any = {
    "messages": [
        ("user", "Back in spring we picked Postgres for the ledger."),
        ("user", "Which database does the ledger run on? Write the connection string."),
    ]
}


class Model(FakeListChatModel):
    """Takes the database of the conversation, unless a marker says that it was superseded."""

    def bind_tools(self, *_: Any, **__: Any) -> "Model":
        """Take no notice of the tools."""
        return self

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        prompt = "\n".join(message.text for message in messages)
        return "SQLite" if re.search(r"superseded.*Postgres", prompt) else "Postgres"


def main() -> None:
    """Ask the same agent with and without the memory."""
    with evomem.open(":memory:") as memory:
        old = memory.remember("We picked Postgres for the ledger.")
        memory.remember("We moved the ledger to SQLite.", supersedes=old.node.id)

        model = Model(responses=[])
        plain = create_agent(model)
        print("without EvoMem:", plain.invoke(QUESTION)["messages"][-1].text)

        agent = create_agent(model, middleware=[EvoMemMiddleware(memory)])
        print("with EvoMem:   ", agent.invoke(QUESTION)["messages"][-1].text)


if __name__ == "__main__":
    main()
