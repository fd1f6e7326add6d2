"""A writer that is killed: `victim.py PATH LABEL`; a line is printed once a call has returned."""

from __future__ import annotations

import itertools
import json
import sys

import evomem

REMEMBER, SUPERSEDE, FORGET = "remember", "supersede", "forget"


def write_for_ever(memory: evomem.Memory, label: str) -> None:
    """Start a note, replace it twice, forget the newest version, and start again."""
    last = ""
    for n in itertools.count():
        text = f"{label} note {n} about item{label}x{n}"
        match n % 4:
            case 0:
                last = memory.remember(text).node.id
                told = {"did": REMEMBER, "id": last, "text": text}
            case 3:
                memory.forget(last)
                told = {"did": FORGET, "id": last}
            case _:
                old, last = last, memory.remember(text, supersedes=last).node.id
                told = {"did": SUPERSEDE, "id": last, "text": text, "old": old}
        print(json.dumps(told), flush=True)


def main(path: str, label: str) -> None:
    """Wait for a line before the store is opened: some are killed while they open it."""
    print("ready", flush=True)
    sys.stdin.readline()
    with evomem.open(path, linking="off") as memory:
        write_for_ever(memory, label)


if __name__ == "__main__":
    main(*sys.argv[1:])
