"""Operations that are refused: with a stable code, a reason, and nothing written."""

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.conformance.builders import later, open_memory, picture

from evomem import (
    Add,
    EvidenceMissingError,
    EvidenceRoleError,
    InvalidRequestError,
    NotFoundError,
    Remove,
    Supersede,
    TooLargeError,
    Update,
    VersionConflictError,
)

UNKNOWN = "m00000000000"
MIB = 1 << 20
NOTHING: list[Any] = [None, [], ()]
NO_TIMES: list[Any] = ["yesterday", "2026-02-30", "", float("nan"), True, {}]


@pytest.fixture
def event(memory):
    return memory.record_event("user", "Go ahead.").id


@pytest.fixture
def note(memory):
    return memory.remember("The ledger runs on Postgres.", tags=["db"]).node


@pytest.fixture
def refused(engine, memory, note, event):
    """Expect a refusal of exactly this class that says something useful and writes nothing."""

    @contextmanager
    def expect(error, match=None, **details):
        before, commits = picture(engine), memory.changes()
        with pytest.raises(error, match=match) as caught:
            yield caught
        assert type(caught.value) is error
        plain = json.loads(json.dumps(caught.value.to_dict()))
        assert plain["code"] == error.code
        assert {name: plain["details"].get(name) for name in details} == details
        assert (picture(engine), memory.changes()) == (before, commits)

    return expect


def every_kind(memory_id, version=1):
    """One operation of each kind on a memory."""
    return (
        Update(memory_id, version, "new"),
        Supersede(memory_id, version, "new"),
        Supersede(memory_id, version, "new", part="Postgres"),
        Remove(memory_id, version),
    )


def test_without_evidence_nothing_is_done(memory, refused, note):
    for operation in (Add("s", "new"), *every_kind(note.memory_id)):
        for evidence in NOTHING:
            with refused(EvidenceMissingError, "record_event", ops=[str(operation.op)]):
                memory.apply([operation], evidence=evidence)


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("place", ["above", "below", "beside"])
def test_evidence_of_another_namespace_is_as_unknown_as_none(
    engine, memory, clock, refused, event, place
):
    home = memory.namespace
    namespace = {"above": home[:1], "below": (*home, "x"), "beside": (*home[:1], "x")}[place]
    foreign = open_memory(engine, clock, namespace).record_event("user", "Go.").id
    messages = []
    for other in (foreign, "e00000000000"):
        with refused(EvidenceMissingError, other, ids=[other]) as caught:
            memory.apply([Add("s", "new")], evidence=[event, other])
        messages.append(caught.value.message.replace(other, "ID"))
    assert messages[0] == messages[1]


def test_evidence_that_is_no_id_is_refused(memory, refused):
    for given in ("", " ", ["e1", ""], [None], 7, {"e1"}, ["e" * 300]):
        with refused(InvalidRequestError, "evidence", field="evidence"):
            memory.apply([Add("s", "new")], evidence=given)


def test_other_ids_and_prefixes_are_no_evidence(memory, refused, event, note):
    for other in (note.id, note.memory_id, memory.changes()[0].patch_id, event[:8]):
        with refused(EvidenceMissingError, other, ids=[other]):
            memory.apply([Add("s", "new")], evidence=[other])


def test_an_assistant_proves_nothing_by_saying_it(memory, refused, event):
    said = memory.record_event("assistant", "I moved the ledger.").id
    for evidence in (said, [event, said], [said, event]):
        with refused(EvidenceRoleError, said, role="assistant", event=said):
            memory.apply([Add("s", "new")], evidence=evidence)


def test_more_events_than_a_patch_may_cite_are_refused(memory, refused):
    events = [memory.record_event("user", f"said {n}").id for n in range(101)]
    with refused(TooLargeError, "evidence has 101", count=101, limit=100):
        memory.apply([Add("s", "new")], evidence=events)
    assert len(memory.apply([Add("s", "new")], evidence=events[1:]).evidence) == 100


def test_an_unknown_memory_is_not_found(memory, refused, event):
    for operation in every_kind(UNKNOWN):
        with refused(NotFoundError, "Operation 0: .*nothing was written", id=UNKNOWN, item=0):
            memory.apply([operation], evidence=event)


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize("place", ["above", "below", "beside"])
def test_a_memory_of_another_namespace_is_as_unknown_as_none(
    engine, memory, clock, refused, event, place
):
    home = memory.namespace
    namespace = {"above": home[:1], "below": (*home, "x"), "beside": (*home[:1], "x")}[place]
    there = open_memory(engine, clock, namespace)
    foreign = there.remember("The ledger runs on Postgres.").node
    seen = there.read(foreign.memory_id, include_history=True)
    for operation in every_kind(foreign.memory_id):
        messages = []
        for asked in (operation, replace(operation, memory_id=UNKNOWN)):
            with refused(NotFoundError) as caught:
                memory.apply([asked], evidence=event)
            messages.append(caught.value.message.replace(asked.memory_id, "ID"))
        assert messages[0] == messages[1]
    assert there.read(foreign.memory_id, include_history=True) == seen


