import os

import pytest

from evomem.cli import printing

OLD = "We picked Postgres for the ledger."
NEW = "We moved the ledger to SQLite."


@pytest.fixture
def story(note):
    old = note(OLD, "--tag", "db", "--session", "s1")
    return old, note(NEW, "--supersedes", old)


def test_show_prints_the_whole_node(run, story):
    old, new = story
    shown = run("show", old).stdout
    assert shown.splitlines()[0].split()[:2] == ["superseded", old]
    assert OLD in shown
    assert any(line.split() == ["replaced", "by", new] for line in shown.splitlines())


def test_reads_take_a_prefix(run_json, story):
    old, new = story
    assert run_json("show", new[:6])["id"] == new
    assert [node["id"] for node in run_json("history", old[:8])["nodes"]] == [new, old]


@pytest.mark.parametrize("command", ["show", "history"])
@pytest.mark.usefixtures("story")
def test_an_unknown_id_is_refused_and_says_what_to_do(run, run_json, command):
    result = run(command, "nunknown1234", exit_code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: 'nunknown1234' is no node of this namespace.")
    document = run_json(command, "nunknown1234", exit_code=1)
    assert document["ok"] is False
    assert document["error"]["code"] == "NOT_FOUND"


def test_history_is_newest_first_with_statuses(run, story):
    old, new = story
    lines = run("history", old).stdout.splitlines()
    assert lines[0].split()[:2] == ["active", new]
    assert lines[1].strip() == NEW
    assert lines[2].split()[:2] == ["superseded", old]


def test_list_filters_by_status_tag_and_session(run_json, story):
    old, new = story

    def listed(*words):
        return [node["id"] for node in run_json("list", *words)["nodes"]]

    assert listed() == [new]
    assert listed("--status", "superseded") == [old]
    assert listed("--status", "all") == [new, old]
    assert listed("--status", "all", "--tag", "db") == [old]
    assert listed("--status", "all", "--session", "s1") == [old]
    assert listed("--scope", "production") == [new]


def test_list_pages_with_a_cursor(run, run_json, note):
    ids = [note(f"Note number {number}.") for number in range(3)]
    page = run_json("list", "--limit", 2)
    assert [node["id"] for node in page["nodes"]] == ids[:0:-1]
    assert f"--cursor {page['cursor']}" in run("list", "--limit", 2).stdout
    rest = run_json("list", "--limit", 2, "--cursor", page["cursor"])
    assert [node["id"] for node in rest["nodes"]] == ids[:1]
    assert rest["cursor"] is None


def test_an_unknown_status_is_refused(run):
    run("init")
    assert "superseded" in run("list", "--status", "gone", exit_code=1).stderr


def test_list_prints_one_line_a_node(run, story):
    (line,) = run("list").stdout.splitlines()
    assert line.split(maxsplit=3)[:2] == ["active", story[1]]
    assert line.endswith(NEW)


@pytest.mark.parametrize("columns", [10, 30, 59, 60, 80])
def test_ids_are_whole_at_any_width_of_a_terminal(capsys, db, note, columns):
    from rich.console import Console

    import evomem

    node_id = note(OLD + " [bold]" + "long " * 40)
    console = Console(
        markup=False, highlight=False, force_terminal=True, width=columns, no_color=True
    )
    with evomem.open(db) as memory:
        printing.page(console, memory.list())
    shown = capsys.readouterr().out
    assert node_id in shown
    assert "[bold]" in shown


def test_review_lists_open_questions_with_the_command(run, run_json, db):
    assert run_json("remember", "We use Redis for the session cache.")["candidates"] == []
    assert run("review").stdout == "Nothing waits for an answer.\n"
    run("remember", "We switched the session cache from Redis to Memcached.")
    (pending,) = run_json("review")["pending"]
    new, old = pending["node"]["id"], pending["candidate"]["id"]
    assert f"evomem link {new} --supersedes {old} --db {db}" in run("review").stdout
    run("link", new, "--supersedes", old)
    assert run_json("review") == {"pending": []}


@pytest.mark.usefixtures("story")
def test_stats_show_the_absolute_path_and_the_counts(run, run_json, db):
    figures = run_json("stats")
    assert figures["path"] == str(db)
    assert figures["nodes"]["active"] == figures["nodes"]["superseded"] == 1
    shown = run("stats").stdout
    assert f"{db} (argument)" in shown
    assert "1 active, 1 superseded" in shown


@pytest.mark.parametrize(
    "words", [["recall", "x"], ["list"], ["stats"], ["show", "n"], ["history", "n"], ["review"]]
)
def test_a_read_does_not_make_a_missing_store(run, db, words):
    result = run(*words, exit_code=1)
    assert f"evomem --db {db} init" in result.stderr
    assert not os.path.lexists(db)
