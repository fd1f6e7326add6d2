import json

import pytest

OLD = "We picked Postgres for the ledger."
NEW = "We moved the ledger to SQLite."
SAID = "Let us move the ledger to SQLite."


def add(content=OLD, **fields):
    return {"op": "ADD", "subject": "ledger", "content": content, **fields}


def supersede(memory_id, version=1, content=NEW):
    return {
        "op": "SUPERSEDE",
        "memory_id": memory_id,
        "expected_version": version,
        "new_content": content,
    }


@pytest.fixture
def event(run_json):
    return run_json("event", "record", "user", SAID)["id"]


@pytest.fixture
def write(tmp_path):
    """Write a JSON document, or bytes, to a file and return its path."""

    def to_file(document):
        path = tmp_path / "operations.json"
        raw = document if isinstance(document, bytes) else json.dumps(document).encode()
        path.write_bytes(raw)
        return path

    return to_file


@pytest.fixture
def apply(run_json, write):
    """Apply a document and return the result."""
    return lambda document, *words, **options: run_json("apply", write(document), *words, **options)


@pytest.fixture
def pair(apply, event):
    """A memory with two versions: the patches that made them, and its id."""
    first = apply([add()], "--evidence", event)
    memory_id = first["operations"][0]["memory_id"]
    second = apply([supersede(memory_id)], "--evidence", event, "--reason", "cost")
    return first["patch_id"], second["patch_id"], memory_id


def refused(result):
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    return result.stderr


def test_a_list_of_operations_with_evidence_is_applied(apply, run_json, event):
    words = ("--evidence", event, "--reason", "why", "--actor", "ada")
    result = apply([add()], *words)
    (step,) = result["operations"]
    assert (step["op"], step["version"], result["evidence"]) == ("ADD", 1, [event])
    patch = run_json("patch", "show", result["patch_id"])
    assert (patch["reason"], patch["actor"], patch["source"]) == ("why", "ada", "cli")


def test_an_object_says_what_the_options_say(apply, run_json, event):
    document = {
        "operations": [add()],
        "evidence": event,
        "reason": "in the file",
        "actor": "ada",
        "idempotency_key": "k1",
    }
    patch = run_json("patch", "show", apply(document)["patch_id"])
    assert (patch["reason"], patch["actor"]) == ("in the file", "ada")
    assert patch["idempotency_key"] == "k1"
    assert apply(document)["replayed"]


def test_options_win_and_evidence_is_added(apply, run_json, event):
    other = run_json("event", "record", "document", "Minutes of March.")["id"]
    document = {"operations": [add()], "evidence": [event], "reason": "file", "actor": "file"}
    words = ("--evidence", other, "--evidence", event, "--reason", "line", "--actor", "line")
    result = apply(document, *words)
    assert result["evidence"] == sorted([event, other])
    patch = run_json("patch", "show", result["patch_id"])
    assert (patch["reason"], patch["actor"]) == ("line", "line")


