import json
import sys

import pytest

from evomem.cli import notes

OLD = "We picked Postgres for the ledger."
NEW = "We moved the ledger to SQLite."


def test_remember_says_the_id_and_the_status(run, run_json):
    result = run("remember", OLD)
    (node,) = run_json("list")["nodes"]
    assert result.stdout.split() == ["Remembered", "active", node["id"], node["created_at"][:10]]


def test_remember_takes_every_field(run_json, note):
    other = note("The audit asked for row-level history.")
    node = run_json(
        *("remember", OLD, "--tag", "db", "--tag", "finance", "--session", "s1"),
        *("--scope", "production", "--subject", "ledger", "--slot", "ledger/database"),
        *("--relation", f"caused_by={other}", "--valid-from", "2026-01-02"),
        *("--valid-to", "2999-01-01T00:00:00Z", "--created-at", "2026-01-01T10:00:00+02:00"),
        *("--metadata", '{"ticket": 7, "ok": true}', "--actor", "ada"),
    )["node"]
    assert node["tags"] == ["db", "finance"]
    assert (node["session"], node["scope"]) == ("s1", "production")
    assert (node["subject"], node["slot"]) == ("ledger", "ledger/database")
    assert node["relations"] == {"caused_by": [other]}
    assert node["valid_from"] == "2026-01-02T00:00:00+00:00"
    assert node["valid_to"] == "2999-01-01T00:00:00+00:00"
    assert node["created_at"] == "2026-01-01T08:00:00+00:00"
    assert node["metadata"] == {"ticket": 7, "ok": True}


def test_supersedes_links_and_may_be_repeated(run_json, note):
    first, second = note(OLD), note("The ledger cluster has three nodes.")
    result = run_json("remember", NEW, "--supersedes", first, "--supersedes", second)
    assert sorted(result["superseded"]) == sorted([first, second])


def test_refines_overrides_and_amends_reach_the_memory(run_json, note):
    old = note("Logs are kept 30 days; backups weekly.", "--scope", "production")
    node = run_json(
        *("remember", "Logs are kept 90 days.", "--scope", "production"),
        *("--amends", old, "--part", "kept 30 days"),
    )["node"]
    assert node["relations"] == {"amends": [old]}
    node = run_json("remember", "In eu: 10 days.", "--scope", "production/eu", "--overrides", old)[
        "node"
    ]
    assert node["relations"] == {"overrides": [old]}
    refined = run_json("remember", "Logs: 30 days. Backups: weekly.", "--refines", old)["node"]
    assert refined["supersedes"] == [old]
    assert run_json("show", old)["status"] == "refined"


def test_a_suggestion_comes_with_the_command_that_accepts_it(run, run_json, note, db):
    old = note("We use Redis for the session cache.")
    result = run("remember", "We switched the session cache from Redis to Memcached.")
    new = run_json("list")["nodes"][0]["id"]
    accept = f"evomem link {new} --supersedes {old} --db {db}"
    assert accept in result.stdout
    run(*accept.split()[1:])
    assert run_json("show", old)["status"] == "superseded"


def test_linking_off_suggests_nothing(run_json, note):
    note("We use Redis for the session cache.")
    text = "We switched the session cache from Redis to Memcached."
    result = run_json("remember", text, "--linking", "off")
    assert (result["candidates"], result["decision"]["outcome"]) == ([], "off")


def test_an_idempotency_key_replays(run, run_json):
    words = ("remember", OLD, "--idempotency-key", "k1")
    first, again = run_json(*words), run_json(*words)
    assert again["replayed"]
    assert again["node"]["id"] == first["node"]["id"]
    result = run("remember", NEW, "--idempotency-key", "k1", exit_code=1)
    assert "k1" in result.stderr


def test_an_expected_version_that_has_passed_is_refused(run_json, note):
    old = note(OLD)
    note(NEW, "--supersedes", old)
    words = ("remember", "Third.", "--supersedes", old, "--expected-version", 1)
    error = run_json(*words, exit_code=1)["error"]
    assert error["code"] == "VERSION_CONFLICT"
    assert error["details"]["current"]["version"] == 2


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize("words", [[], ["-"]])
def test_a_text_from_standard_input_is_stored_as_received(run_json, words):
    text = "  first line\r\n\tcafé ☃\n\n"
    assert run_json("remember", *words, input=text)["node"]["text"] == text


def test_bytes_that_are_no_text_are_replaced_with_a_warning(run_json):
    result = run_json("remember", "-", input=b"abc\xff\x00def")
    assert result["node"]["text"] == "abc\ufffd\ufffddef"
    assert "U+FFFD" in result["warnings"][0]


@pytest.mark.parametrize("text", ["", " \n "])
def test_an_empty_text_is_refused(run, text):
    assert "is empty" in run("remember", text, exit_code=1).stderr
    assert "is empty" in run("remember", "-", input=text, exit_code=1).stderr


def test_no_text_on_a_terminal_is_wrong_usage(run, monkeypatch):
    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    class System:
        stdin = Terminal()

    monkeypatch.setattr(notes, "sys", System)
    assert "standard input" in run("remember", exit_code=2).stderr
    assert sys.stdin is not Terminal


@pytest.mark.parametrize(
    "words",
    [
        ["--supersede", "x"],
        ["--supersedes", ""],
        ["--relation", "x"],
        ["--relation", "caused_by="],
        ["--amends", "x"],
        ["--metadata", "{"],
        ["--metadata", "[1]"],
        ["--metadata", '{"a": NaN}'],
        ["--linking", "maybe"],
        ["--expected-version", "one"],
    ],
)
def test_wrong_usage_writes_nothing(run, db, words):
    run("remember", OLD, *words, exit_code=2)
    assert not db.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--supersedes", "nunknown"],
        ["--relation", "Not-A-Kind=x"],
        ["--valid-from", "tomorrow"],
        ["--cronista", "nobody"],
    ],
)
def test_a_refused_note_leaves_nothing(run, run_json, words):
    run("init")
    run("remember", OLD, *words, exit_code=1)
    assert run_json("list")["nodes"] == []


