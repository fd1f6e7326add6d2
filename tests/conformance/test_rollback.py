"""Undoing a patch brings back what was in force, as a patch that can be undone itself."""

import pytest
from tests.conformance.builders import REACH, later, picture

from evomem import (
    Add,
    InvalidRequestError,
    NotFoundError,
    Remove,
    Status,
    Supersede,
    UnsafeRollbackError,
    Update,
    VersionConflictError,
)

PLAN = "Deploys run on Fridays at noon by hand."


def remembered(memory, event):
    yield
    yield memory.remember("The ledger runs on Postgres.", tags=["db"]).patch_id


def superseded(memory, event):
    old = memory.remember("The ledger runs on Postgres.", tags=["db"], slot="ledger/db").node.id
    yield
    yield memory.remember("The ledger runs on SQLite.", supersedes=old).patch_id


def refined(memory, event):
    old = memory.remember("Use tabs.", metadata={"n": 1}, subject="code").node.id
    yield
    yield memory.remember("Indent with tabs.", refines=old).patch_id


def amended(memory, event):
    old = memory.remember(PLAN).node.id
    yield
    yield memory.remember("At ten.", amends={"id": old, "part": "at noon"}).patch_id


def overridden(memory, event):
    old = memory.remember("Logs are kept 30 days.").node.id
    yield
    yield memory.remember("Logs are kept 90 days.", scope="eu", overrides=old).patch_id


def related(memory, event):
    old = memory.remember("An outage of three hours.").node.id
    yield
    yield memory.remember("We buy a second machine.", relations={"caused_by": [old]}).patch_id


def merged(memory, event):
    old = [memory.remember(text).node.id for text in ("The left half.", "The right half.")]
    yield
    yield memory.remember("The whole of it.", supersedes=old).patch_id


def split(memory, event):
    old = memory.remember("The whole of it.").node.id
    yield
    notes = [{"text": t, "supersedes": old} for t in ("The left half.", "The right half.")]
    yield memory.remember_many(notes)[0].patch_id


def a_batch(memory, event):
    memory.remember("main", slot="branch")
    yield
    notes = [{"text": "trunk", "slot": "branch"}, {"text": "dev", "slot": "branch"}, "beside"]
    yield memory.remember_many(notes)[0].patch_id


def linked(memory, event):
    old, new = (memory.remember(text).node.id for text in ("old", "new"))
    yield
    yield memory.link(new, supersedes=old).patch_id


def linked_inside(memory, event):
    """Two versions of one memory that stood side by side."""
    old = memory.remember("old").node.id
    new = memory.remember("new", supersedes=old).node.id
    memory.unlink(new, old)
    yield
    yield memory.link(new, supersedes=old).patch_id


def unlinked(memory, event):
    old = memory.remember("old").node.id
    new = memory.remember("new", supersedes=old).node.id
    yield
    yield memory.unlink(new, old).patch_id


def unlinked_across(memory, event):
    old, new = (memory.remember(text).node.id for text in ("old", "new"))
    memory.link(new, supersedes=old)
    yield
    yield memory.unlink(new, old).patch_id


def unlinked_mark(memory, event):
    old = memory.remember("Logs are kept 30 days.").node.id
    new = memory.remember("Logs are kept 90 days.", scope="eu", overrides=old).node.id
    yield
    yield memory.unlink(new, old).patch_id


def forgotten(memory, event):
    old = memory.remember("old").node.id
    new = memory.remember("new", supersedes=old).node.id
    yield
    yield memory.forget(new).patch_id


def applied(memory, event):
    notes = [f"{name} of it" for name in ("one", "two", "three", "four", "five")]
    keys = [memory.remember(text, tags=["t"]).node.memory_id for text in notes]
    yield
    yield memory.apply(
        [
            Add("s", "six of it", slot="six"),
            Update(keys[0], 1, "one, in other words"),
            Supersede(keys[1], 1, "two replaced"),
            Supersede(keys[2], 1, "a part of three", part="three"),
            Remove(keys[3], 1),
            Supersede(keys[4], 1, "five replaced"),
            Supersede(keys[4], 2, "five replaced again"),
            Remove(keys[1], 2),
        ],
        evidence=event,
    ).patch_id


