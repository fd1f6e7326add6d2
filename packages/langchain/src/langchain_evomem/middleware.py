"""A middleware that gives an agent a memory: recall before it acts, remember when it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import ensure_config

import evomem

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain.agents.middleware.types import (
        ModelRequest,
        ModelResponse,
        PrivateStateAttr,
    )
    from langgraph.runtime import Runtime
except ImportError as error:
    _missing = "EvoMemMiddleware needs langchain: pip install 'langchain-evomem[agents]'."
    raise evomem.MissingExtraError(_missing, extra="agents") from error

from langchain_evomem.namespaces import Handle, Handles, NamespaceSpec, thread_of
from langchain_evomem.prompting import check_options, recalled
from langchain_evomem.tools import TOOLS, create_evomem_tools
from langchain_evomem.turns import Turn, keep, text_of

Remembering = Literal["tools", "decisions"]


class RunMemory(TypedDict):
    """What a middleware holds of a thread, in JSON values; runs of others may follow on it.

    Attributes:
        prompt: What is added to the system message.
        turns: To keep, by id of the message.
        namespace: Of the run that recalled the prompt and said the turns.
        said: The namespace of each message nobody has answered yet; empty if it is not known.
    """

    prompt: str
    turns: dict[str, str]
    namespace: list[str]
    said: dict[str, list[str]]


def _merged(
    before: dict[str, RunMemory] | None, after: dict[str, RunMemory]
) -> dict[str, RunMemory]:
    return {**(before or {}), **after}


class EvoMemState(AgentState[Any]):
    """The state of an agent with a memory; what is added is private, by name of the middleware."""

    evomem: NotRequired[Annotated[dict[str, RunMemory], PrivateStateAttr, _merged]]


class EvoMemMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Recalls once a run what bears on the question, and keeps what was decided.

    ```python
    agent = create_agent(model, middleware=[EvoMemMiddleware(memory, namespace="users/{user_id}")])
    agent.invoke({"messages": [...]}, {"configurable": {"user_id": "ada", "thread_id": "7"}})
    ```

    What the last human message asks is recalled before the agent starts, and added to the system
    message of every call of the model; the messages of the conversation stay as they are. The
    notes are fenced and explained. If the memory cannot be read the run goes on, and the model is
    told; if it cannot be written the answer stands. Both are logged.

    Runs in different namespaces may share a thread: what one recalled is not shown to another, and
    what was said in one is never kept in another.

    Args:
        memory: The memory, opened with `evomem.open` or `evomem.aopen`.
        namespace: Where in it a run may read and write, see `Handles`; None is the memory itself.
        k: Notes recalled at most.
        max_tokens: What they may take of the prompt, the explanation apart.
        scope: Recall what holds there; what is kept by itself holds there, too.
        tags: Recall only notes that carry all of these; what is kept by itself carries them.
        remember: `tools` leaves it to the agent. `decisions` also keeps, at the end of a run, what
            the human messages of this run state outright (`evomem.decisions_in`), and the messages
            as events; a message of the same id and text is kept once. The thread is the session.
            Where the namespace depends on the run, only the last of several human messages that
            nobody answered is known to be of this run: the others are left out.
        tools: Give the agent the tools of `create_evomem_tools`: all of them, those named, or none.
        name: Of this middleware; two in one agent need names of their own, and only one of them
            should bring tools.
        **options: More options of `Memory.recall`, for example `include_history=True`.

    Raises:
        InvalidRequestError: An argument that cannot be meant; during a run, a value is missing
            that `namespace` needs.
        TypeError: `memory` is no memory.
    """

    state_schema = EvoMemState

    def __init__(
        self,
        memory: Handle,
        *,
        namespace: NamespaceSpec | None = None,
        k: int = 5,
        max_tokens: int = 1000,
        scope: str | None = None,
        tags: Sequence[str] | str = (),
        remember: Remembering = "tools",
        tools: bool | Sequence[str] = True,
        name: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._handles = Handles(memory, namespace)
        self._apart = callable(namespace) or bool(self._handles.places)
        self._scope = scope
        self._tags = [tags] if isinstance(tags, str) else list(tags)
        self._options = {"k": k, "max_tokens": max_tokens, "scope": scope, "tags": self._tags}
        self._options |= options
        check_options(self._options)
        if remember not in {"tools", "decisions"}:
            message = f"remember={remember!r} must be 'tools' or 'decisions'."
            raise evomem.InvalidRequestError(message, field="remember")
        self._keeps = remember == "decisions"
        self._name = name or type(self).__name__
        include = TOOLS if tools is True else tools or ()
        self.tools = create_evomem_tools(memory, namespace=namespace, include=include, k=k)

    @property
    def name(self) -> str:
        """Name of this middleware."""
        return self._name

    def before_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002  LangChain passes it
    ) -> dict[str, Any] | None:
        """Recall what bears on the last human message."""
        return self._begin(self._handles.of(), state)

    async def abefore_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002  LangChain passes it
    ) -> dict[str, Any] | None:
        """Do as `before_agent` does, in a thread."""
        return await asyncio.to_thread(self._begin, self._handles.of(), state)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Add what was recalled to the system message of a call."""
        return handler(self._informed(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Add what was recalled to the system message of a call."""
        return await handler(self._informed(request))

    def after_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002  LangChain passes it
    ) -> dict[str, Any] | None:
        """Keep what was decided."""
        return self._end(self._handles.of(), state, thread_of(ensure_config()))

    async def aafter_agent(
        self,
        state: AgentState[Any],
        runtime: Runtime[Any],  # noqa: ARG002  LangChain passes it
    ) -> dict[str, Any] | None:
        """Do as `after_agent` does, in a thread."""
        return await asyncio.to_thread(
            self._end, self._handles.of(), state, thread_of(ensure_config())
        )

    def _begin(self, memory: evomem.Memory, state: AgentState[Any]) -> dict[str, Any]:
        query = _question(state["messages"])
        prompt = recalled(memory, query, self._options) if query else ""
        held, path = self._run(state), [*memory.namespace]
        unanswered = _unanswered(state["messages"])
        said = self._said(held, list(unanswered), path)
        # A run that was given up never came to keep its turns.
        turns = dict(held["turns"]) if held["namespace"] == path else {}
        turns |= {known: text for known, text in unanswered.items() if said[known] == path}
        return self._update(prompt, turns if self._keeps else {}, path, said)

    def _end(
        self, memory: evomem.Memory, state: AgentState[Any], session: str | None
    ) -> dict[str, Any]:
        held, path = self._run(state), [*memory.namespace]
        turns = held["turns"] if held["namespace"] == path else {}
        for message_id, text in turns.items():
            keep(memory, Turn(text, message_id, session), scope=self._scope, tags=self._tags)
        return self._update("", {}, path, held["said"])

    def _run(self, state: AgentState[Any]) -> RunMemory:
        nothing = RunMemory(prompt="", turns={}, namespace=[], said={})
        held = cast("EvoMemState", state).get("evomem", {})
        return cast("RunMemory", {**nothing, **held.get(self._name, {})})

    def _update(
        self, prompt: str, turns: dict[str, str], path: list[str], said: dict[str, list[str]]
    ) -> dict[str, Any]:
        held = RunMemory(prompt=prompt, turns=turns, namespace=path, said=said)
        return {"evomem": {self._name: held}}

    def _said(self, held: RunMemory, ids: list[str], path: list[str]) -> dict[str, list[str]]:
        """Return the namespace of each message; a run that failed early may have left some."""
        new = dict.fromkeys(ids[-1:] if self._apart else ids, path)
        return {known: held["said"].get(known, new.get(known, [])) for known in ids}

    def _informed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        held = self._run(request.state)
        # A run that was resumed may be another user's.
        if not held["prompt"] or held["namespace"] != [*self._handles.of().namespace]:
            return request
        return request.override(system_message=_extended(request.system_message, held["prompt"]))


def _is_said(message: BaseMessage) -> bool:
    """Tell whether a human said it: LangChain writes summaries as human messages, too."""
    return isinstance(message, HumanMessage) and not message.additional_kwargs.get("lc_source")


def _question(messages: Sequence[BaseMessage]) -> str:
    """Return the text of the last human message; empty if there is none."""
    asked = next((message for message in reversed(messages) if _is_said(message)), None)
    return text_of(asked).strip() if asked else ""


def _unanswered(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Return the human messages nobody has answered yet: all before belong to earlier runs."""
    turns: dict[str, str] = {}
    for message in reversed(messages):
        if isinstance(message, AIMessage | ToolMessage):
            break
        if _is_said(message) and message.id:
            turns[message.id] = text_of(message)
    return dict(reversed(turns.items()))


def _extended(message: SystemMessage | None, text: str) -> SystemMessage:
    """Add a text at the end, so that what is before it stays in the cache of a provider."""
    if message is None or not message.content:
        return SystemMessage(text)
    if isinstance(message.content, str):
        return message.model_copy(update={"content": f"{message.content}\n\n{text}"})
    blocks = [*message.content, {"type": "text", "text": text}]
    return message.model_copy(update={"content": blocks})
