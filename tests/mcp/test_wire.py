"""What a client sees on the pipes, whatever it sends."""

import json
import sys
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.mcp.wire import Wire

pytestmark = pytest.mark.subprocess

MESSAGE = {
    "type": "object",
    "properties": {"jsonrpc": {"const": "2.0"}},
    "required": ["jsonrpc"],
    "oneOf": [{"required": ["result"]}, {"required": ["error"]}, {"required": ["method"]}],
}

# Whatever a part of us, or a child process, writes to standard output while a tool runs.
LOUD = """
import logging, os, subprocess, sys, warnings
import evomem
from evomem_mcp.main import main
recall, stats = evomem.Memory.recall, evomem.Memory.stats
def loud_recall(self, *a, **k):
    print("a print"); sys.stdout.write("no line end"); sys.stdout.flush()
    os.write(1, b"bytes on descriptor 1\\n")
    subprocess.run([sys.executable, "-S", "-c", "print('a child')"], check=True)
    warnings.warn("a warning"); logging.getLogger("evomem").error("a log line")
    return recall(self, *a, **k)
def broken_stats(self):
    raise RuntimeError("a defect")
evomem.Memory.recall, evomem.Memory.stats = loud_recall, broken_stats
sys.exit(main(sys.argv[1:]))
"""


def command(script):
    return [sys.executable, "-c", script]


def test_standard_output_is_json_rpc_and_nothing_else(db):
    """MCP-001: also on prints, warnings, tracebacks, child processes and the first run."""
    env = {"EVOMEM_LOG_LEVEL": "DEBUG", "PYTHONWARNINGS": "always"}
    with Wire("--db", db, command=command(LOUD), env=env) as wire:
        wire.hello()
        wire.ask("tools/list")
        node_id = wire.call("remember", raw_text="A note.")["structuredContent"]["node"]["id"]
        wire.call("recall", query="note")
        wire.call("get_node", node_id=node_id)
        wire.call("history", node_id=node_id)
        wire.call("link", node_id=node_id, supersedes=[node_id])
        wire.call("forget", node_id=node_id)
        assert wire.call("stats")["isError"] is True
        wire.call("no_such_tool")
        assert wire.close() == 0
        lines, errors = wire.lines, wire.errors
    assert len(lines) == 10
    for line in lines:
        jsonschema.validate(json.loads(line), MESSAGE)
    for loud in [b"a print", b"descriptor 1", b"a child", b"a log line", b"a defect"]:
        assert loud in errors


def test_the_protocol_is_utf_8_whatever_the_locale(db):
    """MCP-002: a Windows code page, no locale at all, or half an emoji."""
    text = "\u2705 \u6a5f\u80fd\u3092\u8ffd\u52a0 \U0001f389"
    env = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"}
    with Wire("--db", db, env=env) as wire:
        wire.hello()
        assert wire.call("remember", raw_text=text)["structuredContent"]["node"]["text"] == text
        found = wire.call("recall", query="\u6a5f\u80fd")
        assert found["structuredContent"]["hits"][0]["node"]["text"] == text
        assert text in found["content"][0]["text"]
        call = {"name": "remember", "arguments": {"raw_text": "TEXT"}}
        line = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call})
        wire.send_line(line.replace("TEXT", r"cut in half \ud83d"))
        kept = wire.reply(5)["result"]["structuredContent"]
        assert kept["node"]["text"] == "cut in half \ufffd"
        assert wire.close() == 0


SLOW = """
import sys, time
import evomem
from evomem_mcp.main import main
remember = evomem.Memory.remember
def slow(self, text, **options):
    time.sleep(1)
    return remember(self, text, **options)
evomem.Memory.remember = slow
sys.exit(main(sys.argv[1:]))
"""


def test_a_cancelled_request_neither_kills_nor_writes_twice(db):
    """MCP-003: the server lives, and the note is stored once or not at all."""
    with Wire("--db", db, command=command(SLOW)) as wire:
        wire.hello()
        arguments = {"name": "remember", "arguments": {"raw_text": "slow"}}
        wire.send("tools/call", arguments, key=3)
        for request in (3, 999):
            reason = {"requestId": request, "reason": "Request timed out"}
            wire.send("notifications/cancelled", reason)
        assert wire.ask("ping")["result"] == {}
        assert wire.call("remember", raw_text="slow")["isError"] is False
        assert wire.call("stats")["structuredContent"]["nodes"]["active"] == 1
        assert wire.close() == 0
        assert not any(json.loads(line).get("id") == 999 for line in wire.lines)


def test_a_request_before_the_handshake_is_an_error_and_the_handshake_still_works(db):
    """MCP-004: over stdio; test_http has the same over HTTP."""
    with Wire("--db", db) as wire:
        assert "error" in wire.ask("tools/list")
        assert "error" in wire.ask("tools/call", {"name": "stats", "arguments": {}})
        assert wire.hello()["serverInfo"]["name"] == "evomem"
        assert len(wire.ask("tools/list")["result"]["tools"]) == 7
        assert wire.close() == 0


def test_malformed_input_never_stops_the_server(db):
    with Wire("--db", db) as wire:
        wire.hello()
        for line in [
            "not json",
            "{",
            "",
            "[]",
            "null",
            '{"id": 7}',
            '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
            b"\xff\xfe\x00",
            "[" * 100_000,
            '{"jsonrpc": "2.0", "id": 2, "result": {}}',
            '{"jsonrpc": "2.0", "method": "notifications/nonsense"}',
        ]:
            wire.send_line(line)
            assert wire.ask("ping")["result"] == {}
        assert wire.ask("no/such/method")["error"]["code"] == -32601
        params: Any
        for params in [
            None,
            {},
            {"name": 7},
            {"arguments": {}},
            {"name": "recall", "arguments": "x"},
            {"name": "recall", "arguments": ["x"]},
        ]:
            assert wire.ask("tools/call", params)["error"]["code"] == -32602
        assert wire.ask("tools/call", {"name": "recall"})["result"]["isError"] is True
        large = wire.call("remember", raw_text="x " * 2_000_000)
        assert large["structuredContent"]["error"]["code"] == "TOO_LARGE"
        assert wire.call("stats")["structuredContent"]["patches"] == 0
        assert wire.close() == 0
        for line in wire.lines:
            jsonschema.validate(json.loads(line), MESSAGE)


def test_several_calls_at_once_get_one_reply_each(db):
    """CON-003: every reply carries its own id, and the counts agree with the calls."""
    with Wire("--db", db) as wire:
        wire.hello()
        first = wire.call("remember", raw_text="p zero")["structuredContent"]["node"]["id"]
        calls = [("remember", {"raw_text": f"p {number}"}) for number in range(20)]
        calls += [("recall", {"query": "p"}), ("forget", {"node_id": first}), ("stats", {})]
        for key, (tool, arguments) in enumerate(calls):
            wire.send("tools/call", {"name": tool, "arguments": arguments}, key=key)
        for key, (tool, arguments) in enumerate(calls):
            result = wire.reply(key)["result"]
            assert result["isError"] is False
            if tool == "remember":
                assert result["structuredContent"]["node"]["text"] == arguments["raw_text"]
        nodes = wire.call("stats")["structuredContent"]["nodes"]
        assert (nodes["active"], nodes["forgotten"]) == (20, 1)
