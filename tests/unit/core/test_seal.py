"""The seal covers every fact of a patch, whatever the order; the chain covers place and time."""

import dataclasses
import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.unit.core.test_planning import NOW

from evomem.domain.edge import Edge
from evomem.domain.event import Event
from evomem.domain.extraction import Extraction, Span, Spans
from evomem.domain.node import NodeRecord
from evomem.domain.patch import Expectations, Op, Operation, Patch, SuggestedLink
from evomem.domain.seal import GENESIS, chain, items, seal

SALT = bytes(range(16))
LATER = NOW + timedelta(microseconds=1)
FIELDS = Extraction("hand/1", change=Spans([Span("text", 2, 6, 0.25)]), summary="short")

NODE = NodeRecord(
    id="n1",
    memory_id="m1",
    version=1,
    namespace=("t",),
    text="a text",
    extraction=FIELDS,
    created_at=NOW,
    recorded_at=NOW,
    valid_from=NOW,
    metadata={"b": 1, "a": [2]},
    tags=("x", "y"),
)
EDGE = Edge("supersedes", "n1", "n0")
EVENT = Event("e1", "user", "said", NOW)
STEP = Operation(Op.ADD, "m1", 1, "n1")
PATCH = Patch(
    id="p1",
    namespace=("t",),
    recorded_at=NOW,
    payload_digest=b"d",
    replay={"b": 1, "a": 2},
    events=(EVENT,),
    evidence=("e0",),
    nodes=(NODE,),
    edges=(EDGE,),
    closed=(Edge("refines", "n1", "n0"),),
    removed=("n0",),
    revived=("n0",),
    purged=("n0",),
    operations=(STEP,),
)


def sealed(patch):
    return seal(SALT, items(patch))


# By the part of a patch that holds them, the values that differ from those above.
OTHERS: dict[str, dict[str, Any]] = {
    "nodes": {
        "id": "n2",
        "memory_id": "m2",
        "version": 2,
        "text": "A text",
        "extraction": Extraction("hand/2"),
        "created_at": LATER,
        "valid_from": LATER,
        "valid_to": LATER,
        "subject": "about",
        "slot": "s",
        "scope": "eu",
        "tags": ("y", "x"),
        "session": "s",
        "metadata": {"b": 1, "a": [2.0]},
        "searchable": "tip",
        "backdated": True,
    },
    "edges": {
        "kind": "refines",
        "new": "n2",
        "old": "n2",
        "part": "",
        "reason": "why",
        "linked_by": "linker/1",
        "confidence": 0.5,
    },
    "events": {
        "id": "e2",
        "role": "tool",
        "content": "said ",
        "occurred_at": LATER,
        "session": "s",
        "external_id": "x",
    },
    "operations": {"op": Op.UPDATE, "memory_id": "m2", "version": 2, "node_id": "n2"},
    "": {
        "id": "p2",
        "namespace": ("t", "u"),
        "actor": "",
        "source": "cli",
        "reason": "why",
        "idempotency_key": "k",
        "payload_digest": b"D",
        "replay": {},
        "rollback_of": "p0",
        "events": (),
        "evidence": (),
        "nodes": (),
        "edges": (),
        "closed": (),
        "removed": (),
        "revived": (),
        "purged": (),
        "operations": (),
    },
}

UNSEALED: dict[str, dict[str, Any]] = {
    "nodes": {"namespace": ("u",), "recorded_at": LATER, "sequence": 7},
    "edges": {"sequence": 7},
    "closed": {"sequence": 7, "reason": "r", "linked_by": "b", "confidence": 0.1},
    "": {
        "recorded_at": LATER,
        "expects": Expectations({"m1": 1}),
        "suggestions": (SuggestedLink("n1", "n0", "why", 0.5, "linker/1"),),
        "embedder": "model/1",
        "vectors": {"n1": b"\0" * 8},
    },
}


def cases(table):
    return [(part, name) for part, fields in table.items() for name in fields]


def changed(table, part, name):
    value = table[part][name]
    if part:
        (one,) = getattr(PATCH, part)
        name, value = part, (replace(one, **{name: value}),)
    fields: dict[str, Any] = {name: value}
    return replace(PATCH, **fields)


@pytest.mark.parametrize(("part", "name"), cases(OTHERS))
def test_another_value_of_any_field_gives_another_seal(part, name):
    assert sealed(changed(OTHERS, part, name)) != sealed(PATCH)


