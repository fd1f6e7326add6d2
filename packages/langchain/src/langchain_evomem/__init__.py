"""EvoMem for LangChain and LangGraph: the memory that knows when a decision was replaced.

`EvoMemMiddleware` needs the extra `agents`; `langchain_evomem.classic` the extra `classic`.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from langchain_evomem.items import FoundItem, StoredItem
from langchain_evomem.retriever import EvoMemRetriever
from langchain_evomem.store import EvoMemStore
from langchain_evomem.tools import EvoMemToolkit, create_evomem_tools

if TYPE_CHECKING:
    from langchain_evomem.middleware import EvoMemMiddleware

__all__ = [
    "EvoMemMiddleware",
    "EvoMemRetriever",
    "EvoMemStore",
    "EvoMemToolkit",
    "FoundItem",
    "StoredItem",
    "__version__",
    "create_evomem_tools",
]

__version__ = version("langchain-evomem")


def __getattr__(name: str) -> Any:  # noqa: ANN401  a module attribute may be anything
    """Load the middleware when it is used: it alone needs LangChain's agents."""
    if name != "EvoMemMiddleware":
        message = f"module 'langchain_evomem' has no attribute {name!r}"
        raise AttributeError(message)
    from langchain_evomem.middleware import EvoMemMiddleware  # noqa: PLC0415  an extra

    return EvoMemMiddleware
