import pytest
from typer.testing import CliRunner

import evomem_bench.main
from evomem_bench.frameworks import langgraph
from evomem_bench.frameworks.langgraph import CORE, RETRIEVER, STORE, Sizes, run_langgraph
from evomem_bench.frameworks.langgraph_stores import HYBRID, IN_MEMORY, SQLITE, WORDS, can_index

TINY = Sizes(vocabulary=500, items=(20,), calls=5, versions=10)


@pytest.fixture(scope="module")
def rows():
    return run_langgraph(TINY, seed=3).rows


def systems(rows, part):
    return {row["system"] for row in rows if row["part"] == part}


def test_every_store_is_asked_for_everything(rows):
    stores = {IN_MEMORY, WORDS, HYBRID} | ({SQLITE} if can_index() else set())
    parts = {row["part"] for row in rows if row["system"] == WORDS}
    assert parts == {
        "search by a query",
        "search by a condition",
        "get",
        "put a new key",
        "put a key that is there",
    }
    assert all(systems(rows, part) == stores for part in parts)
    assert all(row["calls"] == TINY.calls for row in rows)


def test_the_adapters_are_compared_with_the_core(rows):
    assert systems(rows, "overhead over the core") == {CORE, RETRIEVER, STORE}


def test_a_key_is_timed_before_and_after_its_versions(rows):
    assert systems(rows, "one key, 10 versions") == {
        f"{kind}, {when}"
        for kind in ("put", "get", "search", "list")
        for when in ("before", "after")
    }


def test_speed_has_it_as_an_option(monkeypatch):
    monkeypatch.setattr(langgraph, "QUICK", TINY)
    done = CliRunner().invoke(evomem_bench.main.app, ["speed", "--langgraph", "--quick", "--json"])
    assert done.exit_code == 0
    assert '"benchmark": "langgraph"' in done.output
    both = CliRunner().invoke(evomem_bench.main.app, ["speed", "--langgraph", "--peers"])
    assert both.exit_code == 2
