"""How results look to people: compact, ids whole, every status spelled out.

Lines are left to the terminal to wrap, so that ids, paths and commands can be copied; only the
table of `list`, on a terminal wide enough for it, is laid out.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from evomem.cli.session import Session, clean, command_line
from evomem.domain.extraction import FIELDS
from evomem.domain.identifiers import ID_CHARS
from evomem.domain.node import MemoryNode, Status
from evomem.domain.render import doubts, facts, remarks
from evomem.domain.result import (
    ForgetResult,
    Hit,
    LinkResult,
    Page,
    PendingReview,
    RecallResult,
    ReindexResult,
    RememberResult,
    Stats,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Rich is imported where something is printed: it takes longer than all the rest, and neither help
# nor JSON needs it.

STYLES = {
    "active": "green",
    "refined": "cyan",
    "superseded": "yellow",
    "forgotten": "red",
    "scheduled": "blue",
}
TABLE_COLUMNS = 60
"""The narrowest terminal that gets a table."""

PURGED = "(text purged)"
MOST_CHARS = 1200
LINE_CHARS = 160


def line(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print parts, each a text or (text, style), as one line that is never cut."""
    from rich.text import Text  # noqa: PLC0415

    safe = (clean(p) if isinstance(p, str) else (clean(p[0]), p[1]) for p in parts)
    console.print(Text.assemble(*safe), soft_wrap=True)


def path(console: Console, result: Stats) -> None:
    """Print where the store lies and nothing else, for scripts to use."""
    line(console, result.path)


def namespaces(console: Console, paths: Sequence[Sequence[str]]) -> None:
    """Print one path per line."""
    for labels in paths:
        line(console, "/".join(labels))


def remembered(console: Console, result: RememberResult, session: Session) -> None:
    """Print what became of a note, and how to accept what the linker suggests."""
    done = "Known already" if result.deduplicated else "Remembered"
    line(console, ("Replayed" if result.replayed else done, "bold"), "  ", *head(result.node))
    given = result.decision.outcome == "explicit"
    _links(console, result, "" if given else f"  ({result.decision.reason})")
    for kind, ids in result.node.relations.items():
        line(console, f"  {kind.replace('_', ' ')} {', '.join(ids)}")
    for suggestion in result.candidates:
        _suggest(console, result.node.id, suggestion.node_id, suggestion.reason, session)
        body(console, suggestion.text, 4, LINE_CHARS)
    warnings(console, result.warnings)


def recalled(console: Console, result: RecallResult, *, memories: bool = False) -> None:
    """Print the answers, each with what it replaced, and if asked with its memory's version."""
    if not result.hits:
        line(console, "No memory answers this.")
    elif result.insufficient:
        line(console, ("Weak match: these may not answer the question.", "yellow"))
    for number, hit in enumerate(result.hits, 1):
        _hit(console, number, hit, memories=memories)
    warnings(console, result.warnings)


def node(console: Console, node: MemoryNode) -> None:
    """Print a node in full."""
    line(console, *head(node))
    body(console, node.text or PURGED, 2, None)
    line(console)
    labelled(console, _facts(node))


def labelled(console: Console, facts: Iterable[tuple[str, str]]) -> None:
    """Print what is known, a labelled line each; empty values are left out."""
    for label, value in facts:
        if value:
            line(console, (f"{label:<13} ", "dim"), value)


def story(console: Console, nodes: Sequence[MemoryNode]) -> None:
    """Print nodes one below the other."""
    for node in nodes:
        line(console, *head(node))
        body(console, node.text or PURGED, 2, MOST_CHARS, node.id)


def page(console: Console, result: Page) -> None:
    """Print a page of nodes, one line each."""
    if not result.nodes:
        line(console, "No nodes.")
    elif console.is_terminal and console.width >= TABLE_COLUMNS:
        console.print(_table(result))
    else:
        for node in result:
            line(console, *head(node), "  ", one_line(node.text) or PURGED)
    if result.cursor:
        line(console, ("More: ", "dim"), f"add --cursor {result.cursor}")


def reviews(console: Console, pending: Sequence[PendingReview], session: Session) -> None:
    """Print the open questions, each with the command that says yes."""
    if not pending:
        line(console, "Nothing waits for an answer.")
    for item in pending:
        line(console, *head(item.node))
        body(console, item.node.text, 2, LINE_CHARS)
        _suggest(console, item.node.id, item.candidate.id, item.reason, session)
        body(console, item.candidate.text, 4, LINE_CHARS)


def linked(console: Console, result: LinkResult) -> None:
    """Print what a link took out of force, or what its undoing brought back."""
    line(console, *head(result.node))
    _links(console, result)
    for node_id in result.restored:
        line(console, "  in force again: ", ("active", STYLES["active"]), "  ", (node_id, "bold"))
    warnings(console, result.warnings)


def forgotten(console: Console, result: ForgetResult) -> None:
    """Print what became of a forget."""
    if result.changed:
        line(console, "Purged  " if result.purged else "Forgotten  ", (result.node_id, "bold"))
    warnings(console, result.warnings)


def stats(console: Console, result: Stats) -> None:
    """Print the figures."""
    counts = ", ".join(f"{count} {status}" for status, count in result.nodes.items() if count)
    rows = {
        "path": f"{result.path} ({result.location})",
        "store": f"{result.store_id}, schema {result.schema_version}, {result.size_bytes} bytes",
        "nodes": counts or "none",
        "texts": result.texts,
        "events": result.events,
        "patches": result.patches,
        "to review": result.pending_reviews,
    }
    if result.embedder:
        rows["embedder"] = result.embedder
        rows["no vector"] = result.missing_vectors
    for label, value in rows.items():
        line(console, (f"{label:<10} ", "dim"), str(value))


