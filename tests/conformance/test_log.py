"""A patch is read back as it was committed, by whom it may be seen."""

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import (
    BELOW,
    HOME,
    REACH,
    START,
    later,
    note,
    open_memory,
    patch_of,
    picture,
    purge_of,
    removal,
    replaces,
    step,
    store,
)
from tests.conformance.histories import STEPS, play
from tests.conformance.story import ODD, Story, as_kept, said, unordered, what_was_kept
from tests.conformance.test_records import NAMES, TEXTS, TIMES, VALUES, records

from evomem.domain.edge import Edge
from evomem.domain.event import ROLES, EventRecord
from evomem.domain.extraction import Extraction
from evomem.domain.identifiers import PATCH, new_id
from evomem.domain.namespace import Reach
from evomem.domain.patch import Op, Step, SuggestedLink

ASIDE = ("tenant", "aside")


def log(engine, since=0, limit=1000, reach=REACH, **options):
    with engine.read() as reader:
        return reader.log(reach, since, limit, **options)


def commits(engine, *ids, reach=REACH):
    with engine.read() as reader:
        return reader.commits(reach, ids)


@pytest.mark.parametrize("name", Story().patches)
def test_a_patch_is_read_back_as_it_was_committed(engine, name):
    story = Story()
    receipts = [engine.commit(patch) for patch in story.until(name)]
    expected = as_kept(story.patches[name], receipts[-1])
    (found,) = commits(engine, story.patches[name].id)
    assert what_was_kept(found) == expected
    assert (found.sequence, found.rolled_back_by) == (receipts[-1].sequence, None)
    (last,) = log(engine, since=found.sequence - 1)
    assert last == found


CONFIDENCES = st.floats(0, 1)
FILLED = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@st.composite
def events(draw):
    named = {
        "session": draw(NAMES),
        "external_id": draw(NAMES),
        "role": draw(st.sampled_from(ROLES)),
    }
    return replace(said(draw(FILLED), **named), occurred_at=draw(TIMES))


@st.composite
def patches(draw):
    nodes = draw(st.lists(records(), max_size=3))
    ends = [(new.id, old.id) for old, new in itertools.combinations(nodes, 2)]
    kinds = st.sampled_from(["supersedes", "refines", "amends", "caused_by"])
    edges, asked = [], []
    for new, old in draw(st.lists(st.sampled_from(ends), max_size=3, unique=True)) if ends else ():
        words = (draw(NAMES), draw(NAMES), draw(TEXTS), draw(CONFIDENCES))
        edges.append(Edge(draw(kinds), new, old, 0, *words))
        asked.append(SuggestedLink(new, old, draw(FILLED), draw(CONFIDENCES), draw(TEXTS)))
    brought = draw(st.lists(events(), max_size=2, unique_by=lambda e: e.external_id))
    return patch_of(
        *nodes,
        id=new_id(PATCH),
        recorded_at=draw(st.datetimes(timezones=st.just(START.tzinfo))),
        actor=draw(NAMES),
        source=draw(NAMES),
        reason=draw(NAMES),
        replay=draw(st.none() | st.dictionaries(TEXTS, VALUES, max_size=2)),
        payload_digest=draw(st.none() | st.binary()),
        rollback_of=draw(NAMES),
        events=tuple(replace(e, external_id=e.external_id and e.id) for e in brought),
        evidence=tuple(e.id for e in brought),
        edges=tuple(edges),
        suggestions=tuple(asked),
    )


@pytest.mark.promise("raw.kept")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patches())
def test_any_patch_is_read_back_as_it_was_committed(engine, patch):
    receipt = engine.commit(patch)
    (found,) = commits(engine, patch.id)
    assert what_was_kept(found) == as_kept(patch, receipt)


def test_numbers_of_a_replay_keep_their_types(engine):
    replay = {"whole": 1, "real": 1.0, "big": 2**70, "small": 1e-300, "yes": True, "nothing": None}
    engine.commit(patch_of(idempotency_key="k", payload_digest=b"d", replay=replay))
    (found,) = log(engine)
    assert repr(found.patch.replay) == repr(replay)


def test_what_was_purged_is_missing_in_the_patch_that_brought_it(engine):
    story = Story()
    receipts = {name: engine.commit(patch) for name, patch in story.patches.items()}
    secret, ledger = story.nodes["secret"], story.nodes["ledger"]
    blank: dict[str, Any] = {
        "text": "",
        "purged": True,
        "subject": None,
        "tags": (),
        "metadata": {},
    }
    patch = as_kept(story.patches["secret"], receipts["secret"])
    left = replace(patch.nodes[0], **blank, extraction=Extraction(secret.extraction.cronista))
    found = {c.patch.id: c for c in log(engine)}
    assert what_was_kept(found[patch.id]) == replace(patch, nodes=(left, patch.nodes[1]))
    patch = as_kept(story.patches["told"], receipts["told"])
    quoting = replace(patch.edges[0], part=None, reason=None)
    told = replace(patch, edges=(quoting, patch.edges[1]), suggestions=())
    assert what_was_kept(found[patch.id]) == told
    # The event that brought a text keeps it: that is evidence.
    patch = found[story.patches["ledger"].id].patch
    assert (patch.nodes[0].text, patch.events[0].content) == ("", ledger.text)
    assert "swordfish" not in repr(found)


