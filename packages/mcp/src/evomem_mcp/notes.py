"""The notes toolset: seven tools on one memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import evomem
from evomem_mcp import wording
from evomem_mcp.envelope import Answer
from evomem_mcp.limits import LEAST_TEXT_CHARS, cut_node, cut_text, drop_nodes, fit, recalled
from evomem_mcp.note_parameters import AS_OF, KNOWN_AT, LINK, NODE_ID, PURGE, RECALL, REMEMBER
from evomem_mcp.schemas import WARNINGS, list_schema, output_schema
from evomem_mcp.tool import READS, Session, ToolSpec, writes


def _remember(session: Session, arguments: dict[str, Any]) -> Answer:
    text = arguments.pop("raw_text")
    try:
        result = session.memory.remember(text, source="mcp", **arguments)
    except evomem.TooLargeError as error:
        raise _of_raw_text(error) from error

    def render(limit: int) -> Answer:
        shown = replace(
            result,
            node=cut_node(result.node, limit),
            candidates=tuple(
                replace(old, text=cut_text(old.text, limit, f"get_node({old.node_id!r})"))
                for old in result.candidates
            ),
        )
        return Answer(shown.to_dict(), shown.to_text())

    return fit(render, session.max_chars)


def _of_raw_text(error: evomem.TooLargeError) -> evomem.TooLargeError:
    """Name the argument as the tool does."""
    if error.details.get("field") != "text":
        return error
    message = f"raw_{error.message}"
    return evomem.TooLargeError(message, **{**error.details, "field": "raw_text"})


def _recall(session: Session, arguments: dict[str, Any]) -> Answer:
    result = session.memory.recall(arguments.pop("query"), **arguments)
    return recalled(result, session.max_chars, evomem.RecallResult.to_text)


def _get_node(session: Session, arguments: dict[str, Any]) -> Answer:
    node = session.memory.get_node(**arguments)
    return Answer(_plain([node])[0], wording.node(node))


def _history(session: Session, arguments: dict[str, Any]) -> Answer:
    story = session.memory.history(**arguments)

    def cut(limit: int) -> list[evomem.MemoryNode]:
        return [cut_node(node, limit) for node in story]

    def render(nodes: Sequence[evomem.MemoryNode], warnings: Sequence[str] = ()) -> Answer:
        text = "\n".join([wording.nodes(nodes), *warnings])
        return Answer({"nodes": _plain(nodes), "warnings": [*warnings]}, text)

    answer = fit(lambda limit: render(cut(limit)), session.max_chars, nodes=len(story))
    if answer.size <= session.max_chars:
        return answer
    return render(*drop_nodes(cut(LEAST_TEXT_CHARS), session.max_chars))


def _link(session: Session, arguments: dict[str, Any]) -> Answer:
    result = session.memory.link(**arguments, source="mcp")

    def render(limit: int) -> Answer:
        shown = replace(result, node=cut_node(result.node, limit))
        return Answer(shown.to_dict(), shown.to_text())

    return fit(render, session.max_chars)


def _forget(session: Session, arguments: dict[str, Any]) -> Answer:
    result = session.memory.forget(**arguments, source="mcp")
    return Answer(result.to_dict(), result.to_text())


def _stats(session: Session, _: dict[str, Any]) -> Answer:
    stats = session.memory.stats()
    namespace = session.memory.namespace
    fields = {**stats.to_dict(), "namespace": list(namespace)}
    return Answer(fields, wording.counted(stats, namespace))


def _plain(nodes: Iterable[evomem.MemoryNode]) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = evomem.Page(tuple(nodes)).to_dict()["nodes"]
    return plain


NOTES = (
    ToolSpec(
        name="remember",
        title="Remember",
        description=(
            "Store a decision, finding or preference so that later sessions can rely on it. "
            "Writes one immutable note; with supersedes it takes older notes out of force, which "
            "stay in the history marked superseded. Use it when something was decided, learnt or "
            "changed: one statement a note, with the reason. When it changes an earlier note, "
            "pass that note's id in supersedes. Not for secrets, nor for what the repository or "
            "the conversation already holds. If the answer names notes it may replace, confirm "
            "with link or leave them."
        ),
        parameters=REMEMBER,
        output=output_schema(evomem.RememberResult),
        annotations=writes(destructive=False, idempotent=False),
        handle=_remember,
    ),
    ToolSpec(
        name="recall",
        title="Recall",
        description=(
            "Find what is in force about a question, whatever version of a note matches it. "
            "Reads only. Use it before you decide, act or answer on anything that may have been "
            "decided before. Each answer carries a marker: rely on status active, and on "
            "what stands beside it (not in this scope, in part); lines "
            "after 'replaced:' are obsolete and there for the story. Not for one known id (use "
            "get_node) nor for the full story of a note (use history)."
        ),
        parameters=RECALL,
        output=output_schema(evomem.RecallResult),
        annotations=READS,
        handle=_recall,
    ),
    ToolSpec(
        name="get_node",
        title="Get a node",
        description=(
            "Return one note whole, with its status and links. Reads only. Use it to read on "
            "where a text was cut, or to look an id up. Not for searching: use recall."
        ),
        parameters=[NODE_ID, AS_OF, KNOWN_AT],
        output=output_schema(evomem.MemoryNode, warnings=WARNINGS),
        annotations=READS,
        handle=_get_node,
    ),
    ToolSpec(
        name="history",
        title="History",
        description=(
            "Tell the story a note belongs to, newest first: what holds, what it replaced, and "
            "why. Reads only. Use it to explain how a decision came about or whether something "
            "was tried before. Not for searching: use recall."
        ),
        parameters=[NODE_ID, AS_OF, KNOWN_AT],
        output=list_schema("nodes", evomem.MemoryNode),
        annotations=READS,
        handle=_history,
    ),
    ToolSpec(
        name="link",
        title="Link",
        description=(
            "State after the fact that a note replaces older ones, which then count as "
            "superseded; texts stay as they are, and a person can undo the link "
            "(evomem unlink). Use it to confirm a "
            "candidate that remember named, or when two active notes contradict each other. Not "
            "for a new decision: use remember with supersedes."
        ),
        parameters=LINK,
        output=output_schema(evomem.LinkResult),
        annotations=writes(destructive=False, idempotent=True),
        handle=_link,
    ),
    ToolSpec(
        name="forget",
        title="Forget",
        description=(
            "Take a note out of recall; its history is kept. With purge its text is deleted from "
            "the note and the search index; the record of what was said keeps a copy, so it is no "
            "erasure of a secret. Use it for notes that are wrong or unwanted, purge only when the user asks "
            "for deletion. Not when a decision changed: use remember with supersedes."
        ),
        parameters=[NODE_ID, PURGE],
        output=output_schema(evomem.ForgetResult),
        annotations=writes(destructive=True, idempotent=True),
        handle=_forget,
    ),
    ToolSpec(
        name="stats",
        title="Statistics",
        description=(
            "Count the notes by status and name the file they lie in. Reads only. Use it to "
            "check which memory you are connected to. Not needed before recall or remember."
        ),
        parameters=[],
        output=output_schema(
            evomem.Stats,
            namespace={
                "type": "array",
                "items": {"type": "string"},
                "description": "Namespace that the server is bound to.",
            },
            warnings=WARNINGS,
        ),
        annotations=READS,
        handle=_stats,
    ),
)
