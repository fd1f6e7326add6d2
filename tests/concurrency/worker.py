"""What the processes of these tests do: `worker.py PATH MEET ACTION`, with calls as a line of JSON.

A worker prints `ready` at its meeting point and waits for a line, so that several go on together:
MEET is `start` (before the store is opened), `open` (after), or `commit` (before its first commit,
when all of them have planned their writes on the same state).
"""

import json
import os
import signal
import sys
import time

import evomem
from evomem.engines.sqlite.writer import PatchWriter

NOBODY = 65534
FILE_LIMIT = 2_000_000


def say(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def meet():
    say("ready")
    sys.stdin.readline()


def meet_before_the_first_commit(engine):
    commit = engine.commit

    def commit_together(patch):
        engine.commit = commit
        meet()
        return commit(patch)

    engine.commit = commit_together


def stop_inside_the_first_commit():
    """Stop with everything written but not committed; whoever sends SIGCONT lets it go on."""
    write = PatchWriter.write

    def write_and_stop(self, *given):
        receipt = write(self, *given)
        PatchWriter.write = write  # type: ignore[method-assign]
        os.kill(os.getpid(), signal.SIGSTOP)
        return receipt

    PatchWriter.write = write_and_stop  # type: ignore[method-assign]


def brief(result):
    """Return what the tests look at; whole results of many writes would fill the pipe."""
    if isinstance(result, evomem.RememberResult):
        told = result.to_dict()
        kept = ("moved", "deduplicated", "replayed", "patch_id")
        node = {"id": result.node.id, "version": result.node.version, "text": result.node.text}
        return node | {name: told[name] for name in kept}
    if isinstance(result, evomem.RecallResult):
        return {"ids": [hit.node.id for hit in result.hits]}
    return {"ids": [node.id for node in result]}


def outcome(memory, call):
    """Make one call and tell what came of it, and when."""
    name, arguments = call
    began = time.monotonic()
    try:
        told = brief(getattr(memory, name)(**arguments))
    except evomem.EvoMemError as error:
        told = error.to_dict()
    return {**told, "began": began, "ended": time.monotonic()}


def do(memory, calls):
    """Make the calls one after the other, and tell each as soon as it returns."""
    for call in calls:
        say(json.dumps(outcome(memory, call)))


def do_then_wait(memory, calls):
    """Make the calls, then each further one that comes in, until there are no more."""
    do(memory, calls)
    for line in sys.stdin:
        do(memory, json.loads(line))


def do_and_stop_inside(memory, calls):
    stop_inside_the_first_commit()
    do(memory, calls)


def do_in_little_space(memory, calls):
    """Make the calls while no file may grow beyond a limit; then wait for more without it."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, most))
    do(memory, calls)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    do_then_wait(memory, [])


def do_as_nobody(memory, calls):
    """Make the calls without the rights of root, whom no permission binds."""
    do_then_wait(memory, calls)


def become_nobody():
    if os.geteuid() == 0:
        # Nobody may not read the modules that are loaded on first use.
        with evomem.open(":memory:", linking="off") as warm:
            warm.remember("warm")
            warm.recall("warm")
        os.seteuid(NOBODY)


def main(path, point, action):
    calls = json.loads(sys.stdin.readline())
    if action == "do_as_nobody":
        become_nobody()
    if point == "start":
        meet()
    with evomem.open(path, linking="off") as memory:
        if point == "open":
            meet()
        if point == "commit":
            meet_before_the_first_commit(memory._context.engine)
        globals()[action](memory, calls)


if __name__ == "__main__":
    main(*sys.argv[1:])