def test_the_log_is_read_in_pages_from_either_end(engine):
    made = [engine.commit(patch_of(note(f"note {n}"))).sequence for n in range(7)]
    engine.commit(patch_of(note("beside", namespace=ASIDE), namespace=ASIDE))
    made.append(engine.commit(patch_of()).sequence)

    def read(*asked, **options):
        return [commit.sequence for commit in log(engine, *asked, **options)]

    assert read() == made
    assert read(made[2], 3) == made[3:6]
    assert read(made[-1]) == read(10**12) == []
    assert read(newest_first=True) == made[::-1]
    assert read(0, 2, newest_first=True) == made[:-3:-1]
    assert read(made[5], 9, newest_first=True) == made[:5:-1]
    assert log(engine, limit=0) == []


def test_commits_are_answered_once_each_and_the_oldest_first(engine):
    first, second = patch_of(note("one")), patch_of(note("two"))
    for patch in (first, second):
        engine.commit(patch)
    asked = (second.id, "punknownpatc", first.id, second.id, "")
    assert [commit.patch.id for commit in commits(engine, *asked)] == [first.id, second.id]
    assert commits(engine) == []


def test_a_rollback_is_named_by_the_patch_that_it_undid(engine):
    undone = patch_of(note("one"))
    engine.commit(undone)
    assert commits(engine, undone.id)[0].rolled_back_by is None
    undoing = patch_of(rollback_of=undone.id)
    engine.commit(undoing)
    found = commits(engine, undone.id, undoing.id)
    assert [c.rolled_back_by for c in found] == [undoing.id, None]
    assert [c.patch.rollback_of for c in found] == [None, undone.id]


def test_every_commit_has_a_seal_of_its_own(engine):
    twice = [patch_of(reason="the same"), patch_of(reason="the same")]
    for patch in twice:
        engine.commit(patch)
    found = log(engine)
    assert len({c.digest for c in found} | {c.hash for c in found}) == 4
    assert {len(value) for c in found for value in (c.digest, c.hash)} == {32}


def test_a_commit_is_never_recorded_before_an_earlier_one(engine):
    times = [later(hours=2), later(), later(hours=2), later(hours=3)]
    patches = [patch_of(note(f"note {n}"), recorded_at=t) for n, t in enumerate(times)]
    receipts = [engine.commit(patch) for patch in patches]
    kept = [later(hours=2), later(hours=2), later(hours=2), later(hours=3)]
    assert [receipt.recorded_at for receipt in receipts] == kept
    assert [commit.patch.recorded_at for commit in log(engine)] == kept
    with engine.read() as reader:
        ids = [patch.nodes[0].id for patch in patches]
        found = reader.records(REACH, ids)
        assert [found[node_id].recorded_at for node_id in ids] == kept
        assert reader.last_commit(HOME).recorded_at == kept[-1]


def test_the_time_of_a_commit_follows_that_of_other_namespaces(engine):
    engine.commit(patch_of(note("x", namespace=ASIDE), namespace=ASIDE, recorded_at=later(days=1)))
    assert engine.commit(patch_of(note("own"))).recorded_at == later(days=1)


def test_what_was_done_to_a_memory_is_told_the_oldest_first(engine):
    story = Story()
    receipts = {patch.id: engine.commit(patch) for patch in story.patches.values()}
    with engine.read() as reader:
        for memory_id in story.memory_ids:
            expected = [
                Step(
                    operation.op,
                    operation.version,
                    operation.node_id,
                    patch.id,
                    receipts[patch.id].sequence,
                    receipts[patch.id].recorded_at,
                    patch.actor,
                    patch.reason,
                )
                for patch in story.patches.values()
                for operation in patch.operations
                if operation.memory_id == memory_id
            ]
            assert reader.steps(REACH, memory_id) == expected
        assert reader.steps(REACH, "munknownmemo") == []


