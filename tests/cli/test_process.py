"""What only a real process shows: pipes, encodings, signals, a terminal."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EVOMEM = [sys.executable, "-m", "evomem"]

pytestmark = pytest.mark.subprocess


def start(*words, env=None, **options):
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [*EVOMEM, *map(str, words)], env=os.environ | (env or {}), **pipes | options
    )


def call(*words, exit_code=0, **options):
    with start(*words, **options) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == exit_code, err
    assert b"Traceback" not in err
    return out.decode(), err.decode()


def test_the_module_runs_from_start_to_end(tmp_path):
    db = tmp_path / "store.db"
    out, err = call("--db", db, "--json", "remember", "We picked Postgres.")
    assert err == ""
    node_id = json.loads(out)["node"]["id"]
    out, _ = call("--db", db, "recall", "postgres")
    assert node_id in out
    assert "\x1b" not in out


def test_the_demo_runs_without_a_terminal(tmp_path):
    out, err = call("demo", env={"TMPDIR": str(tmp_path)})
    assert err == ""
    assert out.index("Postgres") < out.index("1. active") < out.index("--supersedes n")


def test_a_pipe_is_read_when_there_is_no_text(tmp_path):
    note = tmp_path / "note.txt"
    note.write_bytes("Café\r\n".encode())
    with note.open("rb") as stdin:
        out, _ = call("--db", tmp_path / "s.db", "--json", "remember", stdin=stdin)
    assert json.loads(out)["node"]["text"] == "Café\r\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_json_is_valid_and_text_is_shown_whatever_the_encoding(tmp_path, encoding):
    env = {"PYTHONIOENCODING": encoding}
    text = 'snow ☃ café 😀 "quoted" \\ \x1b'
    call("--db", tmp_path / "s.db", "remember", text, env=env)
    with start("--db", tmp_path / "s.db", "--json", "recall", "snow", env=env) as process:
        out, _ = process.communicate(timeout=60)
    assert json.loads(out.decode())["hits"][0]["node"]["text"] == text
    with start("--db", tmp_path / "s.db", "recall", "snow", env=env) as process:
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"snow" in out


@pytest.mark.parametrize("words", [["list"], ["--json", "list"], ["--help"]])
def test_a_reader_that_went_away_is_no_traceback(tmp_path, words):
    db = tmp_path / "s.db"
    call("--db", db, "remember", "A note.")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with start("--db", db, *words, stdout=writing) as process:
            _, err = process.communicate(timeout=60)
    finally:
        os.close(writing)
    assert process.returncode == 1
    assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["list"], ["--json", "list"]])
def test_a_full_disk_is_a_message(tmp_path, words):
    call("--db", tmp_path / "s.db", "remember", "A note.")
    with Path("/dev/full").open("wb") as full:
        _, err = start("--db", tmp_path / "s.db", *words, stdout=full).communicate(timeout=60)
    assert err.startswith(b"Error: No space left on device")
    assert b"Traceback" not in err


def interrupt(process):
    """Press Ctrl-C until it is heard: between two reads of one call a signal only sets a flag."""
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
            return


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
def test_an_interrupt_is_no_traceback(tmp_path):
    # A runner in the background ignores the signal, and what it starts would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = start("--db", tmp_path / "s.db", "remember", "-", stdin=subprocess.PIPE)
    signal.signal(signal.SIGINT, before)
    with process:
        # More than a pipe holds: once it is written, the command has begun to read.
        process.stdin.write(b"x" * (1 << 18))
        process.stdin.flush()
        interrupt(process)
        err = process.stderr.read()
    assert process.returncode == 130
    assert b"Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are of POSIX")
@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"y\n", 0)])
def test_purge_asks_on_a_terminal(tmp_path, answer, code):
    import pty

    db = tmp_path / "s.db"
    node_id = json.loads(call("--db", db, "--json", "remember", "A secret.")[0])["node"]["id"]
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    with start("--db", db, "--json", "forget", node_id, "--purge", stdin=theirs) as process:
        out, err = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == code
    assert b"for good?" in err
    assert json.loads(out).get("purged", False) is (code == 0)


def test_evidence_becomes_a_patch_through_pipes(tmp_path):
    db = tmp_path / "s.db"
    event = json.loads(call("--db", db, "--json", "event", "record", "user", "Use SQLite.")[0])[
        "id"
    ]
    operations = tmp_path / "operations.json"
    operations.write_text('[{"op": "ADD", "subject": "ledger", "content": "On SQLite."}]', "utf-8")
    with operations.open("rb") as stdin:
        out, err = call("--db", db, "apply", "-", "--evidence", event, "--json", stdin=stdin)
    assert err == ""
    patch_id = json.loads(out)["patch_id"]
    out, _ = call("--db", db, "patch", "show", patch_id)
    assert "+On SQLite." in out
    assert "\x1b" not in out
    _, err = call("--db", db, "patch", "rollback", patch_id, exit_code=1)
    assert "--yes" in err
    out, _ = call("--db", db, "patch", "rollback", patch_id, "--yes")
    assert "REMOVE" in out


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are of POSIX")
@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"y\n", 0)])
def test_a_rollback_shows_the_diff_and_asks_on_a_terminal(tmp_path, answer, code):
    import pty

    db = tmp_path / "s.db"
    patch_id = json.loads(call("--db", db, "--json", "remember", "A note.")[0])["patch_id"]
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    with start("--db", db, "--json", "patch", "rollback", patch_id, stdin=theirs) as process:
        out, err = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == code
    assert b"-A note." in err
    assert err.index(b"-A note.") < err.index(f"Roll back {patch_id}?".encode())
    assert bool(json.loads(out).get("patch_id")) is (code == 0)


def test_help_and_json_import_nothing_slow(tmp_path):
    call("--db", tmp_path / "s.db", "init")
    code = (
        "import sys; from evomem.cli.main import app; app(sys.argv[1:], standalone_mode=False);"
        "print([m for m in sys.modules if m.split('.')[0] in ('rich', 'asyncio', 'mcp', 'yaml')])"
    )
    for words in (["--help"], ["--db", str(tmp_path / "s.db"), "--json", "stats"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, check=True, text=True
        )
        assert done.stdout.splitlines()[-1] == "[]"
