# ruff: noqa: T201  printing is what an example does
"""A broad decision and an exception inside it, in a temporary file.

Prints:

    refused: SCOPE_MISMATCH
    staging: We deploy with Ansible.
    staging/eu: We deploy with Helm.
    staging/eu: We deploy with Ansible. (overridden here)
    production: nothing
"""

import tempfile
from pathlib import Path

import evomem


def main() -> None:
    """Let a note win inside its scope, and ask in three places."""
    with (
        tempfile.TemporaryDirectory() as folder,
        evomem.open(Path(folder) / "memory.db") as memory,
    ):
        broad = memory.remember("We deploy with Ansible.", scope="staging").node
        text, scope = "We deploy with Helm.", "staging/eu"
        try:
            memory.remember(text, scope=scope, supersedes=broad.id)
        except evomem.ScopeMismatchError as error:
            print("refused:", error.code)
        memory.remember(text, scope=scope, overrides=broad.id)

        for place in ("staging", "staging/eu", "production"):
            hits = memory.recall("how do we deploy", scope=place).hits
            for hit in hits:
                print(f"{place}: {hit.node.text}{' (overridden here)' if hit.overridden else ''}")
            if not hits:
                print(f"{place}: nothing")


if __name__ == "__main__":
    main()
