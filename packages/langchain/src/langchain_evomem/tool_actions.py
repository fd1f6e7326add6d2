"""What each tool does, and how a model is told when to call it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig

import evomem
from langchain_evomem.namespaces import thread_of
from langchain_evomem.tool_arguments import (
    Arguments,
    LinkArguments,
    NodeArguments,
    RecallArguments,
    RememberArguments,
)

_LETTERS_A_TOKEN = 4
_MOST_VERSIONS = 50


class Answer(NamedTuple):
    """What a tool found: the text a model reads, and fields for programs."""

    text: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool.

    Attributes:
        id: Of the tool call; None if the tool is called without one.
        config: Of the run.
        k: Answers of a recall that does not say how many.
        max_chars: Bound of the text.
    """

    id: str | None
    config: RunnableConfig
    k: int
    max_chars: int

    @property
    def session(self) -> str | None:
        """The thread of the run."""
        return thread_of(self.config)

    def key(self, arguments: Mapping[str, Any]) -> str | None:
        """Return what tells a repeat of this call from another one.

        Ids alone do not: some models number the calls of a conversation, or of an answer, anew.
        The namespace of the checkpoint stays the same when LangGraph runs a step again.
        """
        if not self.id:
            return None
        run = self.config.get("configurable", {})
        parts = [self.session, run.get("checkpoint_ns"), self.id, arguments]
        whole = json.dumps(parts, sort_keys=True, default=str)
        return f"langchain:{hashlib.sha256(whole.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Action:
    """A tool before it is bound to a memory: what models are told, its arguments, what it does."""

    description: str
    arguments: type[Arguments]
    do: Callable[[evomem.Memory, dict[str, Any], Call], Answer]


# The beginning of a line that a recall answers with.
_RECALLED = re.compile(r"\[status: \w+[^|\]\n]* \| n[a-z0-9]{11} \|")


def _remember(memory: evomem.Memory, given: dict[str, Any], call: Call) -> Answer:
    if _RECALLED.search(given["text"]):
        message = (
            "text is what this memory answered before: it is stored already. To store something new "
            "write it as a statement of its own."
        )
        raise evomem.InvalidRequestError(message, field="text")
    result = memory.remember(
        **given, session=call.session, idempotency_key=call.key(given), source="langchain"
    )
    return Answer(result.to_text(), result.to_dict())


def _recall(memory: evomem.Memory, given: dict[str, Any], call: Call) -> Answer:
    room = max(1, call.max_chars // _LETTERS_A_TOKEN)
    result = memory.recall(**{"k": call.k, "max_tokens": room, **given})
    return Answer(result.to_text(), result.to_dict())


def _history(memory: evomem.Memory, given: dict[str, Any], _: Call) -> Answer:
    story = memory.history(**given)
    nodes, left = story[:_MOST_VERSIONS], len(story) - _MOST_VERSIONS
    more = [f"The newest {_MOST_VERSIONS} follow; {left} older ones are left out."] * (left > 0)
    hits = [evomem.Hit(node, None, evomem.Matched(node.id, node.version, "id")) for node in nodes]
    text = evomem.RecallResult(tuple(hits)).to_text()
    # Above the text, of which the end may be cut.
    return Answer(
        "\n".join([*more, text]), {"nodes": [node.to_dict() for node in nodes], "warnings": more}
    )


def _link(memory: evomem.Memory, given: dict[str, Any], _: Call) -> Answer:
    result = memory.link(**given, source="langchain")
    return Answer(result.to_text(), result.to_dict())


def _forget(memory: evomem.Memory, given: dict[str, Any], _: Call) -> Answer:
    result = memory.forget(**given, source="langchain")
    return Answer(result.to_text(), result.to_dict())


ACTIONS: Mapping[str, Action] = {
    "remember": Action(
        "Store a decision, finding or preference so that later conversations can rely on it. Use "
        "it when something was decided, learnt or changed: one statement a note, with the reason. "
        "When it changes an earlier note, pass that note's id in supersedes: the older one stays "
        "in the history, out of force. Not for secrets, nor for small talk. If the answer names "
        "notes it may replace, confirm with link or leave them.",
        RememberArguments,
        _remember,
    ),
    "recall": Action(
        "Find what is in force about a question, whatever version of a note matches it. Use it "
        "before you decide, act or answer on anything that may have been decided or said before. "
        "Each answer carries a marker: rely on status active only, and on what stands beside it "
        "(not in this scope, in part); lines after 'replaced:' are obsolete and there for the "
        "story.",
        RecallArguments,
        _recall,
    ),
    "history": Action(
        "Tell the story a note belongs to, newest first: what holds, what it replaced, and why. "
        "Use it to explain how a decision came about or whether something was tried before. Not "
        "for searching: use recall.",
        NodeArguments,
        _history,
    ),
    "link": Action(
        "State after the fact that a note replaces older ones, which then count as superseded; "
        "texts stay as they are. Use it to confirm a candidate that remember named, or when two "
        "active notes contradict each other. Not for a new decision: use remember with supersedes.",
        LinkArguments,
        _link,
    ),
    "forget": Action(
        "Take a note out of recall; its history is kept. Use it for notes that are wrong or "
        "unwanted. Not when a decision changed: use remember with supersedes.",
        NodeArguments,
        _forget,
    ),
}
