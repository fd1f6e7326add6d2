"""Making documents anew in steps: killed, raced, interleaved, and never out of step with counts."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import REACH, removal, store
from tests.conformance.test_reanalyse import NEW, OLD, found, ids, upgraded, versions

from evomem.domain.progress import Progress
from evomem.engines.sqlite import counting, reanalyse
from evomem.engines.sqlite.engine import SqliteEngine

DERIVED = (
    "SELECT row, analysis, tokens FROM search_doc ORDER BY row",
    "SELECT id, n_documents, n_tokens, analysis, analysis_before, n_before FROM namespace",
)
WORKER = """
import sys
from tests.conformance.test_reanalyse import REACH, upgraded
from evomem.engines.sqlite.engine import SqliteEngine
with upgraded():
    engine = SqliteEngine(sys.argv[1])
    while not (progress := engine.reanalyse(REACH, 1)).finished:
        print(progress.done, flush=True)
"""

OPERATIONS = st.lists(
    st.sampled_from(["write", "write", "forget", "purge", "step 1", "step 1", "step 3", "upgrade"]),
    max_size=14,
)


@pytest.fixture
def engine(tmp_path):
    engine = SqliteEngine(tmp_path / "store.db")
    yield engine
    problems = engine.verify()
    engine.close()
    assert problems == []


@pytest.fixture
def counted(monkeypatch):
    """Count terms of few documents already."""
    monkeypatch.setattr(counting, "_FEWEST", 2)


def derived(engine):
    with engine._pool.reader() as connection:
        return [connection.execute(statement).fetchall() for statement in DERIVED]


def finish(engine, limit=100):
    while not engine.reanalyse(REACH, limit).finished:
        pass


def write(engine, number):
    """Add a note whose length depends on its number."""
    return store(engine, f"Caches were filling shards, caching {'again ' * (number % 9)}{number}")


def play(engine, operations, knowing):
    """Do the operations, looking at everything after each; return how many versions came."""
    live = write(engine, 0)
    upgrades = itertools.count(NEW)
    for number, operation in enumerate([*operations, "upgrade"]):
        if operation == "upgrade":
            knowing.enter_context(upgraded(next(upgrades)))
        elif operation.startswith("step"):
            engine.reanalyse(REACH, int(operation[-1]))
        elif operation == "write" or not live:
            live += write(engine, number)
        else:
            engine.commit(removal(live.pop(number % len(live)), purge=operation == "purge"))
        assert engine.verify() == []
        assert found(engine, "caches") == ids(live)
    finish(engine, 2)
    assert found(engine, "caches") == ids(live)
    return next(upgrades) - 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
def test_any_order_of_writes_and_steps_ends_where_making_all_anew_does(counted, operations):
    with closing(SqliteEngine(":memory:")) as engine, ExitStack() as knowing:
        newest = play(engine, operations, knowing)
        assert versions(engine) == (newest,)
        assert engine.verify() == []
        left = derived(engine)
        engine.rebuild()
        assert derived(engine) == left


@pytest.mark.subprocess
def test_a_killed_process_leaves_a_store_that_is_well_and_goes_on(engine, counted):
    notes = [node for number in range(60) for node in write(engine, number)]
    for done in (2, 9):
        with subprocess.Popen(
            [sys.executable, "-c", WORKER, engine.location], stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdout
            while int(worker.stdout.readline()) < done:
                pass
            os.kill(worker.pid, signal.SIGKILL)
        assert worker.returncode == -signal.SIGKILL
        assert engine.verify() == []
        with upgraded():
            assert found(engine, "caches") == ids(notes)
            assert versions(engine) == (NEW, OLD)
            notes += write(engine, 1000 + done)
    with upgraded():
        assert done <= engine.reanalyse(REACH, 1).done < len(notes)
        finish(engine)
        assert found(engine, "caches") == ids(notes)
        assert found(engine, "caching") == ids(notes)


def test_several_may_run_at_once_beside_writers(engine, counted):
    notes = [node for number in range(40) for node in write(engine, number)]
    written, failures = [], []

    def attempt(work):
        try:
            with closing(SqliteEngine(engine.location)) as own:
                work(own)
        except Exception as error:
            failures.append(error)

    def add(own):
        for number in range(20):
            written.extend(write(own, number))
        own.commit(removal(written.pop(), purge=True))
        own.commit(removal(notes[3], purge=True))

    with upgraded():
        work = [lambda own: finish(own, 3)] * 2 + [add]
        threads = [threading.Thread(target=attempt, args=(one,)) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert engine.reanalyse(REACH, 1) == Progress(60, 60)
        assert versions(engine) == (NEW,)
        assert found(engine, "caches") == ids([*notes, *written]) - {notes[3].id}


def test_a_purge_between_the_analysis_and_the_transaction_wins(engine, monkeypatch, counted):
    notes = [node for number in range(6) for node in write(engine, number)]
    secret = notes.pop(4)
    write_step = reanalyse.Reanalysis.write

    def overtaken(step, connection):
        # The step waits for the lock while the purge commits.
        connection.execute("ROLLBACK")
        with closing(SqliteEngine(engine.location)) as other:
            other.commit(removal(secret, purge=True))
        connection.execute("BEGIN IMMEDIATE")
        return write_step(step, connection)

    with upgraded():
        with monkeypatch.context() as patched:
            patched.setattr(reanalyse.Reanalysis, "write", overtaken)
            assert engine.reanalyse(REACH, 4) == Progress(4, 6)
        assert engine.verify() == []
        assert found(engine, "caches") == ids(notes)
        finish(engine)
        assert found(engine, "caches") == ids(notes)


def test_a_write_between_the_analysis_and_the_first_transaction_is_made_anew_too(
    engine, monkeypatch
):
    notes = write(engine, 1)
    write_step = reanalyse.Reanalysis.write

    def overtaken(step, connection):
        connection.execute("ROLLBACK")
        notes.extend(write(engine, 2))
        connection.execute("BEGIN IMMEDIATE")
        return write_step(step, connection)

    with upgraded():
        with monkeypatch.context() as patched:
            patched.setattr(reanalyse.Reanalysis, "write", overtaken)
            assert engine.reanalyse(REACH, 4) == Progress(0, 2)
        assert versions(engine) == (NEW, OLD)
        assert engine.reanalyse(REACH, 4) == Progress(2, 2)
        assert found(engine, "caches") == ids(notes)


def test_a_step_ends_early_when_texts_are_long(engine, monkeypatch):
    monkeypatch.setattr(reanalyse, "_CHUNK", 2)
    monkeypatch.setattr(reanalyse, "_MOST_CHARACTERS", 500)
    store(engine, *(" ".join(f"w{n}x{i}" for i in range(100)) for n in range(5)))
    with upgraded():
        done = [engine.reanalyse(REACH, 5).done for _ in range(3)]
    assert done == [2, 4, 5]


def test_documents_that_the_new_analysis_leaves_alone_are_not_indexed_again(engine, monkeypatch):
    store(engine, "plain word", "plain words")
    indexed: list[str] = []
    with upgraded(), engine._pool.writer() as connection:
        connection.set_trace_callback(indexed.append)
        finish(engine)
        connection.set_trace_callback(None)
    assert sum("'delete'" in statement for statement in indexed) == 1


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE namespace SET analysis = analysis + 1",
        "UPDATE namespace SET analysis_before = 1, n_before = 2",
        "UPDATE search_doc SET analysis = 7 WHERE row = (SELECT min(row) FROM search_doc)",
    ],
)
def test_a_doctor_finds_documents_of_another_version_than_their_namespace_says(tmp_path, damage):
    with closing(SqliteEngine(tmp_path / "store.db")) as engine, upgraded():
        write(engine, 1)
        write(engine, 2)
        with engine._pool.writer() as connection:
            connection.execute(damage)
        assert "another text analysis" in str(engine.verify())
        engine.rebuild()
        assert engine.verify() == []
