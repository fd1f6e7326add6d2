"""A model that believes what it reads: it gives up Postgres only where the prompt says so."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable


class Choosing(BaseChatModel):
    """Answers with SQLite if it is told that Postgres was superseded, else with Postgres."""

    asked: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "choosing"

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.asked.append(messages)
        prompt = "\n".join(str(message.text) for message in messages)
        lines = prompt.splitlines()
        knows = any("status: superseded" in x and "Postgres" in x for x in lines)
        knows = knows and any("status: active" in x and "SQLite" in x for x in lines)
        answer = AIMessage("SQLite" if knows else "Postgres")
        return ChatResult(generations=[ChatGeneration(message=answer)])

    @property
    def systems(self) -> list[SystemMessage]:
        """The system messages it was given, one a call; an empty one where there was none."""
        first = [messages[0] for messages in self.asked]
        return [m if isinstance(m, SystemMessage) else SystemMessage("") for m in first]
