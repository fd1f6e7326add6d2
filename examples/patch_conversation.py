# ruff: noqa: T201  printing is what an example does
"""A conversation over MCP: evidence, operations on it, a conflict, and an administrator's undo.

A client talks to `evomem-mcp --toolset patch` in a process of its own, on a temporary file. With
`--full` every request and answer is printed as Markdown: docs/mcp-patches.md shows that.

Prints:

    memory_record_event: role user
    memory_apply: ADD, version 1
    memory_search: active, version 1: The ledger lives in Postgres.
    memory_read: active, version 1: The ledger lives in Postgres.
    memory_record_event: role user
    memory_apply: SUPERSEDE, version 2
    memory_apply: refused: VERSION_CONFLICT
    memory_record_event: role assistant
    memory_apply: refused: EVIDENCE_ROLE
    memory_history: version 1 ADD superseded, version 2 SUPERSEDE active
    memory_patch_read: by ana via mcp, 1 event cited
    evomem patch rollback: RESTORE, version 3
    memory_read: active, version 3: The ledger lives in Postgres.
    memory_patch_read: rolled back
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio

from mcp import Client, StdioServerParameters

WIDTH = 88


class Transcript:
    """Prints a conversation: a line for each step, or all of it."""

    def __init__(self, *, full: bool) -> None:
        self._full = full

    def say(self, words: str) -> None:
        """Print what happens next."""
        if self._full:
            print(f"{words}\n")

    def show(self, name: str, request: str, text: str, answer: dict[str, Any]) -> None:
        """Print a step."""
        if not self._full:
            print(f"{name}: {summary(answer)}")
            return
        print(f"{request}\n")
        if text:
            print(f"```text\n{text}\n```\n")
        print(f"```json\n{pretty(answer)}\n```\n")


def summary(answer: dict[str, Any]) -> str:
    """Return an answer in a few words, without what differs from run to run."""
    match answer:
        case {"error": error}:
            return f"refused: {error['code']}"
        case {"hits": [{"node": node}, *_]}:
            return f"{node['status']}, version {node['memory_version']}: {node['text']}"
        case {"node": node, "version": version}:
            return f"{node['status']}, version {version}: {node['text']}"
        case {"versions": versions}:
            return ", ".join(f"version {v['version']} {v['op']} {v['status']}" for v in versions)
        case {"rolled_back_by": str()}:
            return "rolled back"
        case {"rolled_back_by": None}:
            count = len(answer["evidence"])
            return f"by {answer['actor']} via {answer['source']}, {count} event cited"
        case {"operations": [step]}:
            return f"{step['op']}, version {step['version']}"
        case _:
            return f"role {answer['role']}"


def pretty(value: Any, indent: str = "") -> str:  # noqa: ANN401  a JSON value
    """Return JSON in which what is short stands in one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(indent) + len(line) <= WIDTH:
        return line
    inner = indent + "  "
    if isinstance(value, list):
        items = [inner + pretty(item, inner) for item in value]
        return "[\n{}\n{}]".format(",\n".join(items), indent)
    items = [f"{inner}{json.dumps(key)}: {pretty(item, inner)}" for key, item in value.items()]
    return "{{\n{}\n{}}}".format(",\n".join(items), indent)


