"""A server as a process, spoken to in raw JSON-RPC over its pipes."""

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from typing import Any

COMMAND = [sys.executable, "-m", "evomem_mcp"]
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
PATIENCE_S = 30


class Wire:
    """Every line that the server prints is kept in `lines`, as it came."""

    def __init__(self, *words, command=COMMAND, env=None):
        self.process: Any = subprocess.Popen(
            [*command, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | (env or {}),
        )
        self.lines = []
        self.errors = b""
        self._ids = itertools.count(1)
        self._replies: dict[object, Any] = {}
        self._queue: queue.Queue[Any] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._drain, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self):
        for line in self.process.stdout:
            self._queue.put(line)
        self._queue.put(None)

    def _drain(self):
        self.errors = self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, method, params=None, *, key=None):
        message = {"jsonrpc": "2.0", "method": method}
        message |= {} if key is None else {"id": key}
        self.send_line(json.dumps(message | ({} if params is None else {"params": params})))

    def send_line(self, line):
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
        self.process.stdin.flush()

    def reply(self, key, patience_s=PATIENCE_S):
        while key not in self._replies:
            line = self._queue.get(timeout=patience_s)
            assert line is not None, "the server ended"
            self.lines.append(line)
            message = json.loads(line)
            if "id" in message:
                assert message["id"] not in self._replies
                self._replies[message["id"]] = message
        return self._replies[key]

    def ask(self, method, params=None):
        key = f"ask-{next(self._ids)}"
        self.send(method, params, key=key)
        return self.reply(key)

    def hello(self):
        result = self.ask("initialize", HELLO)["result"]
        self.send("notifications/initialized")
        return result

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def close(self):
        """Close standard input and return the exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            status = self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        for thread in self._threads:
            thread.join(timeout=PATIENCE_S)
        while not self._queue.empty():
            if line := self._queue.get():
                self.lines.append(line)
        self.process.stdout.close()
        self.process.stderr.close()
        return status
