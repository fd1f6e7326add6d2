"""Loading what a plan needs to know, in one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from evomem.domain.draft import StoreFacts
from evomem.domain.namespace import Reach
from evomem.domain.patch import SlotKey
from evomem.domain.planning import note_scope
from evomem.domain.request import RememberRequest
from evomem.domain.text import digest
from evomem.engines.base import Reader
from evomem.service.context import unknown_node


def load_facts(
    reader: Reader, reach: Reach, named: Iterable[str], at: datetime, more: Sequence[str] = ()
) -> StoreFacts:
    """Load the surroundings of the named nodes, and the lineage of `more`.

    Raises:
        NotFoundError: A named node does not exist in the namespace.
    """
    wanted = list(dict.fromkeys(named))
    ids = list(dict.fromkeys([*wanted, *more]))
    if not ids:
        return StoreFacts()
    lineage = reader.lineage(reach, ids, at)
    for node_id in wanted:
        if node_id not in lineage:
            raise unknown_node(node_id, writing=True)
    tips = [tip for node_id in wanted for tip in lineage.tips(node_id)]
    return StoreFacts(
        lineage=lineage,
        records=reader.records(reach, [*wanted, *tips]) if wanted else {},
        memories=reader.memories(reach, {f.memory_id for f in lineage.facts.values()}),
        edges=tuple(reader.edges(reach, wanted)) if wanted else (),
    )


def facts_of_new(requests: Sequence[RememberRequest]) -> StoreFacts:
    """Return the facts of notes that name nothing, supposing that no equal ones exist."""
    return StoreFacts(twins={digest(r.text, r.scope, None): () for r in requests})


def load_note_facts(
    reader: Reader,
    reach: Reach,
    notes: Sequence[tuple[RememberRequest, Sequence[str]]],
    at: datetime,
) -> StoreFacts:
    """Load what the plan of some notes needs.

    Args:
        reader: The snapshot to read in.
        reach: The namespace written to.
        notes: Each request, with the nodes its linker would link.
        at: World time of the plan.
    """
    named = [node_id for request, linked in notes for node_id in (*request.targets, *linked)]
    facts = load_facts(reader, reach, named, at)
    scopes = [note_scope(facts.lineage, request, linked) for request, linked in notes]
    scoped = [(request, scope) for (request, _), scope in zip(notes, scopes, strict=True)]
    slots = [(r.slot, scope) for r, scope in scoped if r.slot]
    digests = [digest(r.text, scope, None) for r, scope in scoped if not r.slot]
    twins, values, alike = load_twins(reader, reach, digests, slots)
    if alike:
        facts = load_facts(reader, reach, named, at, alike)
        facts.records.update(reader.records(reach, [n for found in twins.values() for n in found]))
    facts.slots, facts.twins = values, twins
    return facts


def load_twins(
    reader: Reader, reach: Reach, digests: Iterable[bytes], slots: Iterable[SlotKey]
) -> tuple[dict[bytes, tuple[str, ...]], dict[SlotKey, str | None], list[str]]:
    """Return the nodes with these digests, those in these slots, and all of them together."""
    twins = reader.twins(reach, digests)
    values = reader.slots(reach, slots)
    alike = [node_id for found in twins.values() for node_id in found]
    return twins, values, [*alike, *(node_id for node_id in values.values() if node_id)]