class Conversation:
    """An agent and a server, one part of the story after the other."""

    def __init__(self, client: Client, db: Path, transcript: Transcript) -> None:
        self._client = client
        self._db = db
        self._transcript = transcript

    async def play(self) -> None:
        """Play all of it."""
        said, memory_id = await self.decide()
        version = await self.look(memory_id)
        change, patch_id = await self.change(memory_id, version)
        await self.refuse(change, said)
        await self.tell(memory_id, patch_id)
        self.undo(patch_id)
        self._say("The agent reads again. The old words are back, as a new version:")
        await self._call("memory_read", memory_id=memory_id)
        self._say("and the patch says by which other patch it was undone:")
        await self._call("memory_patch_read", patch_id=patch_id)

    async def decide(self) -> tuple[str, str]:
        """Record what the user says, and add what follows from it."""
        self._say("## A decision\n\nThe user decides something. First, what was said:")
        event = {
            "role": "user",
            "content": "Let's put the ledger in Postgres, the team knows it.",
            "external_id": "msg-1",
            "session": "planning",
        }
        said = await self._call("memory_record_event", event=event)
        self._say("Then what follows from it, citing that event:")
        operation = {
            "op": "ADD",
            "subject": "ledger database",
            "content": "The ledger lives in Postgres.",
        }
        added = await self._apply(operation, said["id"], "The user decided it.")
        return said["id"], added["operations"][0]["memory_id"]

    async def look(self, memory_id: str) -> int:
        """Search and read, as a later session does."""
        self._say("## The next session\n\nIt looks before it acts:")
        await self._call("memory_search", request={"query": "where does the ledger live?", "k": 3})
        self._say("and reads the memory that it may have to change:")
        read = await self._call("memory_read", memory_id=memory_id)
        return int(read["version"])

    async def change(self, memory_id: str, version: int) -> tuple[dict[str, Any], str]:
        """Replace the decision, at the version that was read."""
        self._say("## A change\n\nThe user has changed their mind:")
        event = {"role": "user", "content": "Move the ledger to SQLite: one machine is enough."}
        said = await self._call("memory_record_event", event=event)
        self._say("`expected_version` is the `version` that was read:")
        change = {
            "op": "SUPERSEDE",
            "memory_id": memory_id,
            "expected_version": version,
            "new_content": "The ledger lives in SQLite, as one machine is enough.",
        }
        replaced = await self._apply(change, said["id"], "The user changed their mind.")
        return change, replaced["patch_id"]

    async def refuse(self, change: dict[str, Any], said: str) -> None:
        """Come too late, and with one's own words as evidence."""
        self._say("## Two refusals\n\nAnother agent has read version 1 too, and comes late:")
        late = {**change, "new_content": "The ledger lives in MySQL."}
        await self._apply(late, said, "It scales.")
        self._say("A model cannot prove anything by saying it itself:")
        event = {"role": "assistant", "content": "I think MySQL would be better."}
        own = await self._call("memory_record_event", event=event)
        await self._apply({**late, "expected_version": 2}, own["id"], "It scales.")

    async def tell(self, memory_id: str, patch_id: str) -> None:
        """Ask what happened."""
        self._say("Neither wrote anything. What happened so far, the oldest first:")
        await self._call("memory_history", memory_id=memory_id)
        self._say("The patch that made the change, as the audit keeps it:")
        await self._call("memory_patch_read", patch_id=patch_id)

    def undo(self, patch_id: str) -> None:
        """Roll a patch back, as an administrator in another process."""
        self._say(
            "## An administrator undoes it\n\nNo tool does that: it takes the command line or "
            "Python. The server keeps running meanwhile."
        )
        words = ["patch", "rollback", patch_id, "--yes", "--actor", "admin"]
        command = [sys.executable, "-m", "evomem", "--db", str(self._db), "--json", *words]
        done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")  # noqa: S603
        shown = f"```console\n$ evomem --db memory.db --json {' '.join(words)}\n```\n\nprints"
        self._transcript.show("evomem patch rollback", shown, "", json.loads(done.stdout))

    def _say(self, words: str) -> None:
        self._transcript.say(words)

    async def _apply(self, operation: dict[str, Any], evidence: str, reason: str) -> dict[str, Any]:
        request = {"operations": [operation], "evidence": [evidence], "reason": reason}
        return await self._call("memory_apply", request={**request, "actor": "ana"})

    async def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(tool, arguments)
        answer: dict[str, Any] = result.structured_content or {}
        request = f"`{tool}` with\n\n```json\n{pretty(arguments)}\n```\n\nanswers"
        self._transcript.show(tool, request, result.content[0].text, answer)
        return answer


async def converse(db: Path, transcript: Transcript) -> None:
    """Start a server and play the conversation with it."""
    words = ["-m", "evomem_mcp", "--db", str(db), "--toolset", "patch"]
    async with Client(StdioServerParameters(command=sys.executable, args=words)) as client:
        await Conversation(client, db, transcript).play()


def main() -> None:
    """Play the conversation on a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        transcript = Transcript(full="--full" in sys.argv[1:])
        anyio.run(converse, Path(folder) / "memory.db", transcript)


if __name__ == "__main__":
    main()
