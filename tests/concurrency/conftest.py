"""A store in a file, and an environment in which processes start quickly."""

import pytest

import evomem


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Return the variables by which compiled modules are kept for the next process."""
    folder = tmp_path_factory.mktemp("bytecode")
    return {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


@pytest.fixture(autouse=True)
def started_as_installed(monkeypatch, compiled):
    for name, value in compiled.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def memory(path):
    with evomem.open(path, linking="off") as opened:
        yield opened
