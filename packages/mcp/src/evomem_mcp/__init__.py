"""EvoMem as an MCP server: reserved, nothing usable is in it yet.

It will hold the server (stdio and streamable HTTP) and its command, `evomem-mcp`.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("evomem-mcp")
