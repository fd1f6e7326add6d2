"""The command `evomem-mcp`: open a memory and serve it."""

from __future__ import annotations

import argparse
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evomem_mcp.bounds import DEFAULT_MAX_CHARS, LEAST_MAX_CHARS, TOOLSETS
from evomem_mcp.stdin import RepairedInput

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    import evomem

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a memory until the client goes away.

    Returns:
        0 when the client is done, 1 if the store or the port cannot be had; wrong usage exits
        with 2.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    linking = _linking(parser, options)
    _check_host(parser, options)
    # Over 100,000 objects that stay for good: collecting among them costs a sixth of the start.
    gc.disable()
    import evomem  # noqa: PLC0415  --help and wrong usage need neither it nor the SDK

    try:
        memory = evomem.open(
            options.db,
            namespace=tuple(options.namespace.split("/")),
            linking=linking,
            embedder=options.embedder,
            read_only=options.read_only,
            config=options.config,
        )
    except evomem.EvoMemError as error:
        sys.stderr.write(f"evomem-mcp: {error.message}\n")
        return 1
    with memory:
        return _serve(memory, options)


def _serve(memory: evomem.Memory, options: argparse.Namespace) -> int:
    from evomem_mcp.server import create_server  # noqa: PLC0415  slow to import

    server = create_server(
        memory,
        toolset=options.toolset,
        max_chars=options.max_chars,
        read_only=options.read_only,
        log_level=options.log_level,
    )
    gc.enable()
    gc.freeze()
    if options.transport == "stdio":
        return _serve_stdio(server)
    return _serve_http(server, options.host, options.port)


def _serve_stdio(server: MCPServer[dict[str, Any]]) -> int:
    # The thread that waits for standard input would keep an interrupted process alive.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.stdin.isatty():
        sys.stderr.write("evomem-mcp waits for an MCP client on standard input.\n")
    repaired = io.BufferedReader(RepairedInput(sys.stdin.buffer))
    sys.stdin = io.TextIOWrapper(repaired, encoding="utf-8", errors="replace")
    try:
        server.run("stdio")
    except* (BrokenPipeError, ConnectionResetError):
        sys.stderr.write("evomem-mcp: the client went away.\n")
    return 0


def _serve_http(server: MCPServer[dict[str, Any]], host: str, port: int) -> int:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    sys.stderr.write(f"evomem-mcp serves http://{address}/mcp\n")
    try:
        server.run("streamable-http", host=host, port=port)
    except KeyboardInterrupt:
        return 0
    except SystemExit:
        # The port is taken; the web server has said so.
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evomem-mcp",
        description="Serve an EvoMem memory to MCP clients.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--db", metavar="PATH", help="the store; default: $EVOMEM_DB, else ~/.evomem/evomem.db")
    add(
        "--namespace",
        metavar="A/B",
        default=os.environ.get("EVOMEM_NAMESPACE", "").strip() or "default",
        help="labels joined by /; default: $EVOMEM_NAMESPACE, else default",
    )
    add(
        "--toolset",
        choices=TOOLSETS,
        default=TOOLSETS[0],
        help="notes: remember and recall; patch: operations on evidence; default: notes",
    )
    add("--config", metavar="PATH", help="YAML file with the policy; default: $EVOMEM_CONFIG")
    add(
        "--embedder",
        metavar="NAME",
        default=os.environ.get("EVOMEM_EMBEDDER", "").strip() or "none",
        help="what makes vectors, such as minilm; default: $EVOMEM_EMBEDDER, else none",
    )
    add("--read-only", action="store_true", help="refuse every write")
    add("--linking", choices=["off", "suggest", "auto"], help="default: suggest")
    add(
        "--auto-supersede",
        choices=["llm", "heuristic", "encoder"],
        help="link without asking when certain, by this judge",
    )
    add("--linker-model", metavar="M", help="with --auto-supersede llm")
    add("--linker-base-url", metavar="URL", help="with --auto-supersede llm")
    add(
        "--max-chars",
        type=_bound,
        default=DEFAULT_MAX_CHARS,
        help=f"bound of an answer; default: {DEFAULT_MAX_CHARS}",
    )
    add("--transport", choices=["stdio", "streamable-http"], default="stdio")
    add("--host", default="127.0.0.1", help="loopback only; default: 127.0.0.1")
    add("--port", type=_port, default=8765, help="default: 8765")
    level = os.environ.get("EVOMEM_LOG_LEVEL", "WARNING").upper()
    add("--log-level", choices=LEVELS, default=level if level in LEVELS else "WARNING")
    return parser


def _check_host(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.transport != "stdio" and options.host not in LOOPBACK:
        parser.error(
            f"--host {options.host}: only {', '.join(LOOPBACK)} is allowed, as this version has "
            "no authentication and anyone who reaches the port could read and change the memory."
        )


def _linking(parser: argparse.ArgumentParser, options: argparse.Namespace) -> str:
    judge = options.auto_supersede
    if judge != "llm" and (options.linker_model or options.linker_base_url):
        parser.error("--linker-model and --linker-base-url need --auto-supersede llm.")
    if judge in {"llm", "encoder"}:
        parser.error(
            f"--auto-supersede {judge} is not available in this version. Use "
            "--auto-supersede heuristic, or leave it out to have candidates suggested."
        )
    if judge and options.linking not in {None, "auto"}:
        parser.error(f"--auto-supersede {judge} links on its own: leave --linking out.")
    return "auto" if judge else options.linking or "suggest"


def _bound(text: str) -> int:
    if not text.isdecimal() or int(text) < LEAST_MAX_CHARS:
        message = f"{text!r} is no whole number from {LEAST_MAX_CHARS}."
        raise argparse.ArgumentTypeError(message)
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        message = f"{text!r} is no port."
        raise argparse.ArgumentTypeError(message)
    return int(text)
