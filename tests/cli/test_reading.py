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


def test_pages_begin_at_an_offset(run_json, note):
    ids = [note(f"The ledger was closed {n} times.") for n in range(4)]
    listed = run_json("list", "--limit", 2, "--offset", 1)["nodes"]
    assert [node["id"] for node in listed] == ids[2:0:-1]
    for command in ("recall", "search"):
        whole = run_json(command, "ledger")["hits"]
        page = run_json(command, "ledger", "-k", 2, "--offset", 1)["hits"]
        assert page == whole[1:3]


def test_namespaces_are_printed_one_path_per_line(run, run_json):
    for path in ("default/a/b", "default/c", "defaults/a"):
        run("remember", "Here.", "--namespace", path)
    assert run("namespaces").stdout.splitlines() == ["a/b", "c"]
    assert run_json("namespaces", "--prefix", "*/b") == {"namespaces": [["a", "b"]]}
    cut = run_json("namespaces", "--max-depth", 1, "--limit", 1, "--offset", 1)
    assert cut == {"namespaces": [["c"]]}


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


@pytest.fixture
def memory_id(run_json, story):
    found: str = run_json("show", story[1])["memory_id"]
    return found


def test_a_memory_is_shown_with_its_operations(run, run_json, story, memory_id):
    old, new = story
    record = run_json("show", memory_id)
    assert (record["memory_id"], record["version"], record["node"]["id"]) == (memory_id, 2, new)
    assert [(step["op"], step["node_id"]) for step in record["history"]] == [
        ("ADD", old),
        ("SUPERSEDE", new),
    ]
    lines = run("show", memory_id).stdout.splitlines()
    assert lines[0] == f"memory {memory_id}  version 2"
    assert lines[1].split()[:2] == ["active", new]
    assert [line.split()[:4] for line in lines if line.startswith("version")] == [
        ["version", "1", "ADD", old],
        ["version", "2", "SUPERSEDE", new],
    ]
    assert f"{memory_id} version 1, now at 2" in run("show", old).stdout


def test_a_removed_memory_is_shown_as_forgotten(run, run_json, story, memory_id):
    run("forget", story[1], "--purge", "--yes")
    record = run_json("show", memory_id)
    assert (record["status"], record["version"]) == ("forgotten", 3)
    shown = run("show", memory_id).stdout
    assert "forgotten" in shown
    assert NEW not in shown
    assert "(text purged)" in shown


def test_a_memory_that_another_one_replaced_names_where_it_leads(run, story, memory_id, note):
    later = note("The ledger is on paper.")
    run("link", later, "--supersedes", story[1])
    assert f"  leads to: {later}" in run("show", memory_id).stdout.splitlines()


def test_the_history_of_a_memory_is_that_of_its_tip(run_json, story, memory_id):
    old, new = story
    assert [node["id"] for node in run_json("history", memory_id)["nodes"]] == [new, old]


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("command", ["show", "history"])
def test_ids_of_evidence_and_patches_point_to_their_commands(run, run_json, db, command):
    event = run_json("event", "record", "user", "Hello.")
    others = {event["id"]: "event get", event["patch_id"]: "patch show"}
    for given, other in others.items():
        shown = run(command, given, exit_code=1).stderr
        assert f"Show it with: evomem {other} {given} --db {db}" in shown
        assert run_json(command, given, exit_code=1)["error"]["code"] == "NOT_FOUND"
    shown = run(command, "m00000000000", exit_code=1).stderr
    assert "no memory of this namespace" in shown


def test_search_shows_the_memory_and_its_version(run, run_json, story, memory_id):
    (hit,) = run_json("search", "ledger", "postgres")["hits"]
    assert (hit["node"]["id"], hit["node"]["memory_version"]) == (story[1], 2)
    lines = run("search", "ledger").stdout.splitlines()
    assert lines[0].split()[:3] == ["1.", "active", story[1]]
    assert lines[1].strip() == f"memory {memory_id}  version 2"
    assert memory_id not in run("recall", "ledger").stdout