def opened_again(memory, event):
    key = memory.remember("old").node.memory_id
    memory.apply([Remove(key, 1)], evidence=event)
    yield
    yield memory.apply([Supersede(key, 2, "new")], evidence=event).patch_id


def removed(memory, event):
    key = memory.remember("The rate is ten.").node.memory_id
    soon = Supersede(key, 1, "The rate is twenty.", valid_from=later(days=3))
    memory.apply([soon], evidence=event)
    yield
    yield memory.apply([Remove(key, 2)], evidence=event).patch_id


def scheduled(memory, event):
    old = memory.remember("The rate is ten.").node.id
    yield
    times = {"valid_from": later(days=3), "valid_to": later(days=30)}
    yield memory.remember("The rate is twenty.", supersedes=old, **times).patch_id


def scheduled_again(memory, event):
    old = memory.remember("The rate is ten.").node.id
    memory.remember("The rate is twenty.", supersedes=old, valid_from=later(days=3))
    yield
    yield memory.remember("The rate is thirty.", supersedes=old, valid_from=later(days=2)).patch_id


def begun_ahead(memory, event):
    yield
    yield memory.remember("The office moves.", valid_from=later(days=3)).patch_id


def back_dated(memory, event):
    old = memory.remember("The rate was one.", valid_from=later(days=-10)).node.id
    memory.remember("The rate is ten.", supersedes=old)
    yield
    yield memory.remember("The rate was five.", supersedes=old, valid_from=later(days=-3)).patch_id


def for_a_while(memory, event):
    old = memory.remember("The rate is ten.").node.id
    yield
    yield memory.remember("The rate is two.", supersedes=old, valid_to=later(days=1)).patch_id


SCENARIOS = {
    remembered: ["REMOVE"],
    superseded: ["RESTORE"],
    refined: ["RESTORE"],
    amended: None,
    overridden: None,
    related: None,
    merged: ["RESTORE", "UNLINK"],
    split: ["RESTORE", "REMOVE", "UNLINK"],
    a_batch: ["RESTORE", "REMOVE"],
    linked: ["UNLINK"],
    linked_inside: ["UNLINK"],
    unlinked: ["LINK"],
    unlinked_across: ["LINK"],
    unlinked_mark: ["LINK"],
    forgotten: ["RESTORE"],
    applied: None,
    opened_again: ["REMOVE", "UNLINK"],
    removed: ["RESTORE", "RESTORE"],
    scheduled: ["RESTORE"],
    scheduled_again: None,
    begun_ahead: ["REMOVE"],
    back_dated: ["REMOVE", "UNLINK"],
    for_a_while: ["RESTORE"],
}
TIMES = [later(days=d) for d in (0.5, 1, 2.5, 3, 30, 99)]


@pytest.fixture
def event(memory):
    return memory.record_event("user", "Go ahead.").id


def contents(engine, memory):
    """What is in force at the times, word by word, and what each older node resolves to then."""
    nodes = [node.id for node in memory.list(status="all", limit=1000)]
    seen = {}
    with engine.read() as reader:
        records = reader.records(REACH, nodes)
        for at in TIMES:
            lineage = reader.lineage(REACH, nodes, at)
            active = [n for n in nodes if lineage.status(n, at) is Status.ACTIVE]
            words = sorted(map(what_it_says, (records[n] for n in active)))
            heads = {
                n: sorted(records[h].text for h in lineage.heads(n, at) if h in active)
                for n in nodes
            }
            seen[at] = words, heads
    return seen


def what_it_says(record):
    said = (record.text, record.scope, record.slot, record.subject, record.valid_to)
    return (*map(str, said), record.tags, str(record.metadata))


def the_same(before, after):
    """Every node of before resolves to the same contents, and the same contents hold."""
    for at, (words, heads) in before.items():
        assert after[at][0] == words
        assert {n: found for n, found in after[at][1].items() if n in heads} == heads
    return True


