"""Evidence: recorded once, never changed, and no answer to any question."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.conformance.builders import START, later, open_memory, picture
from tests.conformance.story import ODD

from evomem import (
    Add,
    EventRecord,
    IdempotencyConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
)

SAID = "Let us move the ledger to SQLite."


@pytest.fixture
def refused(engine, memory):
    """Expect a refusal of exactly this class that writes nothing."""

    @contextmanager
    def expect(error, match=None):
        before, commits = picture(engine), memory.changes()
        with pytest.raises(error, match=match) as caught:
            yield caught
        assert type(caught.value) is error
        assert (picture(engine), memory.changes()) == (before, commits)

    return expect


def test_an_event_is_recorded_and_read_back(memory, clock):
    said = later(days=-2, microseconds=1)
    event = memory.record_event(
        "user",
        SAID,
        external_id="msg-7",
        session="s-1",
        occurred_at=said,
        actor="ada",
        source="slack",
    )
    assert event == EventRecord(
        id=event.id,
        role="user",
        content=SAID,
        occurred_at=said,
        recorded_at=clock.now,
        session="s-1",
        external_id="msg-7",
        patch_id=event.patch_id,
    )
    assert memory.get_event(event.id) == event
    patch = memory.patch(event.patch_id)
    assert (patch.actor, patch.source, patch.recorded_at) == ("ada", "slack", clock.now)
    assert (patch.events, patch.evidence, patch.operations) == ((event.id,), (), ())
    assert patch.diff == ""
    assert [change.patch_id for change in memory.changes()] == [event.patch_id]


def test_every_role_is_recorded(memory):
    for role in ("user", "assistant", "tool", "system", "document"):
        event = memory.record_event(role, SAID)
        assert (event.role, event.session, event.external_id) == (role, None, None)
        assert event.occurred_at == event.recorded_at == START
        assert memory.get_event(event.id).role == role


def test_the_same_words_twice_are_two_events(memory):
    first, second = memory.record_event("user", SAID), memory.record_event("user", SAID)
    assert first.id != second.id
    assert (memory.stats().events, memory.stats().patches) == (2, 2)


@pytest.mark.promise("write.idempotent")
def test_an_external_id_replays_the_first_record(engine, memory, clock):
    given = {"external_id": "msg-7", "session": "s", "occurred_at": "2026-02-01T10:00:00+02:00"}
    first = memory.record_event("user", SAID, **given)
    before = picture(engine)
    clock.advance(days=1)
    for again in (
        given,
        {**given, "occurred_at": None},
        {**given, "occurred_at": datetime(2026, 2, 1, 8, tzinfo=UTC)},
        {**given, "actor": "retry", "source": "mcp"},
    ):
        assert memory.record_event("user", SAID, **again) == replace(first, replayed=True)
    assert not memory.get_event(first.id).replayed
    assert picture(engine) == before


@pytest.mark.promise("write.idempotent")
def test_an_event_recorded_without_a_time_is_repeated_without_one(memory, clock):
    first = memory.record_event("user", SAID, external_id="msg-7")
    clock.advance(hours=1)
    assert memory.record_event("user", SAID, external_id="msg-7").id == first.id
    again = memory.record_event("user", SAID, external_id="msg-7", occurred_at=first.occurred_at)
    assert again.replayed


@pytest.mark.promise("write.idempotent")
def test_other_data_under_an_external_id_conflicts(memory, refused):
    given = {"external_id": "msg-7", "session": "s", "occurred_at": START}
    first = memory.record_event("user", SAID, **given)
    for role, content, other in (
        ("tool", SAID, {}),
        ("user", SAID + " ", {}),
        ("user", SAID, {"session": "t"}),
        ("user", SAID, {"session": None}),
        ("user", SAID, {"occurred_at": later(microseconds=1)}),
    ):
        with refused(IdempotencyConflictError, "never change") as caught:
            memory.record_event(role, content, **{**given, **other})
        assert caught.value.details == {"external_id": "msg-7", "event_id": first.id}
    assert memory.get_event(first.id) == first


def test_external_ids_differ_by_every_letter(memory):
    ids = ["msg-7", "MSG-7", "msg-70", "msg_7", "msg%", "é", "e\u0301"]
    events = [memory.record_event("user", SAID, external_id=one) for one in ids]
    assert len({event.id for event in events}) == len(ids)
    assert [memory.get_event(event.id).external_id for event in events] == ids


def test_a_blank_external_id_is_none(memory):
    events = [memory.record_event("user", SAID, external_id=blank) for blank in (None, "", "  ")]
    assert len({event.id for event in events}) == 3
    assert {event.external_id for event in events} == {None}


@pytest.mark.promise("namespace.wall")
def test_an_event_is_of_one_namespace(engine, memory, clock):
    home = memory.namespace
    event = memory.record_event("user", SAID, external_id="msg-7")
    patch_id = event.patch_id
    places = (home[:1], (*home, "below"), (*home[:1], "beside"), (*home[:1], "home2"))
    for namespace in places:
        other = open_memory(engine, clock, namespace)
        messages = []
        for asked in (event.id, "e00000000000"):
            with pytest.raises(NotFoundError) as refusal:
                other.get_event(asked)
            messages.append(refusal.value.message.replace(asked, "ID"))
        assert messages[0] == messages[1]
        with pytest.raises(NotFoundError):
            other.patch(patch_id)
        # The external id is free there, with other data too.
        assert not other.record_event("tool", "other", external_id="msg-7").replayed
        assert other.stats().events == 1
    assert memory.record_event("user", SAID, external_id="msg-7").id == event.id
    assert memory.stats().events == 1


@pytest.mark.promise("raw.kept")
def test_a_content_is_stored_as_received(memory):
    for number, text in enumerate(
        (
            ODD,
            "  blanks \n\r\n\t ",
            "'); DELETE FROM event; --",
            "\ufeff\u202e\x7f\x9f",
            "x" * (1 << 20),
        )
    ):
        given = {"session": ODD[:9], "external_id": f"{ODD}{number}"}
        event = memory.record_event("tool", text, **given)
        assert (event.content, event.external_id) == (text, f"{ODD}{number}")
        assert memory.get_event(event.id) == event
        assert memory.record_event("tool", text, **given).replayed


@pytest.mark.promise("raw.kept", "write.idempotent")
def test_what_cannot_be_stored_is_replaced_said_and_replayed(memory):
    first = memory.record_event("user", "half \ud83d and \0", external_id="a\0")
    assert (first.content, first.external_id) == ("half \ufffd and \ufffd", "a\ufffd")
    assert first.warnings[0].startswith("2 unstorable")
    assert memory.get_event(first.id).content == first.content
    assert memory.record_event("user", "half \ud83d and \0", external_id="a\0").replayed


def test_what_is_no_text_no_role_or_no_time_is_refused(memory, refused):
    for content in ("", " \n", None, 7, b"said"):
        with refused(InvalidRequestError, "content is"):
            memory.record_event("user", content)
    for role in ("User", "human", "", None, 7):
        with refused(InvalidRequestError, "role="):
            memory.record_event(role, SAID)
    for given in ("yesterday", "2026-02-30", float("inf"), True):
        with refused(InvalidRequestError, "occurred_at=.*is not a time"):
            memory.record_event("user", SAID, occurred_at=given)


def test_a_content_over_the_limit_is_refused(memory, refused):
    with refused(TooLargeError, "content has 1048577 bytes"):
        memory.record_event("user", "x" * ((1 << 20) + 1))


def test_a_naive_time_is_utc(memory):
    event = memory.record_event("user", SAID, occurred_at="2026-01-05T10:00:00")
    assert event.occurred_at == datetime(2026, 1, 5, 10, tzinfo=UTC)


@pytest.mark.promise("recall.head")
def test_events_never_answer_a_question(memory):
    for role in ("user", "assistant", "document"):
        memory.record_event(role, "The zebra said so.", session="s")
    note = memory.remember("The zebra is striped.", session="s")
    for query in ("zebra", "said", ""):
        for options in ({}, {"include_removed": True}, {"session": "s"}):
            hits = memory.search(query, k=100, **options).hits
            assert {hit.node.id for hit in hits} <= {note.node.id}
    assert [node.id for node in memory.list(status="all")] == [note.node.id]
    # Nor do they count in the scores of what does.
    alone = memory.within("alone")
    alone.remember("The zebra is striped.", session="s")
    assert memory.recall("zebra").hits[0].score == alone.recall("zebra").hits[0].score
    stats = memory.stats()
    assert (stats.texts, sum(stats.nodes.values()), stats.events) == (1, 1, 4)


def test_a_note_brings_an_event_of_its_own(memory, clock):
    note = memory.remember("The zebra is striped.", session="s", created_at=later(days=-1))
    patch = memory.patch(note.patch_id)
    assert patch.evidence == patch.events
    event = memory.get_event(patch.events[0])
    assert (event.role, event.content, event.session) == ("document", note.node.text, "s")
    assert (event.occurred_at, event.recorded_at) == (later(days=-1), clock.now)
    assert event.patch_id == note.patch_id


def test_an_operation_brings_no_event(memory):
    event = memory.record_event("user", "Go.")
    result = memory.apply([Add("s", "The zebra is striped.")], evidence=event.id)
    assert memory.patch(result.patch_id).events == ()
    assert memory.stats().events == 1


@pytest.mark.promise("raw.kept")
def test_a_purge_of_a_note_leaves_its_event(engine, memory):
    note = memory.remember("The vault opens with swordfish.")
    (event_id,) = memory.patch(note.patch_id).events
    event = memory.get_event(event_id)
    cited = memory.record_event("user", "The vault opens with swordfish.")
    added = memory.apply([Add("s", "The gate opens with swordfish.")], evidence=cited.id)
    for node_id in (note.node.id, added.operations[0].node_id):
        assert "event" in memory.forget(node_id, purge=True).warnings[0]
    assert memory.get_event(event_id) == event
    assert memory.get_event(cited.id) == cited
    assert memory.recall("swordfish", include_removed=True).hits == ()
    assert "swordfish" not in memory.patch(note.patch_id).diff
    assert "swordfish" not in memory.patch(added.patch_id).diff
    assert memory.stats().texts == 0
    assert engine.verify() == []


def test_an_unknown_event_is_not_found(memory):
    event = memory.record_event("user", SAID)
    note = memory.remember("A note.")
    for given in ("e00000000000", note.node.id, event.patch_id, "x" * 200):
        with pytest.raises(NotFoundError, match="is no event of this namespace"):
            memory.get_event(given)
    for given in ("", " ", "x" * 201, "\0"):
        with pytest.raises(InvalidRequestError):
            memory.get_event(given)


def test_a_misspelt_argument_is_refused_and_named(memory, refused):
    with refused(InvalidRequestError, "did you mean 'external_id'"):
        memory.record_event("user", SAID, externalid="msg-7")
