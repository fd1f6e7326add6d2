"""A retriever whose documents are what is in force, whatever version of a note matches."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig
from pydantic import Field, field_validator, model_validator

import evomem
from langchain_evomem.documents import to_documents
from langchain_evomem.namespaces import Handles, NamespaceSpec
from langchain_evomem.prompting import check_options

OPTIONS = tuple(
    field.name
    for field in dataclasses.fields(evomem.RecallRequest)
    if field.name not in {"query", "warnings"}
)
"""What a recall may be asked for; each is a field of the retriever and a keyword of a call."""


class EvoMemRetriever(BaseRetriever):
    """Finds notes of an EvoMem memory: each document is a note in force.

    ```python
    retriever = EvoMemRetriever(memory=memory, k=4, namespace=("users", "{user_id}"))
    retriever.invoke("deploys", {"configurable": {"user_id": "ada"}}, scope="production")
    ```

    Each option of `Memory.recall` is a field, and a keyword of `invoke` and its kin for one call;
    None leaves it to the memory. Errors of the memory are raised as they are. A document has the
    node's id, its text, and the rest as `metadata` in JSON values.

    Attributes:
        memory: The memory, opened with `evomem.open` or `evomem.aopen`. It goes into no dump.
        namespace: Where in it a run may look, see `Handles`; None is the memory itself.
        markers: Write documents as a prompt needs them, `[status: active | id | date] text` and
            what it replaced, rather than as the bare text. Prompts show the text only, and a bare
            text does not tell that a note holds in part, or not in the scope asked for.
        tags: Only nodes that carry all of these. LangChain shows them on traces too; labels for
            traces alone go into the config of a run.

    Raises:
        ValueError: An unknown option, or a value that cannot be meant.
        TypeError: `memory` is no memory.
    """

    memory: Any = Field(exclude=True, repr=False)
    namespace: NamespaceSpec | None = Field(default=None, exclude=True)
    markers: bool = False
    k: int = 5
    offset: int | None = None
    scope: str | None = None
    tags: list[str] | None = None
    tags_any: list[str] | None = None
    tags_none: list[str] | None = None
    session: str | None = None
    filter: dict[str, Any] | None = None
    relation: str | None = None
    since: datetime | str | None = None
    until: datetime | str | None = None
    as_of: datetime | str | None = None
    known_at: datetime | str | None = None
    status: str | None = None
    ranking: str | None = None
    include_history: bool | None = None
    history_depth: int | None = None
    include_children: bool | None = None
    include_removed: bool | None = None
    max_tokens: int | None = None
    deadline_ms: int | None = None
    explain: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: object) -> object:
        """Let the memory refuse what is no field: pydantic would drop it without a word."""
        if isinstance(given, Mapping):
            unknown = {name: given[name] for name in given if name not in cls.model_fields}
            check_options(unknown)
        return given

    @field_validator("tags", "tags_any", "tags_none", mode="before")
    @classmethod
    def _list(cls, given: object) -> object:
        return [given] if isinstance(given, str) else given

    @model_validator(mode="after")
    def _check(self) -> Self:
        Handles(self.memory, self.namespace)
        check_options(self._options({}))
        return self

    def __getstate__(self) -> NoReturn:
        """Refuse to be pickled: an open memory belongs to its process."""
        message = "An open memory cannot be pickled: make the retriever where it is needed."
        raise TypeError(message)

    def invoke(
        self,
        input: str,  # noqa: A002  LangChain's name
        config: RunnableConfig | None = None,
        **options: Any,
    ) -> list[Document]:
        """Answer a question with what is in force.

        Args:
            input: The question, plain text; blank lists the most recently changed.
            config: Of the run; fills the places of `namespace`.
            **options: Of `Memory.recall`, for this call.

        Raises:
            InvalidRequestError: An option that cannot be meant.
        """
        check_options(self._options(options))
        return super().invoke(input, config, run_config=config, **options)

    async def ainvoke(
        self,
        input: str,  # noqa: A002  LangChain's name
        config: RunnableConfig | None = None,
        **options: Any,
    ) -> list[Document]:
        """Do as `invoke` does, in a thread."""
        check_options(self._options(options))
        return await super().ainvoke(input, config, run_config=config, **options)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  LangChain passes it
        run_config: RunnableConfig | None = None,
        **options: Any,
    ) -> list[Document]:
        memory = Handles(self.memory, self.namespace).of(run_config)
        return self._documents(memory, query, options)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002  LangChain passes it
        run_config: RunnableConfig | None = None,
        **options: Any,
    ) -> list[Document]:
        memory = Handles(self.memory, self.namespace).of(run_config)
        return await asyncio.to_thread(self._documents, memory, query, options)

    def _documents(
        self, memory: evomem.Memory, query: str, options: dict[str, Any]
    ) -> list[Document]:
        result = memory.recall(query, **self._options(options))
        return to_documents(result, markers=self.markers)

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a call: the fields, and what was given for it alone."""
        own = {name: value for name in OPTIONS if (value := getattr(self, name)) is not None}
        # LangChain reads `verbose` itself and hands it on.
        return own | {name: value for name, value in given.items() if name != "verbose"}

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:  # noqa: ARG002  LangChain passes them
        return LangSmithRetrieverParams(ls_retriever_name="evomem")
