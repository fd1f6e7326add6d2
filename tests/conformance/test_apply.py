"""Operations on memories: what each does, in order, all of a patch or nothing of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.conformance.builders import START, later, picture

from evomem import (
    Add,
    DuplicateError,
    EvoMemError,
    IdempotencyConflictError,
    InvalidRequestError,
    Remove,
    ScopeMismatchError,
    Status,
    Supersede,
    Update,
    VersionConflictError,
)
from evomem.domain.extraction import FIELDS

STORY = (
    "We moved the ledger from Postgres to SQLite because one machine is enough. "
    "We tried MySQL first. Backups are a copy of one file now."
)


@pytest.fixture
def event(memory):
    return memory.record_event("user", "Go ahead.").id


@pytest.fixture
def apply(memory, event):
    """Carry out operations on the evidence of one event, unless other is given."""
    return lambda *operations, **options: memory.apply(
        operations, **{"evidence": [event], **options}
    )


@pytest.fixture
def add(memory, apply):
    """Add a note and return its node."""

    def added(content, **fields):
        result = apply(Add("ledger", content, **fields))
        return memory.get_node(result.operations[0].node_id)

    return added


def shown(memory, query="", **options):
    return [hit.node.text for hit in memory.recall(query, **options).hits]


def told(memory, memory_id):
    """Every operation on a memory: what was done to which words, and where they stand now."""
    record = memory.read(memory_id, include_history=True)
    return [
        (step.version, step.op.value, step.content, step.status.value) for step in record.history
    ]


def steps(result):
    return [(o.op.value, o.memory_id, o.version) for o in result.operations]


def links(memory, result):
    return [(e.kind, e.new, e.old, e.part) for e in memory.patch(result.patch_id).links]


def test_an_add_starts_a_memory_with_all_that_it_says(memory, apply, event, clock):
    given: dict[str, Any] = {
        "scope": "Production / EU",
        "slot": "ledger/database",
        "tags": ["db", "db", " ops "],
        "session": "s-1",
        "metadata": {"n": [1, {"deep": None}]},
        "valid_from": "2026-02-01",
        "valid_to": "2026-04-01T02:00:00+02:00",
    }
    operation = Add("ledger", "The ledger runs on Postgres.", **given)
    result = apply(operation, reason="asked", actor="ada")
    (done,) = result.operations
    node = memory.get_node(done.node_id)
    assert (done.op, done.version, done.memory_id) == ("ADD", 1, node.memory_id)
    assert (node.text, node.subject, node.slot) == (
        "The ledger runs on Postgres.",
        "ledger",
        "ledger/database",
    )
    assert (node.scope, node.tags, node.session) == ("production/eu", ("db", "ops"), "s-1")
    assert node.metadata == {"n": [1, {"deep": None}]}
    assert (node.valid_from, node.valid_to) == (later(days=-28, hours=-12), later(days=30.5))
    assert node.created_at == node.recorded_at == clock.now
    assert (node.status, node.version, node.memory_version) == (Status.ACTIVE, 1, 1)
    patch = memory.patch(result.patch_id)
    assert (patch.reason, patch.actor, patch.source) == ("asked", "ada", "python")
    assert (patch.sequence, patch.recorded_at) == (result.sequence, clock.now)
    assert (patch.evidence, patch.events, patch.links) == ((event,), (), ())
    assert patch.operations == result.operations


def test_an_add_holds_from_now_on_unless_it_says_otherwise(add):
    node = add("The ledger runs on Postgres.")
    assert (node.valid_from, node.valid_to, node.scope, node.slot) == (START, None, None, None)
    assert (node.tags, node.session, node.metadata) == ((), None, {})


@pytest.mark.promise("raw.kept", "fields.verbatim")
def test_what_apply_adds_is_read_and_found_like_what_remember_adds(memory, add):
    """One write path: the same cronista, the same index."""
    applied = add(STORY, tags=["db"])
    other = memory.within("aside")
    remembered = other.remember(STORY, subject="ledger", tags=["db"]).node
    assert applied.text == STORY
    for field in (*FIELDS, "summary", "cronista"):
        assert getattr(applied, field)
        assert getattr(applied, field) == getattr(remembered, field)
    for query in ("postgres sqlite", "ledger", "db", "copy of one file"):
        (hit,), (same,) = memory.recall(query).hits, other.recall(query).hits
        assert (hit.node.id, hit.score, hit.why) == (applied.id, same.score, same.why)
        assert hit.matched[1:] == same.matched[1:]


@pytest.mark.promise("recall.head")
def test_an_update_words_a_decision_anew(memory, apply, add):
    old = add("Use tabs.", scope="eu", slot="indent", tags=["a"], session="s", metadata={"n": 1})
    result = apply(Update(old.memory_id, 1, "Indent with tabs."))
    (done,) = result.operations
    new = memory.get_node(done.node_id)
    assert (done.op, done.version, new.version) == ("UPDATE", 2, 2)
    assert (new.tags, new.subject, new.slot) == (old.tags, old.subject, old.slot)
    assert (new.scope, new.metadata, new.memory_id) == (old.scope, old.metadata, old.memory_id)
    assert (new.supersedes, new.session) == ((old.id,), "s")
    assert memory.get_node(old.id).status is Status.REFINED
    assert links(memory, result) == [("refines", new.id, old.id, None)]
    for query in ("use tabs", "indent"):
        (hit,) = memory.recall(query).hits
        assert (hit.node.id, [n.id for n in hit.supersedes]) == (new.id, [old.id])


@pytest.mark.parametrize("kind", [Update, Supersede])
def test_a_version_takes_what_it_says_instead_of_what_was(memory, apply, add, kind):
    old = add("Use tabs.", tags=["a"], metadata={"n": 1})
    given = {"tags": ["b", "c"], "subject": "code", "metadata": {"m": [2]}}
    new = memory.get_node(apply(kind(old.memory_id, 1, "New.", **given)).operations[0].node_id)
    assert (new.tags, new.subject, new.metadata) == (("b", "c"), "code", {"m": [2]})
    none: dict[str, Any] = {"tags": [], "metadata": {}}
    last = memory.get_node(apply(kind(old.memory_id, 2, "Last.", **none)).operations[0].node_id)
    assert (last.tags, last.subject, last.metadata) == ((), "code", {})


@pytest.mark.promise("recall.head")
def test_a_supersede_replaces_a_decision(memory, apply, add):
    old = add("The ledger runs on Postgres.", scope="eu", tags=["db"], metadata={"n": 1})
    result = apply(Supersede(old.memory_id, 1, "The ledger runs on SQLite."))
    new = memory.get_node(result.operations[0].node_id)
    assert steps(result) == [("SUPERSEDE", old.memory_id, 2)]
    assert (new.tags, new.subject, new.scope) == (old.tags, old.subject, old.scope)
    assert (new.metadata, new.memory_id, new.supersedes) == (
        old.metadata,
        old.memory_id,
        (old.id,),
    )
    assert memory.get_node(old.id).status is Status.SUPERSEDED
    assert links(memory, result) == [("supersedes", new.id, old.id, None)]
    (hit,) = memory.recall("postgres").hits
    assert (hit.node.id, hit.matched.node_id) == (new.id, old.id)
    # A refined wording of what was replaced is no wording of what stands.
    apply(Update(old.memory_id, 2, "SQLite holds the ledger."))
    assert [n.status.value for n in memory.history(old.id)] == ["active", "refined", "superseded"]


def test_a_note_that_holds_in_more_is_not_replaced_by_a_narrower_one(memory, apply, add):
    broad, local = add("On Postgres."), add("On Postgres in the EU.", scope="eu")
    for node, scope in ((broad, "eu"), (broad, "eu/west"), (local, "eu/west"), (local, "us")):
        with pytest.raises(ScopeMismatchError, match=rf"overrides=\[{node.id}\]") as refusal:
            apply(Supersede(node.memory_id, 1, "On SQLite.", scope=scope))
        assert refusal.value.details["item"] == 0
    assert sorted(shown(memory)) == ["On Postgres in the EU.", "On Postgres."]


def test_a_supersede_may_hold_in_more_than_what_it_replaces(memory, apply, add):
    narrow = add("The ledger runs on Postgres.", scope="eu/west")
    result = apply(Supersede(narrow.memory_id, 1, "The ledger runs on SQLite.", scope="EU"))
    assert memory.get_node(result.operations[0].node_id).scope == "eu"
    with pytest.raises(ScopeMismatchError):
        apply(Supersede(narrow.memory_id, 2, "No.", scope="eu/west"))


def test_a_scheduled_supersede_leaves_in_force_what_stands(memory, apply, add, clock):
    old = add("The rate is ten.")
    apply(Supersede(old.memory_id, 1, "The rate is twenty.", valid_from=later(days=2)))
    assert shown(memory, "rate") == ["The rate is ten."]
    assert memory.read(old.memory_id).version == 2
    clock.advance(days=2)
    assert shown(memory, "rate") == ["The rate is twenty."]


def test_a_back_dated_supersede_does_not_take_over(memory, apply, add):
    old = add("The rate is ten.")
    apply(Supersede(old.memory_id, 1, "The rate was five.", valid_from=later(days=-2)))
    assert shown(memory, "rate") == ["The rate is ten."]
    assert shown(memory, "rate", as_of=later(days=-1)) == ["The rate was five."]


PLAN = "Deploys run on Fridays\nat noon by hand."


@pytest.mark.promise("recall.head")
def test_a_supersede_with_a_part_leaves_the_rest_in_force(memory, apply, add):
    plan = add(PLAN, scope="eu", tags=["ops"], slot="deploys")
    result = apply(Supersede(plan.memory_id, 1, "Deploys start at ten.", part="Fridays at noon"))
    amendment = memory.get_node(result.operations[0].node_id)
    assert steps(result) == [("ADD", amendment.memory_id, 1), ("LINK", plan.memory_id, 2)]
    assert amendment.memory_id != plan.memory_id
    assert (amendment.scope, amendment.tags, amendment.slot) == ("eu", ("ops",), None)
    assert links(memory, result) == [("amends", amendment.id, plan.id, "Fridays at noon")]
    now = memory.get_node(plan.id)
    assert (now.status, now.memory_version) == (Status.ACTIVE, 2)
    assert now.relations == {"amended_by": (amendment.id,)}
    assert memory.read(plan.memory_id).node == now
    first, second = memory.recall("fridays hand").hits
    assert (first.node.id, first.amended) == (plan.id, ((amendment.id, "Fridays at noon"),))
    assert (second.node.id, second.matched.by) == (amendment.id, "amends")


@pytest.mark.promise("head.cas")
def test_of_two_parts_with_the_same_expected_version_one_wins(memory, apply, add):
    plan = add(PLAN)
    apply(Supersede(plan.memory_id, 1, "Deploys start at ten.", part="at noon"))
    for other in (
        Supersede(plan.memory_id, 1, "Deploys run on Mondays.", part="Fridays"),
        Supersede(plan.memory_id, 1, "Deploys are continuous."),
        Update(plan.memory_id, 1, "We deploy on Fridays at noon."),
        Remove(plan.memory_id, 1),
    ):
        with pytest.raises(VersionConflictError) as refusal:
            apply(other)
        current = refusal.value.details["current"]
        assert (current["version"], current["node_id"]) == (2, plan.id)
    apply(Supersede(plan.memory_id, 2, "Deploys run on Mondays.", part="Fridays"))
    parts = {part for _, part in memory.recall("deploys hand").hits[0].amended}
    assert parts == {"at noon", "Fridays"}


def test_parts_hold_for_a_new_wording_and_end_with_the_decision(memory, apply, add):
    plan = add(PLAN)
    apply(
        Supersede(plan.memory_id, 1, "Deploys start at ten.", part="at noon"),
        Update(plan.memory_id, 2, "We deploy by hand on Fridays at noon."),
    )
    assert len(memory.recall("we deploy by hand").hits[0].amended) == 1
    apply(Supersede(plan.memory_id, 3, "Every merge is deployed."))
    assert memory.recall("every merge").hits[0].amended == ()


def test_a_removed_memory_is_recalled_no_more_and_its_history_is_kept(memory, apply, add, event):
    old = add("The ledger runs on Postgres.")
    apply(Supersede(old.memory_id, 1, "The ledger runs on SQLite."))
    result = apply(Remove(old.memory_id, 2), reason="moved out")
    assert steps(result) == [("REMOVE", old.memory_id, 3)]
    assert shown(memory) == shown(memory, "ledger postgres sqlite") == []
    assert memory.list().nodes == ()
    assert told(memory, old.memory_id) == [
        (1, "ADD", "The ledger runs on Postgres.", "superseded"),
        (2, "SUPERSEDE", "The ledger runs on SQLite.", "forgotten"),
        (3, "REMOVE", "The ledger runs on SQLite.", "forgotten"),
    ]
    assert len(memory.history(old.id)) == 2
    assert memory.read(old.memory_id).status is Status.FORGOTTEN
    patch = memory.patch(result.patch_id)
    assert (patch.evidence, patch.reason) == ((event,), "moved out")


def test_a_search_shows_what_was_removed_if_asked(memory, apply, add):
    kept, gone = add("The ledger runs on SQLite."), add("The ledger runs on Postgres.")
    apply(Remove(gone.memory_id, 1))
    assert [h.node.id for h in memory.search("ledger").hits] == [kept.id]
    for query in ("postgres", "ledger", ""):
        hits = memory.search(query, include_removed=True).hits
        statuses = {hit.node.id: hit.node.status.value for hit in hits}
        assert statuses[gone.id] == "forgotten"
        assert statuses.get(kept.id, "active") == "active"
    assert "forgotten" in memory.search("postgres", include_removed=True).to_text()
    assert memory.search("", include_removed=True).hits[0].node.memory_version == 2


def test_a_removal_takes_the_scheduled_versions_too(memory, apply, add, clock):
    old = add("The rate is ten.")
    apply(Supersede(old.memory_id, 1, "The rate is twenty.", valid_from=later(days=2)))
    result = apply(Remove(old.memory_id, 2))
    assert steps(result) == [("REMOVE", old.memory_id, 3), ("REMOVE", old.memory_id, 4)]
    assert memory.patch(result.patch_id).operations == result.operations
    for _ in range(2):
        assert shown(memory, "rate") == shown(memory) == []
        clock.advance(days=3)
    assert {n.status.value for n in memory.history(old.id)} == {"forgotten"}


def test_a_removal_takes_every_version_that_stands(memory, apply, add):
    """After the link between two versions is undone both are in force."""
    old = add("The rate is ten.")
    new = apply(Supersede(old.memory_id, 1, "The rate is twenty.")).operations[0].node_id
    memory.unlink(new, old.id)
    assert len(shown(memory, "rate")) == 2
    apply(Remove(old.memory_id, memory.read(old.memory_id).version))
    assert shown(memory, "rate") == []


def test_a_supersede_opens_a_removed_memory_again(memory, apply, add):
    old = add("The ledger runs on Postgres.", tags=["db"])
    apply(Remove(old.memory_id, 1))
    for wrong in (
        Update(old.memory_id, 2, "Postgres holds the ledger."),
        Supersede(old.memory_id, 2, "SQLite.", part="Postgres"),
        Remove(old.memory_id, 2),
    ):
        with pytest.raises(InvalidRequestError, match="was removed"):
            apply(wrong)
    result = apply(Supersede(old.memory_id, 2, "The ledger runs on SQLite."))
    assert result.operations[0].diff.startswith(f"--- /dev/null\n+++ {old.memory_id}@3\n")
    (hit,) = memory.recall("ledger").hits
    assert (hit.node.memory_id, hit.node.version, hit.node.tags) == (old.memory_id, 3, ("db",))
    assert hit.supersedes == ()


def test_the_words_of_a_removed_memory_may_be_said_again(memory, apply, add):
    old = add("The ledger runs on Postgres.")
    apply(Remove(old.memory_id, 1))
    again = add("The ledger runs on Postgres.")
    assert again.memory_id != old.memory_id
    assert [h.node.id for h in memory.recall("postgres").hits] == [again.id]


def test_operations_on_one_memory_expect_the_version_the_former_made(memory, apply, add):
    one, two = add("first"), add("second")
    result = apply(
        Supersede(one.memory_id, 1, "first 2"),
        Supersede(two.memory_id, 1, "second 2"),
        Update(one.memory_id, 2, "first 3"),
        Remove(two.memory_id, 2),
        Supersede(one.memory_id, 3, "first 4", part="3"),
        Supersede(two.memory_id, 3, "second 4"),
        Remove(one.memory_id, 4),
        Supersede(one.memory_id, 5, "first 6"),
    )
    amendment = result.operations[4].memory_id
    assert steps(result) == [
        ("SUPERSEDE", one.memory_id, 2),
        ("SUPERSEDE", two.memory_id, 2),
        ("UPDATE", one.memory_id, 3),
        ("REMOVE", two.memory_id, 3),
        ("ADD", amendment, 1),
        ("LINK", one.memory_id, 4),
        ("SUPERSEDE", two.memory_id, 4),
        ("REMOVE", one.memory_id, 5),
        ("SUPERSEDE", one.memory_id, 6),
    ]
    assert sorted(shown(memory)) == ["first 4", "first 6", "second 4"]
    assert told(memory, one.memory_id) == [
        (1, "ADD", "first", "superseded"),
        (2, "SUPERSEDE", "first 2", "superseded"),
        (3, "UPDATE", "first 3", "forgotten"),
        (4, "LINK", "first 4", "active"),
        (5, "REMOVE", "first 3", "forgotten"),
        (6, "SUPERSEDE", "first 6", "active"),
    ]
    assert memory.patch(result.patch_id).operations == result.operations


@pytest.mark.promise("head.cas")
def test_an_operation_does_not_expect_the_version_before_the_patch(memory, apply, add):
    one = add("first")
    with pytest.raises(VersionConflictError, match=r"Operation 1: .*expected_version=2") as refusal:
        apply(Supersede(one.memory_id, 1, "first 2"), Supersede(one.memory_id, 1, "first 3"))
    assert refusal.value.details["item"] == 1
    assert refusal.value.details["current"]["content"] == "first 2"
    assert shown(memory) == ["first"]


GOOD = [
    lambda one, two: Add("beside", "a new one"),
    lambda one, two: Supersede(one.memory_id, 1, "first 2"),
    lambda one, two: Update(one.memory_id, 2, "first 3"),
    lambda one, two: Supersede(one.memory_id, 3, "a part of it", part="3"),
    lambda one, two: Remove(two.memory_id, 1),
]
BAD_ANYWHERE = {
    "unknown": lambda one, two: Supersede("m00000000000", 1, "x"),
    "version": lambda one, two: Update(one.memory_id, 9, "x"),
    "over": lambda one, two: Add("x", "x", valid_to=later(days=-1)),
    "malformed": lambda one, two: {"op": "ADD", "content": "x"},
}
BAD_AFTER_THE_OTHERS = {
    "duplicate": lambda one, two: Add("beside", "a  new one"),
    "scope": lambda one, two: Supersede(one.memory_id, 4, "x", scope="eu"),
    "part": lambda one, two: Supersede(one.memory_id, 4, "x", part="never said"),
    "removed": lambda one, two: Remove(two.memory_id, 2),
}
FAILING = [
    *((place, make) for make in BAD_ANYWHERE.values() for place in (0, 3, 5)),
    *((5, make) for make in BAD_AFTER_THE_OTHERS.values()),
]


@pytest.mark.promise("write.atomic")
def test_one_failing_operation_leaves_nothing_of_the_patch(engine, memory, apply, add):
    one, two = add("first"), add("second")
    good = [make(one, two) for make in GOOD]
    before, sequence = picture(engine), memory.version()
    for place, failing in FAILING:
        batch = [*good[:place], failing(one, two), *good[place:]]
        with pytest.raises(EvoMemError) as refusal:
            apply(*batch, idempotency_key="k")
        assert refusal.value.details["item"] == place
        assert refusal.value.message.startswith(f"Operation {place}: ")
        assert (picture(engine), memory.version()) == (before, sequence)
    # The key is free, and without the one that failed the others are carried out.
    assert not apply(*good, idempotency_key="k").replayed


def test_dictionaries_and_dataclasses_mean_the_same(memory):
    results = []
    for name in ("one", "two"):
        inner = memory.within(name)
        event = inner.record_event("user", "Go.").id
        first = inner.apply([Add("s", "first", tags=["a"]), Add("s", "second")], evidence=event)
        one, two = (o.memory_id for o in first.operations)
        operations = [
            Add("s", "third", scope="eu", metadata={"n": 1}),
            Update(one, 1, "first 2", tags=["b"]),
            Supersede(one, 2, "first 3", valid_from=later(hours=-1)),
            Supersede(one, 3, "first 4", part="3"),
            Remove(two, 1),
        ]
        given = [
            {"op": "ADD", "subject": "s", "content": "third", "scope": "eu", "metadata": {"n": 1}},
            {
                "op": "update",
                "memory_id": one,
                "expected_version": 1,
                "new_content": "first 2",
                "tags": ["b"],
            },
            {
                "op": "SUPERSEDE",
                "memory_id": one,
                "expected_version": 2,
                "new_content": "first 3",
                "valid_from": later(hours=-1).isoformat(),
            },
            {
                "op": "SUPERSEDE",
                "memory_id": one,
                "expected_version": 3,
                "new_content": "first 4",
                "part": "3",
            },
            {"op": "REMOVE", "memory_id": two, "expected_version": 1},
        ]
        result = inner.apply(operations if name == "one" else given, evidence=event)
        ids = {one: "m1", two: "m2"}
        done = [
            (o.op, o.version, ids.get(o.memory_id, "new"), o.diff.replace(o.memory_id, "m"))
            for o in result.operations
        ]
        nodes = inner.list(status="all", limit=100)
        fields = [(n.text, n.scope, n.tags, n.metadata, n.valid_from, n.status) for n in nodes]
        results.append((done, fields))
    assert results[0] == results[1]


def test_diffs_lead_from_nothing_over_the_changes_to_nothing(memory, apply):
    text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
    added = apply(Add("numbers", text)).operations[0]
    key = added.memory_id
    assert added.diff == f"--- /dev/null\n+++ {key}@1\n@@ -0,0 +1,9 @@\n" + "".join(
        f"+{line}\n" for line in text.splitlines()
    )
    changed = apply(
        Update(key, 1, text.replace("two", "2")),
        Supersede(key, 2, text.replace("two", "2").replace("nine\n", "9")),
    )
    assert [o.diff for o in changed.operations] == [
        f"--- {key}@1\n+++ {key}@2\n@@ -1,5 +1,5 @@\n one\n-two\n+2\n three\n four\n five\n",
        f"--- {key}@2\n+++ {key}@3\n@@ -6,4 +6,4 @@\n six\n seven\n eight\n-nine\n+9\n"
        "\\ No newline at end of file\n",
    ]
    removed = apply(Remove(key, 3)).operations[0]
    assert removed.diff.startswith(f"--- {key}@3\n+++ /dev/null\n@@ -1,9 +0,0 @@\n-one\n-2\n")
    assert removed.diff.endswith("-9\n\\ No newline at end of file\n")
    patch = memory.patch(changed.patch_id)
    assert patch.diff == "".join(o.diff for o in changed.operations)
    assert patch.operations == changed.operations


def test_a_change_of_anything_but_the_text_has_an_empty_diff_or_none(memory, apply, add):
    plan = add(PLAN)
    amended = apply(Supersede(plan.memory_id, 1, "At ten.", part="at noon"))
    assert [bool(o.diff) for o in amended.operations] == [True, False]
    assert memory.patch(amended.patch_id).diff == amended.operations[0].diff


@pytest.mark.promise("write.idempotent")
def test_a_replay_answers_as_the_first_call_did_even_after_later_changes(memory, add, apply):
    old = add("The ledger runs on Postgres.\nIt has backups.\n")
    text = "The ledger runs on SQLite.\nIt has backups.\n"
    batch = [Supersede(old.memory_id, 1, text), Add("new", "Something else.")]
    options = {"idempotency_key": "k", "reason": "cost"}
    first = apply(*batch, **options)
    count = memory.stats().patches

    def replayed():
        again = apply(*batch, **{**options, "actor": "retry", "source": "cli"})
        return again == replace(first, replayed=True) and memory.stats().patches == count

    assert replayed()
    apply(Supersede(old.memory_id, 2, "Third."), Remove(first.operations[1].memory_id, 1))
    count += 1
    assert replayed()
    for operation in first.operations:
        memory.forget(operation.node_id)
    count = memory.stats().patches
    assert replayed()
    memory.forget(first.operations[0].node_id, purge=True)
    again = apply(*batch, **options)
    assert (again.replayed, again.patch_id) == (True, first.patch_id)
    assert "SQLite" not in repr(again)


@pytest.mark.promise("write.idempotent")
def test_another_request_under_the_key_conflicts(engine, memory, apply, add, event):
    old = add("first")
    other = memory.record_event("user", "Other.").id
    batch = [Supersede(old.memory_id, 1, "second"), Add("s", "third")]
    first = apply(*batch, idempotency_key="k", reason="why")
    before = picture(engine)
    for operations, options in (
        (batch[:1], {}),
        (batch[::-1], {}),
        ([batch[0], Add("s", "third", tags=["a"])], {}),
        ([Update(old.memory_id, 1, "second"), batch[1]], {}),
        (batch, {"reason": None}),
        (batch, {"evidence": [event, other]}),
    ):
        given = {"idempotency_key": "k", "reason": "why", **options}
        with pytest.raises(IdempotencyConflictError, match="'k' was used") as refusal:
            apply(*operations, **given)
        assert refusal.value.details == {"key": "k", "patch_id": first.patch_id}
    assert picture(engine) == before


@pytest.mark.promise("write.idempotent")
def test_remember_and_apply_share_one_room_of_keys(memory, apply):
    memory.remember("note", idempotency_key="remembered")
    apply(Add("s", "applied"), idempotency_key="applied")
    with pytest.raises(IdempotencyConflictError):
        apply(Add("s", "note"), idempotency_key="remembered")
    with pytest.raises(IdempotencyConflictError):
        memory.remember("applied", idempotency_key="applied")
    with pytest.raises(IdempotencyConflictError):
        memory.remember_many(["applied"], idempotency_key="applied")


@pytest.mark.promise("namespace.wall", "write.idempotent")
def test_a_key_is_of_one_namespace(memory, apply):
    first = apply(Add("s", "applied"), idempotency_key="k")
    inner = memory.within("below")
    event = inner.record_event("user", "Go.").id
    second = inner.apply([Add("s", "other")], evidence=event, idempotency_key="k")
    assert not second.replayed
    assert second.patch_id != first.patch_id


def test_an_equal_active_note_is_a_duplicate(engine, memory, apply, add):
    node, other = add("The rate is ten."), add("Another.")
    before, folded = picture(engine), " The  rate\nis ten.\t"
    for operation in (
        Add("other", node.text, tags=["x"]),
        Add("other", folded),
        Update(other.memory_id, 1, folded),
        Supersede(other.memory_id, 1, node.text),
    ):
        with pytest.raises(DuplicateError, match=r"Operation 0: .*says the same") as refusal:
            apply(operation)
        assert refusal.value.details["current"] == {
            "content": "The rate is ten.",
            "memory_id": node.memory_id,
            "version": 1,
            "node_id": node.id,
            "status": "active",
        }
    assert picture(engine) == before


def test_an_equal_note_is_no_duplicate_in_another_scope_or_out_of_force(memory, apply, add, clock):
    node = add("The rate is ten.")
    assert add("The rate is ten.", scope="eu").id != node.id
    assert add("The rate is ten.", slot="rate").id != node.id
    apply(Supersede(node.memory_id, 1, "The rate is twenty."))
    again = add("The rate is ten.", valid_to=later(days=1))
    assert again.memory_id != node.memory_id
    clock.advance(days=1)
    assert add("The rate is ten.").memory_id != again.memory_id


def test_duplicates_are_met_inside_one_patch_too(memory, apply, add):
    with pytest.raises(DuplicateError, match="Operation 1"):
        apply(Add("s", "same"), Add("s", "same "))
    with pytest.raises(DuplicateError, match="Operation 1"):
        apply(Add("s", "one", slot="a"), Add("s", "two", slot="a"))
    narrow = add("narrow", scope="eu/west")
    add("taken", scope="eu")
    with pytest.raises(DuplicateError, match="Operation 1"):
        apply(
            Supersede(narrow.memory_id, 1, "broad", scope="eu"),
            Update(narrow.memory_id, 2, "taken"),
        )


def test_a_slot_has_one_value_in_its_scope(engine, memory, apply, add, clock):
    value = add("postgres", slot="ledger/db")
    before = picture(engine)
    with pytest.raises(DuplicateError, match="Slot 'ledger/db' has a value") as refusal:
        apply(Add("s", "sqlite", slot="ledger/db"))
    assert refusal.value.details["current"] == {
        "content": "postgres",
        "memory_id": value.memory_id,
        "version": 1,
        "node_id": value.id,
        "status": "active",
    }
    assert picture(engine) == before
    assert add("files", slot="ledger/db", scope="staging").scope == "staging"
    apply(Supersede(value.memory_id, 1, "sqlite"))
    with pytest.raises(DuplicateError) as refusal:
        apply(Add("s", "files", slot="ledger/db"))
    assert refusal.value.details["current"]["version"] == 2
    apply(Remove(value.memory_id, 2))
    add("files", slot="ledger/db", valid_to=clock.now + timedelta(days=1))
    clock.advance(days=1)
    assert add("none", slot="ledger/db").status is Status.ACTIVE


def test_a_scheduled_value_keeps_its_slot(add):
    add("postgres", slot="ledger/db", valid_from=later(days=1))
    with pytest.raises(DuplicateError):
        add("sqlite", slot="ledger/db")


def test_events_prove_many_patches_and_patches_cite_many_events(memory, apply):
    events = [memory.record_event("user", f"said {n}").id for n in range(3)]
    cited = [events[:2], events[1:], events, events[2:]]
    results = [apply(Add("s", f"note {n}"), evidence=ids) for n, ids in enumerate(cited)]
    for ids, result in zip(cited, results, strict=True):
        assert list(result.evidence) == sorted(ids)
        assert set(memory.patch(result.patch_id).evidence) == set(ids)
    assert set(apply(Add("s", "twice"), evidence=[events[0]] * 3).evidence) == {events[0]}
    assert memory.stats().events == 4


def test_every_role_but_an_assistants_proves_something(memory, apply):
    for role in ("user", "tool", "system", "document"):
        event = memory.record_event(role, "said").id
        assert apply(Add("s", f"said by {role}"), evidence=event).evidence == (event,)


def test_the_event_of_a_note_is_evidence_too(memory, apply):
    note = memory.remember("We decided on Monday to move the ledger.")
    (event,) = memory.patch(note.patch_id).events
    apply(Supersede(note.node.memory_id, 1, "The ledger moves."), evidence=[event])
    assert shown(memory) == ["The ledger moves."]


@pytest.mark.promise("raw.kept", "query.text")
def test_statements_and_diffs_are_stored_as_the_text_they_are(memory, apply):
    for text in (
        "'); DROP TABLE node; --",
        "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
        "\\ No newline at end of file\n",
        '{"op": "REMOVE", "memory_id": "m00000000000"}',
        "  blanks \r\n\x85\u2028 账本 👩\u200d🔬 \x01 ",
    ):
        given: dict[str, Any] = {"tags": [text], "metadata": {text: text}}
        added = apply(Add(text.strip(), text, **given), reason=text)
        node = memory.get_node(added.operations[0].node_id)
        assert (node.text, node.metadata) == (text, {text: text})
        changed = apply(Supersede(node.memory_id, 1, text + "."))
        removed = apply(Remove(node.memory_id, 2))
        for result in (added, changed, removed):
            assert memory.patch(result.patch_id).operations == result.operations
        (first, *_) = memory.recall(text, include_removed=True).hits
        assert first.node.memory_id == node.memory_id


@pytest.mark.promise("raw.kept")
def test_what_cannot_be_stored_is_replaced_and_said(memory, apply):
    result = apply(Add("s", "half \ud83d an emoji\0", tags=["\0t"]), Add("s", "whole"))
    node = memory.get_node(result.operations[0].node_id)
    assert (node.text, node.tags) == ("half \ufffd an emoji\ufffd", ("\ufffdt",))
    assert {w.partition(":")[0] for w in result.warnings} == {"Operation 0"}


@pytest.mark.promise("read.own-write")
def test_many_operations_are_one_patch(engine, memory, apply):
    count = 200
    added = apply(*(Add("numbers", f"number {n}") for n in range(count)))
    ids = [o.memory_id for o in added.operations]
    assert len(set(ids)) == count
    changed = apply(
        *(Supersede(m, 1, f"changed {n}") for n, m in enumerate(ids[: count // 2])),
        *(Remove(m, 1) for m in ids[count // 2 :]),
    )
    assert [o.memory_id for o in changed.operations] == ids
    assert memory.stats().nodes == {
        "active": count // 2,
        "refined": 0,
        "superseded": count // 2,
        "forgotten": count // 2,
        "scheduled": 0,
    }
    assert memory.stats().patches == 3
    assert memory.patch(changed.patch_id).operations == changed.operations
    assert shown(memory, "changed 7", k=1) == ["changed 7"]


def test_one_memory_takes_a_long_line_of_operations(memory, apply):
    key = apply(Add("line", "version 1")).operations[0].memory_id
    result = apply(*(Supersede(key, n, f"version {n + 1}") for n in range(1, 100)))
    assert [o.version for o in result.operations] == list(range(2, 101))
    assert shown(memory, "version 1", k=3) == ["version 100"]
    assert len(memory.history(result.operations[0].node_id)) == 100
    assert memory.read(key).version == 100


@pytest.mark.promise("head.cas")
def test_a_hit_tells_the_version_that_an_operation_expects(memory, apply, add):
    plan = add(PLAN)
    apply(Supersede(plan.memory_id, 1, "At ten.", part="at noon"))
    other = memory.remember("Deploys are paused.").node
    for query, key in (("fridays", plan.memory_id), ("paused", other.memory_id)):
        node = memory.search(query).hits[0].node
        assert node.memory_id == key
        assert node.memory_version == memory.read(key).version
        apply(Supersede(key, node.memory_version, f"Replaced {key}."))
