"""Every engine passes the same tests: a new one is one more entry of `FACTORIES`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conformance.builders import HOME, Clock, open_memory

from evomem import Memory
from evomem.engines.base import Engine
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.errors import EngineError

FACTORIES: dict[str, Callable[[Path], Engine]] = {
    "sqlite": lambda folder: SqliteEngine(folder / "store.db"),
    "sqlite-memory": lambda _: SqliteEngine(":memory:"),
}


@pytest.fixture(params=FACTORIES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    engine = FACTORIES[request.param](tmp_path)
    yield engine
    try:
        problems = engine.verify()
    except EngineError as error:
        problems = [] if "was closed" in error.message else [error.message]
    engine.close()
    assert problems == []


@pytest.fixture(params=FACTORIES)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Engine]]:
    """Return a way to make empty engines, all of one kind."""
    made: list[Engine] = []

    def make() -> Engine:
        folder = tmp_path / f"fresh{len(made)}"
        folder.mkdir()
        made.append(FACTORIES[request.param](folder))
        return made[-1]

    yield make
    problems = [engine.verify() for engine in made]
    for engine in made:
        engine.close()
    assert not any(problems)


@pytest.fixture(scope="module", params=FACTORIES)
def shared_engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    engine = FACTORIES[request.param](tmp_path_factory.mktemp("shared"))
    yield engine
    problems = engine.verify()
    engine.close()
    assert problems == []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(engine: Engine, clock: Clock) -> Memory:
    return open_memory(engine, clock, HOME)
