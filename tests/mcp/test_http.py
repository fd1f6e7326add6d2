"""Streamable HTTP on loopback."""

import contextlib
import signal
import socket
import subprocess
import time

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from tests.mcp.wire import COMMAND, HELLO

import evomem
from mcp import Client

pytestmark = [pytest.mark.anyio, pytest.mark.subprocess]


@contextlib.contextmanager
def serving(db):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["--db", str(db), "--transport", "streamable-http", "--port", str(port)]
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert f"http://127.0.0.1:{port}/mcp".encode() in next(iter(process.stderr or []))
            _wait_for(port)
            yield f"http://127.0.0.1:{port}/mcp", port
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=10)
    assert process.returncode == 0
    assert b"Traceback" not in errors


def _wait_for(port):
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def post(client, url, message, **headers):
    accept = {"Accept": "application/json, text/event-stream"}
    return client.post(url, json=message, headers=accept | headers)


async def test_a_recall_over_http(db):
    with evomem.open(db, linking="off") as memory:
        node_id = memory.remember("We picked Postgres for the ledger.").node.id
    with serving(db) as (url, port):
        for mode in ("auto", "legacy"):
            async with (
                httpx2.AsyncClient() as http,
                Client(streamable_http_client(url, http_client=http), mode=mode) as client,
            ):
                found = await client.call_tool("recall", {"query": "ledger"})
                assert found.structured_content["hits"][0]["node"]["id"] == node_id
                refused = await client.call_tool("get_node", {"node_id": "nothing12345"})
                assert refused.structured_content["error"]["code"] == "NOT_FOUND"
        with httpx2.Client() as raw:
            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            assert post(raw, url, ping, Host="evil.example").status_code == 421
            assert post(raw, url, ping, Origin="http://evil.example").status_code == 403
            early = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert post(raw, url, early).status_code == 400
            assert raw.post(url, content=b"not json", headers={"Accept": "*/*"}).status_code >= 400
            hello = {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": HELLO}
            assert post(raw, url, hello).status_code == 200
        taken = ["--db", str(db), "--transport", "streamable-http", "--port", str(port)]
        second = subprocess.run([*COMMAND, *taken], capture_output=True, check=False, timeout=30)
        assert second.returncode == 1
        assert b"already in use" in second.stderr
        assert b"Traceback" not in second.stderr
    with evomem.open(db, read_only=True) as memory:
        assert memory.stats().nodes["active"] == 1