def test_a_dash_reads_standard_input(run_json, event):
    document = json.dumps([add("Café ☃.")])
    result = run_json("apply", "-", "--evidence", event, input=document)
    assert "+Café ☃." in result["operations"][0]["diff"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings_of_json_are_read(apply, event, encoding):
    result = apply(
        json.dumps([add("Café.")], ensure_ascii=False).encode(encoding), "--evidence", event
    )
    assert "+Café." in result["operations"][0]["diff"]


def test_what_apply_prints(run, write, event):
    path = write([add(), add("Backups run at 02:00.")])
    words = ("apply", path, "--evidence", event, "--idempotency-key", "k1")
    lines = run(*words).stdout.splitlines()
    assert lines[0].split()[0::2] == ["Applied", "sequence"]
    assert [line.split()[0] for line in lines[1:]] == ["ADD", "ADD", "evidence"]
    assert lines[1].split()[2:4] == ["version", "1"]
    assert run(*words).stdout.startswith("Replayed  p")


@pytest.mark.parametrize("op", ["UPDATE", "SUPERSEDE", "REMOVE"])
def test_every_operation_takes_the_memory_id_of_search(apply, run_json, event, op):
    apply([add()], "--evidence", event)
    node = run_json("search", "ledger")["hits"][0]["node"]
    operation = supersede(node["memory_id"], node["memory_version"]) | {"op": op}
    if op == "REMOVE":
        del operation["new_content"]
    result = apply([operation], "--evidence", event)
    assert (result["operations"][0]["op"], result["operations"][0]["version"]) == (op, 2)


BAD_DOCUMENTS = [
    (b"", "There is nothing in"),
    (b" \n", "There is nothing in"),
    (b'[{"op": "ADD",\n "subject" "x"}]', "line 2, column 12"),
    (b"[NaN]", "NaN is no JSON number"),
    (b"[" * 100_000, "cannot be read as JSON"),
    (b'{"operations": [], "operations": []}', "'operations' stands twice"),
    (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is not text"),
    (bytes(range(256)), "not"),
    (b"7", "neither a list nor an object"),
    (b'"ADD"', "neither a list nor an object"),
    (b"null", "neither a list nor an object"),
    (json.dumps(add()).encode(), "This is a single operation. Put it in a list"),
    (b"[]", "no operation to apply"),
    (b"{}", "operations=None is no list"),
    (b'{"operations": {"op": "ADD"}}', "single operation"),
    (b'{"operation": []}', "did you mean 'operations'"),
    (b'{"operations": [], "self": 1}', "Unknown argument 'self'"),
    (b'{"operations": [], "source": "mcp"}', "Unknown argument 'source'"),
    (b"[7]", "Operation 0: 7 is no operation"),
    (b'[{"op": "MERGE"}]', "one of ADD, UPDATE, SUPERSEDE, REMOVE"),
    (b'[{"op": "ADD", "content": "x"}]', "ADD needs subject"),
    (
        b'{"operations": [{"op": "ADD", "subject": "s", "content": "x"}], "evidence": 7}',
        "evidence=7",
    ),
    (b'{"operations": [{"op": "ADD", "subject": "s", "content": "x"}], "reason": 7}', "reason=7"),
]


@pytest.mark.parametrize(("document", "says"), BAD_DOCUMENTS)
def test_a_file_that_says_nothing_is_refused_and_says_why(
    run, run_json, write, event, document, says
):
    words = ("apply", write(document), "--evidence", event)
    assert says in refused(run(*words, exit_code=1))
    assert run_json(*words, exit_code=1)["error"]["code"] == "INVALID_REQUEST"
    assert run_json("stats")["patches"] == 1


def test_bad_json_is_placed_in_the_details(apply):
    details = apply(b'[\n{"op" 1}]', exit_code=1)["error"]["details"]
    assert details == {"line": 2, "column": 7}


@pytest.mark.parametrize("name", ["missing.json", ".", "missing/x.json", "a\0b", ""])
def test_a_path_that_cannot_be_read_is_refused(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert "cannot be read" in refused(run("apply", name, exit_code=1))


def test_empty_standard_input_is_refused(run, db):
    assert "nothing in standard input" in refused(run("apply", "-", input="", exit_code=1))
    assert not db.exists()


def test_more_than_a_file_may_hold_is_refused(run, write, monkeypatch):
    monkeypatch.setattr("evomem.cli.patches._MOST_BYTES", 10)
    assert "Split it" in refused(run("apply", write([add()]), exit_code=1))


def test_more_operations_than_a_patch_may_hold_are_refused(apply, run_json, event):
    error = apply([add()] * 10_001, "--evidence", event, exit_code=1)["error"]
    assert (error["code"], error["details"]["count"]) == ("TOO_LARGE", 10_001)
    assert run_json("list")["nodes"] == []


def test_evidence_is_asked_for_and_checked(apply, run_json, event):
    assert apply([add()], exit_code=1)["error"]["code"] == "EVIDENCE_MISSING"
    unknown = ("--evidence", event, "--evidence", "e00000000000")
    error = apply([add()], *unknown, exit_code=1)["error"]
    assert (error["code"], error["details"]["ids"]) == ("EVIDENCE_MISSING", ["e00000000000"])
    said = run_json("event", "record", "assistant", "I moved it.")["id"]
    assert apply([add()], "--evidence", said, exit_code=1)["error"]["code"] == "EVIDENCE_ROLE"
    assert apply([add()], "--evidence", event[:8], exit_code=1)["ok"] is False
    assert apply([add()], "--evidence", "", exit_code=1)["ok"] is False
    assert run_json("list")["nodes"] == []


def test_a_wrong_version_is_refused_with_the_current_one(apply, event, pair):
    error = apply([supersede(pair[2], 1, "Third.")], "--evidence", event, exit_code=1)["error"]
    assert error["code"] == "VERSION_CONFLICT"
    assert error["details"]["current"]["version"] == 2


def test_ids_of_other_things_and_prefixes_are_no_memory(apply, run_json, event, pair):
    def code(memory_id):
        return apply([supersede(memory_id, 2)], "--evidence", event, exit_code=1)["error"]["code"]

    node_id = run_json("show", pair[2])["node"]["id"]
    assert code(node_id) == code(pair[0]) == code(event) == "INVALID_REQUEST"
    assert code("m00000000000") == code(pair[2][:8]) == "NOT_FOUND"


def test_one_refused_operation_leaves_nothing(run, run_json, write, event):
    path = write([add(), supersede("m00000000000")])
    assert "Operation 1: " in refused(run("apply", path, "--evidence", event, exit_code=1))
    assert run_json("list")["nodes"] == []


def test_patches_are_listed_the_latest_first(run, run_json, event, pair):
    first, second, _ = pair
    listed = run_json("patch", "list")["patches"]
    assert [item["patch_id"] for item in listed[:2]] == [second, first]
    lines = run("patch", "list").stdout.splitlines()
    assert lines[0].startswith(f"{second}  sequence 3  20")
    assert lines[0].endswith("SUPERSEDE  via cli  cost")
    assert lines[-1].endswith("evidence only  via cli")
    oldest = run_json("patch", "list", "--oldest-first")["patches"]
    assert oldest == listed[::-1]


def test_patches_are_paged(run, run_json, pair):
    page = run("patch", "list", "--oldest-first", "--limit", 2).stdout
    assert page.splitlines()[-1] == "More: add --since 2"
    rest = run_json("patch", "list", "--oldest-first", "--limit", 2, "--since", 2)["patches"]
    assert [item["patch_id"] for item in rest] == [pair[1]]
    assert "raise --limit" in run("patch", "list", "--limit", 1).stdout
    assert "More" not in run("patch", "list").stdout
    assert run("patch", "list", "--since", 3).stdout == "No patches.\n"


@pytest.mark.parametrize("words", [["--limit", 0], ["--limit", 10_001], ["--since", -1]])
def test_a_page_that_cannot_be_is_refused(run, words):
    run("init")
    run("patch", "list", *words, exit_code=1)


def test_a_patch_is_shown_with_its_diff(run, run_json, event, pair):
    first, second, memory_id = pair
    patch = run_json("patch", "show", second)
    assert (patch["patch_id"], patch["reason"], patch["evidence"]) == (second, "cost", [event])
    lines = run("patch", "show", second).stdout.splitlines()
    assert lines[0].startswith(f"{second}  sequence 3  20")
    assert lines[1].split()[:4] == ["SUPERSEDE", memory_id, "version", "2"]
    assert "\n".join(lines).endswith(patch["diff"].rstrip("\n"))
    assert f"--- {memory_id}@1" in lines
    assert run_json("patch", "show", first)["rolled_back_by"] is None


def test_diffs_are_coloured_by_what_a_line_is(pair, db, capsys):
    from rich.console import Console

    import evomem
    from evomem.cli import printing_patches

    console = Console(force_terminal=True, color_system="standard", markup=False, width=40)
    with evomem.open(db) as memory:
        printing_patches.patch(console, memory.patch(pair[1]))
    shown = capsys.readouterr().out
    assert f"\x1b[31m-{OLD}" in shown
    assert f"\x1b[32m+{NEW}" in shown
    assert f"\x1b[1m--- {pair[2]}@1" in shown


def test_markup_and_control_characters_stay_text(run, write, event):
    text = "[red]a[/red] :smile: \x1b[31mb\x07\rc"
    path = write([add(text, tags=["[b]"])])
    words = ("--evidence", event, "--reason", text, "--actor", "\x1b[1m")
    patch_id = run("apply", path, *words).stdout.split()[1]
    for shown in (run("patch", "show", patch_id, color=True), run("patch", "list", color=True)):
        assert "[red]a[/red] :smile: \\x1b[31mb\\x07" in shown.stdout
        assert "\x1b" not in shown.stdout
        assert "\r" not in shown.stdout


def test_a_rollback_brings_back_what_was_in_force(run, run_json, pair):
    _, second, memory_id = pair
    lines = run("patch", "rollback", second, "--yes", "--reason", "rash").stdout.splitlines()
    assert lines[0].startswith("Rolled back by  p")
    assert lines[1].split()[:4] == ["RESTORE", memory_id, "version", "3"]
    assert {f"-{NEW}", f"+{OLD}"} <= set(lines)
    assert run_json("show", memory_id)["node"]["text"] == OLD
    undone = run_json("patch", "show", second)
    assert undone["rolled_back_by"] == lines[0].split()[3]
    by = run_json("patch", "show", undone["rolled_back_by"])
    assert (by["rollback_of"], by["reason"], by["source"]) == (second, "rash", "cli")
    assert f"rolled back   by {by['patch_id']}" in run("patch", "show", second).stdout


def test_a_dry_run_writes_nothing(run, run_json, pair):
    _, second, memory_id = pair
    shown = run("patch", "rollback", second, "--dry-run").stdout
    assert shown.startswith("Would do\n  RESTORE")
    assert f"+{OLD}" in shown.splitlines()
    plan = run_json("patch", "rollback", second, "--dry-run")
    assert (plan["patch_id"], plan["operations"][0]["memory_id"]) == (None, memory_id)
    assert run_json("show", memory_id)["node"]["text"] == NEW


def test_without_a_terminal_a_rollback_needs_yes(run, run_json, pair):
    _, second, memory_id = pair
    result = run("patch", "rollback", second, exit_code=1, input="y\n")
    assert "--yes" in result.stderr
    assert f"+{OLD}" in result.stderr.splitlines()
    assert run_json("patch", "rollback", second, exit_code=1)["ok"] is False
    assert run_json("show", memory_id)["node"]["text"] == NEW


def test_an_unsafe_rollback_names_what_to_roll_back_first(run, run_json, pair):
    first, second, _ = pair
    for words in (["--yes"], ["--dry-run"], []):
        shown = refused(run("patch", "rollback", first, *words, exit_code=1))
        assert second in shown
        assert "first" in shown
    error = run_json("patch", "rollback", first, "--yes", exit_code=1)["error"]
    assert (error["code"], error["details"]["dependents"]) == ("UNSAFE_ROLLBACK", [second])


def test_evidence_alone_cannot_be_rolled_back(run, run_json, event):
    patch_id = run_json("event", "get", event)["patch_id"]
    assert "nothing to roll back" in refused(
        run("patch", "rollback", patch_id, "--yes", exit_code=1)
    )


def test_other_ids_in_place_of_a_patchs_are_refused(run, run_json, event, pair, db):
    node_id = run_json("show", pair[2])["node"]["id"]
    shown = {node_id: "show", pair[2]: "show", event: "event get"}
    for given, command in shown.items():
        message = refused(run("patch", "show", given, exit_code=1))
        assert f"Show it with: evomem {command} {given} --db {db}" in message
        assert "no patch" in refused(run("patch", "rollback", given, "--yes", exit_code=1))
    assert pair[1] in run("patch", "show", pair[1][:8]).stdout
    for given in (pair[1][:8], "p00000000000", "zebra"):
        assert "no patch" in refused(run("patch", "rollback", given, "--yes", exit_code=1))


@pytest.mark.parametrize("words", [["list"], ["show", "p"], ["rollback", "p"]])
def test_a_read_does_not_make_a_missing_store(run, db, words):
    assert "init" in refused(run("patch", *words, exit_code=1))
    assert not db.exists()
