"""What is asked of a memory: a recall or a list; parsed once at the edge, frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from evomem.domain import arguments as read
from evomem.domain.edge import RESERVED, parse_relation
from evomem.domain.metadata import check_filter
from evomem.domain.scope import parse_scope
from evomem.domain.time import Instant
from evomem.errors import InvalidQueryError, InvalidRequestError, TooLargeError, shown

MAX_K = 100
MAX_HISTORY_DEPTH = 100
MAX_QUERY_BYTES = 1 << 20
MAX_PAGE = 1000
MAX_SLOTS = 1000
MAX_RECALL_OFFSET = 10_000
MAX_LIST_OFFSET = 1_000_000
MAX_TOKENS = 1_000_000
MAX_DEADLINE_MS = 600_000
MAX_FILTERS = 100

STATUSES = ("active", "refined", "superseded", "forgotten", "scheduled", "all")
ANSWERING = ("active", "scheduled", "forgotten", "all")
RANKINGS = ("auto", "lexical", "vector", "hybrid")


class ConditionOptions(TypedDict, total=False):
    """Keyword arguments of both `recall` and `list`; `Conditions` says what each means."""

    scope: str | None
    tags: Sequence[str] | str
    tags_any: Sequence[str] | str
    tags_none: Sequence[str] | str
    session: str | None
    filter: Mapping[str, Any] | None
    relation: str | None
    since: Instant | None
    until: Instant | None
    include_children: bool
    as_of: Instant | None
    known_at: Instant | None


class RecallOptions(ConditionOptions, total=False):
    """Keyword arguments of `recall`; `RecallRequest` says what each means."""

    k: int
    offset: int
    status: str
    ranking: str
    include_history: bool
    history_depth: int
    include_removed: bool
    max_tokens: int | None
    deadline_ms: int | None
    explain: bool


class ListOptions(ConditionOptions, total=False):
    """Keyword arguments of `list`; `ListRequest` says what each means."""

    status: str
    limit: int
    cursor: str | None
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What the nodes looked at must be; a recall asks it of the version that matches.

    Attributes:
        scope: Answer with what holds there: in it, in what contains it, or everywhere.
        tags: Only nodes that carry all of these.
        tags_any: Only nodes that carry one of these at least.
        tags_none: Only nodes that carry none of these.
        session: Only nodes of this session.
        filter: Only nodes whose metadata has these values, or passes these comparisons.
        relation: Only nodes with a relation of this kind to an older node, `supersedes` and the
            like included.
        since: Only nodes recorded then or later.
        until: Only nodes recorded before.
        include_children: Also from the namespaces below.
        as_of: Answer with what held then; default now, or `known_at` if that is given.
        known_at: Answer from what the memory knew then; default all it knows now.
    """

    scope: str | None = None
    tags: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    tags_none: tuple[str, ...] = ()
    session: str | None = None
    filter: Mapping[str, Any] = field(default_factory=dict)
    relation: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    include_children: bool = False
    as_of: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecallRequest(Conditions):
    """A question to the memory.

    Attributes:
        query: Plain text; no input is syntax. Blank lists the most recently changed.
        k: How many answers at most, 1 to 100; amendments come with their node on top.
        offset: How many answers of the same ranking to leave out before the first, 0 to 10,000.
            Answers do not move when more are asked for, while `exact` is true.
        status: Only answers of this status, one of `ANSWERING`.
        ranking: `lexical` (by words), `vector` (by meaning), `hybrid` (both), or `auto`: hybrid
            if the memory was opened with an embedder, else lexical.
        include_history: Tell the story of each answer.
        history_depth: How many earlier nodes of the story at most, 0 to 100.
        include_removed: Also answer with forgotten nodes, marked as such.
        max_tokens: About how many tokens the answers may take as text; history goes first.
        deadline_ms: Milliseconds after which the best found so far is returned, marked partial.
        explain: Tell of each answer which terms and ranks put it where it is.
        warnings: What parsing had to repair or ignore.
    """

    query: str
    k: int = 5
    offset: int = 0
    status: str = "all"
    ranking: str = "auto"
    include_history: bool = False
    history_depth: int = 5
    include_removed: bool = False
    max_tokens: int | None = None
    deadline_ms: int | None = None
    explain: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListRequest(Conditions):
    """A page of nodes, the latest first.

    Attributes:
        status: One of `STATUSES`; `active` lists what is in force.
        limit: Nodes a page, 1 to 1000.
        cursor: Where the last page ended (`Page.cursor`).
        offset: How many nodes to leave out there, or from the latest on, 0 to 1,000,000.
    """

    status: str = "active"
    limit: int = 50
    cursor: str | None = None
    offset: int = 0


RECALL_ARGUMENTS = ("query", *RecallOptions.__annotations__)
_TAGS = ("tags", "tags_any", "tags_none")


