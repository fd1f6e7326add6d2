"""EvoMem for LlamaIndex: reserved, nothing usable is in it yet.

It will hold a `BaseMemory`, a memory block, a retriever and a tool spec, all over one `evomem`
handle.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("llama-index-memory-evomem")
