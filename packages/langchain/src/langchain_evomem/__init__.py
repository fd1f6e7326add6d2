"""EvoMem for LangChain: reserved, nothing usable is in it yet.

It will hold a retriever, a LangGraph `BaseStore`, an agent middleware, tools and a classic
`BaseMemory`, all over one `evomem` handle.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("langchain-evomem")
