"""Reading by id, by story and by page; counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from evomem.domain.lineage import Lineage
from evomem.domain.namespace import Namespace, Reach, choose
from evomem.domain.node import MemoryNode, Status
from evomem.domain.patch import Change, Commit
from evomem.domain.question import ListRequest
from evomem.domain.result import Page, PendingReview, Stats
from evomem.domain.scope import contains
from evomem.engines.base import Filters, Reader
from evomem.errors import InvalidRequestError, NotFoundError
from evomem.service.context import Context, expand_id
from evomem.service.filters import filters_of
from evomem.service.view import view_nodes

_PAGE = 200


def get_node(
    context: Context, given: str, as_of: datetime | None, known_at: datetime | None
) -> MemoryNode:
    """Return a node by its id or an unambiguous prefix, with its status at a time.

    Raises:
        NotFoundError: It is unknown, or its text was purged.
    """
    with context.engine.read() as latest:
        reader, at = context.view(latest, as_of, known_at)
        node_id = expand_id(reader, context.reach, given)
        node = view_nodes(reader, context.reach, [node_id], at)[node_id]
    if node.purged:
        message = f"{node_id} was purged: its text is gone. Its history still shows its place."
        raise NotFoundError(message, id=node_id, purged=True)
    return node


def history(
    context: Context,
    given: str,
    limit: int | None,
    as_of: datetime | None,
    known_at: datetime | None,
) -> list[MemoryNode]:
    """Return the story that a node belongs to, newest first; purged nodes have no text.

    With `as_of` it is the story as told then: without what had not begun.

    Raises:
        NotFoundError: The node is unknown.
    """
    with context.engine.read() as latest:
        reader, at = context.view(latest, as_of, known_at)
        node_id = expand_id(reader, context.reach, given)
        story = reader.story(context.reach, [node_id])
        told = (n for n, f in story.facts.items() if as_of is None or f.valid_from <= as_of)
        ids = newest_first(story, told)[:limit]
        return list(view_nodes(reader, context.reach, ids, at).values())


def newest_first(lineage: Lineage, ids: Iterable[str]) -> list[str]:
    """Sort nodes by when they were committed, the latest first; newer ends of links lead."""
    facts = [lineage.facts[node_id] for node_id in ids]
    facts.sort(key=lambda f: (f.sequence, f.version, f.id), reverse=True)
    return [fact.id for fact in facts]


def ancestors(lineage: Lineage, head: str) -> list[str]:
    """Return everything that a head replaced, directly or by way of others, newest first."""
    found: dict[str, None] = {}
    waiting = [head]
    while waiting:
        for edge in lineage.predecessors(waiting.pop()):
            if edge.old not in found:
                found[edge.old] = None
                waiting.append(edge.old)
    return newest_first(lineage, found)


def list_nodes(context: Context, request: ListRequest) -> Page:
    """Return a page of nodes, the latest committed first.

    Raises:
        InvalidRequestError: The cursor is of another namespace or store.
    """
    reach = Reach(context.namespace, request.include_children)
    with context.engine.read() as latest:
        reader, at = context.view(latest, request.as_of, request.known_at)
        cursor = request.cursor
        if cursor is not None and not reader.records(reach, [cursor]):
            message = f"cursor={cursor!r} is not of this namespace. Start again without a cursor."
            raise InvalidRequestError(message, field="cursor")
        filters = filters_of(request, request.status, at)
        if request.status == Status.ACTIVE:
            filters = replace(filters, standing=at)
        found = _passing(reader, reach, request, filters, at)
        chosen = list(islice(found, request.offset, request.offset + request.limit))
        full = len(chosen) == request.limit
        more = full and bool(reader.recent(reach, filters, after=chosen[-1], limit=1))
        nodes = view_nodes(reader, reach, chosen, at)
    return Page(tuple(nodes.values()), chosen[-1] if more else None)


def _passing(
    reader: Reader, reach: Reach, request: ListRequest, filters: Filters, at: datetime
) -> Iterator[str]:
    after = request.cursor
    while ids := reader.recent(reach, filters, after=after, limit=_PAGE):
        lineage = reader.lineage(reach, ids, at)
        yield from (n for n in ids if _listed(lineage, n, request, at))
        after = ids[-1]


def _listed(lineage: Lineage, node_id: str, request: ListRequest, at: datetime) -> bool:
    scope = lineage.facts[node_id].scope
    if request.scope is not None and not contains(scope, request.scope):
        return False
    return request.status == "all" or lineage.status(node_id, at) == request.status


def get_slots(
    context: Context,
    slots: Mapping[str, str],
    scope: str | None,
    as_of: datetime | None,
    known_at: datetime | None,
    *,
    include_removed: bool,
) -> dict[str, MemoryNode]:
    """Return what is in force in slots, under the names that `slots` has for them."""
    statuses = {Status.ACTIVE, Status.FORGOTTEN} if include_removed else {Status.ACTIVE}
    reach = context.reach
    with context.engine.read() as latest:
        reader, at = context.view(latest, as_of, known_at)
        keys = [(slot, scope) for slot in dict.fromkeys(slots.values())]
        values = {slot: n for (slot, _), n in reader.slot_values(reach, keys, at).items()}
        lineage = reader.lineage(reach, values.values(), at) if values else Lineage()
        heads = {slot: _value(lineage, node_id, at, statuses) for slot, node_id in values.items()}
        wanted = [head for head in heads.values() if head is not None]
        nodes = view_nodes(reader, reach, wanted, at, lineage)
    found = {given: heads.get(slot) for given, slot in slots.items()}
    return {given: nodes[head] for given, head in found.items() if head is not None}


def _value(lineage: Lineage, node_id: str, at: datetime, statuses: Container[Status]) -> str | None:
    """Return what a node resolves to, if it has one of the statuses; of several the latest part."""
    heads = lineage.heads(node_id, at)
    wanted = (n for n in reversed(heads) if lineage.status(n, at) in statuses)
    return next(wanted, None)


def review(context: Context) -> list[PendingReview]:
    """Return the links that the linker left to a person or an agent, the latest first."""
    with context.engine.read() as reader:
        at = context.time(reader)
        pending = _pending(reader, context.reach, at)
        nodes = view_nodes(reader, context.reach, [n for p in pending for n in p[:2]], at)
    return [
        PendingReview(nodes[new], nodes[old], reason, confidence)
        for new, old, reason, confidence in pending
    ]


def _pending(reader: Reader, reach: Reach, at: datetime) -> list[tuple[str, str, str, float]]:
    """Return the suggestions of which both ends are still in force, so that the question stands."""
    made = reader.suggestions(reach)
    if not made:
        return []
    lineage = reader.lineage(reach, {end for item in made for end in item[:2]}, at)
    active = {n for n in lineage.facts if lineage.status(n, at) is Status.ACTIVE}
    return [item for item in made if item[0] in active and item[1] in active]


def open_questions(
    reader: Reader, reach: Reach, ids: Sequence[str], at: datetime
) -> dict[str, list[str]]:
    """Return, for each of `ids`, the nodes in force that may replace it."""
    made = reader.suggestions(reach, ids)
    lineage = reader.lineage(reach, {item[0] for item in made}, at) if made else Lineage()
    asked: dict[str, list[str]] = {}
    for new, old, _, _ in made:
        if lineage.status(new, at) is Status.ACTIVE:
            asked.setdefault(old, []).append(new)
    return asked


def changes(context: Context, since: int, limit: int, *, newest_first: bool) -> list[Change]:
    """Return the commits after `since`, the oldest first or the newest."""
    with context.engine.read() as reader:
        commits = reader.log(context.reach, since, limit, newest_first=newest_first)
    return [_change(commit) for commit in commits]


def _change(commit: Commit) -> Change:
    patch = commit.patch
    return Change(
        sequence=commit.sequence,
        patch_id=patch.id,
        recorded_at=patch.recorded_at,
        actor=patch.actor,
        source=patch.source,
        reason=patch.reason,
        operations=patch.operations,
    )


def version(context: Context) -> int:
    """Return the sequence of the latest commit in the namespace."""
    with context.engine.read() as reader:
        return reader.last_commit(context.namespace).sequence


def stats(context: Context, location: str) -> Stats:
    """Count what the namespace holds."""
    with context.engine.read() as reader:
        at = context.time(reader)
        figures = reader.figures(context.namespace, at)
        lineage = reader.lineage(context.reach, figures.unplain, at)
        statuses = Counter(dict(figures.statuses))
        statuses.update(lineage.status(node_id, at).value for node_id in figures.unplain)
        pending = len(_pending(reader, context.reach, at))
        embedder = None if context.embeddings is None else context.embeddings.name
        missing = reader.missing_vectors(context.reach, embedder) if embedder else 0
    return Stats(
        store_id=figures.store_id,
        path=context.engine.location,
        schema_version=figures.schema_version,
        nodes={status.value: statuses[status.value] for status in Status},
        events=figures.events,
        texts=figures.texts,
        patches=figures.patches,
        pending_reviews=pending,
        missing_vectors=missing,
        size_bytes=figures.size_bytes,
        location=location,
        embedder=embedder,
    )


def namespaces(
    context: Context, *, prefix: Sequence[str], suffix: Sequence[str], max_depth: int | None
) -> list[Namespace]:
    """Return the namespaces below that hold what was not forgotten, as paths from here."""
    here = context.namespace
    with context.engine.read() as reader:
        found = reader.namespaces(Reach(here, include_children=True))
    below = (path[len(here) :] for path in found if path != here)
    return choose(below, prefix=prefix, suffix=suffix, max_depth=max_depth)
