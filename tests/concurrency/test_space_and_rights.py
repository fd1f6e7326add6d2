"""A disk that fills up, and permissions that change, while a process has the store open."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest
from tests.concurrency.processes import (
    assert_sound,
    hear,
    ids_in_order,
    remembers,
    send,
    workers,
)
from tests.concurrency.worker import NOBODY
from tests.engine_sqlite.processes import let_go

import evomem

pytestmark = [pytest.mark.subprocess, pytest.mark.skipif(os.name == "nt", reason="POSIX only")]

LONG = "words that take space " * 100


def write_until_refused(process, count):
    """Return the ids of what was acknowledged, and the refusals."""
    told = [hear(process) for _ in range(count)]
    return [note["id"] for note in told if "id" in note], [n for n in told if "code" in n]


def assert_kept(path, made):
    with evomem.open(path, linking="off") as memory:
        assert ids_in_order(memory) == made
    assert_sound(path)


@pytest.mark.promise("write.atomic", "write.durable")
def test_a_file_that_may_grow_no_more_costs_only_what_was_refused(path):
    calls = [remembers(f"note {n}: {LONG}") for n in range(150)]
    with workers(path, calls, action="do_in_little_space") as (process,):
        let_go([process])
        made, refused = write_until_refused(process, len(calls))
        assert len(made) > 5
        assert {error["code"] for error in refused} == {"ENGINE"}
        assert all(str(path) in error["message"] for error in refused)
        send(process, [("recall", {"query": "note 3", "k": 100}), remembers("There is space.")])
        assert made[3] in hear(process)["ids"]
        made.append(hear(process)["id"])
    assert_kept(path, made)


@contextmanager
def small_disk(folder, size):
    """Mount a file system of a few kilobytes, where that is allowed."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None or os.geteuid() != 0:
        pytest.skip("only root may mount")
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run([mount, *options], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        subprocess.run([umount, "-l", str(folder)], check=True)


@pytest.mark.promise("write.atomic", "write.durable")
def test_a_disk_that_is_full_costs_only_what_was_refused(tmp_path):
    folder = tmp_path / "disk"
    with small_disk(folder, 2_000_000):
        path, ballast = folder / "store.db", folder / "ballast"
        ballast.write_bytes(bytes(1_000_000))
        calls = [remembers(f"note {n}: {LONG}") for n in range(150)]
        with workers(path, calls, action="do_then_wait") as (process,):
            let_go([process])
            made, refused = write_until_refused(process, len(calls))
            assert len(made) > 5
            assert {error["code"] for error in refused} == {"ENGINE"}
            assert all("full" in error["message"] for error in refused)
            send(process, [("recall", {"query": "note 3", "k": 100})])
            assert made[3] in hear(process)["ids"]
            ballast.unlink()
            send(process, [remembers("There is space.")])
            made.append(hear(process)["id"])
        assert_kept(path, made)


@pytest.mark.promise("write.durable")
@pytest.mark.parametrize("closed", ["file", "folder", "both"])
def test_rights_withdrawn_while_the_store_is_open_cost_nothing_acknowledged(tmp_path, closed):
    """DUR-103, for a process that is at it already."""
    folder = tmp_path / "own"
    folder.mkdir(mode=0o755)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent.name.startswith(("pytest-", "popen-")):
            parent.chmod(0o755)
    tmp_path.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    path = folder / "store.db"
    with workers(path, [remembers("before")], action="do_as_nobody") as (process,):
        let_go([process])
        made = [hear(process)["id"]]
        if closed != "folder":
            path.chmod(0o444)
        if closed != "file":
            folder.chmod(0o555)
        send(process, [("recall", {"query": "before"}), remembers("during")])
        assert hear(process)["ids"] == made
        during = hear(process)
        if "id" in during:
            made.append(during["id"])
        else:
            assert during["code"] in {"READ_ONLY", "ENGINE"}
            assert str(path) in during["message"]
        folder.chmod(0o755)
        path.chmod(0o644)
        send(process, [remembers("after")])
        made.append(hear(process)["id"])
    assert_kept(path, made)
