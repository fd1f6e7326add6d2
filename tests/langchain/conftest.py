"""A memory, models that say what they are told to, and no network."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable
from pytest_socket import disable_socket, enable_socket
from tests.langchain.choosing import Choosing

import evomem


@pytest.fixture(autouse=True)
def no_network():
    disable_socket(allow_unix_socket=True)  # asyncio wakes its loop through one
    yield
    enable_socket()


@pytest.fixture
def memory():
    with evomem.open(":memory:", linking="off") as opened:
        yield opened


@pytest.fixture
def on_disk(tmp_path):
    with evomem.open(tmp_path / "memory.db", linking="off") as opened:
        yield opened


class Told(GenericFakeChatModel):
    """Says what it is told to, and keeps what it was asked."""

    asked: list[list[BaseMessage]]

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.asked.append(messages)
        return super()._generate(messages, *args, **kwargs)


@pytest.fixture
def told() -> Callable[..., Told]:
    def make(*said: AIMessage | str) -> Told:
        return Told(messages=iter(said), asked=[])

    return make


@pytest.fixture
def calls() -> Callable[..., AIMessage]:
    """Return a message that calls a tool."""

    def make(name: str, call_id: str = "call-1", /, **args: Any) -> AIMessage:
        call = {"name": name, "args": args, "id": call_id, "type": "tool_call"}
        return AIMessage("", tool_calls=[call])

    return make


@pytest.fixture
def choosing() -> Choosing:
    return Choosing(asked=[])


@pytest.fixture
def ledger(memory):
    """A memory in which one decision replaced another."""
    old = memory.remember("We picked Postgres for the ledger database.").node
    memory.remember("The ledger database is SQLite.", supersedes=old.id)
    return memory
