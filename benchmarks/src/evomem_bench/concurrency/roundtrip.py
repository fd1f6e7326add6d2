"""One note kept, one question answered, over the pipes of a server: EvoMem beside server-memory."""

from __future__ import annotations

import contextlib
import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import evomem
from evomem_bench.concurrency.peers import Peer
from evomem_bench.concurrency.stdio import StdioServer, entity
from evomem_bench.timing import Row, Stopwatch, in_turns, percentile, track

PART = "round trip over stdio"
OWN = "evomem-mcp"
OWN_OFF = "evomem-mcp --linking off"
_BLOCK = 5


@dataclass(frozen=True, slots=True)
class _Server:
    remember: Callable[[str], object]
    recall: Callable[[str], bool]


def measure_round_trips(
    folder: Path,
    loaded: Sequence[str],
    fresh: Sequence[str],
    queries: Sequence[str],
    peer: Peer | None,
    generator: random.Random,
) -> list[Row]:
    """Time `remember` and `recall` on servers that hold the same notes, in turns.

    Args:
        folder: Where the stores go.
        loaded: What every server holds at the start.
        fresh: New notes, each written to every server.
        queries: Questions, each put to every server.
        peer: The other server, or why it is missing.
        generator: Shuffles the turns.
    """
    watches: defaultdict[tuple[str, str], Stopwatch] = defaultdict(Stopwatch)
    answered: defaultdict[str, int] = defaultdict(int)
    with contextlib.ExitStack() as stack:
        servers = {}
        if find_spec("evomem_mcp") is not None:
            servers[OWN] = _start_own(stack, folder / "own.db", loaded)
            servers[OWN_OFF] = _start_own(stack, folder / "off.db", loaded, "--linking", "off")
        if peer is not None and peer.command:
            servers[peer.name] = _start_peer(stack, folder / "peer.jsonl", loaded, peer.command)
        names = list(servers)
        turns = in_turns(list(zip(fresh, queries, strict=True)), names, generator, block=_BLOCK)
        for name, block in track(turns, "round trips"):
            for text, query in block:
                server = servers[name]
                watches["remember", name].time(lambda: server.remember(text))  # noqa: B023  called at once
                found = watches["recall", name].time(lambda: server.recall(query))  # noqa: B023
                answered[name] += found
    rows = [
        _row(call, name, len(loaded), watches[call, name], answered[name] / len(queries))
        for call in ("remember", "recall")
        for name in names
    ]
    if peer is not None and peer.problem:
        rows.append({"part": PART, "system": f"{peer.name} ({peer.problem})"})
    return rows


def _row(call: str, name: str, n_notes: int, watch: Stopwatch, answered: float) -> Row:
    row: Row = {
        "part": PART,
        "system": name,
        "call": call,
        "notes": n_notes,
        "calls": len(watch.wall_ms),
        "p50_ms": round(percentile(watch.wall_ms, 0.5), 3),
        "p99_ms": round(percentile(watch.wall_ms, 0.99), 3),
        "worst_ms": round(max(watch.wall_ms), 3),
    }
    return row | ({"answered": round(answered, 3)} if call == "recall" else {})


def _start_own(
    stack: contextlib.ExitStack, path: Path, loaded: Sequence[str], *flags: str
) -> _Server:
    with evomem.open(path, linking="off") as memory:
        memory.remember_many(list(loaded))
    command = [sys.executable, "-m", "evomem_mcp", "--db", str(path), *flags]
    server = stack.enter_context(StdioServer(command, {}))

    def recall(query: str) -> bool:
        return bool(server.call("recall", query=query)["structuredContent"]["hits"])

    return _Server(lambda text: server.call("remember", raw_text=text), recall)


def _start_peer(
    stack: contextlib.ExitStack, path: Path, loaded: Sequence[str], command: Sequence[str]
) -> _Server:
    lines = [json.dumps({"type": "entity", **entity(text)}) for text in loaded]
    path.write_text("\n".join(lines), "utf-8")
    server = stack.enter_context(StdioServer(command, {"MEMORY_FILE_PATH": str(path)}))

    def recall(query: str) -> bool:
        told: dict[str, Any] = server.call("search_nodes", query=query)
        return bool(json.loads(told["content"][0]["text"])["entities"])

    return _Server(lambda text: server.call("create_entities", entities=[entity(text)]), recall)