def steps(result, known):
    """What was done, or would be; a dry run has no ids for new nodes."""
    return [
        (o.op, o.memory_id, o.version, o.diff, o.node_id if o.node_id in known else "new")
        for o in result.operations
    ]


@pytest.mark.promise("write.atomic", "recall.head", "resolve.total")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_a_rollback_does_what_its_dry_run_shows_and_brings_back_what_was_in_force(
    engine, memory, event, clock, scenario
):
    story = scenario(memory, event)
    next(story)
    before = contents(engine, memory)
    patch_id = next(story)
    after = contents(engine, memory)
    nodes = {node.id: node.text for node in memory.list(status="all", limit=1000)}
    clock.now = TIMES[0]

    kept, commits = picture(engine), memory.changes()
    planned = memory.rollback(patch_id, dry_run=True)
    assert (planned.patch_id, planned.sequence, planned.replayed) == (None, None, False)
    assert (picture(engine), memory.changes()) == (kept, commits)
    assert memory.patch(patch_id).rolled_back_by is None

    undone = memory.rollback(patch_id, reason="a mistake", actor="ada", source="cli")
    assert steps(undone, nodes) == steps(planned, nodes)
    assert undone.warnings == planned.warnings
    assert the_same(before, contents(engine, memory))
    ops = [o.op.value for o in undone.operations]
    assert set(ops) <= {"RESTORE", "REMOVE", "LINK", "UNLINK"}
    if (expected := SCENARIOS[scenario]) is not None:
        assert sorted(ops) == sorted(expected)
    # Nothing is erased: the history tells both.
    assert nodes.items() <= {n.id: n.text for n in memory.list(status="all", limit=1000)}.items()

    audit = memory.patch(undone.patch_id)
    assert (audit.rollback_of, audit.rolled_back_by) == (patch_id, None)
    assert (audit.reason, audit.actor, audit.source) == ("a mistake", "ada", "cli")
    assert audit.operations == undone.operations
    assert audit.sequence == undone.sequence == memory.version()
    first = memory.patch(patch_id)
    assert (first.rolled_back_by, first.rollback_of) == (undone.patch_id, None)

    again = memory.rollback(undone.patch_id)
    assert the_same(after, contents(engine, memory))
    assert memory.patch(undone.patch_id).rolled_back_by == again.patch_id
    assert memory.patch(again.patch_id).reason == f"rollback of {undone.patch_id}"


def test_a_back_dated_version_is_undone_in_its_own_time(memory, clock):
    old = memory.remember("The rate was one.", valid_from=later(days=-10)).node
    memory.remember("The rate is ten.", supersedes=old.id)
    times = [later(days=d) for d in (-20, -9, -2, 0, 5)]

    def shown():
        found = (memory.recall("rate", as_of=at).hits for at in times)
        return [[hit.node.text for hit in hits] for hits in found]

    before = shown()
    added = memory.remember("The rate was five.", supersedes=old.id, valid_from=later(days=-3))
    after = shown()
    clock.advance(hours=1)
    undone = memory.rollback(added.patch_id)
    assert shown() == before
    memory.rollback(undone.patch_id)
    assert shown() == after != before


def test_a_version_dated_back_to_before_the_first_is_undone_too(memory):
    first = memory.remember("The rate is ten.").node
    added = memory.remember("The rate was five.", supersedes=first.id, valid_from=later(days=-3))
    assert memory.recall("rate", as_of=later(days=-1)).hits
    memory.rollback(added.patch_id)
    assert memory.recall("rate", as_of=later(days=-1)).hits == ()
    assert [hit.node.id for hit in memory.recall("rate").hits] == [first.id]