@pytest.mark.parametrize(("part", "name"), cases(UNSEALED))
def test_what_follows_from_the_rest_is_not_sealed(part, name):
    assert sealed(changed(UNSEALED, part, name)) == sealed(PATCH)


@pytest.mark.parametrize("part", ["", "nodes", "edges", "events", "operations"])
def test_the_cases_name_every_field(part):
    value = getattr(PATCH, part)[0] if part else PATCH
    known = {**OTHERS.get(part, {}), **UNSEALED.get(part, {})}
    # A purged node is one without a text.
    names = {field.name for field in dataclasses.fields(value)}
    assert names == {*known, *(["purged"] if part == "nodes" else [])}


def test_the_order_of_facts_does_not_count_and_their_number_does():
    facts = list(items(PATCH))
    rng = random.Random(7)  # noqa: S311  repeatable, no secret
    for _ in range(5):
        rng.shuffle(facts)
        assert seal(SALT, facts) == sealed(PATCH)
    assert seal(SALT, [*facts, facts[0]]) != sealed(PATCH)
    assert seal(SALT, []) != sealed(PATCH)


def test_the_order_of_operations_counts():
    two = Operation(Op.LINK, "m1", 2, "n1")
    one, other = (replace(PATCH, operations=steps) for steps in ((STEP, two), (two, STEP)))
    assert sealed(one) != sealed(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("x", 1), ("x", "1")),
        (("x", 1), ("x", 1.0)),
        (("x", None), ("x", "")),
        (("x", None), ("x", "null")),
        (("x", "a", "b"), ("x", "a,b")),
        (("x", 'a","b'), ("x", "a", "b")),
        (("x", "a\n"), ("x", "a", "\n")),
        (("x", 0), ("x", False)),
    ],
)
def test_values_are_told_apart(one, other):
    assert seal(SALT, [one]) != seal(SALT, [other])


def test_two_facts_are_not_one_with_a_line_break():
    assert seal(SALT, [("a",), ("b",)]) != seal(SALT, [('a"]\n["b',)])
    assert seal(SALT, [("a\u2028b",)]) != seal(SALT, [("a",), ("b",)])


def test_the_salt_keeps_a_guess_from_being_confirmed():
    assert seal(SALT, items(PATCH)) != seal(bytes(16), items(PATCH))


def test_an_erased_text_and_one_that_was_never_there_are_sealed_alike():
    gone = replace(EVENT, content="")
    assert [f[3] for f in items(replace(PATCH, events=(gone,))) if f[0] == "event"] == [None]
    blank = replace(NODE, text="", purged=True)
    assert [f[4] for f in items(replace(PATCH, nodes=(blank,))) if f[0] == "node"] == [None]


def test_equal_metadata_are_sealed_alike_and_confidences_to_three_places():
    same = replace(NODE, metadata={"a": [2], "b": 1})
    span = Span("text", 2, 6, 0.2500004)
    near = replace(NODE, extraction=replace(FIELDS, change=Spans([span])))
    for node in (same, near):
        assert sealed(replace(PATCH, nodes=(node,))) == sealed(PATCH)


def test_every_fact_is_of_values_that_any_store_holds():
    for fact in items(PATCH):
        assert all(v is None or isinstance(v, str | int | float | bytes) for v in fact)
        assert not any(isinstance(value, bool) for value in fact)
        json.dumps([v.hex() if isinstance(v, bytes) else v for v in fact])


DIGEST = sealed(PATCH)


@pytest.mark.parametrize(
    "link",
    [
        (DIGEST, 2, NOW, DIGEST),
        (GENESIS, 1, NOW, DIGEST),
        (GENESIS, 2, LATER, DIGEST),
        (GENESIS, 2, datetime(1960, 1, 1, tzinfo=UTC), DIGEST),
        (GENESIS, 2, NOW, GENESIS),
    ],
)
def test_the_hash_of_a_commit_is_over_all_that_it_follows_from(link):
    assert chain(*link) != chain(GENESIS, 2, NOW, DIGEST)
    assert len(chain(*link)) == 32


@pytest.mark.parametrize("year", [1, 1969, 1970, 9999])
def test_any_time_and_place_can_be_chained(year):
    assert len(chain(GENESIS, 2**62, datetime(year, 1, 1, tzinfo=UTC), DIGEST)) == 32
