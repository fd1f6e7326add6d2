"""Tools that give an agent a memory: remember, recall, history, link, forget."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Literal, Self

from langchain_core.runnables import ensure_config
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic.v1 import ValidationError as OldValidationError

import evomem
from langchain_evomem.namespaces import Handle, Handles, NamespaceSpec
from langchain_evomem.tool_actions import ACTIONS, Action, Answer, Call
from langchain_evomem.tool_arguments import unknown

TOOLS = tuple(ACTIONS)
"""Names of all the tools."""

MAX_CHARS = 20_000
MOST_CHARS = 4_000_000

_log = logging.getLogger(__name__)
_call_id: ContextVar[str | None] = ContextVar("evomem_tool_call_id", default=None)


def create_evomem_tools(
    memory: Handle,
    *,
    namespace: NamespaceSpec | None = None,
    include: Sequence[str] = TOOLS,
    k: int = 5,
    max_chars: int = MAX_CHARS,
) -> list[BaseTool]:
    """Make tools on a memory, for `create_agent`, a `ToolNode` or `bind_tools`.

    A tool answers with a short text for the model, and with the result's `to_dict()` as artifact.
    Whatever a model or the store does wrong comes back as a message with status `error`, of which
    the model reads the code and what to do. What the program does wrong is raised: a run that
    does not bring what `namespace` needs would otherwise go on without a memory, and no model can
    mend it. Nothing is read or written then.

    A call that is run again, as LangGraph does after a failure, stores nothing twice. The thread
    of a run is the `session` of what it stores.

    Args:
        memory: The memory, opened with `evomem.open` or `evomem.aopen`.
        namespace: Where in it a run may read and write, see `Handles`; None is the memory itself.
        include: Names of the tools to make, in this order; `("recall", "history")` only reads.
        k: Answers of a recall that does not say how many.
        max_chars: Bound of the text of an answer, at most 4,000,000; what is cut says so.

    Raises:
        InvalidRequestError: An argument that cannot be meant.
        TypeError: `memory` is no memory.
    """
    handles = Handles(memory, namespace)
    evomem.parse_recall({"query": "", "k": k})
    names = [include] if isinstance(include, str) else list(include)
    if wrong := [name for name in names if name not in ACTIONS]:
        message = f"include: {wrong[0]!r} is none of {', '.join(ACTIONS)}."
        raise evomem.InvalidRequestError(message, field="include")
    if not 1 <= max_chars <= MOST_CHARS:
        message = f"max_chars={max_chars!r} must be a whole number from 1 to {MOST_CHARS:,}."
        raise evomem.InvalidRequestError(message, field="max_chars")
    return [_bind(name, ACTIONS[name], handles, k, max_chars) for name in dict.fromkeys(names)]


class EvoMemToolkit(BaseToolkit):
    """The tools of `create_evomem_tools`, which says what the fields mean, as a toolkit."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    memory: Any = Field(exclude=True, repr=False)
    namespace: NamespaceSpec | None = Field(default=None, exclude=True)
    include: Sequence[str] = TOOLS
    k: int = 5
    max_chars: int = MAX_CHARS

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.get_tools()
        return self

    def get_tools(self) -> list[BaseTool]:
        """Return the tools."""
        return create_evomem_tools(
            self.memory,
            namespace=self.namespace,
            include=self.include,
            k=self.k,
            max_chars=self.max_chars,
        )


def _invalid(error: ValidationError | OldValidationError) -> str:
    wrong = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return f"INVALID_REQUEST: {'; '.join(wrong)}. Nothing was done."


class EvoMemTool(BaseTool):
    """A tool on a memory; `create_evomem_tools` makes them."""

    handles: Any = Field(exclude=True, repr=False)
    action: Any = Field(exclude=True, repr=False)
    k: int
    max_chars: int
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: bool | str | Callable[[ToolException], Any] | None = True
    handle_validation_error: (
        bool | str | Callable[[ValidationError | OldValidationError], str] | None
    ) = _invalid

    def run(
        self,
        tool_input: str | dict[str, Any],
        *args: Any,
        tool_call_id: str | None = None,
        **kwargs: Any,
    ) -> Any:  # noqa: ANN401  as LangChain declares it
        """Run the tool; the id of the call tells a repeat of it from another one.

        LangChain hands it to a tool as an argument only if every call has one.
        """
        token = _call_id.set(tool_call_id)
        try:
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **kwargs)
        finally:
            _call_id.reset(token)

    async def arun(
        self,
        tool_input: str | dict[str, Any],
        *args: Any,
        tool_call_id: str | None = None,
        **kwargs: Any,
    ) -> Any:  # noqa: ANN401  as LangChain declares it
        """Do as `run` does; the memory works in a thread."""
        token = _call_id.set(tool_call_id)
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **kwargs)
        finally:
            _call_id.reset(token)

    def _run(self, /, *texts: str, **arguments: Any) -> Answer:
        return self._answer(self.handles.of(), self._call(), texts, arguments)

    async def _arun(self, /, *texts: str, **arguments: Any) -> Answer:
        memory, call = self.handles.of(), self._call()
        return await asyncio.to_thread(self._answer, memory, call, texts, arguments)

    def _call(self) -> Call:
        return Call(_call_id.get(), ensure_config(), self.k, self.max_chars)

    def _answer(
        self, memory: evomem.Memory, call: Call, texts: Sequence[str], arguments: dict[str, Any]
    ) -> Answer:
        """Do what is asked; a refusal and a defect both become what LangChain shows a model."""
        # LangChain hands over a bare text as such: it is the first argument.
        given = dict(zip(self.action.arguments.model_fields, texts, strict=False)) | arguments
        try:
            return self._done(memory, call, given)
        except evomem.EvoMemError as error:
            raise ToolException(self._cut(f"{error.code}: {error.message}")) from error
        except Exception as error:
            _log.exception("The tool %s failed.", self.name)
            message = (
                f"ENGINE: {self.name} failed for a reason inside the memory, which was logged. "
                "Go on without it, or try once more."
            )
            raise ToolException(message) from error

    def _done(self, memory: evomem.Memory, call: Call, given: dict[str, Any]) -> Answer:
        ignored = unknown(given, self.action.arguments)
        known = self.action.arguments.model_fields
        meant = {name: given[name] for name in known if given.get(name) is not None}
        text, fields = self.action.do(memory, meant, call)
        lines = [text, *(f"Warning: {warning}" for warning in ignored)]
        warnings = [*fields.get("warnings", ()), *ignored]
        return Answer(self._cut("\n".join(lines)), {**fields, "warnings": warnings})

    def _cut(self, text: str) -> str:
        if len(text) <= self.max_chars:
            return text
        more = len(text) - self.max_chars
        return f"{text[: self.max_chars]}\n[cut: {more} more characters; ask for less]"


def _bind(name: str, action: Action, handles: Handles, k: int, max_chars: int) -> EvoMemTool:
    return EvoMemTool(
        name=name,
        description=action.description,
        args_schema=action.arguments,
        handles=handles,
        action=action,
        k=k,
        max_chars=max_chars,
    )
