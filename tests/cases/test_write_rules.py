"""The rules of writing, attacked: links, scopes, parts, versions, keys, batches, slots."""

import pytest

from evomem import (
    IdempotencyConflictError,
    InvalidRequestError,
    NotFoundError,
    ScopeMismatchError,
    Status,
    VersionConflictError,
)


@pytest.mark.parametrize("old_scope", [None, "production", "production/eu"])
def test_a_narrower_or_disjoint_note_does_not_replace_wholly(memory, refused, old_scope):
    old = memory.remember("ledger on postgres", scope=old_scope).node.id
    scope = "staging" if old_scope else "production"
    with refused(memory, ScopeMismatchError, rf"overrides=\[{old}\]"):
        memory.remember("ledger on sqlite", scope=scope, supersedes=old)
    with refused(memory, ScopeMismatchError, rf"overrides=\[{old}\]"):
        memory.remember("ledger on sqlite", scope=scope, refines=old)
    other = memory.remember("ledger on files", scope=scope).node.id
    with refused(memory, ScopeMismatchError, rf"overrides=\[{old}\]"):
        memory.link(other, supersedes=old)


def test_a_note_of_the_same_or_a_broader_scope_replaces(memory):
    old = memory.remember("one", scope="staging/eu").node.id
    inherited = memory.remember("two", supersedes=old).node
    assert inherited.scope == "staging/eu"
    broader = memory.remember("three", scope=" Staging ", supersedes=inherited.id).node
    assert broader.scope == "staging"
    assert [node.id for node in memory.list()] == [broader.id]


@pytest.mark.parametrize("scope", ["staging", "STAGING", "production", "production/eu", None])
def test_an_override_lies_inside_what_it_overrides(memory, refused, scope):
    old = memory.remember("ledger on postgres", scope="staging").node.id
    error = ScopeMismatchError if scope else InvalidRequestError
    with refused(memory, error, "scope"):
        memory.remember("ledger on sqlite", scope=scope, overrides=old)


def test_an_override_wins_in_its_scope_only(memory, found):
    broad = memory.remember("ledger on postgres").node.id
    narrow = memory.remember("ledger on sqlite", scope="staging", overrides=broad).node.id
    hits = memory.recall("ledger postgres", scope="staging/eu").hits
    assert [hit.node.id for hit in hits] == [narrow, broad]
    assert hits[1].overridden == (narrow,)
    assert found(memory, "ledger", scope="production") == [broad]
    assert {*found(memory, "ledger")} == {broad, narrow}
    assert memory.get_node(broad).status is Status.ACTIVE


@pytest.mark.parametrize("part", ["weekly dumps", "Nightly dumps", "nightly  dumps!"])
def test_an_amended_part_is_quoted_from_the_text(memory, refused, part):
    old = memory.remember("Postgres with nightly\ndumps.").node.id
    with refused(memory, InvalidRequestError, f"is not in the text of {old}"):
        memory.remember("Dumps are hourly.", amends={"id": old, "part": part})
    result = memory.remember("Dumps are hourly.", amends=[{"id": old, "part": "nightly dumps"}])
    assert result.superseded == ()
    assert memory.get_node(old).status is Status.ACTIVE
    assert memory.get_node(old).relations == {"amended_by": (result.node.id,)}


@pytest.mark.promise("head.cas")
def test_a_version_that_is_not_current_conflicts(memory, refused):
    first = memory.remember("one").node
    second = memory.remember("two", supersedes=first.id, expected_version=1).node
    for expected in (1, 3, 2**53):
        with refused(memory, VersionConflictError, "pass expected_version=2") as caught:
            memory.remember("three", supersedes=first.id, expected_version=expected)
        assert caught.value.details["current"] == {
            "memory_id": first.memory_id,
            "version": 2,
            "node_id": second.id,
        }


@pytest.mark.promise("head.cas")
def test_a_version_is_checked_when_an_equal_note_exists(memory, refused):
    twin = memory.remember("twin").node.id
    old = memory.remember("old").node.id
    with refused(memory, VersionConflictError, "expected_version=1"):
        memory.remember("twin", supersedes=old, expected_version=9)
    result = memory.remember("twin", supersedes=old, expected_version=1)
    assert (result.node.id, result.superseded) == (twin, (old,))


@pytest.mark.promise("head.cas")
def test_a_version_of_an_empty_slot_conflicts(memory, refused):
    with refused(memory, VersionConflictError, "version"):
        memory.remember("sqlite", slot="db", expected_version=3)


@pytest.mark.promise("write.idempotent")
def test_a_replay_gives_the_first_ids_and_todays_status(memory, refused):
    call = {"text": "one", "tags": ["x"], "metadata": {"b": 1, "a": 2}, "idempotency_key": "k"}
    first = memory.remember(**call)
    memory.remember("two", supersedes=first.node.id)
    again = memory.remember(**{**call, "metadata": {"a": 2, "b": 1}, "actor": "retry"})
    assert (again.replayed, again.node.id, again.patch_id) == (True, first.node.id, first.patch_id)
    assert again.node.status is Status.SUPERSEDED
    for name, other in (("text", "other"), ("tags", None), ("metadata", None), ("scope", "eu")):
        with refused(memory, IdempotencyConflictError, "'k' was used for another request"):
            memory.remember(**{**call, name: other})
    assert not memory.within("below").remember(**call).replayed
    memory.forget(first.node.id, purge=True)
    assert memory.remember(**call).node.status is Status.FORGOTTEN