def test_a_rollback_tells_its_diffs(memory, event):
    old = memory.remember("one\ntwo\n").node
    second = memory.apply([Supersede(old.memory_id, 1, "one\n2\n")], evidence=event)
    third = memory.apply([Remove(old.memory_id, 2)], evidence=event)
    back = memory.rollback(third.patch_id)
    key = old.memory_id
    assert [(o.op.value, o.version, o.diff) for o in back.operations] == [
        ("RESTORE", 4, f"--- /dev/null\n+++ {key}@4\n@@ -0,0 +1,2 @@\n+one\n+2\n")
    ]
    assert back.evidence == (event,)
    first = memory.rollback(second.patch_id)
    assert first.operations[0].diff == (
        f"--- {key}@4\n+++ {key}@5\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n"
    )
    assert memory.patch(first.patch_id).diff == first.operations[0].diff
    assert memory.read(key).node.text == "one\ntwo\n"


def test_what_is_restored_is_a_version_with_the_former_content(memory, clock):
    options = {"tags": ["db"], "metadata": {"n": 1}, "subject": "ledger", "scope": "eu"}
    old = memory.remember("We moved to Postgres because of MySQL.", session="s", **options).node
    new = memory.remember("SQLite.", supersedes=old.id)
    clock.advance(days=1)
    (step,) = memory.rollback(new.patch_id).operations
    node = memory.get_node(step.node_id)
    assert node.id not in {old.id, new.node.id}
    for field in ("text", "tags", "metadata", "subject", "scope", "session", "change", "summary"):
        assert getattr(node, field) == getattr(old, field)
    assert (node.created_at, node.recorded_at) == (old.created_at, clock.now)
    assert (node.valid_from, node.version, node.memory_version) == (clock.now, 3, 3)
    assert node.supersedes == (new.node.id,)
    assert node.relations == {"restores": (old.id,)}
    assert [n.status.value for n in memory.history(old.id)] == [
        "active",
        "superseded",
        "superseded",
    ]
    (hit,) = memory.recall("postgres").hits
    assert hit.node.id == node.id


def test_a_restored_version_counts_for_the_next_operation(memory, event):
    old = memory.remember("v1").node
    new = memory.remember("v2", supersedes=old.id)
    memory.rollback(new.patch_id)
    with pytest.raises(VersionConflictError):
        memory.apply([Supersede(old.memory_id, 2, "v3")], evidence=event)
    memory.apply([Supersede(old.memory_id, 3, "v3")], evidence=event)
    assert memory.remember("v4", supersedes=old.id).superseded
    assert [n.text for n in memory.list()] == ["v4"]


def unsafe(engine, memory, patch_id, dependents):
    before, commits = picture(engine), memory.changes()
    for dry_run in (True, False):
        with pytest.raises(UnsafeRollbackError) as refusal:
            memory.rollback(patch_id, dry_run=dry_run)
        assert refusal.value.details == {"patch_id": patch_id, "dependents": dependents}
        assert all(name in refusal.value.message for name in dependents)
    assert (picture(engine), memory.changes()) == (before, commits)


@pytest.mark.promise("write.atomic")
def test_later_patches_on_the_same_memory_are_named_and_nothing_else(engine, memory, event):
    first = memory.remember("v1")
    memory.remember("beside")
    second = memory.remember("v2", supersedes=first.node.id)
    other = memory.remember("elsewhere")
    third = memory.apply([Update(first.node.memory_id, 2, "v2, worded")], evidence=event)
    linked_to = memory.link(other.node.id, supersedes=first.node.id)
    unsafe(
        engine,
        memory,
        first.patch_id,
        [second.patch_id, third.patch_id, linked_to.patch_id],
    )
    unsafe(engine, memory, second.patch_id, [third.patch_id, linked_to.patch_id])
    unsafe(engine, memory, third.patch_id, [linked_to.patch_id])
    for patch_id in (linked_to, third, second, first):
        memory.rollback(patch_id.patch_id)
    assert sorted(n.text for n in memory.list()) == ["beside", "elsewhere"]


