"""Seals and the chain computed anew from the tables: slow, obvious, and not the engine's own way."""

import json
from contextlib import contextmanager

from tests.conformance.builders import note, patch_of
from tests.conformance.story import Story

from evomem.domain.seal import GENESIS, chain, seal
from evomem.domain.text import digest
from evomem.domain.time import from_micros
from evomem.engines.sqlite.log import sealed_items
from evomem.engines.sqlite.rows import read_path, write_path
from evomem.engines.sqlite.sql import QUERIES

SALT, DIGEST, HASH = 11, 12, 13
"""Where a row of `log_patches` has them."""


def asking(connection):
    def query(name, **values):
        return connection.execute(QUERIES[name], {"known": 2**62, **values}).fetchall()

    return query


def sealed(connection):
    """Return (row, facts) of every patch, and the digest that each must have by now."""
    query = asking(connection)
    sequences = [s for (s,) in connection.execute("SELECT sequence FROM patch ORDER BY sequence")]
    latest = {s: d for s, d, _ in query("resealed", sequences=json.dumps(sequences))}
    return [
        (row, facts, latest.get(row[0], row[DIGEST]))
        for row, facts in sealed_items(query, sequences)
    ]


def faults(connection):
    """Compute everything anew; an independent, slow reading of what a seal promises."""
    try:
        patches = sealed(connection)
    except (TypeError, ValueError, OverflowError) as error:
        return [f"unreadable: {error}"]
    wrong = [str(row) for row in connection.execute("PRAGMA foreign_key_check")]
    before, last = GENESIS, -(2**63)
    for place, (row, facts, expected) in enumerate(patches, 1):
        if row[0] != place or row[3] < last:
            wrong.append(f"{row[0]} is not in its place")
        if seal(row[SALT], facts) != expected:
            wrong.append(f"{row[0]} was changed")
        before, last = chain(before, row[0], from_micros(row[3]), row[DIGEST]), row[3]
        if row[HASH] != before:
            wrong.append(f"{row[0]} is not in the chain")
    return wrong + _uncovered(connection, patches) + _underived(connection)


COVERED = {
    "patch": "SELECT count(*) FROM patch",
    "event": "SELECT count(*) FROM event",
    "evidence": "SELECT count(*) FROM evidence",
    "node": "SELECT count(*) FROM node",
    "edge": "SELECT count(*) FROM edge",
    "close": "SELECT count(closed_by) FROM edge",
    "operation": "SELECT count(*) FROM operation",
    "remove": "SELECT count(*) FROM tombstone",
    "revive": "SELECT count(revived) FROM tombstone",
    "purge": "SELECT count(purged) FROM tombstone",
    "reseal": "SELECT count(*) FROM reseal",
}


def _uncovered(connection, patches):
    """Name what no seal covers: each row is a fact of one patch, and of no other."""
    facts = [fact[0] for _, found, _ in patches for fact in found]
    return [
        f"{kind} rows that no seal covers"
        for kind, count in COVERED.items()
        if connection.execute(count).fetchone() != (facts.count(kind),)
    ]


def _underived(connection):
    """Name what does not follow from what is sealed."""
    wrong = [
        f"the path {path!r}"
        for (path,) in connection.execute("SELECT path FROM namespace")
        if write_path(read_path(path)) != path
    ]
    for text, scope, slot, found in connection.execute(
        "SELECT body, scope, slot, digest FROM node LEFT JOIN text ON text.id = text_id"
    ):
        if found != (None if text is None or slot is not None else digest(text, scope, None)):
            wrong.append("a twin's digest")
    for what, count in {
        "a node in another namespace": "SELECT count(*) FROM node JOIN patch USING (sequence) "
        "WHERE node.row >> 32 <> patch.namespace_id",
        "an event in another namespace": "SELECT count(*) FROM event JOIN patch USING (sequence) "
        "WHERE event.namespace_id <> patch.namespace_id",
        "a text marked wrongly": "SELECT count(*) FROM text "
        "WHERE evidence IS NOT (id IN (SELECT text_id FROM event WHERE text_id IS NOT NULL))",
        "a text of nothing": "SELECT count(*) FROM text WHERE id NOT IN ("
        "SELECT text_id FROM node WHERE text_id IS NOT NULL "
        "UNION SELECT text_id FROM event WHERE text_id IS NOT NULL)",
        "an unfounded seal": "SELECT count(*) FROM reseal WHERE by <= sequence",
    }.items():
        if connection.execute(count).fetchone() != (0,):
            wrong.append(what)
    return wrong


@contextmanager
def looking(engine):
    with engine._pool.reader() as connection:
        yield connection


def told(engine):
    """Commit the whole story, beside a namespace of its own."""
    story = Story()
    for number, patch in enumerate(story.patches.values()):
        engine.commit(patch)
        if number % 5 == 0:
            beside = note(f"beside {number}", namespace=("beside",))
            engine.commit(patch_of(beside, namespace=("beside",)))
    return story