def test_later_patches_are_those_that_did_something_to_a_memory(engine):
    node, beside = note("one"), note("two")
    first = engine.commit(patch_of(node, beside)).sequence
    linked = patch_of(
        also=(step(Op.LINK, node, 2),), edges=(replaces(node, beside),), rollback_of="pother"
    )
    engine.commit(linked)
    engine.commit(patch_of(note("three")))
    gone = removal(beside)
    engine.commit(gone)
    expected = {
        (node.memory_id,): [(linked.id, "pother")],
        (beside.memory_id,): [(gone.id, None)],
        (beside.memory_id, node.memory_id): [(linked.id, "pother"), (gone.id, None)],
        ("munknownmemo",): [],
        (): [],
    }
    with engine.read() as reader:
        for ids, patches in expected.items():
            assert reader.later_patches(REACH, ids, first) == patches
        assert len(reader.later_patches(REACH, [node.memory_id], first - 1)) == 2


def test_patches_are_named_by_their_place(engine):
    patches = [patch_of(note(f"note {n}")) for n in range(3)]
    places = [engine.commit(patch).sequence for patch in patches]
    with engine.read() as reader:
        asked = [places[2], 10**9, places[0], -1]
        assert reader.patch_ids(REACH, asked) == [patches[0].id, patches[2].id]
        assert reader.patch_ids(REACH, []) == []


def test_an_event_is_found_by_either_id(engine):
    odd = said(ODD, role="tool", session=ODD, external_id=ODD)
    plain = replace(said("said"), occurred_at=later(days=-400, microseconds=1))
    patch = patch_of(events=(odd, plain), recorded_at=later(hours=1))
    engine.commit(patch)

    def record(event):
        return EventRecord(
            id=event.id,
            role=event.role,
            content=event.content,
            occurred_at=event.occurred_at,
            recorded_at=later(hours=1),
            session=event.session,
            external_id=event.external_id,
            patch_id=patch.id,
        )

    with engine.read() as reader:
        found = reader.events(REACH, [odd.id, plain.id, "eunknownevent"])
        assert found == {odd.id: record(odd), plain.id: record(plain)}
        assert reader.event_of(REACH, ODD) == odd.id
        assert reader.event_of(REACH, ODD[:-1]) is None
        assert reader.events(REACH, []) == {}


@pytest.mark.promise("namespace.wall")
def test_an_external_id_is_of_one_namespace(engine):
    own, aside = said("own", external_id="msg-1"), said("aside", external_id="msg-1")
    engine.commit(patch_of(events=(own,)))
    engine.commit(patch_of(events=(aside,), namespace=ASIDE))
    with engine.read() as reader:
        assert reader.event_of(REACH, "msg-1") == own.id
        assert reader.event_of(Reach(ASIDE), "msg-1") == aside.id


@pytest.mark.promise("namespace.wall")
def test_the_log_of_what_lies_below_is_told_only_when_asked(engine):
    inner = (*HOME, "below")
    (own,) = store(engine, "own")
    (below,) = store(engine, "below", namespace=inner)
    store(engine, "beside", namespace=ASIDE)
    (again,) = store(engine, "again")

    def told(reach):
        return [node.id for commit in log(engine, reach=reach) for node in commit.patch.nodes]

    assert told(REACH) == [own.id, again.id]
    assert told(BELOW) == [own.id, below.id, again.id]
    assert {c.patch.namespace for c in log(engine, reach=BELOW)} == {HOME, inner}


def copied(engine, fresh, reach=REACH):
    """Carry a log into an empty engine, a few commits at a time."""
    copy, since = fresh(), 0
    while page := log(engine, since, 3, reach):
        for commit in page:
            copy.commit(commit.patch)
        since = page[-1].sequence
    return copy


def same_log(one, other):
    found = [
        [(c.sequence, unordered(c.patch), c.rolled_back_by) for c in log(engine)]
        for engine in (one, other)
    ]
    assert found[0] == found[1]


def test_a_store_made_from_the_log_of_another_shows_the_same(engine, fresh):
    for patch in Story().patches.values():
        engine.commit(patch)
    copy = copied(engine, fresh)
    assert picture(copy) == picture(engine)
    same_log(engine, copy)
    assert log(copy)[0].hash != log(engine)[0].hash


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(STEPS)
def test_a_store_made_from_the_log_of_any_history_shows_the_same(fresh, clock, steps):
    engine = fresh()
    play(engine, open_memory(engine, clock, HOME), clock, steps)
    copy = copied(engine, fresh)
    assert picture(copy) == picture(engine)
    same_log(engine, copy)


def test_a_copy_goes_on_as_the_store_does(engine, fresh):
    story = Story()
    for patch in story.patches.values():
        engine.commit(patch)
    copy = copied(engine, fresh)
    last = story.nodes["back"]
    for patch in (
        removal(last, recorded_at=START + timedelta(days=1)),
        purge_of(last, recorded_at=START + timedelta(days=2)),
    ):
        assert engine.commit(patch) == copy.commit(patch)
    assert picture(copy) == picture(engine)
