"""What the processes of these tests do: `worker.py ACTION PATH ...`.

A worker says `ready` and waits for a line, so that several start together.
"""

import contextlib
import os
import signal
import sqlite3
import sys
import threading
from pathlib import Path

import evomem
from evomem.engines.sqlite.connection import connect, retry_while_busy, switch_to_wal
from evomem.engines.sqlite.migrate import migrate
from evomem.engines.sqlite.sql import migrations


def open_memory(path):
    return evomem.open(path, linking="off")


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def meet():
    say("ready")
    sys.stdin.readline()


def write_one(path, text):
    meet()
    with open_memory(path) as memory:
        say(memory.remember(text).node.id)


def add_migration(path, script):
    meet()
    with contextlib.closing(connect(Path(path))) as connection:
        switch_to_wal(connection)
        retry_while_busy(lambda: say(migrate(connection, [*migrations(), script])))


def write_and_die(path, count):
    memory = open_memory(path)
    for n in range(int(count)):
        say(memory.remember(f"acknowledged note number {n}").node.id)
    os.kill(os.getpid(), signal.SIGKILL)


def write_for_ever(path, label):
    memory = open_memory(path)
    meet()
    last: list[str] = []
    for n in range(1_000_000):
        last = [memory.remember(f"{label} note {n}", supersedes=last).node.id]
        say(last[0])


def fork_and_share(path, parent_closes):
    """Both sides write in turn; the child goes on after the parent has closed its handle."""
    memory = open_memory(path)
    memory.remember("before the fork")
    memory.recall("fork")
    (to_child, child_in), (to_parent, parent_in) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        say(memory.remember("first of the child").node.id)
        os.write(parent_in, b".")
        os.read(to_child, 1)
        say(memory.remember("second of the child").node.id)
        say(len(memory.recall("child").hits))
        os._exit(0)
    os.read(to_parent, 1)
    say(memory.remember("one of the parent").node.id)
    if parent_closes == "close":
        memory.close()
    os.write(child_in, b".")
    _, status = os.waitpid(child, 0)
    memory.close()
    sys.exit(status and "the child failed")


def fork_while_writing(path):
    """Fork while threads write, as a web server may; a child that hangs is ended."""
    memory = open_memory(path)
    memory.remember("before the fork")
    done = threading.Event()
    made: list[str] = []

    def work(n):
        while not done.is_set():
            made.append(memory.remember(f"thread {n} note {len(made)}").node.id)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    failed = 0
    for n in range(3):
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            say(memory.remember(f"child {n}").node.id)
            os._exit(0)
        failed += os.waitpid(child, 0)[1] != 0
    done.set()
    for thread in threads:
        thread.join()
    for node_id in made:
        say(node_id)
    memory.close()
    sys.exit(f"{failed} children failed" if failed else 0)


def read_what_was_cut_short(path):
    """Read a store that another program truncates meanwhile."""
    memory = open_memory(path)
    for n in range(100):
        memory.remember(f"note {n} of the zebra " * 20)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    memory.recall("zebra")
    os.truncate(path, 8192)
    for use in (lambda: memory.recall("zebra", k=100), lambda: memory.list(limit=1000)):
        try:
            use()
            say("answered")
        except evomem.EvoMemError as error:
            say(error.code)
    os._exit(0)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
