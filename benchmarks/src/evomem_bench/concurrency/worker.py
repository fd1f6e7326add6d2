"""One writer of a race: `worker.py SYSTEM PATH`, with its work as a line of JSON.

Run by path, also under the Python of a peer: only the standard library is imported at the top.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Write = Callable[[str], object]

_SCHEMA = """
CREATE TABLE event (id TEXT PRIMARY KEY, body TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE node (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, head INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE VIRTUAL TABLE search USING fts5 (text, content = '', tokenize = 'unicode61');
CREATE TABLE audit (sequence INTEGER PRIMARY KEY, op TEXT NOT NULL, node TEXT NOT NULL);
"""


@contextlib.contextmanager
def open_evomem(path: str, _: Sequence[str]) -> Iterator[Write]:
    """Open EvoMem as a server does; linking is off, as the others have nothing like it."""
    evomem = importlib.import_module("evomem")
    with evomem.open(path, linking="off") as memory:
        yield memory.remember


@contextlib.contextmanager
def open_plain(path: str, begin: str, timeout_s: float) -> Iterator[Write]:
    """Open a file of five tables; the writes differ in how they begin and how long they wait."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=timeout_s)
    run = connection.execute
    run("PRAGMA journal_mode = WAL").fetchone()
    run("PRAGMA synchronous = FULL")
    if not run("PRAGMA schema_version").fetchone()[0]:
        connection.executescript(_SCHEMA)

    def write(text: str) -> None:
        run(begin)
        try:
            (row,) = run("SELECT coalesce(max(row), 0) + 1 FROM node").fetchone()
            run("INSERT INTO event VALUES (?, ?, ?)", (f"e{row}", text, row))
            run("UPDATE node SET head = 0 WHERE row = ? AND head", (row,))
            run("INSERT INTO node VALUES (?, ?, 1, ?)", (row, f"n{row}", text))
            run("INSERT INTO search (rowid, text) VALUES (?, ?)", (row, text))
            run("INSERT INTO audit (op, node) VALUES ('add', ?)", (f"n{row}",))
            run("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:
                run("ROLLBACK")
            raise

    yield write
    connection.close()


def open_immediate(path: str, _: Sequence[str]) -> contextlib.AbstractContextManager[Write]:
    """Take the write lock at the start, and wait 30 s for it."""
    return open_plain(path, "BEGIN IMMEDIATE", 30)


def open_deferred(path: str, _: Sequence[str]) -> contextlib.AbstractContextManager[Write]:
    """Begin as the standard says and wait as long as the driver does by default."""
    return open_plain(path, "BEGIN", 5)


@contextlib.contextmanager
def open_langgraph(path: str, _: Sequence[str]) -> Iterator[Write]:
    """Open LangGraph's SqliteStore the way its documentation does, without an index."""
    module = importlib.import_module("langgraph.store.sqlite")
    with module.SqliteStore.from_conn_string(path) as store:
        store.setup()
        yield lambda text: store.put(("notes",), text.rsplit(" ", 1)[1], {"text": text})


@contextlib.contextmanager
def open_server_memory(path: str, command: Sequence[str]) -> Iterator[Write]:
    """Start a server of its own on the file, as every client does."""
    module = importlib.import_module("evomem_bench.concurrency.stdio")
    with module.StdioServer(command, {"MEMORY_FILE_PATH": path}) as server:
        yield lambda text: server.call("create_entities", entities=[module.entity(text)])


OPENERS: dict[str, Callable[[str, Sequence[str]], contextlib.AbstractContextManager[Write]]] = {
    "evomem": open_evomem,
    "immediate": open_immediate,
    "deferred": open_deferred,
    "langgraph": open_langgraph,
    "server-memory": open_server_memory,
}


def write_all(write: Write, texts: Sequence[str], box_s: float) -> dict[str, Any]:
    """Write every text once, refused or not; stop when the time is used up."""
    refusals: Counter[str] = Counter()
    waits_ms, acknowledged = [], []
    began = time.monotonic()
    for text in texts:
        if time.monotonic() - began > box_s:
            break
        started = time.perf_counter()
        try:
            write(text)
        except Exception as error:  # any error of any peer is a refusal, and its text is told
            refusals[str(error).splitlines()[0][:80]] += 1
        else:
            acknowledged.append(text)
            waits_ms.append(round((time.perf_counter() - started) * 1000, 3))
    return {
        "began": began,
        "ended": time.monotonic(),
        "waits_ms": waits_ms,
        "acknowledged": acknowledged,
        "refusals": refusals,
    }


def main(system: str, path: str) -> None:
    """Say `ready` once the store is open, wait for a line, and write."""
    work = json.loads(sys.stdin.readline())
    with OPENERS[system](path, work["command"]) as write:
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(write_all(write, work["texts"], work["box_s"])), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