@pytest.mark.parametrize("how", ["amends", "overrides", "part"])
def test_a_later_mark_on_what_the_patch_added_is_named(engine, memory, event, how):
    first = memory.remember(PLAN)
    second = memory.remember("Deploys run on Mondays at noon.", supersedes=first.node.id)
    if how == "amends":
        quoted = {"id": second.node.id, "part": "at noon"}
        marked = memory.remember("At ten.", amends=quoted).patch_id
    elif how == "overrides":
        marked = memory.remember("At two.", scope="eu", overrides=second.node.id).patch_id
    else:
        operation = Supersede(first.node.memory_id, 2, "At ten.", part="at noon")
        marked = memory.apply([operation], evidence=event).patch_id
    unsafe(engine, memory, second.patch_id, [marked])
    memory.rollback(marked)
    memory.rollback(second.patch_id)
    assert [n.text for n in memory.list()] == [PLAN]


def test_a_note_that_only_pointed_to_another_is_no_obstacle_once_it_is_undone(memory):
    first = memory.remember("An outage of three hours.")
    second = memory.remember("An outage of four hours.", supersedes=first.node.id)
    pointing = memory.remember("We buy a machine.", relations={"caused_by": [second.node.id]})
    memory.rollback(pointing.patch_id)
    memory.rollback(second.patch_id)
    assert [n.text for n in memory.list()] == ["An outage of three hours."]


def test_a_mark_that_was_unlinked_is_undone_step_by_step(engine, memory):
    first = memory.remember(PLAN)
    second = memory.remember("Deploys run on Mondays at noon.", supersedes=first.node.id)
    quoted = {"id": second.node.id, "part": "at noon"}
    marking = memory.remember("At ten.", amends=quoted)
    unlinked = memory.unlink(marking.node.id, second.node.id)
    unsafe(engine, memory, second.patch_id, [marking.patch_id, unlinked.patch_id])
    for patch_id in (unlinked.patch_id, marking.patch_id, second.patch_id):
        memory.rollback(patch_id)
    assert [n.text for n in memory.list()] == [PLAN]


def test_a_mark_on_what_the_patch_replaced_changes_its_memory_and_a_relation_does_not(
    engine, memory
):
    first = memory.remember(PLAN)
    second = memory.remember("Every merge is deployed.", supersedes=first.node.id)
    memory.remember("It was so.", relations={"explains": [second.node.id]})
    quoted = {"id": first.node.id, "part": "at noon"}
    marking = memory.remember("At ten.", amends=quoted)
    unsafe(engine, memory, second.patch_id, [marking.patch_id])
    memory.rollback(marking.patch_id)
    memory.rollback(second.patch_id)
    assert memory.recall("fridays").hits[0].node.text == PLAN


def test_a_patch_and_its_rollback_cancel_each_other(engine, memory):
    first = memory.remember("v1")
    second = memory.remember("v2", supersedes=first.node.id)
    third = memory.remember("v3", supersedes=first.node.id)
    undone = memory.rollback(third.patch_id)
    back = memory.rollback(undone.patch_id)
    unsafe(engine, memory, second.patch_id, [third.patch_id])
    last = memory.rollback(back.patch_id)
    assert memory.rollback(second.patch_id).operations
    assert [n.text for n in memory.list()] == ["v1"]
    assert len(memory.history(first.node.id)) == 7
    assert memory.patch(back.patch_id).rolled_back_by == last.patch_id


def test_what_was_rolled_back_is_not_rolled_back_again(engine, memory):
    first = memory.remember("v1")
    second = memory.remember("v2", supersedes=first.node.id)
    undone = memory.rollback(second.patch_id)
    with pytest.raises(UnsafeRollbackError, match=f"was rolled back by {undone.patch_id}"):
        memory.rollback(second.patch_id)
    memory.rollback(first.patch_id)
    assert memory.list().nodes == ()


def test_a_text_that_was_purged_cannot_come_back(engine, memory):
    first = memory.remember("The vault opens with swordfish.")
    second = memory.remember("It has no vault.", supersedes=first.node.id)
    purged = memory.forget(first.node.id, purge=True)
    unsafe(engine, memory, second.patch_id, [purged.patch_id])
    before = picture(engine)
    with pytest.raises(UnsafeRollbackError, match="purged") as refusal:
        memory.rollback(memory.forget(second.node.id, purge=True).patch_id)
    assert refusal.value.details["purged"] == [second.node.id]
    assert picture(engine) != before
    assert memory.list().nodes == ()


