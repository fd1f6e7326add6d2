"""The two commands of every day: remember and recall."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from typer.models import OptionInfo

from evomem.cli import printing
from evomem.cli.reading import (
    AnyTag,
    AsOf,
    Children,
    KnownAt,
    Metadata,
    NoTag,
    Offset,
    Relation,
    Scope,
    SessionName,
    Since,
    Tags,
    Until,
    time_option,
)
from evomem.cli.session import Session
from evomem.cli.values import metadata as read_metadata
from evomem.cli.values import pairs, refuse, wanted_metadata
from evomem.domain.question import RecallOptions
from evomem.domain.request import RememberOptions

# Far over what a note may hold, so that the refusal can name the size, and no pipe fills memory.
_MOST_INPUT_BYTES = 1 << 26

Ids = list[str] | None


class Linking(StrEnum):
    """What the linker may do."""

    OFF = "off"
    SUGGEST = "suggest"
    AUTO = "auto"


class Searchable(StrEnum):
    """When a question finds a note."""

    ALWAYS = "always"
    TIP = "tip"
    NEVER = "never"


def _ids(text: str) -> OptionInfo:
    option: OptionInfo = typer.Option(metavar="ID", help=f"{text}, whole id; may be repeated.")
    return option


def remember(
    ctx: typer.Context,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="The statement; - or a pipe reads standard input."),
    ] = None,
    supersedes: Annotated[Ids, _ids("A node that it replaces wholly")] = None,
    refines: Annotated[Ids, _ids("A node whose decision stands, worded anew")] = None,
    overrides: Annotated[Ids, _ids("A node it wins over in its own, narrower scope")] = None,
    amends: Annotated[Ids, _ids("A node of which it replaces the next --part")] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="The quoted old words, one for each --amends."),
    ] = None,
    relation: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND=ID", help="Such as caused_by=ID; may be repeated."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="A label; may be repeated.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="The conversation it comes from.")] = None,
    scope: Annotated[str | None, typer.Option(help="Where it holds.")] = None,
    subject: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    slot: Annotated[str | None, typer.Option(help="An address with one current value.")] = None,
    expected_version: Annotated[
        int | None,
        typer.Option(help="Refuse unless the memory is at this version; 0: the slot is empty."),
    ] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Repeats of the call return the first result.")
    ] = None,
    valid_from: Annotated[str | None, time_option("From when it holds")] = None,
    valid_to: Annotated[str | None, time_option("Until when it holds")] = None,
    created_at: Annotated[str | None, time_option("When it was said")] = None,
    metadata: Annotated[
        str | None, typer.Option(metavar="JSON", help='An object, as {"ticket": 7}.')
    ] = None,
    searchable: Annotated[
        Searchable, typer.Option(help="Whether a question finds it; tip: until it is replaced.")
    ] = Searchable.ALWAYS,
    actor: Annotated[str | None, typer.Option(help="Who writes.")] = None,
    linking: Annotated[
        Linking, typer.Option(help="Whether to look for what it replaces.")
    ] = Linking.SUGGEST,
    cronista: Annotated[str, typer.Option(help="What extracts the narrative fields.")] = "lite",
) -> None:
    """Remember a statement, and link it to what it replaces."""
    here: Session = ctx.obj
    options = RememberOptions(
        supersedes=_checked(supersedes, "--supersedes"),
        refines=_checked(refines, "--refines"),
        overrides=_checked(overrides, "--overrides"),
        amends=_amendments(amends or [], part or []),
        relations=_relations(relation or []),
        tags=tag or (),
        session=session,
        scope=scope,
        subject=subject,
        slot=slot,
        expected_version=expected_version,
        idempotency_key=idempotency_key,
        valid_from=valid_from,
        valid_to=valid_to,
        created_at=created_at,
        metadata=None if metadata is None else read_metadata(metadata),
        searchable=searchable.value,
        actor=actor,
        source="cli",
    )
    note = read_text(text)
    with here.open(linking=linking.value, cronista=cronista) as memory:
        result = memory.remember(note, **options)
    here.answer(result, lambda console, _: printing.remembered(console, result, here))


def recall(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="The question, any words.")],
    k: Annotated[int, typer.Option("-k", help="How many answers at most, 1 to 100.")] = 5,
    offset: Offset = 0,
    scope: Scope = None,
    tag: Tags = None,
    any_tag: AnyTag = None,
    no_tag: NoTag = None,
    session: SessionName = None,
    relation: Relation = None,
    since: Since = None,
    until: Until = None,
    filters: Metadata = None,
    history: Annotated[bool, typer.Option("--history", help="Tell the story too.")] = False,
    depth: Annotated[
        int | None, typer.Option(help="With how many earlier nodes, 0 to 100; default 5.")
    ] = None,
    children: Children = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    status: Annotated[
        str, typer.Option(help="Only answers that are active, scheduled, forgotten, or all.")
    ] = "all",
    ranking: Annotated[
        str, typer.Option(help="lexical, vector, hybrid, or auto: by what the memory has.")
    ] = "auto",
    max_tokens: Annotated[
        int | None, typer.Option(help="About how many tokens the answers may take as text.")
    ] = None,
    deadline_ms: Annotated[
        int | None, typer.Option(help="Answer with the best found after so many milliseconds.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell why each answer stands where it stands.")
    ] = False,
) -> None:
    """Answer a question with what is in force, whatever version it matches."""
    here: Session = ctx.obj
    options = RecallOptions(
        k=k,
        offset=offset,
        scope=scope,
        tags=tag or (),
        tags_any=any_tag or (),
        tags_none=no_tag or (),
        session=session,
        relation=relation,
        since=since,
        until=until,
        filter=wanted_metadata(filters),
        include_history=history or depth is not None,
        history_depth=5 if depth is None else depth,
        include_children=children,
        as_of=as_of,
        known_at=known_at,
        status=status,
        ranking=ranking,
        max_tokens=max_tokens,
        deadline_ms=deadline_ms,
        explain=explain,
    )
    with here.read(vectors=True) as memory:
        here.answer(memory.recall(" ".join(query), **options), printing.recalled)


def read_text(given: str | None) -> str:
    """Return the text, from standard input if it is not in the arguments, byte for byte."""
    if given not in {None, "-"}:
        return str(given)
    if sys.stdin is None or (given is None and sys.stdin.isatty()):
        refuse("TEXT", "pass the text, or - to read it from standard input.")
    return sys.stdin.buffer.read(_MOST_INPUT_BYTES).decode(errors="surrogateescape")


def _checked(ids: Ids, option: str) -> Sequence[str]:
    """Refuse a blank id: an unset shell variable must not turn a replacement into a plain note."""
    if any(not node_id.strip() for node_id in ids or ()):
        refuse(option, "the id is blank; nothing was written.")
    return ids or ()


def _amendments(ids: list[str], parts: list[str]) -> list[dict[str, str]]:
    if len(ids) != len(parts):
        refuse("--amends", "give one --part with the quoted old words for each --amends.")
    return [{"id": node_id, "part": part} for node_id, part in zip(ids, parts, strict=True)]


def _relations(given: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for kind, node_id in pairs(given, "--relation"):
        _checked([node_id], "--relation")
        found.setdefault(kind, []).append(node_id)
    return found
