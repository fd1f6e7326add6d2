"""A store in a file, and what stands in for another user."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.conformance.builders import HOME, Clock, open_memory

from evomem import Memory
from evomem.engines.sqlite.engine import SqliteEngine

_NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def engine(path: Path) -> Iterator[SqliteEngine]:
    engine = SqliteEngine(path)
    yield engine
    engine.close()


@pytest.fixture
def memory(engine: SqliteEngine) -> Memory:
    return open_memory(engine, Clock(), HOME)


@pytest.fixture
def as_nobody(tmp_path: Path) -> Callable[[], AbstractContextManager[None]]:
    """Return a way to act without the rights of root, whom no permission binds."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.name.startswith(("pytest-", "popen-")):
            folder.chmod(0o755)
    tmp_path.chmod(0o755)

    @contextmanager
    def lowered() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(_NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)

    return lowered
