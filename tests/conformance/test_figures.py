"""Counting by status agrees with resolving every node."""

import itertools
from collections import Counter
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from tests.conformance.builders import HOME, NO_FILTERS, REACH, START, later, open_memory, store
from tests.conformance.histories import STEPS, play

from evomem.domain.namespace import Reach

counter = itertools.count()


def counted(reader, reach, at):
    figures = reader.figures(reach.namespace, at)
    lineage = reader.lineage(reach, figures.unplain, at)
    return Counter(figures.statuses) + Counter(lineage.status(n, at) for n in figures.unplain)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_statuses_add_up_to_those_of_the_lineage(engine, clock, steps):
    memory = open_memory(engine, clock, (*HOME, str(next(counter))))
    reach = Reach(memory.namespace)
    ids = play(engine, memory, clock, steps)
    with engine.read() as reader:
        story = reader.story(reach, ids)
        for days in (-6, -2, 0, 2, 6):
            at = clock.now + timedelta(days=days)
            assert counted(reader, reach, at) == Counter(story.status(n, at) for n in ids)


def test_every_status_is_counted(memory, clock):
    old = memory.remember("old").node.id
    memory.remember("new", supersedes=old)
    worded = memory.remember("worded").node.id
    memory.remember("reworded", refines=worded)
    memory.forget(memory.remember("gone").node.id)
    memory.remember("some day", valid_from=later(days=9))
    memory.remember("over", valid_from=later(days=-9), valid_to=later(days=-8))
    expected = {"active": 2, "refined": 1, "superseded": 2, "forgotten": 1, "scheduled": 1}
    assert dict(memory.stats().nodes) == expected
    clock.advance(days=9)
    assert memory.stats().nodes["scheduled"] == 0
    assert memory.stats().nodes["active"] == 3


def test_an_amendment_leaves_its_node_active(memory):
    node = memory.remember("We deploy on Friday at noon.").node.id
    memory.remember("At nine.", amends={"id": node, "part": "at noon"})
    memory.remember("In the EU on Monday.", overrides=node, scope="eu")
    assert memory.stats().nodes["active"] == 3


def test_an_empty_reach_counts_nothing_and_has_an_identity(engine):
    with engine.read() as reader:
        figures = reader.figures(REACH.namespace, START)
    assert figures.store_id
    assert figures.schema_version >= 1
    assert (figures.events, figures.texts, figures.patches) == (0, 0, 0)
    assert not figures.unplain
    assert sum(figures.statuses.values()) == 0


def test_figures_are_of_the_reach_alone(engine):
    store(engine, "one", "two")
    store(engine, "three", namespace=(*HOME, "below"))
    store(engine, "four", namespace=("tenant", "beside"))
    with engine.read() as reader:
        own = reader.figures(REACH.namespace, START)
        other = reader.figures((*HOME, "below"), START)
    assert (own.statuses, own.texts, own.patches) == ({"active": 2}, 2, 2)
    assert (other.statuses, other.texts, other.patches) == ({"active": 1}, 1, 1)
    assert own.store_id == other.store_id
    assert own.size_bytes == other.size_bytes > 0


def test_patches_without_notes_count_as_commits(engine, memory):
    node = memory.remember("one").node.id
    memory.forget(node)
    memory.forget(node)
    assert memory.stats().patches == 2
    with engine.read() as reader:
        assert reader.recent(REACH, NO_FILTERS, after=None, limit=5) == [node]
