"""LangGraph: puts and searches of every store, and what the adapters add to a recall."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from langgraph.store.base import BaseStore, PutOp

import evomem
from evomem_bench.corpus import VOCABULARY_FULL, VOCABULARY_QUICK, Corpus
from evomem_bench.frameworks.langgraph_stores import (
    IN_MEMORY,
    NAMESPACE,
    SQLITE,
    WORDS,
    open_stores,
)
from evomem_bench.report import Report
from evomem_bench.timing import Row, Stopwatch, batched, in_turns, track
from langchain_evomem import EvoMemRetriever, EvoMemStore

_BLOCK = 5
_LIMIT = 10
_BATCH = 100
_HOT = "hot"

CORE = "memory.recall"
RETRIEVER = "EvoMemRetriever.invoke"
STORE = "EvoMemStore.search"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything.

    Attributes:
        vocabulary: Words of the corpus.
        items: Items in the stores, for each round.
        calls: Calls timed of each kind and store.
        versions: How often one key is written before it is timed again.
    """

    vocabulary: int = VOCABULARY_FULL
    items: tuple[int, ...] = (1000, 10_000)
    calls: int = 200
    versions: int = 10_000


FULL = Sizes()
QUICK = Sizes(vocabulary=VOCABULARY_QUICK, items=(1000,), calls=50, versions=1000)


def run_langgraph(sizes: Sizes, seed: int) -> Report:
    """Measure in temporary stores; `TMPDIR` says on which disk."""
    generator = random.Random(seed)
    corpus = Corpus(seed, sizes.vocabulary)
    rows: list[Row] = []
    for count in sizes.items:
        with tempfile.TemporaryDirectory(prefix="evomem-bench-") as folder:
            rows += _round(Path(folder), corpus, count, sizes.calls, generator)
    with tempfile.TemporaryDirectory(prefix="evomem-bench-") as folder:
        rows += _one_key(Path(folder), corpus, sizes)
    return Report("langgraph", rows, seed)


def _round(
    folder: Path, corpus: Corpus, count: int, calls: int, generator: random.Random
) -> list[Row]:
    """Time every kind of call on stores that hold `count` items."""
    notes = corpus.notes(count)
    fresh = [note.text for note in corpus.notes(2 * calls)]
    queries = corpus.queries(notes, calls)
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        stores = open_stores(folder, stack)
        for store in stores.values():
            _fill(store, [note.text for note in notes])
        rows += _overhead(folder / "words.db", queries, count, generator)
        kinds = _kinds(queries, fresh)
        for part, call in kinds.items():
            rows += _timed({"part": part, "notes": count}, stores, call, calls, generator)
    return rows


def _fill(store: BaseStore, texts: Sequence[str]) -> None:
    for chunk in batched(list(enumerate(texts)), _BATCH):
        store.batch([PutOp(NAMESPACE, str(n), {"text": text, "n": n}) for n, text in chunk])


def _kinds(
    queries: Sequence[str], fresh: Sequence[str]
) -> dict[str, Callable[[BaseStore, int], object]]:
    """Return the calls timed, each of a store and the number of the call."""
    half = len(fresh) // 2
    return {
        "search by a query": lambda s, n: s.search(NAMESPACE, query=queries[n], limit=_LIMIT),
        "search by a condition": lambda s, n: s.search(NAMESPACE, filter={"n": n}, limit=_LIMIT),
        "get": lambda s, n: s.get(NAMESPACE, str(n)),
        "put a new key": lambda s, n: s.put(NAMESPACE, f"new {n}", {"text": fresh[n], "n": -1}),
        "put a key that is there": lambda s, n: s.put(
            NAMESPACE, str(n), {"text": fresh[half + n], "n": n}
        ),
    }


def _timed(
    head: Row,
    stores: Mapping[str, BaseStore],
    call: Callable[[BaseStore, int], object],
    calls: int,
    generator: random.Random,
) -> list[Row]:
    watches = {system: Stopwatch() for system in stores}
    turns = in_turns(range(calls), tuple(stores), generator, block=_BLOCK)
    for system, block in track(turns, f"{head['part']} at {head['notes']:,}"):
        for number in block:
            watches[system].time(lambda n=number, s=stores[system]: call(s, n))  # type: ignore[misc]
    base = watches.get(SQLITE) or watches[IN_MEMORY]
    return [{**head, "system": s, **watch.figures(base)} for s, watch in watches.items()]


def _overhead(
    path: Path, queries: Sequence[str], count: int, generator: random.Random
) -> list[Row]:
    """Time the same recall of the core, and by way of the retriever and of the store."""
    with evomem.open(path, read_only=True) as memory:
        below = memory.within(NAMESPACE)
        retriever = EvoMemRetriever(memory=below, k=_LIMIT)
        store = EvoMemStore(memory)
        ways: dict[str, Callable[[str], object]] = {
            CORE: lambda query: below.recall(query, k=_LIMIT),
            RETRIEVER: retriever.invoke,
            STORE: lambda query: store.search(NAMESPACE, query=query, limit=_LIMIT),
        }
        for way in ways.values():
            way(queries[0])
        watches = {name: Stopwatch() for name in ways}
        turns = in_turns(queries, tuple(ways), generator, block=_BLOCK)
        for name, block in track(turns, f"overhead at {count:,}"):
            for query in block:
                watches[name].time(lambda q=query, way=ways[name]: way(q))  # type: ignore[misc]
    head = {"part": "overhead over the core", "notes": count}
    return [{**head, "system": n, **w.figures(watches[CORE])} for n, w in watches.items()]


def _one_key(folder: Path, corpus: Corpus, sizes: Sizes) -> list[Row]:
    """Time the put, get and search of one key when it is new, and after many versions."""
    texts = [note.text for note in corpus.notes(sizes.calls)]
    with contextlib.ExitStack() as stack:
        store = open_stores(folder, stack)[WORDS]
        _fill(store, texts)
        early = _hot_calls(store, texts)
        for number in track(range(sizes.versions), "one key, many versions"):
            store.put(NAMESPACE, _HOT, {"text": texts[number % len(texts)], "n": number})
        late = _hot_calls(store, texts)
    part = f"one key, {sizes.versions:,} versions"
    return [
        {"part": part, "system": f"{kind}, {when}", **watches[kind].figures(early[kind])}
        for kind in early
        for when, watches in (("before", early), ("after", late))
    ]


def _hot_calls(store: BaseStore, texts: Sequence[str]) -> dict[str, Stopwatch]:
    watches = {kind: Stopwatch() for kind in ("put", "get", "search", "list")}
    for text in texts:
        value = {"text": text, "n": 0}
        watches["put"].time(lambda v=value: store.put(NAMESPACE, _HOT, v))  # type: ignore[misc]
        watches["get"].time(lambda: store.get(NAMESPACE, _HOT))
        watches["search"].time(
            lambda q=text[:60]: store.search(NAMESPACE, query=q, limit=_LIMIT)  # type: ignore[misc]
        )
        watches["list"].time(lambda: store.search(NAMESPACE, limit=_LIMIT))
    return watches
