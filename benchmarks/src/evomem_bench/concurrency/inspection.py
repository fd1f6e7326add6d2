"""What is in a file after its writers were killed, read beside EvoMem's own code."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from evomem.engines.sqlite.engine import SqliteEngine
from evomem_bench.concurrency.victim import FORGET, SUPERSEDE

Told = Mapping[str, str]

# A patch that is there in part: each query returns what has lost something that belongs to it.
_HALVES = {
    "node without text": """
        SELECT node.id FROM node LEFT JOIN text ON text.id = node.text_id
        LEFT JOIN tombstone ON tombstone.node = node.row
        WHERE text.id IS NULL AND tombstone.purged IS NULL""",
    "text without node or event": """
        SELECT id FROM text WHERE id NOT IN (SELECT text_id FROM node WHERE text_id IS NOT NULL)
        AND id NOT IN (SELECT text_id FROM event WHERE text_id IS NOT NULL)""",
    "event without text": """
        SELECT event.id FROM event LEFT JOIN text ON text.id = event.text_id
        WHERE text.id IS NULL""",
    "event without patch": """
        SELECT id FROM event WHERE sequence NOT IN (SELECT sequence FROM patch)""",
    "node without patch": """
        SELECT id FROM node WHERE sequence NOT IN (SELECT sequence FROM patch)""",
    "node without operation": """
        SELECT id FROM node WHERE NOT EXISTS (
            SELECT 1 FROM operation
            WHERE operation.node = node.row AND operation.sequence = node.sequence)""",
    "patch without operation": """
        SELECT id FROM patch WHERE sequence NOT IN (SELECT sequence FROM operation)
        AND sequence NOT IN (SELECT sequence FROM event)""",
    "node without index entry": """
        SELECT id FROM node WHERE row NOT IN (SELECT row >> 10 FROM search_doc)
        AND row NOT IN (SELECT node FROM tombstone WHERE purged IS NOT NULL)""",
    "index entry without node": """
        SELECT row FROM search_doc WHERE row >> 10 NOT IN (SELECT row FROM node)""",
    "version without link to one before": """
        SELECT node.id FROM node WHERE version > 1 AND NOT EXISTS (
            SELECT 1 FROM edge JOIN node AS older ON older.row = edge.old
            WHERE edge.new = node.row AND edge.sequence = node.sequence
              AND older.memory_id = node.memory_id AND older.version < node.version)""",
    "link without its ends": """
        SELECT id FROM edge WHERE new NOT IN (SELECT row FROM node)
        OR old NOT IN (SELECT row FROM node) OR sequence NOT IN (SELECT sequence FROM patch)""",
    "memory whose tip is not its latest node": """
        SELECT memory.id FROM memory LEFT JOIN node ON node.row = memory.tip
        WHERE node.row IS NOT (
            SELECT row FROM node AS any_node WHERE any_node.memory_id = memory.id
            ORDER BY any_node.version DESC LIMIT 1)""",
    "node without memory": """
        SELECT id FROM node WHERE memory_id NOT IN (SELECT id FROM memory)""",
    "gap in the sequence of patches": """
        SELECT sequence FROM patch WHERE sequence > (SELECT count(*) FROM patch)""",
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found.

    Attributes:
        lost: Acknowledged calls of which nothing, or not all, is there.
        half_written: What is there in part.
        problems: What EvoMem's own check and SQLite's say of the file.
        patches: Commits in the file.
    """

    lost: tuple[Told, ...]
    half_written: tuple[str, ...]
    problems: tuple[str, ...]
    patches: int


def inspect(path: Path, acknowledged: Sequence[Told]) -> Findings:
    """Open a store again, as the next process would, and look for all that was acknowledged."""
    engine = SqliteEngine(path)
    try:
        problems = tuple(engine.verify())
    finally:
        engine.close()
    with closing(sqlite3.connect(path)) as connection:
        run = connection.execute
        halves = [f"{name}: {found}" for name, query in _HALVES.items() for (found,) in run(query)]
        texts = dict(run("SELECT node.id, body FROM node JOIN text ON text.id = node.text_id"))
        forgotten = {i for (i,) in run("SELECT id FROM node JOIN tombstone ON node = row")}
        links = set(
            run("""SELECT newer.id, older.id FROM edge JOIN node AS newer ON newer.row = edge.new
                   JOIN node AS older ON older.row = edge.old
                   WHERE edge.kind = 'supersedes' AND edge.closed_by IS NULL""")
        )
        (patches,) = run("SELECT count(*) FROM patch").fetchone()

    def is_there(told: Told) -> bool:
        if told["did"] == FORGET:
            return told["id"] in forgotten
        linked = told["did"] != SUPERSEDE or (told["id"], told["old"]) in links
        return linked and texts.get(told["id"]) == told["text"]

    lost = tuple(told for told in acknowledged if not is_there(told))
    return Findings(lost, tuple(halves), problems, patches)
