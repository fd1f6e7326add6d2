"""Servers in memory and as processes, on a store in the test's own folder."""

import os
import sys

import pytest

import evomem


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Return the environment in which a process starts as an installed server does: compiled."""
    folder = tmp_path_factory.mktemp("bytecode")
    return {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


@pytest.fixture(autouse=True)
def installed(monkeypatch, compiled):
    for name, value in compiled.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def db(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def memory(db):
    with evomem.open(db, linking="off") as opened:
        yield opened


@pytest.fixture
def connect(memory):
    """Return an official client on a server in memory; enter it inside the test."""
    from evomem_mcp.server import create_server
    from mcp import Client

    def open_client(on=memory, *, mode="auto", **options):
        return Client(create_server(on, **options), mode=mode)

    return open_client


@pytest.fixture
def start(db):
    """Return an official client on a server in a process; enter it inside the test."""
    from mcp import Client, StdioServerParameters

    def start_server(*words, mode="auto", env=None):
        arguments = ["-m", "evomem_mcp", "--db", str(db), *map(str, words)]
        environment = os.environ | (env or {})
        server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        return Client(server, mode=mode)

    return start_server


@pytest.fixture
def says():
    """Return the one text of a result."""

    def text(result):
        (block,) = result.content
        return block.text

    return text


@pytest.fixture
def refused():
    """Check a refusal and return its error: the message as text, and nothing of our insides."""

    def check(result, code):
        assert result.is_error is True
        (block,) = result.content
        error = result.structured_content["error"]
        assert result.structured_content == {"ok": False, "error": error}
        assert error["code"] == code
        assert block.text == error["message"]
        assert "Traceback" not in block.text
        return error

    return check