def test_the_id_of_something_else_is_explained(memory, refused, event, note):
    for other, kind in ((note.id, "a node"), (event, "an event")):
        with refused(InvalidRequestError, f"is the id of {kind}", field="memory_id", item=0):
            memory.apply([Remove(other, 1)], evidence=event)
    with refused(NotFoundError, id=note.memory_id[:8]):
        memory.apply([Remove(note.memory_id[:8], 1)], evidence=event)


@pytest.mark.promise("head.cas")
def test_another_version_conflicts_and_the_current_one_is_told(memory, refused, event, note):
    new = memory.remember("The ledger runs on SQLite.", supersedes=note.id).node
    current = {
        "content": "The ledger runs on SQLite.",
        "memory_id": note.memory_id,
        "version": 2,
        "node_id": new.id,
        "status": "active",
    }
    for expected in (1, 3, 2**53):
        for operation in every_kind(note.memory_id, expected):
            with refused(
                VersionConflictError,
                "Operation 0: .*expected_version=2",
                current=current,
                heads=[current],
                expected_version=expected,
            ):
                memory.apply([operation], evidence=event)


@pytest.mark.promise("head.cas")
def test_a_removed_memory_conflicts_with_its_status(memory, refused, event, note):
    memory.apply([Remove(note.memory_id, 1)], evidence=event)
    with refused(VersionConflictError, "expected_version=2") as caught:
        memory.apply([Supersede(note.memory_id, 1, "new")], evidence=event)
    assert caught.value.details["current"]["status"] == "forgotten"


@pytest.mark.promise("head.cas")
def test_every_operation_on_a_memory_counts(memory, refused, event, note):
    other = memory.remember("The ledger runs on SQLite.").node
    memory.link(other.id, supersedes=note.id)
    memory.unlink(other.id, note.id)
    with refused(VersionConflictError, "expected_version=3"):
        memory.apply([Supersede(note.memory_id, 1, "new")], evidence=event)
    memory.remember("SQLite 3.", amends={"id": note.id, "part": "Postgres"})
    with refused(VersionConflictError, "expected_version=4"):
        memory.apply([Supersede(note.memory_id, 3, "new")], evidence=event)
    memory.remember("It was so.", relations={"explains": [note.id]})
    memory.apply([Supersede(note.memory_id, 4, "new")], evidence=event)


@pytest.mark.promise("head.cas", "resolve.total")
@pytest.mark.parametrize("way", ["link", "merge"])
def test_a_memory_that_another_replaced_conflicts_and_names_that(memory, refused, event, note, way):
    first = memory.remember("The cache runs on Redis.").node
    if way == "link":
        new = memory.remember("All of it runs on SQLite.").node
        memory.link(new.id, supersedes=note.id)
    else:
        new = memory.remember("All of it runs on SQLite.", supersedes=[first.id, note.id]).node
    version = memory.read(note.memory_id).version
    assert version == 2
    replaced_by = memory.read(new.memory_id)
    current = {
        "content": "All of it runs on SQLite.",
        "memory_id": new.memory_id,
        "version": replaced_by.version,
        "node_id": new.id,
        "status": "active",
    }
    for operation in every_kind(note.memory_id, version):
        with refused(
            VersionConflictError,
            f"was replaced by {new.memory_id}",
            current=current,
            heads=[current],
        ):
            memory.apply([operation], evidence=event)
    on_top = Supersede(new.memory_id, replaced_by.version, "Files.")
    memory.apply([on_top], evidence=event)


@pytest.mark.promise("resolve.total")
def test_a_memory_that_was_split_names_all_of_its_parts(memory, refused, event):
    first = memory.remember("A part of it.").node
    other = memory.remember("Everything.").node
    memory.link(first.id, supersedes=other.id)
    notes = [{"text": text, "supersedes": first.id} for text in ("Left.", "Right.")]
    left, right = (result.node for result in memory.remember_many(notes))
    assert left.memory_id == first.memory_id
    with refused(VersionConflictError, right.memory_id) as caught:
        memory.apply([Remove(other.memory_id, 2)], evidence=event)
    heads = {state["memory_id"]: state["content"] for state in caught.value.details["heads"]}
    assert heads == {left.memory_id: "Left.", right.memory_id: "Right."}


def test_no_operation_at_all_is_refused(memory, refused, event):
    for nothing in NOTHING[1:]:
        with refused(InvalidRequestError, "at least one", field="operations"):
            memory.apply(nothing, evidence=event)


def test_more_operations_than_a_patch_may_hold_are_refused(memory, refused, event):
    with refused(TooLargeError, "several calls", count=10_001, limit=10_000):
        memory.apply([Add("s", "new")] * 10_001, evidence=event)