def test_search_finds_what_was_removed_only_if_asked(run, run_json, story, memory_id):
    run("forget", story[1])
    assert run_json("search", "sqlite")["hits"] == []
    assert run("search", "sqlite").stdout == "No memory answers this.\n"
    (hit,) = run_json("search", "sqlite", "--include-removed")["hits"]
    assert (hit["node"]["status"], hit["node"]["memory_version"]) == ("forgotten", 3)
    shown = run("search", "sqlite", "--include-removed").stdout
    assert f"1. forgotten  {story[1]}" in shown
    assert f"memory {memory_id}  version 3" in shown


def test_search_filters(run, run_json, note):
    tagged = note("Ledger one.", "--tag", "db")
    scoped = note("Ledger two.", "--scope", "production", "--session", "s1")
    run("remember", "Ledger below.", "--namespace", "default/team")

    def found(*words):
        return {hit["node"]["id"] for hit in run_json("search", "ledger", *words)["hits"]}

    assert found() == {tagged, scoped}
    assert len(found("-k", 1)) == 1
    assert found("--tag", "db") == {tagged}
    assert found("--session", "s1") == {scoped}
    assert found("--scope", "staging") == {tagged}
    assert len(found("--children")) == 3


@pytest.fixture
def planned(note):
    """A decision of 2020, and the one that holds from 2030 on."""
    old = note("Ledger on Postgres.", "--valid-from", "2020-01-01")
    return old, note("Ledger on SQLite.", "--supersedes", old, "--valid-from", "2030-01-01")


def test_reads_answer_for_a_time(run_json, planned):
    old, new = planned
    memory_id = run_json("show", old)["memory_id"]
    for time, head, status in (("2025-01-01", old, "active"), ("2031-01-01", new, "superseded")):
        at = ("--as-of", time)
        assert run_json("show", old, *at)["status"] == status
        assert run_json("show", memory_id, *at)["node"]["id"] == head
        for command in ("recall", "search"):
            assert run_json(command, "ledger", *at)["hits"][0]["node"]["id"] == head
        assert [node["id"] for node in run_json("list", *at)["nodes"]] == [head]
    for given in (*planned, memory_id):
        told = run_json("history", given, "--as-of", "2025-01-01")["nodes"]
        assert [node["id"] for node in told] == [old]
        assert run_json("history", given, "--as-of", "2019-01-01")["nodes"] == []


def test_reads_answer_from_what_was_known(run, run_json, story, memory_id):
    old, new = story
    at = ("--known-at", run_json("show", old)["recorded_at"])
    assert run_json("show", old, *at)["status"] == "active"
    record = run_json("show", memory_id, *at)
    assert (record["version"], record["node"]["id"]) == (1, old)
    for command in ("recall", "search"):
        assert run_json(command, "ledger", *at)["hits"][0]["node"]["id"] == old
    assert [node["id"] for node in run_json("list", *at)["nodes"]] == [old]
    for given in (old, memory_id):
        assert [node["id"] for node in run_json("history", given, *at)["nodes"]] == [old]
    for given in (old, memory_id):
        run("show", given, "--known-at", "2020-01-01", exit_code=1)
        run("history", given, "--known-at", "2020-01-01", exit_code=1)
    run("show", new, *at, exit_code=1)


@pytest.mark.parametrize("option", ["--as-of", "--known-at"])
def test_a_time_that_is_none_is_refused(run, story, option):
    for words in (["show", story[0]], ["history", story[0]], ["list"], ["recall", "x"]):
        assert "='soon' is not a time" in run(*words, option, "soon", exit_code=1).stderr


@pytest.mark.parametrize(
    "words",
    [
        *(["recall", "x"], ["search", "x"], ["list"], ["stats"], ["review"]),
        *(["show", "n"], ["show", "m00000000000"], ["history", "n"]),
    ],
)
def test_a_read_does_not_make_a_missing_store(run, db, words):
    result = run(*words, exit_code=1)
    assert f"evomem --db {db} init" in result.stderr
    assert not os.path.lexists(db)
