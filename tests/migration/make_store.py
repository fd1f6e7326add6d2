"""Makes the store of the present schema that later versions must still open.

Run as a program to add `stores/schema_NNNN.db` when a schema is released; the file is kept as it
is from then on.
"""

import random
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import evomem
from evomem.cronista.base import create_cronista
from evomem.engines.sqlite.engine import SqliteEngine
from evomem.linker.base import create_linker
from evomem.service.context import Context

STORES = Path(__file__).with_name("stores")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMESPACE = ("default",)


class _Clock:
    def __init__(self, start: datetime) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


def open_store(
    path: Path, *, read_only: bool = False, start: datetime = START + timedelta(days=30)
) -> evomem.Memory:
    engine = SqliteEngine(path, read_only=read_only)
    parts = (create_cronista("lite"), create_linker("heuristic"))
    return evomem.Memory(Context(engine, NAMESPACE, *parts, linking="off", clock=_Clock(start)))


def fill(memory: evomem.Memory) -> None:
    """Use every kind of link, status and field."""
    old = memory.remember(
        "We picked Postgres for the ledger because it was already there.",
        tags=["db"],
        session="s1",
        subject="ledger",
        metadata={"n": 1, "näme": ["é", None]},
    ).node.id
    new = memory.remember("We moved the ledger to SQLite.", supersedes=old, actor="ada").node.id
    memory.remember("The ledger lives in SQLite.", refines=new, idempotency_key="key-1")
    memory.remember("main", slot="git/branch")
    memory.remember("trunk", slot="git/branch")
    rule = memory.remember("Deploys happen on Friday at noon.").node.id
    memory.remember("At nine, rather.", amends={"id": rule, "part": "at noon"})
    memory.remember("In the EU on Monday.", overrides=rule, scope="eu")
    memory.remember("The freeze begins.", valid_from="2099-01-01", relations={"about": rule})
    memory.forget(memory.remember("A rumour to be forgotten.").node.id)
    memory.forget(memory.remember("A secret to be purged.").node.id, purge=True)
    memory.remember_many([{"text": f"Part {n} of the rule.", "supersedes": rule} for n in (1, 2)])
    one, two = (memory.remember(f"Loose end {n} 账本.").node.id for n in (1, 2))
    memory.link(two, supersedes=[one])
    memory.unlink(two, one)
    for colour in ("blue", "green"):
        memory.remember(f"The colour is {colour}.", slot="colour", searchable="tip")
    memory.remember("What no question finds.", searchable="never")
    asked = memory.record_event("user", "Ship on Mondays.", external_id="msg-1").id
    shipping = {"op": "ADD", "subject": "shipping", "content": "We ship on Mondays."}
    (added,) = memory.apply([shipping], evidence=[asked], reason="as asked").operations
    change = {"memory_id": added.memory_id, "expected_version": 1, "new_content": "On Tuesdays."}
    changed = memory.apply([{"op": "SUPERSEDE", **change}], evidence=[asked], actor="ada")
    assert changed.patch_id
    memory.rollback(changed.patch_id, reason="a mistake", actor="ada")
    memory.within("user-7").remember("The ledger of somebody else.")


def make_store(path: Path) -> None:
    """Write the store, the same every time, with no log beside it."""
    rng = random.Random(7)  # noqa: S311  ids that are the same each time, no secret
    with mock.patch("os.urandom", rng.randbytes), open_store(path, start=START) as memory:
        fill(memory)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'store_id'", (f"{7:032x}",))
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")


def newest() -> Path:
    """Return where the store of the present schema is kept."""
    from evomem.engines.sqlite.sql import migrations

    return STORES / f"schema_{len(migrations()):04}.db"


if __name__ == "__main__":
    if newest().exists():
        sys.exit(f"{newest()} is kept as it is.")
    make_store(newest())
