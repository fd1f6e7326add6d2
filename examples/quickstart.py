# ruff: noqa: T201  printing is what an example does
"""A decision and its replacement, in a temporary file.

Prints:

    We moved the ledger to SQLite.
    matched: We picked Postgres for the ledger.
    v2 active     We moved the ledger to SQLite.
    v1 superseded We picked Postgres for the ledger.
"""

import tempfile
from pathlib import Path

import evomem


def main() -> None:
    """Remember two notes, ask with the words of the old one, tell the story."""
    with (
        tempfile.TemporaryDirectory() as folder,
        evomem.open(Path(folder) / "memory.db") as memory,
    ):
        old = memory.remember("We picked Postgres for the ledger.")
        memory.remember("We moved the ledger to SQLite.", supersedes=old.node.id)

        hit = memory.recall("postgres").hits[0]
        print(hit.node.text)
        print("matched:", memory.get_node(hit.matched.node_id).text)
        for node in memory.history(old.node.id):
            print(f"v{node.version} {node.status:<10} {node.text}")


if __name__ == "__main__":
    main()
