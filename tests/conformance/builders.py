"""Patches made by hand, and a picture of all that a reach holds, through the port alone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from evomem import Memory
from evomem.cronista.base import create_cronista
from evomem.domain.analysis import tokens
from evomem.domain.edge import SUPERSEDES, Edge
from evomem.domain.extraction import Extraction
from evomem.domain.identifiers import MEMORY, NODE, PATCH, new_id
from evomem.domain.namespace import Namespace, Reach
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Op, Operation, Patch
from evomem.engines.base import Engine, Filters
from evomem.linker.base import create_linker
from evomem.service.context import Context

HOME: Namespace = ("tenant", "home")
REACH = Reach(HOME)
BELOW = Reach(HOME, include_children=True)
NO_FILTERS = Filters()
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> datetime:
        self.now += timedelta(**duration)
        return self.now


def open_memory(engine: Engine, clock: Callable[[], datetime], namespace: Namespace) -> Memory:
    parts = (create_cronista("lite"), create_linker("heuristic"))
    context = Context(engine, namespace, *parts, linking="off", clock=clock)
    return Memory(context)


def later(**duration: float) -> datetime:
    return START + timedelta(**duration)


def note(text: str, **fields: Any) -> NodeRecord:
    given: dict[str, Any] = {
        "id": new_id(NODE),
        "memory_id": new_id(MEMORY),
        "version": 1,
        "namespace": HOME,
        "text": text,
        "extraction": Extraction("none"),
        "created_at": START,
        "recorded_at": START,
        "valid_from": START,
    }
    return NodeRecord(**{**given, **fields})


def next_version(old: NodeRecord, text: str, **fields: Any) -> NodeRecord:
    line = {"memory_id": old.memory_id, "version": old.version + 1, "namespace": old.namespace}
    return note(text, **{**line, **fields})


def replaces(new: NodeRecord, old: NodeRecord, kind: str = SUPERSEDES) -> Edge:
    return Edge(kind, new.id, old.id)


def step(op: Op, node: NodeRecord, version: int) -> Operation:
    """What brings the memory of a node to a version."""
    return Operation(op, node.memory_id, version, node.id)


def patch_of(
    *nodes: NodeRecord,
    namespace: Namespace = HOME,
    also: tuple[Operation, ...] = (),
    **fields: Any,
) -> Patch:
    """A patch that adds nodes, and does what `also` says to others."""
    added = (step(Op.ADD if n.version == 1 else Op.SUPERSEDE, n, n.version) for n in nodes)
    given: dict[str, Any] = {
        "id": new_id(PATCH),
        "namespace": namespace,
        "recorded_at": START,
        "nodes": nodes,
        "operations": (*added, *also),
    }
    return Patch(**{**given, **fields})


def removal(
    node: NodeRecord, version: int | None = None, *, purge: bool = False, **fields: Any
) -> Patch:
    """A patch that forgets a node; `version` is its memory's after that, if not the next."""
    also = (step(Op.REMOVE, node, version or node.version + 1),)
    gone = {"removed": (node.id,), "purged": (node.id,) if purge else ()}
    return patch_of(namespace=node.namespace, also=also, **gone, **fields)


def purge_of(node: NodeRecord, version: int | None = None, **fields: Any) -> Patch:
    """A patch that purges a node which `removal` forgot."""
    also = (step(Op.REMOVE, node, version or node.version + 2),)
    return patch_of(namespace=node.namespace, also=also, purged=(node.id,), **fields)


def store(engine: Engine, *texts: str, **fields: Any) -> list[NodeRecord]:
    """Commit one note per text, each in a patch of its own."""
    nodes = [note(text, **fields) for text in texts]
    for node in nodes:
        engine.commit(patch_of(node, namespace=node.namespace))
    return nodes


def picture(engine: Engine, namespace: Namespace = HOME) -> dict[str, Any]:
    """Everything that a reach shows."""
    reach = Reach(namespace)
    with engine.read() as reader:
        ids = reader.recent(reach, NO_FILTERS, after=None, limit=10_000)
        records = reader.records(reach, ids)
        words = {word for record in records.values() for word in tokens(record.text)}
        figures = reader.figures(reach.namespace, later(days=1))
        return {
            "ids": ids,
            "records": records,
            "edges": reader.edges(reach, ids),
            "memories": reader.memories(reach, {r.memory_id for r in records.values()}),
            "suggestions": reader.suggestions(reach),
            "hits": reader.search(reach, sorted(words), NO_FILTERS),
            "counts": (figures.statuses, figures.events, figures.texts, figures.patches),
        }


def heads(engine: Engine, node_id: str, at: datetime, known: int | None = None) -> list[str]:
    with engine.read() as reader:
        view = reader if known is None else reader.before(known + 1)
        lineage = view.lineage(REACH, [node_id], at)
    return lineage.heads(node_id, at) if node_id in lineage else []
