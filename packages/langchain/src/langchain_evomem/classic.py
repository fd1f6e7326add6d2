"""A long-term memory for the chains and agents of `langchain-classic`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NoReturn, Self

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

import evomem

try:
    from langchain_classic.base_memory import BaseMemory
except ImportError as error:
    _missing = "EvoMemMemory needs langchain-classic: pip install 'langchain-evomem[classic]'."
    raise evomem.MissingExtraError(_missing, extra="classic") from error

from langchain_evomem.namespaces import Handles, NamespaceSpec
from langchain_evomem.prompting import check_options, recalled
from langchain_evomem.turns import Turn, keep, text_of

NO_QUESTIONS = frozenset({"stop", "intermediate_steps", "agent_scratchpad", "chat_history"})
"""Inputs of a chain that are never the question."""

CLEARED = "the memory of the chain was cleared"


class EvoMemMemory(BaseMemory):
    """Fills a variable of the prompt with what is in force about the input.

    ```python
    chain = ConversationChain(llm=llm, memory=EvoMemMemory(memory=memory))
    ```

    It is a memory across conversations, not the dialogue of this one: what was just said, and what
    the model answered, is not in it. For both, combine it with a buffer under another key:

    ```python
    both = CombinedMemory(memories=[
        ConversationBufferMemory(memory_key="dialogue", input_key="input"),
        EvoMemMemory(memory=memory, memory_key="history", input_key="input"),
    ])
    ```

    If the memory cannot be read or written the chain goes on; the prompt says so, and it is logged.

    Attributes:
        memory: The memory, opened with `evomem.open` or `evomem.aopen`. It goes into no dump.
        namespace: Where in it a chain may read and write, see `Handles`. As chains do not hand
            their configuration on, the value of `{name}` may be an input of that name.
        memory_key: The variable of the prompt.
        input_key: The input that is the question; needed if the chain has several.
        output_key: Accepted, since chains of several outputs ask for it: no output is ever stored.
        return_messages: Give a list with one system message, for a `MessagesPlaceholder`, instead
            of a text; an empty list if there is nothing to tell.
        k: Notes recalled at most.
        max_tokens: What they may take of the prompt, the explanation apart.
        scope: Recall what holds there; what is kept holds there, too.
        tags: Recall only notes that carry all of these; what is kept carries them.
        options: More options of `Memory.recall`, for example `{"include_history": True}`.
        remember: What to keep of what the human says: `decisions`, the statements that
            `evomem.decisions_in` finds, `all`, every turn, or `none`. Unless it is `none`, the
            turn is recorded as an event, too.
        session: The conversation, stored with what is kept.

    Raises:
        ValueError: An argument that cannot be meant.
        TypeError: `memory` is no memory.
    """

    model_config = ConfigDict(extra="forbid")

    memory: Any = Field(exclude=True, repr=False)
    namespace: NamespaceSpec | None = Field(default=None, exclude=True)
    memory_key: str = "history"
    input_key: str | None = None
    output_key: str | None = None
    return_messages: bool = False
    k: int = 5
    max_tokens: int = 1000
    scope: str | None = None
    tags: list[str] = Field(default_factory=list)
    options: dict[str, Any] = Field(default_factory=dict)
    remember: Literal["decisions", "all", "none"] = "decisions"
    session: str | None = None
    _kept: list[tuple[evomem.Memory, evomem.RememberResult]] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> Self:
        Handles(self.memory, self.namespace)
        check_options(self._options())
        return self

    def __getstate__(self) -> NoReturn:
        """Refuse to be pickled: an open memory belongs to its process."""
        message = "An open memory cannot be pickled: make the chain where it is needed."
        raise TypeError(message)

    @property
    def memory_variables(self) -> list[str]:
        """The variable it fills."""
        return [self.memory_key]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return what is in force about the input; without one, what changed most recently.

        Raises:
            InvalidRequestError: The namespace needs a value that there is not.
            ValueError: It cannot be told which input is the question.
        """
        handles = Handles(self.memory, self.namespace)
        query = self._question(inputs, handles)
        text = recalled(handles.of(values=inputs), query, self._options())
        if self.return_messages:
            return {self.memory_key: [SystemMessage(text)] if text else []}
        return {self.memory_key: text}

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Do as `load_memory_variables` does, in a thread."""
        return await asyncio.to_thread(self.load_memory_variables, inputs)

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:  # noqa: ARG002  what a model says is no evidence
        """Keep what the human said, as `remember` says; nothing of what the model answered.

        Raises:
            InvalidRequestError: The namespace needs a value that there is not.
            ValueError: It cannot be told which input is what the human said.
        """
        handles = Handles(self.memory, self.namespace)
        memory = handles.of(values=inputs)
        if self.remember == "none":
            return
        turn = Turn(self._question(inputs, handles), session=self.session)
        notes = keep(memory, turn, what=self.remember, scope=self.scope, tags=self.tags)
        # What was there before, from whomever, is not this object's to forget.
        self._kept += [(memory, note) for note in notes if not note.deduplicated]

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """Do as `save_context` does, in a thread."""
        await asyncio.to_thread(self.save_context, inputs, outputs)

    def clear(self) -> None:
        """Forget the notes that this object kept since it was made or cleared, and no others.

        A long-term memory is shared, so what other chains, people or earlier programs stored
        stays, and what these notes had replaced holds again. Forgotten notes are out of recall;
        their history and the events stay in the store.
        """
        while self._kept:
            memory, note = self._kept[-1]
            for old in note.superseded:
                with suppress(evomem.NotFoundError):
                    memory.unlink(note.node.id, old, reason=CLEARED, source="langchain")
            with suppress(evomem.NotFoundError):
                memory.forget(note.node.id, reason=CLEARED, source="langchain")
            self._kept.pop()

    async def aclear(self) -> None:
        """Do as `clear` does, in a thread."""
        await asyncio.to_thread(self.clear)

    def _options(self) -> dict[str, Any]:
        own = {"k": self.k, "max_tokens": self.max_tokens, "scope": self.scope, "tags": self.tags}
        return own | self.options

    def _question(self, inputs: Mapping[str, Any], handles: Handles) -> str:
        """Return the text of the input that is the question; empty without inputs."""
        if not inputs:
            return ""
        if self.input_key is not None:
            return _text(inputs.get(self.input_key, ""))
        others = {*NO_QUESTIONS, *self.memory_variables, *handles.places}
        asked = [name for name in inputs if name not in others]
        if len(asked) > 1:
            message = (
                f"The inputs are {', '.join(map(repr, asked))}: say which of them is the question, "
                f"for example EvoMemMemory(..., input_key={asked[0]!r})."
            )
            raise ValueError(message)
        return _text(inputs[asked[0]]) if asked else ""


def _text(value: object) -> str:
    """Return the text of an input: a text, a message, or the last human one of several."""
    if isinstance(value, BaseMessage):
        return text_of(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        said = [message for message in value if isinstance(message, HumanMessage)]
        return text_of(said[-1]) if said else ""
    return str(value)