def reindexed(console: Console, result: ReindexResult) -> None:
    """Print what was analysed anew, how many vectors were added, and what is still without one."""
    line(console, ("Analysed anew ", "bold"), str(result.reanalysed))
    if result.embedder is None:
        line(console, "No embedder: nothing to embed. Name one, as in: --embedder minilm")
        return
    line(console, ("Embedded ", "bold"), f"{result.embedded} with {result.embedder}")
    if result.missing:
        line(console, f"Still without a vector: {result.missing}")
    warnings(console, filter(None, [result.failure]))


def warnings(console: Console, given: Iterable[str]) -> None:
    """Print warnings."""
    for warning in given:
        line(console, ("Warning: ", "yellow"), warning)


def head(node: MemoryNode, *more: str) -> list[str | tuple[str, str]]:
    """Return the parts of a node's first line: status, id, date, where it holds."""
    date, *others = facts(node)
    status = str(node.status)
    return [
        (status, STYLES[status]),
        "  ",
        (node.id, "bold"),
        ("  " + "  ".join([date, *more, *others]), "dim"),
    ]


def memory_at(memory_id: str, version: int) -> list[str | tuple[str, str]]:
    """Return the parts that name a memory and a version of it."""
    return [(memory_id, "bold"), f"  version {version}"]


def body(console: Console, text: str, indent: int, limit: int | None, node_id: str = "") -> None:
    """Print a text below its line; what is over the limit is named, with how to read it."""
    shown = text if limit is None or len(text) <= limit else text[:limit].rstrip() + " …"
    line(console, textwrap.indent(clean(shown).strip("\n"), " " * indent))
    if shown is not text and node_id:
        line(console, " " * indent, (f"{len(text)} characters in all: show {node_id}", "dim"))


def _hit(console: Console, number: int, hit: Hit, *, memories: bool) -> None:
    scores = [] if hit.score is None else [f"score {hit.score:.2f}"]
    first, *rest = head(hit.node, *scores)
    line(console, f"{number}. ", first, doubts(hit), *rest)
    if memories:
        line(console, "   memory ", *memory_at(hit.node.memory_id, hit.node.memory_version))
    body(console, hit.node.text, 3, MOST_CHARS, hit.node.id)
    for remark in remarks(hit):
        line(console, f"   {clean(remark)}")
    for old in hit.history or hit.supersedes:
        line(console, "   replaced: ", *head(old))
        body(console, old.text or PURGED, 5, MOST_CHARS, old.id)


def _links(console: Console, result: RememberResult | LinkResult, why: str = "") -> None:
    verb = "will replace" if result.node.status is Status.SCHEDULED else "replaces"
    for node_id in result.superseded:
        line(console, f"  {verb} ", (node_id, "bold"), why)
    for named, current in result.moved:
        line(console, f"  {named} had been replaced before: this replaces {current}")


def _suggest(console: Console, new: str, old: str, reason: str, session: Session) -> None:
    line(console, "  may replace ", (old, "bold"), f": {reason}")
    accept = command_line("link", new, "--supersedes", old, *session.options)
    line(console, "    accept with: ", (accept, "bold"))


def _table(result: Page) -> Table:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("status", no_wrap=True)
    table.add_column("id", no_wrap=True, min_width=ID_CHARS)
    table.add_column("date", no_wrap=True)
    table.add_column("text", overflow="fold")
    for node in result:
        status = str(node.status)
        where = f"{node.scope}: " if node.scope else ""
        text = Text.assemble((clean(where), "dim"), clean(one_line(node.text) or PURGED))
        row = [Text(status, STYLES[status]), Text(node.id, "bold")]
        table.add_row(*row, Text(f"{node.created_at:%Y-%m-%d}"), text)
    return table


def _facts(node: MemoryNode) -> Iterable[tuple[str, str]]:
    """Yield what is known of a node besides its text."""
    newer = f", now at {node.memory_version}" if node.memory_version != node.version else ""
    yield "memory", f"{node.memory_id} version {node.version}{newer}"
    yield "namespace", "/".join(node.namespace)
    yield "subject", node.subject or ""
    yield "tags", ", ".join(node.tags)
    yield "session", node.session or ""
    yield "created", moment(node.created_at)
    yield "recorded", moment(node.recorded_at)
    yield "valid from", moment(node.valid_from)
    yield "valid to", moment(node.valid_to)
    yield "replaces", ", ".join(node.supersedes)
    yield "replaced by", ", ".join(node.superseded_by)
    for kind, ids in node.relations.items():
        yield kind.replace("_", " "), ", ".join(ids)
    yield "metadata", _metadata(node.metadata)
    for name in FIELDS:
        yield name.split("_")[0], str(getattr(node, name))
    yield "cronista", node.cronista


def _metadata(metadata: Mapping[str, object]) -> str:
    return json.dumps(metadata, ensure_ascii=False) if metadata else ""


def moment(time: datetime | None) -> str:
    """Return a time to the second, empty if there is none."""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else ""


def one_line(text: str) -> str:
    """Return the beginning of a text as one line."""
    folded = " ".join(text[: 4 * LINE_CHARS].split())
    return folded if len(folded) <= LINE_CHARS else folded[:LINE_CHARS].rstrip() + " …"
