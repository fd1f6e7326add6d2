"""Every failure is ours, says what to do, and leaves the store as it was."""

import random
import sqlite3
from contextlib import closing

import pytest
from tests.conformance.builders import (
    HOME,
    NO_FILTERS,
    REACH,
    START,
    Clock,
    next_version,
    note,
    open_memory,
    patch_of,
    picture,
    removal,
    replaces,
    step,
    store,
)
from tests.engine_sqlite.processes import answers, workers

from evomem import EngineError, EvoMemError
from evomem.domain.edge import Edge
from evomem.domain.event import Event
from evomem.domain.identifiers import EVENT, new_id
from evomem.domain.patch import Op, SuggestedLink
from evomem.engines.base import Filters
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.engines.sqlite.writer import PatchWriter


def dump(path):
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def before_everything(engine):
    """A note to replace, one to purge, and a forgotten one with a link to close."""
    old, gone, hidden = store(engine, "The ledger runs on Postgres.", "A secret.", "Hidden.")
    link = Edge("caused_by", hidden.id, old.id)
    engine.commit(patch_of(also=(step(Op.LINK, hidden, 2),), edges=(link,)))
    engine.commit(removal(hidden, 3))
    return old, gone, hidden


def everything(old, gone, hidden):
    """A patch with something for every statement of the writer."""
    new = next_version(old, "The ledger runs on SQLite.", tags=("db",))
    said = Event(new_id(EVENT), "user", "said", START)
    return patch_of(
        new,
        note("beside", slot="branch"),
        namespace=HOME,
        edges=(replaces(new, old),),
        events=(said,),
        closed=(Edge("caused_by", hidden.id, old.id),),
        also=(
            step(Op.REMOVE, gone, 2),
            step(Op.UNLINK, hidden, 4),
            step(Op.RESTORE, hidden, 5),
        ),
        revived=(hidden.id,),
        removed=(gone.id,),
        purged=(gone.id,),
        evidence=(said.id,),
        rollback_of="p1",
        suggestions=(SuggestedLink(new.id, old.id, "why", 0.5, "silent/1"),),
        idempotency_key="key",
        payload_digest=b"d",
        replay={},
    )


@pytest.mark.promise("write.atomic")
@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), KeyboardInterrupt()])
def test_a_failure_at_any_statement_leaves_nothing(engine, path, monkeypatch, error):
    nodes = before_everything(engine)
    before, seen = dump(path), picture(engine)
    run, left = PatchWriter._run, [0]

    def failing(self, name, *values, **named):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return run(self, name, *values, **named)

    monkeypatch.setattr(PatchWriter, "_run", failing)
    steps = 0
    while True:
        left[0] = steps
        try:
            engine.commit(everything(*nodes))
        except (EngineError, KeyboardInterrupt):
            steps += 1
            assert dump(path) == before
            continue
        break
    assert steps > 30
    monkeypatch.undo()
    assert picture(engine) != seen
    assert engine.verify() == []


@pytest.mark.promise("write.atomic")
def test_a_full_disk_is_said_and_costs_nothing(engine, path):
    store(engine, "before")
    with engine._pool.writer() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    before = dump(path)
    with pytest.raises(EngineError, match="full") as refusal:
        engine.commit(patch_of(note("too long " * 20_000)))
    assert refusal.value.details == {"path": str(path)}
    assert dump(path) == before
    assert engine.verify() == []
    with engine._pool.writer() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    store(engine, "after")
    assert len(picture(engine)["ids"]) == 2
    assert engine.verify() == []


@pytest.mark.promise("write.atomic")
def test_a_disk_that_fails_at_the_commit_costs_nothing(engine, path, monkeypatch):
    store(engine, "before")
    before = dump(path)
    with engine._pool.writer() as connection:
        real = connection

    broken = sqlite3.OperationalError("disk I/O error")

    class Failing:
        in_transaction = True

        def execute(self, text, *given):
            if text == "COMMIT":
                real.execute("ROLLBACK")
                self.in_transaction = False
                raise broken
            return real.execute(text, *given)

    monkeypatch.setattr(engine._pool, "_writer", Failing())
    with pytest.raises(EngineError, match="I/O"):
        engine.commit(patch_of(note("lost")))
    monkeypatch.undo()
    assert dump(path) == before
    store(engine, "after")


