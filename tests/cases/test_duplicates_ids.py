"""Equal notes, and ids that work wherever they are shown."""

import threading

import pytest

from evomem import NotFoundError

TEXT = "Use ruff for linting."


@pytest.mark.parametrize("again", [TEXT, f"  {TEXT}\n", "Use  ruff\tfor linting."])
def test_an_equal_note_is_stored_once(memory, again):
    """DUP-001: Same note twice, two rows."""
    first = memory.remember(TEXT, tags=["py"])
    second = memory.remember(again, tags=["py"])
    assert (first.deduplicated, second.deduplicated) == (False, True)
    assert second.node.id == first.node.id
    assert second.node.text == TEXT
    assert second.patch_id is None
    assert memory.stats().nodes["active"] == 1


@pytest.mark.promise("write.atomic")
def test_ten_threads_store_an_equal_note_once(memory):
    """DUP-001: ten parallel writers."""
    barrier = threading.Barrier(10)
    results = []

    def write():
        barrier.wait(30)
        results.append(memory.remember(TEXT))

    threads = [threading.Thread(target=write) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len({result.node.id for result in results}) == 1
    assert sorted(result.deduplicated for result in results) == [False] + [True] * 9
    assert memory.stats().nodes["active"] == 1


@pytest.mark.promise("namespace.wall")
def test_equal_notes_of_different_namespaces_and_scopes_stay_apart(memory):
    """DUP-001: Different namespaces stay apart."""
    ids = {
        memory.remember(TEXT).node.id,
        memory.within("other").remember(TEXT).node.id,
        memory.remember(TEXT, scope="eu").node.id,
        memory.remember(TEXT, slot="lint").node.id,
    }
    assert len(ids) == 4


@pytest.mark.parametrize("text", ["Use Ruff for linting.", "Use ruff for linting", "Use ruff"])
def test_a_note_that_differs_at_all_is_another_note(memory, text):
    """DUP-001: only white space is folded."""
    memory.remember(TEXT)
    assert not memory.remember(text).deduplicated


def test_what_an_equal_note_would_have_changed_is_named(memory):
    """DUP-001: DESIGN section 8: other differences are named in warnings."""
    memory.remember(TEXT, tags=["py"])
    options = {"tags": ["js"], "session": "s", "subject": "lint", "metadata": {"a": 1}}
    result = memory.remember(TEXT, **options)
    for name in options:
        assert name in result.warnings[0]
    assert result.node.tags == ("py",)


def test_an_equal_note_is_linked_to_what_it_supersedes(memory):
    """DUP-001: DESIGN section 8: any supersedes in the call is linked to it."""
    twin = memory.remember(TEXT).node.id
    old = memory.remember("Use flake8 for linting.").node.id
    result = memory.remember(TEXT, supersedes=old)
    assert (result.deduplicated, result.node.id, result.superseded) == (True, twin, (old,))
    assert [node.id for node in memory.list()] == [twin]


def test_a_note_equal_to_a_replaced_one_is_a_new_decision(memory):
    """DUP-001: only active notes count."""
    first = memory.remember("Deploy on Fridays.").node.id
    second = memory.remember("Deploy on Mondays.", supersedes=first).node.id
    third = memory.remember("Deploy on Fridays.", supersedes=second)
    assert not third.deduplicated
    assert [node.id for node in memory.history(first)] == [third.node.id, second, first]


def test_the_id_of_a_hit_works_everywhere(memory, found):
    """DUP-002: Ids shown are cut and cannot be used."""
    memory.remember("to remove")
    node_id = memory.recall("to remove").hits[0].node.id
    assert f" {node_id} " in memory.recall("to remove").to_text()
    assert memory.get_node(node_id).text == "to remove"
    assert memory.history(node_id)[0].id == node_id
    newer = memory.remember("removed", supersedes=node_id).node.id
    assert memory.unlink(newer, node_id).restored == (node_id,)
    assert memory.link(newer, supersedes=node_id).superseded == (node_id,)
    assert memory.forget(node_id).changed
    assert found(memory, "to remove") == [newer]


@pytest.mark.parametrize(
    "wrong", ["nosuchnode12", "m" * 12, "x" * 200, "%%%%%%", "nnnnn%", "n_____", "******"]
)
def test_an_unknown_id_is_echoed(memory, refused, wrong):
    """DUP-002: unknown id gives 'not found' with the id echoed."""
    known = memory.remember("known").node.id
    calls = [
        lambda: memory.get_node(wrong),
        lambda: memory.history(wrong),
        lambda: memory.forget(wrong),
        lambda: memory.link(known, supersedes=wrong),
        lambda: memory.link(wrong, supersedes=known),
        lambda: memory.unlink(known, wrong),
        lambda: memory.unlink(wrong, known),
        lambda: memory.remember("new", supersedes=wrong),
    ]
    for call in calls:
        with refused(memory, NotFoundError, "no node of this namespace") as caught:
            call()
        assert repr(wrong) in caught.value.message


def test_the_shape_of_a_wrong_id_is_explained(memory, refused):
    """DUP-002: a memory or patch id in a node's place."""
    result = memory.remember("known")
    for wrong, kind in ((result.node.memory_id, "a memory"), (result.patch_id, "a patch")):
        with refused(memory, NotFoundError, f"shape of {kind} id"):
            memory.forget(wrong)


def test_a_prefix_reads_and_never_writes(memory, refused):
    """DUP-002: DESIGN section 4: prefixes of six or more are for reads."""
    node = memory.remember("known").node
    other = memory.remember("other").node.id
    assert memory.get_node(node.id[:6]) == node
    assert memory.history(node.id[:11]) == [node]
    with refused(memory, NotFoundError, node.id[:5]):
        memory.get_node(node.id[:5])
    for call in (
        lambda: memory.forget(node.id[:8]),
        lambda: memory.link(other, supersedes=node.id[:8]),
        lambda: memory.link(other[:8], supersedes=node.id),
        lambda: memory.remember("new", supersedes=node.id[:8]),
        lambda: memory.remember("new", refines=node.id[:8]),
        lambda: memory.remember("new", relations={"caused_by": node.id[:8]}),
    ):
        with refused(memory, NotFoundError, "no node of this namespace"):
            call()


@pytest.mark.promise("read.own-write")
def test_the_id_of_a_reply_reads_exactly_that_text(memory):
    """DUP-101: Off-by-one between save reply and read."""
    texts = ["first", "second", "third"]
    ids = [memory.remember(text).node.id for text in texts]
    ids += [result.node.id for result in memory.remember_many(["fourth", "fifth"])]
    assert [memory.get_node(node_id).text for node_id in ids] == [*texts, "fourth", "fifth"]
