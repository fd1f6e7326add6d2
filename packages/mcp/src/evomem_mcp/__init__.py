"""EvoMem as an MCP server; `evomem_mcp.server.create_server` makes one from a memory."""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("evomem-mcp")
