"""Who is measured, in which versions, and whether a write that returned is on the disk.

`durable` was looked up with `strace`: how often a process asks the disk to sync for one write. It
is `yes` if everything written is synced before the call returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evomem_bench.peers.environments import Environment

_LANGGRAPH = Environment(
    "langgraph",
    ("langgraph-checkpoint==4.3.2", "langgraph-checkpoint-sqlite==3.1.2", "numpy==2.4.6"),
    extensions=True,
)
_CHROMA = Environment("chroma", ("chromadb==1.5.9",))
_MEM0 = Environment("mem0", ("mem0ai==2.2.1", "qdrant-client==1.20.0", "faiss-cpu==1.15.1"))
_LLAMAINDEX = Environment("llamaindex", ("llama-index-core==0.14.25",))
_SERVER_MEMORY = Environment(
    "server-memory", ("@modelcontextprotocol/server-memory@2026.8.31",), npm=True
)
# Without sqlite-vec it searches by words only, on any Python; with it, it downloads a model first.
_BASIC_MEMORY = Environment(
    "basic-memory",
    ("basic-memory==0.24.1",),
    start=("-m", "basic_memory.cli.main", "mcp"),
    minimum=(3, 12),
    removed=("sqlite-vec",),
)


@dataclass(frozen=True, slots=True)
class Peer:
    """A memory to measure.

    Attributes:
        name: As the report says it.
        module: Opens it, among the workers.
        durable: `yes`, `no` or `unclear`.
        reason: Why that.
        environment: Where its packages are; None for what runs in ours.
        options: Of the module.
        server: It is asked over the pipes of a server of its own, round trip included.
    """

    name: str
    module: str
    durable: str
    reason: str
    environment: Environment | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    server: bool = False


# The quickest first: what they leave of a short run's time goes to the others.
PEERS = (
    Peer(
        "EvoMem, words",
        "evomem_store",
        "yes",
        "one transaction, synchronous=FULL: the log is synced before the call returns",
    ),
    Peer(
        "EvoMem, words and vectors",
        "evomem_store",
        "yes",
        "as with words; a vector that is missing after a crash can be made anew from the text",
        options={"embedder": True},
    ),
    Peer(
        "exact cosine, no store",
        "exact_store",
        "no",
        "an array in memory, there to say what the embedder can find",
    ),
    Peer(
        "LangGraph InMemoryStore 4.3.2",
        "langgraph_stores",
        "no",
        "in memory",
        _LANGGRAPH,
        {"kind": "memory"},
    ),
    Peer(
        "LangGraph SqliteStore 3.1.2",
        "langgraph_stores",
        "yes",
        "SQLite's rollback journal with its default, FULL: four syncs a write",
        _LANGGRAPH,
        {"kind": "sqlite"},
    ),
    Peer(
        "Mem0 2.2.1, Qdrant",
        "mem0_store",
        "yes",
        "vectors and history are SQLite files with the default, FULL: eight syncs a write",
        _MEM0,
        {"vectors": "qdrant"},
    ),
    Peer(
        "LlamaIndex 0.14.25, saved at the end",
        "llamaindex_store",
        "no",
        "VectorStoreIndex in memory until persist() is called",
        _LLAMAINDEX,
        {"save": False},
    ),
    Peer(
        "server-memory 2026.8.31 (MCP)",
        "mcp_servers",
        "no",
        "rewrites its file on each write, without a sync",
        _SERVER_MEMORY,
        {"server": "server-memory"},
        server=True,
    ),
    Peer(
        "Chroma 1.5.9",
        "chroma_store",
        "yes",
        "the write is in an SQLite log before the call returns: eight syncs a write",
        _CHROMA,
    ),
    Peer(
        "Mem0 2.2.1, FAISS",
        "mem0_store",
        "no",
        "its history is synced, but the file of vectors and texts is rewritten without a sync",
        _MEM0,
        {"vectors": "faiss"},
    ),
    Peer(
        "LlamaIndex 0.14.25, saved each time",
        "llamaindex_store",
        "no",
        "VectorStoreIndex, persist() after each write: JSON files rewritten without a sync",
        _LLAMAINDEX,
        {"save": True},
    ),
    Peer(
        "basic-memory 0.24.1 (MCP)",
        "mcp_servers",
        "no",
        "a Markdown file without a sync, and an SQLite log that is synced now and then",
        _BASIC_MEMORY,
        {"server": "basic-memory"},
        server=True,
    ),
)
