"""A client of Model Context Protocol servers over their pipes, with nothing in between."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Self

_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "evomem-bench", "version": "1"},
}
_PATIENCE_S = 30


class StdioServer:
    """A server as a process, asked one call at a time.

    Args:
        command: Starts it.
        environment: Variables that it gets besides ours.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603  a server that we installed
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
            text=True,
            encoding="utf-8",
        )
        self._keys = itertools.count(1)
        self._ask("initialize", _HELLO)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its result.

        Raises:
            RuntimeError: The server refused the call, or ended.
        """
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result

    def _ask(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        key = next(self._keys)
        self._send({"id": key, "method": method, "params": params})
        for line in self._process.stdout or ():
            message = json.loads(line)
            if message.get("id") != key:
                continue
            if "error" in message:
                raise RuntimeError(message["error"]["message"])
            result: dict[str, Any] = message["result"]
            return result
        ended = "The server ended."
        raise RuntimeError(ended)

    def _send(self, message: Mapping[str, object]) -> None:
        pipe = self._process.stdin
        if pipe is not None:
            pipe.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            pipe.flush()

    def __enter__(self) -> Self:
        """Return the server."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close its input, which ends it; end it by force if not."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def entity(text: str) -> dict[str, object]:
    """Return a note as server-memory knows it: an entity named after the note's last word."""
    return {"name": text.rsplit(" ", 1)[1], "entityType": "note", "observations": [text]}
