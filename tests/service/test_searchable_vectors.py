"""Vectors of what a question may not find, or not any more."""

from array import array

import pytest
from tests.service.test_embedding import Words, stored

import evomem
from evomem import Supersede
from evomem.domain.namespace import Reach
from evomem.engines.base import Filters, SearchLimits


@pytest.fixture
def words():
    return Words(dimension=251)


@pytest.fixture
def memory(tmp_path, words):
    with evomem.open(tmp_path / "store.db", embedder=words, linking="off") as opened:
        yield opened
        assert opened.doctor().ok


def near(memory, query):
    return [hit.node.text for hit in memory.recall(query, ranking="vector").hits]


def complete(memory):
    """Nothing is missing, and a rebuild leaves it so."""
    before = stored(memory)
    assert memory.stats().missing_vectors == 0
    assert memory.reindex().embedded == 0
    memory._context.engine.rebuild()
    return stored(memory) == before and set(before)


def test_what_is_never_found_is_not_embedded(memory, words):
    memory.remember("blue", searchable="never")
    assert words.asked == []
    assert complete(memory) == set()
    result = memory.recall("blue")
    assert (result.hits, result.warnings) == ((), ())


def test_the_vector_of_a_tip_goes_with_its_documents(memory):
    assert memory.remember("blue", slot="colour", searchable="tip").warnings == ()
    assert near(memory, "blue") == ["blue"]
    new = memory.remember("green", slot="colour", searchable="tip")
    assert complete(memory) == {new.node.id}
    assert near(memory, "blue") == ["green"]


def test_what_is_added_and_replaced_at_once_is_not_embedded(memory, words):
    event = memory.record_event("user", "go").id
    first = memory.remember("blue", searchable="tip").node
    changes = [
        Supersede(memory_id=first.memory_id, expected_version=n, new_content=f"green {n}")
        for n in (1, 2)
    ]
    done = memory.apply(changes, evidence=[event])
    assert done.warnings == ()
    assert words.asked == ["blue", "green 2"]
    assert complete(memory) == {done.operations[-1].node_id}


def test_a_vector_that_comes_back_is_found_once(memory):
    """The process has the old one still loaded."""
    old = memory.remember("blue", searchable="tip").node.id
    rest = memory.remember_many(["red", "yellow", "black"])
    assert near(memory, "blue")[0] == "blue"
    new = memory.remember("green", supersedes=old, searchable="tip").node.id
    assert "blue" not in near(memory, "blue")
    memory.unlink(new, old)
    assert memory.stats().missing_vectors == 1
    assert memory.recall("blue", ranking="lexical").hits[0].node.id == old
    assert (memory.reindex().embedded, memory.stats().missing_vectors) == (1, 0)
    for _ in range(2):
        found = near(memory, "blue")
        assert found[0] == "blue"
        assert sorted(found) == ["black", "blue", "green", "red", "yellow"]
    assert complete(memory) == {old, new, *(result.node.id for result in rest)}


def test_a_vector_that_comes_too_late_is_not_stored(memory):
    """A reindex embeds while another writer replaces the node."""
    old = memory.remember("blue", searchable="tip").node.id
    memory.remember("green", supersedes=old, searchable="tip")
    engine = memory._context.engine
    value = next(iter(stored(memory).values()))
    assert engine.add_vectors("words/1", {old: value}) == 0
    assert len(complete(memory)) == 1


def test_a_vector_of_what_no_search_may_find_is_found_and_dropped(memory):
    node = memory.remember("blue").node
    with memory._context.engine._transaction() as connection:
        connection.execute("UPDATE node SET searchable = 'never'")
    problem = next(check for check in memory.doctor().checks if check.name == "index")
    assert not problem.ok
    assert node.id in problem.detail
    memory._context.engine.rebuild()
    assert stored(memory) == {}
    with memory._context.engine._transaction() as connection:
        connection.execute("UPDATE node SET searchable = 'always'")
    memory._context.engine.rebuild()


def test_a_hundred_values_leave_one_vector(memory):
    for number in range(100):
        memory.remember(f"colour {number}", slot="colour", searchable="tip")
        if number % 7 == 0:
            assert near(memory, "colour") == [f"colour {number}"]
    assert len(complete(memory)) == 1


def test_a_vector_loaded_twice_is_one_hit(memory, words):
    """So few of those loaded are gone that they are not loaded anew."""
    memory.remember_many([f"other {number}" for number in range(40)])
    old = memory.remember("blue", searchable="tip").node.id
    assert near(memory, "blue")[0] == "blue"
    new = memory.remember("green", supersedes=old).node.id
    memory.unlink(new, old)
    memory.reindex()
    query = array("f", words.row("blue")).tobytes()
    with memory._context.engine.read() as reader:
        reach = Reach(memory.namespace)
        found = reader.nearest(reach, words.name, query, Filters(), SearchLimits()).hits
    assert found[0].node_id == old
    assert len({hit.node_id for hit in found}) == len(found)