def test_a_store_whose_place_a_folder_took_fails_as_ours(engine, path):
    store(engine, "before")
    for item in path.parent.glob("store.db*"):
        item.unlink()
    path.mkdir()
    with pytest.raises(EvoMemError):
        store(engine, "after")
    with pytest.raises(EngineError, match="folder"):
        SqliteEngine(path)


@pytest.mark.promise("write.durable")
def test_a_store_that_was_deleted_while_open_acknowledges_nothing(engine, path):
    store(engine, "before")
    for item in path.parent.glob("store.db*"):
        item.unlink()
    with pytest.raises(EvoMemError):
        store(engine, "after")


def test_a_store_that_vanished_is_not_made_anew_by_a_reader(engine, path):
    store(engine, "before")
    with engine._pool.writer() as writer, engine._pool.reader() as reader:
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        engine._pool._readers.clear()
    reader.close()
    for item in path.parent.glob("store.db*"):
        item.unlink()
    engine._pool._readers.clear()
    with pytest.raises(EngineError), engine.read():
        pass
    assert not path.exists()


@pytest.mark.parametrize("seed", range(6))
def test_a_corrupted_file_fails_as_ours(path, seed):
    engine = SqliteEngine(path)
    engine.commit(patch_of(*(note(f"note {n} of the zebra " * 5) for n in range(300))))
    engine.close()
    rng = random.Random(seed)  # noqa: S311  repeatable garbage, no secret
    content = bytearray(path.read_bytes())
    page = 4096
    for number in rng.sample(range(1, len(content) // page), k=len(content) // page // 3):
        content[number * page : (number + 1) * page] = rng.randbytes(page)
    path.write_bytes(content)

    met: list[object] = []
    try:
        engine = SqliteEngine(path)
    except EngineError:
        return
    memory = open_memory(engine, Clock(), HOME)
    uses = (
        lambda: memory.recall("zebra", k=100),
        lambda: memory.list(status="all", limit=1000),
        memory.stats,
        lambda: memory.remember("more"),
        lambda: met.append(engine.verify()),
    )
    for use in uses:
        try:
            use()
        except EvoMemError as error:
            met.append(error.message)
    engine.close()
    assert any(met)
    assert any("damaged" in str(problem) or isinstance(problem, list) for problem in met)


def test_an_error_that_ended_the_snapshot_is_the_one_that_is_told(engine):
    """SQLite ends a transaction by itself after some errors; ending it again fails."""
    broken = sqlite3.OperationalError("disk I/O error")
    with pytest.raises(EngineError) as refusal, engine.read() as reader:  # noqa: PT012
        reader._connection.execute("ROLLBACK")
        raise broken
    assert refusal.value.__cause__ is broken


@pytest.mark.parametrize("damage", [b'{"n": ', b"[1]", b'{"\xff', b""])
def test_a_filter_on_damaged_metadata_says_so(engine, path, damage):
    store(engine, "zebra", metadata={"n": 1})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE node SET metadata = CAST(? AS TEXT)", (damage,))
    refusal = pytest.raises(EngineError, match=r"Metadata .* damaged.* doctor")
    with refusal, engine.read() as reader:
        reader.recent(REACH, Filters(metadata={"n": {"$gt": 0}}), after=None, limit=9)


@pytest.mark.subprocess
def test_a_store_cut_short_while_open_does_not_end_the_process(path):
    """A memory-mapped page behind the end of its file raises SIGBUS, which nobody can catch."""
    with workers(("read_what_was_cut_short", path)) as (process,):
        assert answers(process) == ["ENGINE", "ENGINE"]


def test_a_closed_engine_is_refused_from_its_readers_too(engine):
    store(engine, "zebra")
    with engine.read() as reader:
        engine.close()
        assert reader.recent(REACH, NO_FILTERS, after=None, limit=9)
    with pytest.raises(EngineError, match="closed"), engine.read():
        pass


def test_no_message_of_a_driver_error_tells_the_text_of_a_note(engine):
    (known,) = store(engine, "known")
    with pytest.raises(EvoMemError) as refusal:
        engine.commit(patch_of(note("a secret text", id=known.id)))
    assert "secret" not in str(refusal.value.to_dict())
    assert isinstance(refusal.value.__cause__, sqlite3.Error)