def test_a_prefix_is_no_target_of_a_write(run, note):
    old = note(OLD)
    assert old[:8] in run("remember", NEW, "--supersedes", old[:8], exit_code=1).stderr


@pytest.mark.promise("recall.head")
def test_recall_answers_with_the_head_and_names_what_it_replaced(run, note):
    old = note(OLD)
    new = note(NEW, "--supersedes", old)
    lines = run("recall", "which", "database", "for", "postgres").stdout.splitlines()
    assert lines[0].split()[:3] == ["1.", "active", new]
    assert "score" in lines[0]
    assert lines[1].strip() == NEW
    assert lines[2].split()[:3] == ["replaced:", "superseded", old]
    assert lines[3].strip() == OLD


def test_recall_tells_the_story_to_a_depth(run_json, note):
    ids = [note("Ledger on Postgres.")]
    for text in ("Ledger on SQLite.", "Ledger on DuckDB.", "Ledger on paper."):
        ids.append(note(text, "--supersedes", ids[-1]))

    def told(*words):
        (hit,) = run_json("recall", "ledger", *words)["hits"]
        return [node["id"] for node in hit["history"]]

    assert told() == []
    assert told("--history") == [ids[2], ids[1], ids[0]]
    assert told("--depth", "1") == [ids[2]]


def test_recall_filters(run_json, note):
    tagged = note("Ledger one.", "--tag", "db", "--metadata", '{"ticket": 7, "team": "red"}')
    scoped = note("Ledger two.", "--scope", "production", "--session", "s1")

    def found(*words):
        return {hit["node"]["id"] for hit in run_json("recall", "ledger", *words)["hits"]}

    assert found() == {tagged, scoped}
    assert found("-k", 1) < {tagged, scoped}
    assert found("--tag", "db") == {tagged}
    assert found("--session", "s1") == {scoped}
    assert found("--scope", "staging") == {tagged}
    assert found("--filter", "ticket=7") == {tagged}
    assert found("--filter", "team=red", "--filter", "ticket=7") == {tagged}
    assert found("--filter", "ticket=8") == set()
    assert found("--filter", "ticket=[") == set()
    assert found("--filter", 'ticket={"$gte": 7, "$lt": 8}') == {tagged}
    assert found("--filter", 'ticket={"$gt": 7}') == set()
    assert found("--filter", "ticket=null") == {scoped}


def test_recall_reaches_the_namespaces_below_when_asked(run, run_json):
    run("remember", "Ledger below.", "--namespace", "default/team")
    assert run_json("recall", "ledger")["hits"] == []
    assert len(run_json("recall", "ledger", "--children")["hits"]) == 1


@pytest.mark.promise("query.text")
@pytest.mark.parametrize("query", ['"', "a AND (", "*", "%s [red]x[/red]", "\u202e", "--json"])
def test_no_query_is_syntax(run, note, query):
    note(OLD)
    run("recall", "--", query)


def test_recall_says_when_nothing_answers(run, note):
    note(OLD)
    assert run("recall", "zebra").stdout == "No memory answers this.\n"


def test_a_blank_query_lists_the_latest(run, note):
    ids = [note(OLD), note("Something else.")]
    firsts = [
        line.split()[2] for line in run("recall", "").stdout.splitlines() if line[0].isdigit()
    ]
    assert firsts == ids[::-1]


def test_markup_and_control_characters_stay_text(run, run_json, note):
    text = "[red]a[/red] [/] :smile: \x1b[31mb\x07"
    node_id = note(text)
    for words in (["recall", "smile"], ["list"], ["history", node_id], ["show", node_id]):
        shown = run(*words, color=True).stdout
        assert "[red]a[/red] [/] :smile: \\x1b[31mb\\x07" in shown
        assert "\x1b" not in shown
    assert run_json("show", node_id)["text"] == text


def test_a_long_text_is_cut_with_the_id_to_read_on(run, note):
    text = "ledger " * 1000 + "end"
    node_id = note(text)
    shown = run("recall", "ledger").stdout
    assert f"{len(text)} characters in all: show {node_id}" in shown
    assert "end" not in shown.split()
    assert text in run("show", node_id).stdout


def test_a_result_round_trips_through_json(run_json, note):
    note(OLD, "--metadata", json.dumps({"snow": "☃", "quote": '"', "line": "a\nb\u2028"}))
    (hit,) = run_json("recall", "postgres")["hits"]
    assert hit["node"]["metadata"] == {"snow": "☃", "quote": '"', "line": "a\nb\u2028"}
    assert hit["matched"]["by"] == "text"


def test_an_empty_slot_is_claimed_once(run, run_json):
    claim = ("--slot", "ledger", "--expected-version", 0)
    assert run_json("remember", "Mine.", *claim)["node"]["slot"] == "ledger"
    refused = run("remember", "Theirs.", *claim, exit_code=1)
    assert "pass expected_version=1" in refused.stderr


def test_a_note_may_be_kept_out_of_the_search(run, run_json):
    for value in ("blue", "green"):
        run("remember", f"The colour is {value}.", "--slot=colour", "--searchable=tip")
    assert not run_json("recall", "blue")["hits"]
    assert len(run_json("recall", "colour")["hits"]) == 1
    run("remember", "Red.", "--searchable=sometimes", exit_code=2)
