"""What was replaced, edited or deleted is never shown as current."""

import pytest

from evomem import NotFoundError, Status


@pytest.mark.promise("recall.head")
def test_a_query_that_matches_the_old_version_answers_with_the_new_one(memory):
    """STA-001: Superseded note still returned as current."""
    old = memory.remember("We picked Postgres for the ledger database.").node.id
    new = memory.remember("Moved it to SQLite.", supersedes=old).node.id
    result = memory.recall("ledger postgres database", include_history=True)
    assert [hit.node.id for hit in result.hits] == [new]
    (hit,) = result.hits
    assert hit.node.status is Status.ACTIVE
    assert hit.matched == (old, 1, "text")
    assert [(node.id, node.status) for node in hit.supersedes] == [(old, Status.SUPERSEDED)]
    assert [(node.id, node.status) for node in hit.history] == [(old, Status.SUPERSEDED)]
    assert memory.get_node(old).status is Status.SUPERSEDED
    assert f"status: superseded | {old}" in result.to_text()


@pytest.mark.promise("recall.head", "read.own-write")
def test_after_an_edit_the_old_words_lead_to_the_new_wording_only(memory):
    """STA-002: Index out of step after an edit."""
    old = memory.remember("backup at 02:00 with restic").node.id
    new = memory.remember("backup at 04:00 with borg", refines=old).node.id
    for query in ("borg", "restic"):
        (hit,) = memory.recall(query, include_history=True).hits
        assert hit.node.id == new
        assert [(node.id, node.status) for node in hit.history] == [(old, Status.REFINED)]
    assert memory.recall("restic").hits[0].matched.node_id == old


@pytest.mark.parametrize("query", ["token rotation", "ops-x", "mondays", ""])
def test_a_forgotten_note_is_not_found(memory, found, query):
    """STA-003: Deleted note still found."""
    text = "temporary token rotation is on mondays"
    node_id = memory.remember(text, tags=["ops-x"]).node.id
    assert found(memory, query) == [node_id]
    assert memory.forget(node_id).changed
    assert found(memory, query) == []
    assert found(memory, query, tags="ops-x") == []
    assert memory.get_node(node_id).status is Status.FORGOTTEN


def test_a_second_forget_is_a_clear_no_op(memory):
    """STA-003: the second call says that there was nothing to do."""
    node_id = memory.remember("temporary token rotation", tags=["ops-x"]).node.id
    memory.forget(node_id)
    before = memory.stats()
    again = memory.forget(node_id)
    assert not again.changed
    assert "forgotten before" in again.warnings[0]
    assert again.patch_id is None
    assert memory.stats() == before


def test_after_a_purge_the_note_is_not_found_by_id(memory):
    """STA-003: after purge, get says not found."""
    node_id = memory.remember("temporary token rotation", tags=["ops-x"]).node.id
    memory.forget(node_id)
    assert memory.forget(node_id, purge=True).changed
    assert not memory.forget(node_id, purge=True).changed
    with pytest.raises(NotFoundError, match=f"{node_id} was purged"):
        memory.get_node(node_id)


def test_every_view_counts_the_decisions_in_force_only(memory, found):
    """STA-104: Listings other than search count replaced decisions as live."""
    first = memory.remember("v1").node.id
    second = memory.remember("v2", supersedes=first).node.id
    third = memory.remember("other v1").node.id
    fourth = memory.remember("other v2", supersedes=third).node.id
    stats = memory.stats()
    assert (stats.nodes["active"], stats.nodes["superseded"]) == (2, 2)
    assert [node.id for node in memory.list()] == [fourth, second]
    assert [node.id for node in memory.list(status="superseded")] == [third, first]
    assert found(memory, "") == [fourth, second]
    assert set(found(memory, "v1")) == {second, fourth}
    assert memory.get_node(first).superseded_by == (second,)
    assert memory.get_node(third).superseded_by == (fourth,)
    assert [node.id for node in memory.history(first)] == [second, first]
    assert memory.review() == []