def test_evidence_is_never_undone(engine, memory):
    event = memory.record_event("user", "Go ahead.")
    before = picture(engine)
    with pytest.raises(InvalidRequestError, match="nothing to roll back"):
        memory.rollback(event.patch_id)
    assert picture(engine) == before
    note = memory.remember("A note.")
    (brought,) = memory.patch(note.patch_id).events
    memory.rollback(note.patch_id)
    assert memory.get_event(brought).content == "A note."
    assert memory.get_event(event.id) == event


@pytest.mark.parametrize("which", [0, 1])
def test_what_was_forgotten_comes_back_as_it_was(memory, event, which):
    old = memory.remember("The rate is ten.").node
    new = memory.remember("The rate is twenty.", supersedes=old.id).node
    forgotten = (old, new)[which]
    before = memory.get_node(forgotten.id)
    gone = memory.forget(forgotten.id)
    undone = memory.rollback(gone.patch_id)
    (step,) = undone.operations
    assert (step.op, step.node_id, step.version) == ("RESTORE", forgotten.id, 4)
    assert step.diff.startswith("--- /dev/null\n")
    after = memory.get_node(forgotten.id)
    assert (after.status, after.superseded_by) == (before.status, before.superseded_by)
    assert [hit.node.id for hit in memory.recall("rate").hits] == [new.id]
    assert [n.id for n in memory.history(old.id)] == [new.id, old.id]
    memory.apply([Supersede(old.memory_id, 4, "The rate is thirty.")], evidence=event)


@pytest.mark.promise("namespace.wall")
def test_a_patch_of_another_namespace_is_as_unknown_as_none(memory):
    inner = memory.within("below")
    foreign = inner.remember("A note.").patch_id
    own = memory.remember("A note.").patch_id
    for handle, asked in ((memory, foreign), (inner, own)):
        messages = []
        for given in (asked, "p00000000000"):
            for use in (handle.patch, handle.rollback):
                with pytest.raises(NotFoundError) as refusal:
                    use(given)
                messages.append(refusal.value.message.replace(given, "ID"))
        assert len(set(messages)) == 1
    assert inner.stats().nodes["active"] == memory.stats().nodes["active"] == 1
    assert inner.patch(foreign).rolled_back_by is None


def test_an_id_that_names_no_patch_is_refused(memory, event):
    note = memory.remember("A note.")
    for given in (note.node.id, note.node.memory_id, event, note.patch_id[:8]):
        with pytest.raises(NotFoundError, match="is no patch of this namespace"):
            memory.rollback(given)
    for given in ("", " ", "\0", None):
        with pytest.raises(InvalidRequestError):
            memory.rollback(given)
    with pytest.raises(InvalidRequestError, match="dry_run"):
        memory.rollback(note.patch_id, dry_run="yes")
    assert memory.stats().nodes["active"] == 1


@pytest.mark.promise("link.never-guess")
def test_a_link_is_undone_whatever_came_later(engine, memory):
    old = memory.remember("v1")
    new = memory.remember("v2", supersedes=old.node.id)
    last = memory.remember("v3", supersedes=new.node.id)
    unsafe(engine, memory, new.patch_id, [last.patch_id])
    assert memory.unlink(new.node.id, old.node.id).restored == (old.node.id,)
    assert sorted(n.text for n in memory.list()) == ["v1", "v3"]
    undone = memory.rollback(memory.changes()[-1].patch_id)
    assert [o.op.value for o in undone.operations] == ["LINK"]
    # What a rollback linked or restored can be unlinked too.
    assert memory.unlink(new.node.id, old.node.id).restored == (old.node.id,)
    back = memory.rollback(memory.remember("v4", supersedes=last.node.id).patch_id)
    (restored,) = back.operations
    (replaced,) = memory.get_node(restored.node_id).supersedes
    assert memory.unlink(restored.node_id, replaced).restored == (replaced,)


