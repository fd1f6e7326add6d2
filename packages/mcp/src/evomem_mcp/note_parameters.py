"""Parameters of the notes toolset, named and defaulted as in the memory's requests."""

from __future__ import annotations

from evomem_mcp.kinds import (
    AMENDMENTS,
    FLAG,
    OBJECT,
    RELATIONS,
    STATEMENT,
    TEXT,
    TEXTS,
    TIME,
    whole,
)
from evomem_mcp.parameters import Parameter

NODE_ID = Parameter(
    "node_id",
    TEXT,
    "Id of a node, as remember or recall showed it.",
    required=True,
    aliases=("id", "node", "memory_id"),
)
PURGE = Parameter("purge", FLAG, "Delete the text of the note too.", default=False)
LINK = (
    Parameter(
        "node_id",
        TEXT,
        "Id of the node that replaces.",
        required=True,
        aliases=("id", "node", "new_id"),
    ),
    Parameter(
        "supersedes",
        TEXTS,
        "Ids of the nodes that it replaces.",
        required=True,
        aliases=("old_id", "replaces", "target"),
    ),
)

REMEMBER = (
    Parameter(
        "raw_text",
        STATEMENT,
        "The statement, in full sentences, with the reason; stored as received, up to 1 MiB.",
        required=True,
        aliases=("text", "content", "memory", "note", "message"),
    ),
    Parameter("tags", TEXTS, "Labels to filter by."),
    Parameter("session", TEXT, "Name of the conversation that it comes from."),
    Parameter("relations", RELATIONS, "Ids of other nodes by kind of relation, any kind."),
    Parameter(
        "supersedes",
        TEXTS,
        "Ids of the nodes that this one replaces wholly.",
        aliases=("replaces", "overwrites", "old_id"),
    ),
    Parameter(
        "scope", TEXT, "Where it holds, such as production or staging/eu; left out: everywhere."
    ),
    Parameter("subject", TEXT, "What it is about, in a few words."),
    Parameter(
        "slot",
        TEXT,
        "Address with one current value, such as ledger/database; replaces the value before it.",
    ),
    Parameter("refines", TEXTS, "Ids of nodes whose decision stands and is only worded anew."),
    Parameter("amends", AMENDMENTS, "Quoted parts of nodes that it replaces; the rest stands."),
    Parameter("overrides", TEXTS, "Ids of broader nodes it wins over in its own scope only."),
    Parameter(
        "expected_version",
        whole(0, 2**53),
        "Refuse unless the replaced memory is at this version; 0: unless the slot holds nothing.",
    ),
    Parameter("idempotency_key", TEXT, "Any text; a repeat of the same call returns the first."),
    Parameter("valid_from", TIME, "ISO 8601 time from which it holds; left out: now."),
    Parameter("valid_to", TIME, "ISO 8601 time until which it holds."),
    Parameter("created_at", TIME, "ISO 8601 time at which it was said, if not now."),
    Parameter("metadata", OBJECT, "Object of your own names and values, kept as it is."),
    Parameter("actor", TEXT, "Who decided or writes."),
)

QUERY = Parameter(
    "query",
    TEXT,
    "Question or key words, plain text; an empty text lists what changed last.",
    required=True,
    aliases=("q", "question", "search", "text"),
)
K = Parameter(
    "k",
    whole(1, 100),
    "How many answers at most.",
    default=5,
    aliases=("limit", "top_k", "n", "max_results"),
)
SCOPE = Parameter("scope", TEXT, "Answer with what holds there, such as production.")
TAGS = Parameter("tags", TEXTS, "Only nodes with all of these tags.")
SESSION = Parameter("session", TEXT, "Only nodes of this session.")
TAGS_ANY = Parameter("tags_any", TEXTS, "Only nodes with one of these tags at least.")
TAGS_NONE = Parameter("tags_none", TEXTS, "Only nodes with none of these tags.")
RELATION = Parameter("relation", TEXT, "Only nodes with such a relation, for example caused_by.")
SINCE = Parameter("since", TIME, "ISO 8601 time: only what was recorded then or later.")
UNTIL = Parameter("until", TIME, "ISO 8601 time: only what was recorded before.")
DEADLINE_MS = Parameter(
    "deadline_ms", whole(1, 600_000), "Answer with the best found after so many milliseconds."
)
MAX_TOKENS = Parameter(
    "max_tokens",
    whole(1, 1_000_000),
    "About how many tokens the answers may take; history goes first.",
)
EXPLAIN = Parameter("explain", FLAG, "Tell why each answer stands where it stands.", default=False)
AS_OF = Parameter("as_of", TIME, "ISO 8601 time in the world: tell what held then.")
KNOWN_AT = Parameter("known_at", TIME, "ISO 8601 time: tell what this memory knew then.")

RECALL = (
    QUERY,
    K,
    Parameter(
        "include_history",
        FLAG,
        "Tell what each answer replaced, and why.",
        default=False,
        aliases=("history",),
    ),
    Parameter(
        "history_depth",
        whole(0, 100),
        "How many earlier nodes for each answer.",
        default=5,
        aliases=("depth",),
    ),
    SCOPE,
    TAGS,
    TAGS_ANY,
    TAGS_NONE,
    SESSION,
    Parameter(
        "filter",
        OBJECT,
        'Only nodes whose metadata has these values, or compares: {"n": {"$gte": 3}}.',
    ),
    RELATION,
    SINCE,
    UNTIL,
    AS_OF,
    KNOWN_AT,
    MAX_TOKENS,
    DEADLINE_MS,
    EXPLAIN,
)