@pytest.mark.promise("write.idempotent")
def test_a_key_on_an_equal_note_is_kept_too(memory, refused):
    first = memory.remember("one")
    keyed = memory.remember("one", idempotency_key="k")
    assert (keyed.deduplicated, keyed.replayed) == (True, False)
    again = memory.remember("one", idempotency_key="k")
    assert (again.deduplicated, again.replayed, again.node.id) == (True, True, first.node.id)
    with refused(memory, IdempotencyConflictError, "another request"):
        memory.remember("other", idempotency_key="k")


@pytest.mark.promise("write.idempotent")
def test_a_batch_is_replayed_as_a_whole(memory, refused):
    first = memory.remember_many(["one", "two"], idempotency_key="k")
    again = memory.remember_many(["one", "two"], idempotency_key="k")
    assert [result.node.id for result in again] == [result.node.id for result in first]
    assert all(result.replayed for result in again)
    with refused(memory, IdempotencyConflictError, "another request"):
        memory.remember_many(["two", "one"], idempotency_key="k")


@pytest.mark.promise("resolve.total")
def test_one_batch_may_split_a_node(memory, refused, found):
    old = memory.remember("everything").node.id
    parts = memory.remember_many([{"text": t, "supersedes": old} for t in ("left", "right")])
    ids = [result.node.id for result in parts]
    assert sorted(found(memory, "everything")) == sorted(ids)
    assert {*memory.get_node(old).superseded_by} == {*ids}
    with refused(memory, InvalidRequestError, "was split into.*name the one you mean"):
        memory.remember("new", supersedes=old)
    assert memory.remember("new left", supersedes=ids[0]).superseded == (ids[0],)


def test_the_same_text_twice_in_a_batch_is_one_note(memory):
    one, other = memory.remember_many(["same", " same\n"])
    assert (one.deduplicated, other.deduplicated) == (False, True)
    assert one.node.id == other.node.id
    assert memory.stats().nodes["active"] == 1


def test_two_values_of_one_slot_in_a_batch_are_two_versions(memory):
    one, other = memory.remember_many([{"text": t, "slot": "db"} for t in ("postgres", "sqlite")])
    assert other.superseded == (one.node.id,)
    assert (other.node.memory_id, other.node.version) == (one.node.memory_id, 2)
    assert [node.text for node in memory.list()] == ["sqlite"]


def test_refined_wordings_of_a_standing_decision_are_not_superseded(memory, found):
    first = memory.remember("use tabs").node.id
    second = memory.remember("indent with tabs", refines=first).node.id
    third = memory.remember("indent by one tab", refines=first).node.id
    statuses = {node.id: node.status for node in memory.history(first)}
    assert statuses == {third: "active", second: "refined", first: "refined"}
    fourth = memory.remember("four blanks", supersedes=third).node.id
    statuses = {node.id: node.status for node in memory.history(first)}
    assert [statuses[n] for n in (first, second, third)] == ["superseded"] * 3
    assert found(memory, "tabs") == [fourth]


def test_a_slot_has_one_value_per_scope(memory):
    first = memory.remember("postgres", slot="db").node
    staging = memory.remember("files", slot="db", scope="staging").node
    second = memory.remember("sqlite", slot="db").node
    assert (second.memory_id, second.version, second.supersedes) == (
        first.memory_id,
        2,
        (first.id,),
    )
    assert {node.id for node in memory.list()} == {staging.id, second.id}
    memory.forget(second.id)
    assert {node.id for node in memory.list()} == {staging.id}
    third = memory.remember("postgres", slot="db").node
    assert third.supersedes == (second.id,)
    assert third.status is Status.ACTIVE


@pytest.mark.parametrize("scope", [None, "eu"])
def test_a_slot_keeps_one_value_whatever_else_is_superseded(memory, scope):
    memory.remember("postgres", slot="db", scope=scope)
    other = memory.remember("a note", scope=scope).node.id
    last = memory.remember("sqlite", slot="db", supersedes=other).node.id
    in_slot = [node.id for node in memory.list() if node.slot == "db"]
    assert in_slot == [last]


def test_a_purged_node_keeps_its_place_and_loses_its_words(memory, found):
    first = memory.remember("secret one", tags=["t"], subject="s", metadata={"a": 1}).node.id
    second = memory.remember("two", supersedes=first).node.id
    assert memory.forget(first, purge=True).changed
    story = memory.history(second)
    assert [(node.id, node.text, node.purged) for node in story] == [
        (second, "two", False),
        (first, "", True),
    ]
    assert (story[1].tags, story[1].subject, story[1].metadata) == ((), None, {})
    assert found(memory, "secret") == []
    with pytest.raises(NotFoundError, match="was purged"):
        memory.get_node(first)


def test_a_link_needs_something_to_replace(memory, refused):
    first = memory.remember("one").node.id
    for nothing in (list[str](), ()):
        with refused(memory, InvalidRequestError, "name the older node"):
            memory.link(first, supersedes=nothing)
    for blank in ("", [" "]):
        with refused(memory, InvalidRequestError, "is no id"):
            memory.link(first, supersedes=blank)


def test_only_an_open_link_may_be_undone(memory, refused):
    first = memory.remember("one").node.id
    second = memory.remember("two", supersedes=first).node.id
    with refused(memory, NotFoundError, "no open link"):
        memory.unlink(first, second)
    with refused(memory, NotFoundError, "no open link"):
        memory.unlink(first, first)
    memory.unlink(second, first)
    with refused(memory, NotFoundError, "no open link"):
        memory.unlink(second, first)


def test_a_link_made_before_is_a_no_op(memory):
    first = memory.remember("one").node.id
    second = memory.remember("two", supersedes=first).node.id
    before = memory.stats()
    assert "nothing was done" in memory.link(second, supersedes=first).warnings[0]
    assert memory.stats() == before