@pytest.mark.promise("recall.head")
@pytest.mark.parametrize("kind", ["supersedes", "refines"])
def test_what_marked_a_node_marks_it_again_when_it_comes_back(memory, kind):
    plan = memory.remember(PLAN).node
    part = memory.remember("At ten.", amends={"id": plan.id, "part": "at noon"}).node
    local = memory.remember("Never in the EU.", scope="eu", overrides=plan.id).node
    new = memory.remember("Every merge is deployed.", **{kind: plan.id})
    (restored,) = memory.rollback(new.patch_id).operations
    hits = memory.recall("deploys fridays by hand", scope="eu").hits
    hit = next(h for h in hits if h.node.id == restored.node_id)
    assert hit.amended == ((part.id, "at noon"),)
    assert hit.overridden == (local.id,)
    assert memory.get_node(restored.node_id).relations["amended_by"] == (part.id,)
    # And for the one that comes back after that.
    again = memory.remember("Every merge is deployed.", supersedes=plan.id)
    (last,) = memory.rollback(again.patch_id).operations
    assert memory.recall("fridays").hits[0].amended == ((part.id, "at noon"),)
    memory.rollback(memory.changes()[-1].patch_id)
    assert memory.recall("every merge").hits[0].amended == ()
    assert memory.get_node(last.node_id).status is Status.SUPERSEDED


def test_a_rollback_frees_and_takes_slots_as_before(memory, event):
    first = memory.apply([Add("s", "postgres", slot="db")], evidence=event)
    memory.rollback(first.patch_id)
    second = memory.apply([Add("s", "sqlite", slot="db")], evidence=event)
    assert second.operations[0].memory_id != first.operations[0].memory_id
    third = memory.remember("files", slot="db")
    memory.rollback(third.patch_id)
    assert [(n.text, n.slot) for n in memory.list()] == [("sqlite", "db")]
    fourth = memory.remember("memory", slot="db")
    assert fourth.node.memory_id == second.operations[0].memory_id


@pytest.mark.parametrize("how", ["removal", "rollback"])
def test_a_slot_that_has_another_value_by_now_is_not_filled_again(engine, memory, event, how):
    first = memory.apply([Add("s", "postgres", slot="db")], evidence=event)
    if how == "removal":
        gone = memory.apply([Remove(first.operations[0].memory_id, 1)], evidence=event)
    else:
        gone = memory.rollback(first.patch_id)
    filled = memory.apply([Add("s", "sqlite", slot="db")], evidence=event)
    unsafe(engine, memory, gone.patch_id, [filled.patch_id])
    memory.rollback(filled.patch_id)
    memory.rollback(gone.patch_id)
    assert [(n.text, n.slot) for n in memory.list()] == [("postgres", "db")]


@pytest.mark.promise("write.idempotent")
def test_the_key_of_a_patch_that_was_rolled_back_still_replays_it(memory, event):
    first = memory.apply([Add("s", "note")], evidence=event, idempotency_key="k")
    memory.rollback(first.patch_id)
    again = memory.apply([Add("s", "note")], evidence=event, idempotency_key="k")
    assert (again.replayed, again.patch_id) == (True, first.patch_id)
    assert memory.list().nodes == ()
    assert not memory.apply([Add("s", "note")], evidence=event).replayed


def test_a_split_of_a_slots_value_can_be_undone(memory):
    value = memory.remember("The ledger runs on Postgres.", slot="ledger/db")
    parts = memory.remember_many(
        [{"text": text, "supersedes": value.node.id} for text in ("Entries in SQLite.", "Parquet.")]
    )
    undone = memory.rollback(parts[0].patch_id)
    assert [n.text for n in memory.list()] == ["The ledger runs on Postgres."]
    memory.rollback(undone.patch_id)
    assert {n.text for n in memory.list()} == {"Entries in SQLite.", "Parquet."}
