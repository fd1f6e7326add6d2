"""A driver that fails at any statement of a write, or a process that ends there, leaves nothing."""

import shutil
import sqlite3

import pytest
from tests.conformance.builders import HOME, Clock, later, open_memory, picture

from evomem import Add, EngineError, Remove, Supersede, Update
from evomem.engines.sqlite.engine import SqliteEngine

pytestmark = pytest.mark.promise("write.atomic")


class Driver:
    """The writing connection of an engine, on which one statement of a write goes wrong.

    `after` fails when the statement is done, `ended` instead of it, as after a full disk, when
    SQLite has rolled back by itself. Counted are the statements after `BEGIN`.
    """

    def __init__(self, connection, way, error):
        self._real = connection
        self._way = way
        self._error = error
        self.left = -1

    @property
    def in_transaction(self):
        return self._real.in_transaction

    def execute(self, text, *given):
        if self.left < 0 or not self._real.in_transaction or text == "ROLLBACK":
            return self._real.execute(text, *given)
        self.left -= 1
        if self.left >= 0:
            return self._real.execute(text, *given)
        if self._way == "after" and text != "COMMIT":
            self._real.execute(text, *given)
        if self._way == "ended":
            self._real.execute("ROLLBACK")
        raise self._error

    def close(self):
        self._real.close()


def dump(path):
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def applied(memory):
    """A batch of every kind, and all that an operation can say."""
    event = memory.record_event("user", "Go ahead.").id
    keys = [memory.remember(f"note {n} of it").node.memory_id for n in range(4)]
    operations = [
        Add("s", "new", scope="eu", slot="a/b", tags=["t"], session="s", metadata={"n": 1}),
        Update(keys[0], 1, "note 0, worded"),
        Supersede(keys[1], 1, "replaced", valid_from=later(days=1), valid_to=later(days=2)),
        Supersede(keys[2], 1, "a part", part="of it"),
        Remove(keys[3], 1),
    ]
    return lambda: memory.apply(operations, evidence=event, idempotency_key="k", reason="why")


def rolled_back(memory):
    old = [memory.remember(text).node.id for text in ("left", "right")]
    patch_id = memory.remember("whole", supersedes=old).patch_id
    return lambda: memory.rollback(patch_id)


def purged(memory):
    old = memory.remember("The vault opens with swordfish.").node.id
    quoted = {"id": old, "part": "swordfish"}
    memory.remember("It opens with a key.", amends=quoted)
    memory.remember("It has no vault.", supersedes=old)
    return lambda: memory.forget(old, purge=True)


def recorded(memory):
    return lambda: memory.record_event("user", "said", external_id="msg-7", session="s")


WRITES = {applied: 40, rolled_back: 15, purged: 15, recorded: 6}
"""What is written, and how many statements that takes at least."""
writes = pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)


@writes
@pytest.mark.parametrize(
    ("way", "error"),
    [
        pytest.param("after", KeyboardInterrupt(), id="stopped"),
        pytest.param("ended", sqlite3.OperationalError("disk I/O error"), id="failed and ended"),
    ],
)
def test_a_failure_at_any_statement_leaves_nothing(
    engine, path, memory, monkeypatch, write, way, error
):
    act = write(memory)
    before, seen = dump(path), picture(engine)
    with engine._pool.writer() as connection:
        driver = Driver(connection, way, error)
    failures = 0
    with monkeypatch.context() as patched:
        patched.setattr(engine._pool, "_writer", driver)
        while True:
            driver.left = failures
            try:
                act()
            except (EngineError, KeyboardInterrupt):
                failures += 1
            else:
                break
            finally:
                driver.left = -1
            assert not driver.in_transaction
            assert dump(path) == before
            assert engine.verify() == []
    assert failures >= WRITES[write]
    assert picture(engine) != seen
    assert engine.verify() == []


@writes
def test_a_write_that_is_interrupted_inside_a_statement_leaves_nothing(engine, path, memory, write):
    """SQLite itself gives up, between any two steps of its machine."""
    act = write(memory)
    before, seen = dump(path), picture(engine)
    with engine._pool.writer() as connection:
        pass
    failures, patience, causes = 0, 1, set()
    while True:
        left = [patience]

        def over(left=left):
            left[0] -= 1
            return left[0] == 0

        connection.set_progress_handler(over, 7)
        try:
            act()
        except EngineError as error:
            causes.add(str(error.__cause__))
            failures += 1
        else:
            break
        finally:
            connection.set_progress_handler(None, 0)
        patience += 1 + patience // 8
        assert dump(path) == before
        assert engine.verify() == []
    assert failures > 10
    assert causes == {"interrupted"}
    assert picture(engine) != seen
    assert engine.verify() == []


@pytest.mark.promise("write.durable")
@writes
def test_a_process_that_ends_at_any_statement_leaves_nothing(
    engine, path, memory, monkeypatch, tmp_path, write
):
    """What the files hold at each statement, pages that were written out early among it."""
    act = write(memory)
    seen = picture(engine)
    with engine._pool.writer() as connection:
        connection.execute("PRAGMA cache_size = 1")
        real = connection
    left = tmp_path / "left"

    class Recorder:
        in_transaction = property(lambda self: real.in_transaction)
        copies = 0

        def execute(self, text, *given):
            if real.in_transaction:
                folder = left / str(self.copies)
                folder.mkdir(parents=True)
                for name in ("store.db", "store.db-wal"):
                    shutil.copy(path.with_name(name), folder / name)
                self.copies += 1
            return real.execute(text, *given)

    recorder = Recorder()
    with monkeypatch.context() as patched:
        patched.setattr(engine._pool, "_writer", recorder)
        act()
    done = picture(engine)
    assert done != seen
    assert recorder.copies >= WRITES[write]
    for number in range(recorder.copies):
        again = SqliteEngine(left / str(number) / "store.db")
        assert again.verify() == []
        assert picture(again) == seen
        again.close()
    # And with the commit all of it is there.
    for name in ("store.db", "store.db-wal"):
        shutil.copy(path.with_name(name), left / name)
    again = SqliteEngine(left / "store.db")
    assert picture(again) == done
    memory_again = open_memory(again, Clock(), HOME)
    assert memory_again.stats().patches == memory.stats().patches
    again.close()
