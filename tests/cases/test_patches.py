"""Cases of others, on events, operations with expected versions, patches, times and the doctor."""

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import evomem
from evomem import (
    Add,
    DuplicateError,
    EvidenceMissingError,
    InvalidRequestError,
    NotFoundError,
    ReadOnlyError,
    Remove,
    Status,
    Supersede,
    UnsafeRollbackError,
    Update,
    VersionConflictError,
)


@pytest.fixture
def event(memory):
    return memory.record_event("user", "Go ahead.").id


@pytest.fixture
def local_zone(monkeypatch):
    def move(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def chain(memory, node_id):
    return [node.text for node in memory.history(node_id)]


@pytest.mark.promise("resolve.total", "write.atomic")
def test_a_rollback_after_a_later_change_is_refused_or_done_on_top(memory, refused, found):
    """SUP-105: Undo of a supersede after a later change."""
    first = memory.remember("v1")
    second = memory.remember("v2", supersedes=first.node.id)
    third = memory.remember("v3", supersedes=second.node.id)
    with refused(memory, UnsafeRollbackError, f"depend on .*: {third.patch_id}.*first") as caught:
        memory.rollback(second.patch_id)
    assert caught.value.details["dependents"] == [third.patch_id]
    assert chain(memory, third.node.id) == ["v3", "v2", "v1"]
    for patch_id, shown in ((third.patch_id, "v2"), (second.patch_id, "v1")):
        memory.rollback(patch_id)
        (head,) = memory.list().nodes
        assert head.text == shown
        for text in ("v1", "v2", "v3"):
            assert found(memory, text) == [head.id]
    assert chain(memory, first.node.id) == ["v1", "v2", "v3", "v2", "v1"]
    for kept in (first, second, third):
        assert memory.get_node(kept.node.id).text == kept.node.text


def test_the_command_line_refuses_to_undo_under_a_later_change(tmp_path):
    """SUP-105: the same on the command line, which says what to undo first."""
    path = tmp_path / "store.db"
    with evomem.open(path, linking="off") as memory:
        first = memory.remember("v1")
        second = memory.remember("v2", supersedes=first.node.id)
        third = memory.remember("v3", supersedes=second.node.id)

    def run(*words, exit_code):
        from evomem.cli.main import app

        done = CliRunner().invoke(app, ["--db", str(path), *words])
        assert done.exit_code == exit_code
        return done

    words = ("patch", "rollback", second.patch_id, "--yes")
    refusal = run(*words, exit_code=1)
    assert third.patch_id in refusal.stderr
    assert "first" in refusal.stderr
    document = json.loads(run("--json", *words, exit_code=1).stdout)
    assert document["error"]["code"] == "UNSAFE_ROLLBACK"
    run("patch", "rollback", third.patch_id, "--yes", exit_code=0)
    run(*words, exit_code=0)
    with evomem.open(path, linking="off") as memory:
        assert [node.text for node in memory.list()] == ["v1"]
        assert chain(memory, first.node.id) == ["v1", "v2", "v3", "v2", "v1"]


@pytest.mark.promise("head.cas")
def test_an_operation_with_an_old_version_does_not_split_the_chain(memory, refused, event):
    """SUP-004: Superseding an already superseded note."""
    first = memory.remember("v1").node
    memory.apply([Supersede(first.memory_id, 1, "v2")], evidence=event)
    with refused(memory, VersionConflictError, "is at version 2, not at 1"):
        memory.apply([Supersede(first.memory_id, 1, "v3")], evidence=event)
    memory.apply([Supersede(first.memory_id, 2, "v3")], evidence=event)
    assert chain(memory, first.id) == ["v3", "v2", "v1"]


@pytest.mark.promise("write.atomic")
def test_an_unknown_memory_or_event_refuses_the_whole_patch(memory, refused, event):
    """SUP-002: Unknown id in supersedes."""
    for unknown in ("00000000-dead", "m00000000000", "m0000000000%"):
        with refused(memory, NotFoundError, unknown):
            memory.apply([Add("s", "new"), Supersede(unknown, 1, "newer")], evidence=event)
    with refused(memory, EvidenceMissingError, "00000000-dead"):
        memory.apply([Add("s", "new")], evidence=[event, "00000000-dead"])


@pytest.mark.promise("recall.head", "read.own-write")
def test_an_updated_note_is_found_by_its_new_words(memory, event):
    """STA-002: Edited text found by its old words, not by the new ones."""
    old = memory.remember("backup at 02:00 with restic").node
    operation = Update(old.memory_id, 1, "backup at 04:00 with borg")
    new = memory.apply([operation], evidence=event).operations[0].node_id
    for query in ("borg", "restic"):
        (hit,) = memory.recall(query, include_history=True).hits
        assert (hit.node.id, [node.id for node in hit.history]) == (new, [old.id])
    assert memory.recall("restic").hits[0].matched.node_id == old.id


@pytest.mark.promise("recall.head")
def test_a_removed_memory_is_not_found_and_nothing_old_returns(memory, event, found):
    """STA-003, SUP-005: Forgotten note still found; head of a chain is forgotten."""
    old = memory.remember("limit ten", tags=["ops-x"]).node
    memory.apply([Supersede(old.memory_id, 1, "limit twenty")], evidence=event)
    memory.apply([Remove(old.memory_id, 2)], evidence=event)
    for query in ("limit", "ten", "twenty", "ops-x", ""):
        assert found(memory, query) == found(memory, query, tags="ops-x") == []
    assert memory.get_node(old.id).status is Status.SUPERSEDED


def test_listings_count_what_operations_replaced_as_replaced(memory, event):
    """STA-104: Expiry/reminder lists still show superseded decisions."""
    added = memory.apply([Add("s", "v1"), Add("s", "other v1")], evidence=event)
    one, other = added.operations
    memory.apply(
        [Supersede(one.memory_id, 1, "v2"), Supersede(other.memory_id, 1, "other v2")],
        evidence=event,
    )
    counts = memory.stats().nodes
    assert (counts["active"], counts["superseded"]) == (2, 2)
    assert {node.text for node in memory.list()} == {"v2", "other v2"}
    for step, text in ((one, "v2"), (other, "other v2")):
        (successor,) = memory.get_node(step.node_id).superseded_by
        assert memory.get_node(successor).text == text


@pytest.mark.promise("write.idempotent")
def test_an_operation_that_is_retried_is_done_once(memory, refused, event):
    """DUP-001: Same note twice, two rows."""
    asked = [Add("linting", "Use ruff for linting.", tags=["py"])]
    first = memory.apply(asked, evidence=event, idempotency_key="k")
    for _ in range(3):
        again = memory.apply(asked, evidence=event, idempotency_key="k")
        assert (again.replayed, again.operations) == (True, first.operations)
    with refused(memory, DuplicateError, "says the same") as caught:
        memory.apply(asked, evidence=event)
    assert caught.value.details["current"]["node_id"] == first.operations[0].node_id
    assert memory.stats().nodes["active"] == 1
    said = {"role": "user", "content": "Use ruff.", "external_id": "msg-7"}
    assert len({memory.record_event(**said).id for _ in range(4)}) == 1


def test_every_id_in_an_answer_can_be_used_as_it_is(memory, event):
    """DUP-002, DUP-101: Ids shown are cut; off-by-one between save reply and read."""
    memory.remember("the neighbour")
    added = memory.apply([Add("s", "to remove"), Add("s", "to keep")], evidence=event)
    for step, text in zip(added.operations, ("to remove", "to keep"), strict=True):
        record = memory.read(step.memory_id)
        assert (record.node.text, record.version) == (text, step.version)
        assert memory.get_node(step.node_id).text == text
        assert memory.history(step.node_id)[0].id == step.node_id
    node = memory.search("to remove").hits[0].node
    changed = memory.apply([Supersede(node.memory_id, node.memory_version, "x")], evidence=event)
    assert memory.get_event(memory.patch(changed.patch_id).evidence[0]).id == event
    for change in memory.changes():
        assert memory.patch(change.patch_id).sequence == change.sequence
    undone = memory.rollback(changed.patch_id)
    assert memory.read(undone.operations[0].memory_id).node.text == "to remove"
    for unknown in ("n00000000000", "p00000000000", "e00000000000", "m00000000000"):
        for ask in (memory.get_node, memory.patch, memory.get_event, memory.read):
            with pytest.raises(NotFoundError, match=unknown):
                ask(unknown)


@pytest.mark.promise("raw.kept")
def test_half_an_emoji_and_a_nul_cost_no_word(memory, found):
    """UNI-004, UNI-005: Half an emoji breaks the save; NUL byte inside a note."""
    said = memory.record_event("user", "Deploy ok \ud83d\0er zebra")
    assert memory.get_event(said.id).content == "Deploy ok \ufffd\ufffder zebra"
    asked = [Add("half \ud83d", "o\0er credits after the NUL: keyword zebra")]
    result = memory.apply(asked, evidence=said.id, reason="half \ud83d")
    node = memory.get_node(result.operations[0].node_id)
    assert (node.text, node.subject) == (
        "o\ufffder credits after the NUL: keyword zebra",
        "half \ufffd",
    )
    assert found(memory, "zebra") == [node.id]
    patch = memory.patch(result.patch_id)
    assert (patch.reason, patch.operations) == ("half \ufffd", result.operations)
    assert json.loads(json.dumps(patch.to_dict()))["diff"] == patch.diff


CODE = 'std::regex r("\\\\d+\\\\.\\\\d+"); path C:\\new\\table\\u0041 and "quoted" \t tab'


@pytest.mark.promise("raw.kept")
def test_code_with_quotes_and_back_slashes_is_the_same_in_every_answer(memory, event):
    """SER-103: Code with quotes and back-slashes inside JSON."""
    said = memory.record_event("user", CODE)
    added = memory.apply([Add("regex", CODE, metadata={CODE: CODE})], evidence=event, reason=CODE)
    node = memory.get_node(added.operations[0].node_id)
    patch = memory.patch(added.patch_id)
    (hit,) = memory.recall("regex path").hits
    for shown in (node, hit.node, memory.read(node.memory_id).node):
        assert (shown.text, shown.metadata) == (CODE, {CODE: CODE})
    assert (memory.get_event(said.id).content, patch.reason) == (CODE, CODE)
    assert patch.diff.split("\n")[3] == f"+{CODE}"
    for result in (said, added, patch, memory.read(node.memory_id, include_history=True)):
        assert json.loads(json.dumps(result.to_dict())) == result.to_dict()


@pytest.mark.promise("namespace.wall")
@pytest.mark.parametrize(
    ("own", "foreign"),
    [
        (("tenant", "acme"), ("tenant", "acme-corp")),
        (("users", "john_doe"), ("users", "john-doe")),
        (("users", "%"), ("users", "john")),
        (("users",), ("users", "john")),
    ],
    ids=str,
)
def test_patches_and_events_stay_in_their_namespace(open_memory, tmp_path, own, foreign):
    """NSP-001, NSP-002: Prefix match leaks sibling namespaces; wildcards in a namespace."""
    path = tmp_path / "store.db"
    theirs = open_memory(path, namespace=foreign)
    said = theirs.record_event("user", "secret", external_id="msg-7")
    added = theirs.apply([Add("secret", "the secret of others")], evidence=said.id)
    (step,) = added.operations
    memory = open_memory(path, namespace=own)
    assert (memory.version(), memory.changes(), memory.stats().events) == (0, [], 0)
    event = memory.record_event("user", "Go ahead.").id
    for use in (
        lambda: memory.get_event(said.id),
        lambda: memory.patch(added.patch_id),
        lambda: memory.read(step.memory_id),
        lambda: memory.rollback(added.patch_id),
        lambda: memory.apply([Remove(step.memory_id, 1)], evidence=event),
    ):
        with pytest.raises(NotFoundError) as refusal:
            use()
        assert "secret" not in str(refusal.value.to_dict())
    with pytest.raises(EvidenceMissingError):
        memory.apply([Add("s", "new")], evidence=said.id)
    assert memory.search("secret", include_removed=True, known_at="2999-01-01").hits == ()
    assert not memory.record_event("user", "other", external_id="msg-7").replayed
    memory.apply([Add("secret", "the secret of others")], evidence=event)
    assert theirs.stats().patches == 2


@pytest.mark.parametrize("ask", ["as_of", "known_at"])
def test_a_question_about_a_time_is_the_same_in_every_local_zone(timed, clock, local_zone, ask):
    """TIM-001, TIM-002: Times written in one fixed local zone; naive and aware times compared."""
    clock.now = datetime(2026, 3, 1, 10, tzinfo=UTC)
    old = timed.remember("rate is ten").node
    clock.advance(hours=2)
    timed.remember("rate is twenty", supersedes=old.id)
    for zone in ("Asia/Kolkata", "America/Los_Angeles", "UTC"):
        local_zone(zone)
        for given, text in (
            ("2026-03-01T11:00:00", "rate is ten"),
            ("2026-03-01T16:30:00+05:30", "rate is ten"),
            (datetime(2026, 3, 1, 11), "rate is ten"),  # noqa: DTZ001  naive on purpose
            ("2026-03-01T12:00:00Z", "rate is twenty"),
            ("2026-03-01T11:00:00-01:00", "rate is twenty"),
        ):
            times = {ask: given}
            assert [hit.node.text for hit in timed.recall("rate", **times).hits] == [text]
            assert [node.text for node in timed.list(**times)] == [text]
            assert timed.read(old.memory_id, **times).node.text == text
            assert timed.history(old.id, **times)[0].text == text
    event = timed.record_event("user", "said", occurred_at="2026-03-01T00:30:00+05:30")
    assert event.to_dict()["occurred_at"] == "2026-02-28T19:00:00+00:00"
    patch = timed.patch(event.patch_id).to_dict()
    assert patch["recorded_at"] == "2026-03-01T12:00:00+00:00"


ODD_TIMES = {
    1700000000: 1,
    1700000000000: 1,
    1700000000.5: 1,
    0: 0,
    -1: 0,
    "0001-01-01T00:00:00Z": 0,
    "9999-12-31T23:59:59Z": 1,
    "2026-W01-4": 1,
    "20260101T100000Z": 1,
    " 2026-01-01 ": 1,
}
"""And how many answers there are then."""


@pytest.mark.parametrize("ask", ["as_of", "known_at"])
def test_odd_times_of_a_question_that_can_be_meant_are_read_right(timed, clock, ask):
    """TIM-103: Odd date inputs."""
    clock.now = datetime(2023, 1, 1, tzinfo=UTC)
    node = timed.remember("rate is ten").node
    for given, count in ODD_TIMES.items():
        assert len(timed.recall("rate", **{ask: given}).hits) == count
        assert len(timed.search("", **{ask: given}).hits) == count
        assert len(timed.list(**{ask: given})) == count
        if count:
            assert timed.read(node.memory_id, **{ask: given}).node.id == node.id
            assert timed.get_node(node.id, **{ask: given}).status is Status.ACTIVE


@pytest.mark.parametrize(
    "given",
    [
        *("2026-02-29T00:00:00Z", "2016-12-31T23:59:60Z", "", "\ud83d", "1700000000"),
        *("0001-01-01T00:00:00+05:00", float("nan"), 10**400, True, timedelta(1)),
    ],
    ids=ascii,
)
def test_odd_times_that_cannot_be_meant_are_refused_everywhere(open_memory, refused, given):
    """TIM-103: Odd date inputs, rejected with a reason."""
    memory = open_memory(":memory:")
    event = memory.record_event("user", "Go ahead.").id
    node = memory.remember("rate is ten").node
    for ask in ("as_of", "known_at"):
        for use in (
            lambda times: memory.recall("rate", **times),
            lambda times: memory.search("", **times),
            lambda times: memory.list(**times),
            lambda times: memory.read(node.memory_id, **times),
            lambda times: memory.get_node(node.id, **times),
            lambda times: memory.history(node.id, **times),
        ):
            with refused(memory, InvalidRequestError, f"{ask}=.*is not a time"):
                use({ask: given})
    with refused(memory, InvalidRequestError, "occurred_at=.*is not a time"):
        memory.record_event("user", "said", occurred_at=given)
    for field in ("valid_from", "valid_to"):
        operation = {"op": "ADD", "subject": "s", "content": "x", field: given}
        with refused(memory, InvalidRequestError, f"{field}=.*is not a time"):
            memory.apply([operation], evidence=event)


def test_a_store_that_was_opened_to_be_read_says_so_loudly(open_memory, tmp_path):
    """DUR-103: Read-only file or directory."""
    path = tmp_path / "store.db"
    writing = open_memory(path)
    said = writing.record_event("user", "Go ahead.")
    note = writing.remember("read me")
    with evomem.open(path, linking="off", read_only=True) as memory:
        assert memory.get_event(said.id).content == "Go ahead."
        assert memory.search("read").hits[0].node.id == note.node.id
        assert memory.rollback(note.patch_id, dry_run=True).operations
        for write in (
            lambda: memory.record_event("user", "cannot be saved"),
            lambda: memory.apply([Remove(note.node.memory_id, 1)], evidence=said.id),
            lambda: memory.rollback(note.patch_id),
        ):
            with pytest.raises(ReadOnlyError, match=r"store\.db"):
                write()
        assert memory.doctor().read_only
    assert writing.stats().patches == 2


def test_a_column_and_an_index_more_or_less_lose_nothing(open_memory, tmp_path):
    """MIG-103: Schema mismatch is solved by dropping the table."""
    path = tmp_path / "store.db"
    with evomem.open(path, linking="off") as memory:
        event = memory.record_event("user", "Go ahead.").id
        key = memory.apply([Add("s", "x")], evidence=event).operations[0].memory_id
        before = memory.list(status="all").nodes
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in ("node", "patch", "event", "operation"):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN theirs TEXT DEFAULT 'kept'")
        for index in ("operation_memory", "event_sequence", "node_digest"):
            connection.execute(f"DROP INDEX {index}")
    memory = open_memory(path)
    assert memory.list(status="all").nodes == before
    result = memory.apply([Supersede(key, 1, "y")], evidence=event)
    memory.record_event("user", "said")
    memory.rollback(result.patch_id)
    assert [node.text for node in memory.list()] == ["x"]
    with closing(sqlite3.connect(path)) as connection:
        assert set(connection.execute("SELECT theirs FROM node")) == {("kept",)}


@pytest.mark.subprocess
def test_a_memory_outlives_the_package_that_wrote_it(tmp_path, monkeypatch):
    """MIG-003: Data live inside the package or cache directory."""
    home = tmp_path / "home"
    home.mkdir()
    source = Path(evomem.__file__).parent

    def run(*words):
        """Install the package anew, run its command line, and take it away again."""
        cache = tmp_path / "cache"
        shutil.copytree(source, cache / "evomem")
        for variable in ("HOME", "USERPROFILE"):
            monkeypatch.setenv(variable, str(home))
        monkeypatch.setenv("PYTHONPATH", str(cache))
        command = [sys.executable, "-m", "evomem", "--json", *words]
        done = subprocess.run(command, capture_output=True, check=False, text=True, cwd=cache)
        assert done.returncode == 0, done.stderr
        assert {item.name for item in cache.iterdir()} == {"evomem"}
        left = [item for item in cache.rglob("*") if item.suffix in {".db", ".sqlite"}]
        shutil.rmtree(cache)
        assert left == []
        return json.loads(done.stdout)

    kept = run("remember", "survive", "--linking", "off")["node"]["id"]
    found = run("doctor")
    assert (found["ok"], found["path"]) == (True, str(home / ".evomem" / "evomem.db"))
    assert found["location"] == "default"
    with evomem.open(linking="off") as memory:
        assert [hit.node.id for hit in memory.recall("survive").hits] == [kept]


def test_a_purge_says_plainly_what_it_keeps(open_memory, tmp_path):
    """PRV-001: Secret stays after purge: the normal one keeps the event, and says so."""
    secret = "deploy key is sk-" + "TEST-1234567890abcdef rotate monthly"
    path = tmp_path / "store.db"
    memory = open_memory(path)
    note = memory.remember(secret)
    result = memory.forget(note.node.id, purge=True)
    assert "an event with the same text keeps it" in result.warnings[0]
    (event_id,) = memory.patch(note.patch_id).events
    assert memory.get_event(event_id).content == secret
    for shown in (memory.patch(note.patch_id), memory.history(note.node.id), memory.changes()):
        assert "TEST" not in repr(shown)


def test_a_secret_that_is_redacted_needs_no_purge(open_memory, tmp_path):
    """PRV-001: with redaction it never gets into the files."""
    token = "gh" + "p_" + "aB3dE5gH7jK9mN2pQ4sT6vW8yZaB3dE5gH7j"
    config = tmp_path / "policy.yaml"
    config.write_text("policy: {redaction: redact}\n", "utf-8")
    memory = open_memory(tmp_path / "store.db", config=config)
    event = memory.record_event("user", f"the key is {token}")
    memory.apply([Add("key", f"deploy key is {token} rotate monthly")], evidence=event.id)
    assert memory.recall("deploy key").hits[0].node.text.startswith("deploy key is [redacted")
    for file in tmp_path.glob("store.db*"):
        assert token.encode() not in file.read_bytes()