def parse_recall(given: Mapping[str, Any], *, tolerate_unknown: bool = False) -> RecallRequest:
    """Read the arguments of `recall`.

    Raises:
        InvalidQueryError: The query is not a text.
        InvalidRequestError: Something else in it cannot be meant.
    """
    ignored = read.check_names(given, RECALL_ARGUMENTS, tolerate=tolerate_unknown)
    depth = given.get("history_depth", 5)
    return RecallRequest(
        query=_query(given.get("query")),
        k=read.whole_number(given.get("k", 5), "k", 1, MAX_K),
        offset=_offset(given, MAX_RECALL_OFFSET),
        status=read.one_of(given.get("status", "all"), "status", ANSWERING),
        ranking=read.one_of(given.get("ranking", "auto"), "ranking", RANKINGS),
        include_history=read.truth(given.get("include_history", False), "include_history"),
        history_depth=read.whole_number(depth, "history_depth", 0, MAX_HISTORY_DEPTH),
        include_removed=read.truth(given.get("include_removed", False), "include_removed"),
        max_tokens=_limit(given, "max_tokens", MAX_TOKENS),
        deadline_ms=_limit(given, "deadline_ms", MAX_DEADLINE_MS),
        explain=read.truth(given.get("explain", False), "explain"),
        warnings=ignored,
        **_conditions(given),
    )


def parse_list(given: Mapping[str, Any]) -> ListRequest:
    """Read the arguments of `list`.

    Raises:
        InvalidRequestError: An unknown argument or a value that cannot be meant.
    """
    read.check_names(given, tuple(ListOptions.__annotations__), tolerate=False)
    return ListRequest(
        status=read.one_of(given.get("status", "active"), "status", STATUSES),
        limit=read.whole_number(given.get("limit", 50), "limit", 1, MAX_PAGE),
        cursor=read.name(given, "cursor"),
        offset=_offset(given, MAX_LIST_OFFSET),
        **_conditions(given),
    )


def parse_slots(value: object) -> dict[str, str]:
    """Read one slot or a sequence of slots: each as it is given, and as it is stored.

    Raises:
        InvalidRequestError: One is blank or no text.
        TooLargeError: There are more than `MAX_SLOTS`.
    """
    items = [value] if isinstance(value, str) else value
    if isinstance(items, bytes) or not isinstance(items, Sequence):
        message = f"slots={shown(value)} is neither a slot nor a list of slots."
        raise InvalidRequestError(message, field="slots")
    if len(items) > MAX_SLOTS:
        message = f"slots has {len(items)} entries, more than the {MAX_SLOTS} allowed."
        raise TooLargeError(message, field="slots")
    return {item: _slot(item) for item in items}


def _slot(item: object) -> str:
    slot = read.text_or_none(item, "slots")
    if slot is None:
        message = "A slot that is blank holds nothing: name the slot."
        raise InvalidRequestError(message, field="slots")
    return slot


def _query(given: object) -> str:
    if not isinstance(given, str):
        message = f"query={given!r} is not a text. Pass the question in plain words."
        raise InvalidQueryError(message, field="query")
    if len(given) > MAX_QUERY_BYTES:
        message = f"The query has {len(given)} characters, more than the {MAX_QUERY_BYTES} allowed."
        raise TooLargeError(message, field="query")
    return given


def _limit(given: Mapping[str, Any], name: str, most: int) -> int | None:
    value = given.get(name)
    return None if value is None else read.whole_number(value, name, 1, most)


def _offset(given: Mapping[str, Any], most: int) -> int:
    return read.whole_number(given.get("offset", 0), "offset", 0, most)


def _conditions(given: Mapping[str, Any]) -> dict[str, Any]:
    since, until = read.time(given, "since"), read.time(given, "until")
    if since and until and until <= since:
        message = f"until={until.isoformat()} is not after since={since.isoformat()}."
        raise InvalidRequestError(message, field="until")
    as_of, known_at = read.moments(given.get("as_of"), given.get("known_at"))
    return {
        "scope": parse_scope(read.name(given, "scope")),
        **{name: read.text_list(given.get(name), name) for name in _TAGS},
        "session": read.name(given, "session"),
        "filter": _filter(given.get("filter")),
        "relation": _relation(read.name(given, "relation")),
        "since": since,
        "until": until,
        "include_children": read.truth(given.get("include_children", False), "include_children"),
        "as_of": as_of,
        "known_at": known_at,
    }


def _filter(given: object) -> dict[str, Any]:
    if isinstance(given, Mapping) and len(given) > MAX_FILTERS:
        message = f"filter has {len(given)} keys, more than the {MAX_FILTERS} allowed."
        raise TooLargeError(message, field="filter")
    wanted = read.json_object(given, "filter")
    check_filter(wanted)
    return wanted


def _relation(kind: str | None) -> str | None:
    return kind if kind is None or kind in RESERVED else parse_relation(kind)
