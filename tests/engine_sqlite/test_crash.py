"""What was acknowledged survives `kill -9`; a fork has connections of its own."""

import shutil

import pytest
from tests.conformance.builders import Clock, open_memory
from tests.engine_sqlite.processes import answers, let_go, output, run, workers

from evomem.engines.sqlite.engine import SqliteEngine


def stored(path):
    """Return the ids in a store that verifies clean, the latest first."""
    engine = SqliteEngine(path)
    try:
        assert engine.verify() == []
        memory = open_memory(engine, Clock(), ("default",))
        return [node.id for node in memory.list(status="all", limit=1000)]
    finally:
        engine.close()


@pytest.mark.subprocess
@pytest.mark.promise("write.durable")
def test_what_a_killed_process_acknowledged_is_recovered_from_its_log(path, tmp_path):
    made = run("write_and_die", path, 30)
    assert len(made) == 30
    assert path.with_name("store.db-wal").stat().st_size > 0
    for item in list(tmp_path.iterdir()):
        shutil.copy(item, tmp_path / f"copy-of-{item.name}")
    (tmp_path / "copy-of-store.db-shm").unlink()
    assert stored(path) == made[::-1]
    assert stored(tmp_path / "copy-of-store.db") == made[::-1]
    assert not path.with_name("store.db-wal").exists()


@pytest.mark.subprocess
@pytest.mark.promise("write.durable", "write.atomic")
def test_writers_that_are_killed_again_and_again_lose_nothing_acknowledged(path):
    made = []
    for round_ in range(8):
        calls = [("write_for_ever", path, f"r{round_}w{n}") for n in range(2)]
        with workers(*calls) as started:
            let_go(started)
            for process in started:
                made += [output(process).readline().strip() for _ in range(3 + round_)]
                process.kill()
            for process in started:
                made += output(process).read().split("\n")[:-1]
        found = stored(path)
        assert set(made) <= set(found)
        # A note may be committed and its writer killed before it could say so.
        assert len(found) <= len(made) + 2 * (round_ + 1)
    assert len(made) == len(set(made))


@pytest.mark.subprocess
@pytest.mark.promise("write.durable")
@pytest.mark.parametrize("parent", ["keep", "close"])
def test_a_forked_child_and_its_parent_both_write(path, parent):
    with workers(("fork_and_share", path, parent)) as (process,):
        said = answers(process)
    made = [line for line in said if len(line) > 3]
    assert len(made) == 3
    assert "2" in said
    found = stored(path)
    assert set(made) <= set(found)
    assert len(found) == 4


@pytest.mark.slow
@pytest.mark.subprocess
def test_a_fork_while_threads_write_leaves_a_working_child(path):
    with workers(("fork_while_writing", path)) as (process,):
        made = answers(process)
    found = stored(path)
    assert set(made) <= set(found)
    assert len(found) == len(made) + 1


@pytest.mark.subprocess
@pytest.mark.promise("read.own-write")
def test_processes_that_share_a_store_see_each_other(path):
    with workers(*(("write_one", path, f"note {n}") for n in range(3))) as started:
        let_go(started)
        made = [answers(process)[0] for process in started]
    assert set(made) == set(stored(path))
