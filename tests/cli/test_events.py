import pytest

SAID = "Let us move the ledger to SQLite."


def test_an_event_is_recorded_and_read(run, run_json):
    recorded = run_json(
        *("event", "record", "user", SAID, "--external-id", "msg-7", "--session", "s1"),
        *("--occurred-at", "2026-03-01T09:30:00+01:00", "--actor", "ada"),
    )
    assert run_json("event", "get", recorded["id"]) == recorded
    assert (recorded["role"], recorded["content"]) == ("user", SAID)
    assert (recorded["external_id"], recorded["session"]) == ("msg-7", "s1")
    assert recorded["occurred_at"] == "2026-03-01T08:30:00+00:00"
    patch = run_json("patch", "show", recorded["patch_id"])
    assert (patch["actor"], patch["source"], patch["events"]) == ("ada", "cli", [recorded["id"]])


def test_what_is_printed(run, run_json):
    words = ("event", "record", "tool", SAID, "--external-id", "msg-7")
    first, again = run(*words).stdout.split(), run(*words).stdout
    event_id = first[1]
    assert first[:3] == ["Recorded", event_id, "tool"]
    assert again.startswith(f"Recorded before  {event_id}  tool  20")
    lines = run("event", "get", event_id).stdout.splitlines()
    assert lines[0].startswith(f"{event_id}  tool  20")
    assert lines[1] == f"  {SAID}"
    assert f"external id   {run_json('event', 'get', event_id)['external_id']}" in lines


def test_other_data_under_the_same_external_id_is_refused(run, run_json):
    run("event", "record", "user", SAID, "--external-id", "msg-7")
    words = ("event", "record", "user", "Other.", "--external-id", "msg-7")
    assert run_json(*words, exit_code=1)["error"]["code"] == "IDEMPOTENCY_CONFLICT"


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize("words", [[], ["-"]])
def test_the_text_may_come_from_standard_input(run_json, words):
    text = "  first line\r\n\tcafé ☃\n\n"
    assert run_json("event", "record", "user", *words, input=text)["content"] == text


def test_bytes_that_are_no_text_are_replaced_with_a_warning(run, run_json):
    recorded = run_json("event", "record", "user", "-", input=b"abc\xff\x00def")
    assert recorded["content"] == "abc\ufffd\ufffddef"
    assert "Warning: " in run("event", "record", "user", "-", input=b"\xff x").stdout


@pytest.mark.parametrize("text", ["", " \n "])
def test_an_empty_text_is_refused(run, text):
    assert "is empty" in run("event", "record", "user", text, exit_code=1).stderr
    assert "is empty" in run("event", "record", "user", "-", input=text, exit_code=1).stderr


@pytest.mark.parametrize("role", ["User", "nobody", "", "user "])
def test_an_unknown_role_is_refused_with_those_there_are(run, role):
    assert (
        "one of user, assistant" in run("event", "record", role, SAID, exit_code=1).stderr.lower()
    )


def test_a_time_that_is_none_is_refused(run):
    words = ("event", "record", "user", SAID, "--occurred-at", "yesterday")
    assert "occurred_at='yesterday'" in run(*words, exit_code=1).stderr


def test_an_event_needs_a_role(run, db):
    run("event", "record", exit_code=2)
    assert not db.exists()


def test_another_id_in_place_of_an_events_is_explained(run, note, run_json, db):
    node_id = note("We picked Postgres.")
    memory_id = run_json("show", node_id)["memory_id"]
    for given in (node_id, memory_id):
        shown = run("event", "get", given, exit_code=1).stderr
        assert f"Show it with: evomem show {given} --db {db}" in shown
    assert "no event" in run("event", "get", "e" + "0" * 11, exit_code=1).stderr
    assert "no event" in run("event", "get", "zebra", exit_code=1).stderr


def test_reading_an_event_does_not_make_a_store(run, db):
    run("event", "get", "e" + "0" * 11, exit_code=1)
    assert not db.exists()


def test_markup_and_control_characters_stay_text(run):
    text = "[red]a[/red] :smile: \x1b[31mb\x07"
    event_id = run("event", "record", "user", text, "--actor", "[b]").stdout.split()[1]
    shown = run("event", "get", event_id, color=True).stdout
    assert "[red]a[/red] :smile: \\x1b[31mb\\x07" in shown
    assert "\x1b" not in shown
