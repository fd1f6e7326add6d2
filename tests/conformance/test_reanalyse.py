"""Notes are found before, while and after their documents are made by another text analysis."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import pytest
from tests.conformance.builders import (
    BELOW,
    HOME,
    NO_FILTERS,
    REACH,
    note,
    patch_of,
    purge_of,
    removal,
    store,
)

from evomem.domain.analysis import ANALYSES, ANALYSIS_VERSION, Analysis, terms_of
from evomem.domain.namespace import Reach
from evomem.domain.node import NodeRecord
from evomem.domain.progress import Progress
from evomem.engines.base import Engine, SearchLimits
from evomem.errors import SchemaVersionError

OLD, NEW = ANALYSIS_VERSION, ANALYSIS_VERSION + 1
CHILD = (*HOME, "child")


def whole_words(text: str) -> list[str]:
    """Tokens as a simpler analysis would make them: without stems, stop words and parts."""
    return re.findall(r"\w+", text.casefold())


@contextmanager
def upgraded(version: int = NEW) -> Iterator[None]:
    """Know a later analysis, as a later version of the code does."""
    later = Analysis(version, whole_words, lambda query: list(dict.fromkeys(whole_words(query))))
    with mock.patch.dict(ANALYSES, {version: later}):
        yield


def versions(engine: Engine, reach: Reach = REACH) -> tuple[int, ...]:
    with engine.read() as reader:
        return reader.analyses(reach)


def found(engine: Engine, query: str, reach: Reach = REACH) -> set[str]:
    with engine.read() as reader:
        words = terms_of(query, reader.analyses(reach))
        hits = reader.search(reach, words, NO_FILTERS, SearchLimits(depth=100)).hits
    return {hit.node_id for hit in hits}


def steps(engine: Engine, limit: int, reach: Reach = REACH) -> Iterator[Progress]:
    """Make all anew, looking at the store after every step."""
    while True:
        progress = engine.reanalyse(reach, limit)
        assert engine.verify() == []
        yield progress
        if progress.finished:
            return


def ids(nodes: Sequence[NodeRecord]) -> set[str]:
    return {node.id for node in nodes}


def test_the_index_is_queried_with_the_version_it_carries(engine):
    notes = store(engine, "Caches expire.", "The cache is cold.")
    with upgraded():
        assert versions(engine) == (OLD,)
        assert found(engine, "caching") == ids(notes)
        notes += store(engine, "We cached the answers.")
        assert versions(engine) == (OLD,)
        assert found(engine, "caching") == ids(notes)
        assert engine.verify() == []


def test_notes_are_found_before_while_and_after(engine):
    notes = store(engine, *(f"Caches of shard number {n}" for n in range(7)))
    with upgraded():
        seen = []
        for progress in steps(engine, 2):
            seen.append(progress)
            assert found(engine, "Caches") == ids(notes)
            assert all(found(engine, f"number {n}") == ids(notes) for n in range(7))
            assert versions(engine) == ((NEW,) if progress.finished else (NEW, OLD))
            left = progress.total - progress.done
            assert found(engine, "caching") == ids(notes[:left])
        assert seen == [Progress(done, 7) for done in (2, 4, 6, 7)]
        assert found(engine, "cache") == set()


def test_what_is_written_meanwhile_is_of_the_new_version_and_found(engine):
    notes = store(engine, *(f"Caches of shard {n}" for n in range(5)))
    with upgraded():
        for progress in steps(engine, 2):
            if not progress.finished:
                notes += store(engine, "Caches grow.")
                assert found(engine, "grow") >= {notes[-1].id}
            assert found(engine, "caches") == ids(notes)
        assert versions(engine) == (NEW,)
        assert found(engine, "grows") == set()
        assert engine.reanalyse(REACH, 1) == Progress(len(notes), len(notes))


@pytest.mark.parametrize("place", [0, 3, 6])
def test_what_is_forgotten_or_purged_meanwhile_stays_so(engine, place):
    notes = store(engine, *(f"Caches of shard {n}" for n in range(7)))
    with upgraded():
        assert engine.reanalyse(REACH, 3) == Progress(3, 7)
        gone = notes.pop(place)
        engine.commit(removal(gone, purge=True))
        hidden = notes.pop(place - 1)
        engine.commit(removal(hidden))
        for _ in steps(engine, 2):
            assert found(engine, "caches") == ids(notes)
        engine.commit(purge_of(hidden))
        assert engine.verify() == []
        assert found(engine, "caches") == ids(notes)


def test_a_purged_note_counts_as_done(engine):
    gone, kept = store(engine, "Caches expire.", "Caches grow.")
    engine.commit(removal(gone, purge=True))
    with upgraded():
        assert [*steps(engine, 1)] == [Progress(1, 2), Progress(2, 2)]
        assert found(engine, "caches") == {kept.id}


def test_there_is_nothing_to_do_twice(engine):
    assert engine.reanalyse(REACH, 10) == Progress(0, 0)
    store(engine, "Caches expire.", "Caches grow.")
    assert engine.reanalyse(REACH, 10) == Progress(2, 2)
    with upgraded():
        assert engine.reanalyse(REACH, 10) == Progress(2, 2)
        assert engine.reanalyse(REACH, 10) == Progress(2, 2)


def test_a_namespace_without_a_document_takes_the_current_version(engine):
    (gone,) = store(engine, "Caches expire.")
    engine.commit(patch_of(namespace=CHILD))
    engine.commit(removal(gone, purge=True))
    assert versions(engine, Reach(("nowhere",))) == (OLD,)
    with upgraded():
        assert versions(engine) == (NEW,)
        assert [*steps(engine, 1, BELOW)] == [Progress(1, 1)]
        store(engine, "Caches grow.", namespace=CHILD)
        assert versions(engine, Reach(CHILD)) == (NEW,)


def test_two_namespaces_may_carry_two_versions(engine):
    (old,) = store(engine, "Caches expire.")
    with upgraded():
        (new,) = store(engine, "Caches grow.", namespace=CHILD)
        assert versions(engine) == (OLD,)
        assert versions(engine, Reach(CHILD)) == (NEW,)
        assert versions(engine, BELOW) == (NEW, OLD)
        assert found(engine, "caches", BELOW) == {old.id, new.id}
        # The child has its version whatever its parent's, and the wall holds.
        assert engine.reanalyse(Reach(CHILD), 5) == Progress(1, 1)
        assert versions(engine) == (OLD,)
        assert engine.reanalyse(BELOW, 5) == Progress(2, 2)
        assert versions(engine, BELOW) == (NEW,)


def test_namespaces_below_are_made_anew_one_after_the_other(engine):
    notes = store(engine, "Caches expire.", "Caches grow.")
    notes += store(engine, "Caches shrink.", "Caches move.", namespace=CHILD)
    with upgraded():
        seen = []
        for progress in steps(engine, 1, BELOW):
            seen.append((progress.done, versions(engine), versions(engine, Reach(CHILD))))
            assert found(engine, "caches", BELOW) == ids(notes)
        mixed = (NEW, OLD)
        assert seen == [
            (1, mixed, (OLD,)),
            (2, (NEW,), (OLD,)),
            (3, (NEW,), mixed),
            (4, (NEW,), (NEW,)),
        ]


def test_a_version_that_comes_meanwhile_waits_for_the_one_under_way(engine):
    notes = store(engine, *(f"Caches of shard {n}" for n in range(5)))
    with upgraded():
        assert engine.reanalyse(REACH, 2) == Progress(2, 5)
        with upgraded(NEW + 1):
            carried = []
            for progress in steps(engine, 2):
                carried.append((progress.done, *versions(engine)))
                assert found(engine, "caches") == ids(notes)
    assert carried == [
        (0, NEW, OLD),
        (0, NEW),
        (2, NEW + 1, NEW),
        (4, NEW + 1, NEW),
        (5, NEW + 1),
    ]


def test_a_version_that_this_code_does_not_know_is_left_alone(engine):
    store(engine, "Caches expire.")
    (other,) = store(engine, "Caches grow.", namespace=("elsewhere",))
    with upgraded():
        engine.reanalyse(REACH, 5)
        (later,) = store(engine, "Caches shrink.", namespace=("elsewhere",))
    assert versions(engine) == (NEW,)
    with pytest.raises(SchemaVersionError, match=f"analysis {NEW}.*knows {OLD}"):
        found(engine, "caches")
    with pytest.raises(SchemaVersionError):
        engine.commit(patch_of(note("Caches move.")))
    with pytest.raises(SchemaVersionError):
        engine.reanalyse(REACH, 5)
    assert engine.verify() == []
    with engine.read() as reader:
        assert len(reader.recent(REACH, NO_FILTERS, after=None, limit=9)) == 1
    assert found(engine, "cache", Reach(("elsewhere",))) == {other.id, later.id}


def test_making_all_anew_takes_the_current_version(engine):
    notes = store(engine, *(f"Caches of shard {n}" for n in range(3)))
    with upgraded():
        engine.reanalyse(REACH, 1)
        engine.rebuild()
        assert engine.verify() == []
        assert versions(engine) == (NEW,)
        assert found(engine, "caches") == ids(notes)
        assert engine.reanalyse(REACH, 1) == Progress(3, 3)
