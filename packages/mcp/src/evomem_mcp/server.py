"""The server: one or both toolsets on one memory."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Literal

from mcp.server.mcpserver import MCPServer

import evomem
from evomem_mcp import __version__
from evomem_mcp.bounds import DEFAULT_MAX_CHARS
from evomem_mcp.notes import NOTES
from evomem_mcp.patches import PATCHES
from evomem_mcp.tool import Session, bind

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
Toolset = Literal["notes", "patch", "all"]

_TOOLS = {"notes": NOTES, "patch": PATCHES, "all": (*NOTES, *PATCHES)}
_PAGES = {
    "notes": ["instructions.md"],
    "patch": ["instructions_patch.md"],
    "all": ["instructions.md", "instructions_patch.md"],
}
_READ_ONLY = "This memory is read-only here: every write is refused.\n"


def create_server(
    memory: evomem.Memory,
    *,
    toolset: Toolset = "notes",
    max_chars: int = DEFAULT_MAX_CHARS,
    read_only: bool = False,
    log_level: LogLevel = "WARNING",
) -> MCPServer[dict[str, Any]]:
    """Return a server on a memory, which the caller closes.

    Args:
        memory: The handle; its namespace is the wall that clients stay behind.
        toolset: Which tools to offer.
        max_chars: Bound of an answer; longer ones are cut with a marker.
        read_only: Whether to tell clients that the memory was opened so.
        log_level: Of what goes to standard error.
    """
    session = Session(memory, max_chars)
    pages = [files("evomem_mcp").joinpath(page).read_text("utf-8") for page in _PAGES[toolset]]
    return MCPServer(
        "evomem",
        title="EvoMem",
        description="A memory for AI agents that knows when a decision was replaced.",
        instructions="\n".join([*pages, _READ_ONLY] if read_only else pages),
        version=__version__,
        tools=[bind(spec, session) for spec in _TOOLS[toolset]],
        log_level=log_level,
        subscriptions=False,
    )