@pytest.mark.parametrize("text", ["x" * (MIB + 1), "é" * (MIB // 2) + "x"], ids=["ascii", "utf-8"])
def test_a_content_over_the_limit_is_refused_whole(memory, refused, event, note, text):
    for operation in (
        Add("s", text),
        Update(note.memory_id, 1, text),
        Supersede(note.memory_id, 1, text),
        Supersede(note.memory_id, 1, "new", part=text),
    ):
        with refused(TooLargeError, "Operation 1: ", size_bytes=MIB + 1, item=1):
            memory.apply([Add("s", "fine"), operation], evidence=event)


def test_a_content_of_exactly_the_limit_is_kept(memory, event):
    text = "x" * MIB
    result = memory.apply([Add("s", text)], evidence=event)
    assert memory.get_node(result.operations[0].node_id).text == text


def test_a_part_is_quoted_from_the_text(memory, refused, event, note):
    for part in ("MySQL", "postgres", "runs on  Postgres!"):
        operation = Supersede(note.memory_id, 1, "SQLite.", part=part)
        with refused(InvalidRequestError, "Operation 0: .*is not in the text", item=0):
            memory.apply([operation], evidence=event)
    memory.apply([replace(operation, part=" runs\non Postgres ")], evidence=event)


def test_a_content_that_is_no_text_is_refused(memory, refused, event, note):
    blanks: list[Any] = ["", " ", None, 7]
    for blank in blanks:
        for operation in (
            Add("s", blank),
            Update(note.memory_id, 1, blank),
            Supersede(note.memory_id, 1, blank),
        ):
            with refused(InvalidRequestError, "Operation 0: ", item=0):
                memory.apply([operation], evidence=event)


def test_a_time_that_ends_before_it_begins_is_refused(memory, refused, event, note):
    for begins, ends in ((2, 1), (1, 1), (None, 0), (None, -1)):
        times: dict[str, Any] = {
            "valid_from": None if begins is None else later(days=begins),
            "valid_to": later(days=ends),
        }
        for operation in (
            Add("s", "new", **times),
            Update(note.memory_id, 1, "new", **times),
            Supersede(note.memory_id, 1, "new", **times),
            Supersede(note.memory_id, 1, "new", part="Postgres", **times),
        ):
            with refused(InvalidRequestError, "Operation 0: .*valid_to", field="valid_to", item=0):
                memory.apply([operation], evidence=event)


def test_a_version_may_not_end_before_the_one_it_follows_begins(memory, refused, event, note):
    memory.apply([Supersede(note.memory_id, 1, "soon", valid_from=later(days=5))], evidence=event)
    with refused(InvalidRequestError, "valid_to must lie after", item=0):
        memory.apply([Update(note.memory_id, 2, "new", valid_to=later(days=2))], evidence=event)


def test_what_is_no_time_is_refused(memory, refused, event, note):
    new = {"memory_id": note.memory_id, "expected_version": 1, "new_content": "new"}
    for operation in (
        {"op": "ADD", "subject": "s", "content": "new"},
        {"op": "UPDATE", **new},
        {"op": "SUPERSEDE", **new},
    ):
        for field in ("valid_from", "valid_to"):
            for given in NO_TIMES:
                with refused(InvalidRequestError, f"Operation 0: {field}=.*is not a time", item=0):
                    memory.apply([{**operation, field: given}], evidence=event)


def test_a_misspelt_argument_is_refused_and_named(memory, refused, event, note):
    with refused(InvalidRequestError, "did you mean 'evidence'"):
        memory.apply([Add("s", "new")], evidences=[event])
    with refused(InvalidRequestError, "Unknown argument"):
        memory.apply([Add("s", "new")], evidence=event, dry_run=True)
    operation = {"op": "REMOVE", "memory_id": note.memory_id, "expected_versions": 1}
    with refused(InvalidRequestError, "did you mean 'expected_version'", item=0):
        memory.apply([operation], evidence=event)


def test_a_refusal_keeps_no_key(memory, refused, event, note):
    with refused(VersionConflictError):
        memory.apply([Remove(note.memory_id, 7)], evidence=event, idempotency_key="k")
    result = memory.apply([Remove(note.memory_id, 1)], evidence=event, idempotency_key="k")
    assert not result.replayed


@pytest.mark.promise("namespace.wall")
def test_what_says_the_same_in_another_namespace_is_no_duplicate(memory, event, note):
    inner = memory.within("below")
    inner_event = inner.record_event("user", "Go.").id
    inner.apply([Add("s", note.text, slot=None)], evidence=inner_event)
    memory.apply([Add("s", "main", slot="branch")], evidence=event)
    inner.apply([Add("s", "main", slot="branch")], evidence=inner_event)
    assert len(memory.list(include_children=True)) == 4
