"""Parameters of the patch toolset, named and defaulted as in the memory's requests."""

from __future__ import annotations

from evomem_mcp.kinds import FLAG, OBJECT, TEXT, TEXTS, TIME, choice
from evomem_mcp.note_parameters import (
    AS_OF,
    KNOWN_AT,
    QUERY,
    SCOPE,
    SESSION,
    SINCE,
    TAGS,
    TAGS_ANY,
    TAGS_NONE,
    UNTIL,
    K,
)
from evomem_mcp.operations import OPERATIONS
from evomem_mcp.parameters import Parameter

_OTHER_WORDS = ("input", "body", "payload")

EVENT_FIELDS = (
    Parameter(
        "role",
        choice("user", "assistant", "tool", "system", "document"),
        "Who said it.",
        required=True,
        aliases=("speaker", "author", "sender"),
    ),
    Parameter(
        "content",
        TEXT,
        "What was said, word for word; stored as received, up to 1 MiB.",
        required=True,
        aliases=("text", "message", "raw_text"),
    ),
    Parameter("external_id", TEXT, "Its id where it comes from; a repeat returns the first."),
    Parameter("session", TEXT, "Name of the conversation."),
    Parameter("occurred_at", TIME, "ISO 8601 time at which it was said, if not now."),
    Parameter("actor", TEXT, "Who records it."),
)
EVENT = Parameter(
    "event",
    OBJECT,
    "What was said, and by whom.",
    required=True,
    aliases=_OTHER_WORDS,
    fields=EVENT_FIELDS,
)

APPLY_FIELDS = (
    Parameter(
        "operations",
        OPERATIONS,
        "What to do, in order; all of it is done or none.",
        required=True,
        aliases=("ops", "changes", "patch"),
    ),
    Parameter(
        "evidence",
        TEXTS,
        "Ids of the events that it rests on, as memory_record_event returned them.",
        aliases=("events", "event_ids", "event_id"),
    ),
    Parameter("reason", TEXT, "Why, in a sentence."),
    Parameter("idempotency_key", TEXT, "Any text; a repeat of the same call returns the first."),
    Parameter("actor", TEXT, "Who decided or writes."),
)
APPLY = Parameter(
    "request",
    OBJECT,
    "Operations, and the evidence for them.",
    required=True,
    aliases=_OTHER_WORDS,
    fields=APPLY_FIELDS,
)

SEARCH_FIELDS = (
    QUERY,
    K,
    SCOPE,
    TAGS,
    TAGS_ANY,
    TAGS_NONE,
    SESSION,
    SINCE,
    UNTIL,
    Parameter("include_removed", FLAG, "Also answer with what was removed.", default=False),
    AS_OF,
    KNOWN_AT,
)
SEARCH = Parameter(
    "request",
    OBJECT,
    "What to search for.",
    required=True,
    aliases=_OTHER_WORDS,
    fields=SEARCH_FIELDS,
)

MEMORY_ID = Parameter(
    "memory_id",
    TEXT,
    "Id of a memory, as memory_search or memory_apply showed it.",
    required=True,
    aliases=("id", "memory", "node_id"),
)
READ = (
    MEMORY_ID,
    Parameter(
        "include_history",
        FLAG,
        "Tell every version of it, the oldest first.",
        default=False,
        aliases=("history",),
    ),
    AS_OF,
    KNOWN_AT,
)
PATCH_ID = Parameter(
    "patch_id",
    TEXT,
    "Id of a patch, as memory_apply or memory_history showed it.",
    required=True,
    aliases=("id", "patch"),
)
