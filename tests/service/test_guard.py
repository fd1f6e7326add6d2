"""What a policy file lets whom write, through the public surface.

The secrets here are made up, and put together at run time so that no scanner takes them for real.
"""

from contextlib import contextmanager
from typing import Any

import pytest

import evomem
from evomem import (
    Add,
    EvidenceMissingError,
    EvidenceRoleError,
    InvalidRequestError,
    PolicyDeniedError,
    Remove,
    Status,
    Supersede,
    TooLargeError,
    Update,
)

TOKEN = "gh" + "p_" + "aB3dE5gH7jK9mN2pQ4sT6vW8yZaB3dE5gH7j"
OTHER = "AK" + "IA" + "ABCDEFGH23456789"
OLD, NEW = "The ledger runs on Postgres.", "The ledger runs on SQLite."


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def policy(tmp_path):
    """Write a policy file and return its path."""

    def write(text):
        file = tmp_path / "policy.yaml"
        lines = (f"  {line}\n" for line in text.strip().splitlines())
        file.write_text("version: 1\npolicy:\n" + "".join(lines), "utf-8")
        return file

    return write


@pytest.fixture
def opened(path, policy):
    """Open the test's store under a policy; it is checked and closed at the end."""
    handles = []

    def open_under(text, **options):
        handles.append(evomem.open(path, linking="off", config=policy(text), **options))
        return handles[-1]

    yield open_under
    for handle in handles:
        with handle:
            assert handle._context.engine.verify() == []


def seen(memory):
    stats = memory.stats()
    nodes = memory.list(status="all", limit=1000).nodes
    return stats.events, stats.patches, stats.pending_reviews, nodes


@contextmanager
def refused(memory, error, match=None, **details):
    """Expect a refusal of exactly this class that names a rule and writes nothing."""
    before = seen(memory)
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert type(caught.value) is error
    assert {name: caught.value.details.get(name) for name in details} == details
    assert seen(memory) == before


LOW = """
trust:
  rules:
    - {actor: "scraper-*", trust: low}
"""
BOT: dict[str, Any] = {"actor": "scraper-7"}


@pytest.mark.promise("link.never-guess")
@pytest.mark.parametrize("kind", ["supersedes", "refines", "amends", "overrides"])
def test_what_a_caller_of_low_trust_would_replace_becomes_a_suggestion(opened, kind):
    memory = opened(LOW)
    old = memory.remember(OLD, tags=["db"]).node
    named = {"amends": {"id": old.id, "part": "Postgres"}}.get(kind, old.id)
    scope = {"scope": "eu"} if kind == "overrides" else {}
    result = memory.remember(NEW, **BOT, **scope, **{kind: named})
    new = result.node
    assert (result.superseded, result.moved, new.supersedes) == ((), (), ())
    assert (new.relations, new.version) == ({}, 1)
    assert result.decision.outcome == "abstain"
    assert [c.node_id for c in result.candidates] == [old.id]
    assert any("Nothing was replaced" in w and "scraper-7" in w for w in result.warnings)
    assert memory.get_node(old.id) == old
    (pending,) = memory.review()
    assert (pending.node.id, pending.candidate.id, pending.confidence) == (new.id, old.id, 1.0)
    assert {node.id for node in memory.list()} == {old.id, new.id}
    hits = {hit.node.id: hit for hit in memory.recall("ledger").hits}
    assert hits[old.id].questioned == (new.id,)


def test_a_suggestion_of_low_trust_is_accepted_by_a_link(opened):
    memory = opened(LOW)
    old = memory.remember(OLD, scope="eu").node
    proposed = memory.remember(NEW, supersedes=old.id, **BOT).node
    assert proposed.scope == "eu"
    with refused(memory, PolicyDeniedError, rule="policy.trust.rules[0]", trust="low"):
        memory.link(proposed.id, supersedes=old.id, **BOT)
    assert memory.link(proposed.id, supersedes=old.id, actor="ada").superseded == (old.id,)
    assert memory.review() == []
    assert [hit.node.id for hit in memory.recall("postgres").hits] == [proposed.id]


def test_a_proposal_that_says_what_a_note_says_already_waits_for_review_too(opened):
    memory = opened(LOW)
    old, twin = memory.remember(OLD).node, memory.remember(NEW).node
    result = memory.remember(NEW, supersedes=old.id, **BOT)
    assert (result.deduplicated, result.node.id, result.superseded) == (True, twin.id, ())
    assert memory.get_node(old.id).status is Status.ACTIVE
    if any("waits in review" in warning for warning in result.warnings):
        assert [(p.node.id, p.candidate.id) for p in memory.review()] == [(twin.id, old.id)]


def test_a_batch_of_low_trust_proposes_each_of_its_notes(opened):
    memory = opened(LOW)
    old = memory.remember(OLD).node
    notes = [{"text": text, "supersedes": old.id, **BOT} for text in (NEW, "On files.")]
    results = memory.remember_many([*notes, {"text": "Beside.", **BOT}])
    assert [bool(result.candidates) for result in results] == [True, True, False]
    assert {p.candidate.id for p in memory.review()} == {old.id}
    assert memory.get_node(old.id).status is Status.ACTIVE


def test_a_link_that_a_linker_makes_for_low_trust_is_a_suggestion(path, policy):
    class Sure:
        name = "sure/1"

        def gate(self, note):
            return None

        def decide(self, note, candidates):
            return evomem.Link((candidates[0].node_id,), "says so", 0.99)

    with evomem.open(path, linking="auto", linker=Sure(), config=policy(LOW)) as memory:
        old = memory.remember(OLD, supersedes=memory.remember("first").node.id).node
        result = memory.remember(NEW, **BOT)
        assert (result.superseded, result.decision.outcome) == ((), "abstain")
        assert [p.candidate.id for p in memory.review()] == [old.id]
        assert memory.remember("The ledger runs on files.").superseded


def test_low_trust_takes_nothing_out_of_force(opened):
    memory = opened(LOW)
    event = memory.record_event("user", "Go ahead.", **BOT).id
    old = memory.remember(OLD).node
    new = memory.remember(NEW).node
    memory.remember("main", slot="branch")
    linked = memory.remember("v2", supersedes=memory.remember("v1").node.id).node
    low = {"rule": "policy.trust.rules[0]", "trust": "low", "actor": "scraper-7"}
    for operation in (
        Update(old.memory_id, 1, "Postgres runs the ledger."),
        Supersede(old.memory_id, 1, "On files."),
        Supersede(old.memory_id, 1, "On files.", part="Postgres"),
        Remove(old.memory_id, 1),
    ):
        with refused(memory, PolicyDeniedError, "may not take a node out of force", **low):
            memory.apply([Add("s", "beside"), operation], evidence=event, **BOT)
    for change in (
        lambda: memory.link(new.id, supersedes=old.id, **BOT),
        lambda: memory.unlink(linked.id, linked.supersedes[0], **BOT),
        lambda: memory.forget(old.id, **BOT),
        lambda: memory.forget(old.id, purge=True, **BOT),
        lambda: memory.remember("trunk", slot="branch", **BOT),
    ):
        with refused(memory, PolicyDeniedError, "Propose the change", **low):
            change()
    # But it may add, and read.
    memory.apply([Add("s", "beside")], evidence=event, **BOT)
    memory.remember("A free slot.", slot="free", **BOT)
    memory.remember("In another scope.", slot="branch", scope="eu", **BOT)
    assert memory.recall("ledger").hits


def test_whom_nothing_is_trusted_writes_nothing(opened):
    memory = opened('trust: {rules: [{actor: "guest-*", trust: none}]}')
    event = memory.record_event("user", "Go ahead.").id
    old = memory.remember(OLD).node
    guest = {"actor": "guest-1"}
    none = {"rule": "policy.trust.rules[0]", "trust": "none", "actor": "guest-1"}
    for write in (
        lambda: memory.remember(NEW, **guest),
        lambda: memory.remember(NEW, supersedes=old.id, **guest),
        lambda: memory.remember_many([{"text": NEW, **guest}, {"text": "x", **guest}]),
        lambda: memory.record_event("user", "said", **guest),
        lambda: memory.apply([Add("s", NEW)], evidence=event, **guest),
        lambda: memory.apply([Remove(old.memory_id, 1)], evidence=event, **guest),
        lambda: memory.forget(old.id, **guest),
    ):
        with refused(memory, PolicyDeniedError, "guest-1", **none):
            write()
    # A glob of names does not fit whoever names none.
    memory.remember(NEW)


@pytest.mark.parametrize("default", ["low", "none"])
def test_undoing_needs_the_trust_that_the_change_needs(opened, default):
    """It takes what a patch added out of force."""
    memory = opened(f"trust: {{default: {default}, rules: [{{actor: ada, trust: high}}]}}")
    patch_id = memory.remember(OLD, actor="ada").patch_id
    with refused(memory, PolicyDeniedError, trust=default):
        memory.rollback(patch_id, actor="bob")
    memory.rollback(patch_id, actor="ada")


SCOPED = """
trust:
  rules:
    - {actor: release, scope: production, trust: high}
    - {scope: production, trust: low}
    - {actor: eu-team, scope: eu, trust: high}
    - {actor: eu-team, trust: none}
"""


def test_trust_is_given_by_scope(opened):
    memory = opened(SCOPED)
    event = memory.record_event("user", "Go ahead.").id
    anywhere = memory.remember(OLD).node
    inside = memory.remember("In production.", scope="production/eu").node
    low = {"rule": "policy.trust.rules[1]", "trust": "low"}
    with refused(memory, PolicyDeniedError, "in the scope 'production/eu'", **low):
        memory.apply([Remove(inside.memory_id, 1)], evidence=event)
    with refused(memory, PolicyDeniedError, **low):
        memory.forget(inside.id)
    assert memory.remember("Also there.", scope="production").decision.outcome == "off"
    proposed = memory.remember("Files.", supersedes=inside.id)
    assert (proposed.superseded, proposed.node.scope) == ((), "production/eu")
    done = memory.remember("By the release.", supersedes=inside.id, actor="release")
    assert done.superseded == (inside.id,)
    # What has no scope lies in none.
    assert memory.remember(NEW, supersedes=anywhere.id).superseded == (anywhere.id,)


def test_a_team_writes_in_its_own_scope_only(opened):
    memory = opened(SCOPED)
    event = memory.record_event("user", "Go ahead.").id
    team = {"actor": "eu-team"}
    none = {"rule": "policy.trust.rules[3]", "trust": "none"}
    own = memory.remember("In the EU.", scope="eu/west", **team).node
    for scope in (None, "us", "europe"):
        with refused(memory, PolicyDeniedError, **none):
            memory.remember("Elsewhere.", scope=scope, **team)
        with refused(memory, PolicyDeniedError, **none):
            memory.apply([Add("s", "Elsewhere.", scope=scope)], evidence=event, **team)
    memory.apply([Update(own.memory_id, 1, "In Europe.")], evidence=event, **team)
    memory.apply([Supersede(own.memory_id, 2, "In all of it.", scope="eu")], evidence=event, **team)


def test_a_version_that_would_hold_in_more_needs_trust_there_too(opened):
    """`remember` with the same scope is refused as well."""
    memory = opened("""
trust:
  default: none
  rules:
    - {actor: ada, trust: high}
    - {actor: bob, scope: production/eu, trust: high}
""")
    event = memory.record_event("user", "Go.", actor="ada").id
    old = memory.remember(OLD, scope="production/eu", actor="ada").node
    bob = {"actor": "bob"}
    with refused(memory, PolicyDeniedError, trust="none"):
        memory.remember(NEW, supersedes=old.id, scope="production", **bob)
    with refused(memory, PolicyDeniedError, trust="none"):
        operation = Supersede(old.memory_id, 1, NEW, scope="production")
        memory.apply([operation], evidence=event, **bob)


@pytest.mark.parametrize("way", ["remember", "refine", "link"])
def test_trust_is_asked_for_what_goes_out_of_force_and_not_for_what_is_named(opened, way):
    """An old version may be of a scope in which the caller may do more."""
    memory = opened("""
trust:
  rules:
    - {actor: eu-team, scope: eu, trust: high}
    - {actor: eu-team, trust: low}
""")
    local = memory.remember("Logs are kept 30 days.", scope="eu").node
    everywhere = memory.remember("Logs are kept 90 days.").node
    memory.link(everywhere.id, supersedes=local.id)
    team = {"actor": "eu-team"}
    if way == "link":
        other = memory.remember("Logs are kept 14 days.", **team).node
        with refused(memory, PolicyDeniedError, trust="low"):
            memory.link(other.id, supersedes=local.id, **team)
    else:
        kind = {"remember": "supersedes", "refine": "refines"}[way]
        result = memory.remember("Logs are kept 14 days.", **{kind: local.id}, **team)
        assert result.superseded == ()
        assert [p.candidate.id for p in memory.review()] == [everywhere.id]
    assert memory.get_node(everywhere.id).status is Status.ACTIVE


def test_trust_goes_by_what_the_evidence_is_of(opened):
    memory = opened("trust: {rules: [{source: mcp, roles: [tool], trust: low}]}")
    old = memory.remember(OLD).node
    tool, user = (memory.record_event(role, "said").id for role in ("tool", "user"))
    operation = Supersede(old.memory_id, 1, NEW)
    with refused(memory, PolicyDeniedError, rule="policy.trust.rules[0]"):
        memory.apply([operation], evidence=[tool], source="mcp")
    memory.apply([operation], evidence=[tool, user], source="mcp")
    memory.apply([Update(old.memory_id, 2, "SQLite.")], evidence=[tool], source="cli")


def test_only_what_is_listed_may_be_done(opened):
    memory = opened("operations: {allowed: [ADD, LINK]}")
    event = memory.record_event("user", "Go ahead.").id
    old, new = memory.remember(OLD).node, memory.remember(NEW).node
    for write, op in (
        (lambda: memory.remember("x", supersedes=old.id), "SUPERSEDE"),
        (lambda: memory.remember("x", refines=old.id), "UPDATE"),
        (lambda: memory.forget(old.id), "REMOVE"),
        (lambda: memory.apply([Update(old.memory_id, 1, "x")], evidence=event), "UPDATE"),
        (lambda: memory.apply([Supersede(old.memory_id, 1, "x")], evidence=event), "SUPERSEDE"),
        (lambda: memory.apply([Remove(old.memory_id, 1)], evidence=event), "REMOVE"),
    ):
        with refused(memory, PolicyDeniedError, rule="policy.operations.allowed", op=op):
            write()
    memory.apply([Add("s", "added")], evidence=event)
    memory.link(new.id, supersedes=old.id)
    with refused(memory, PolicyDeniedError, op="UNLINK"):
        memory.unlink(new.id, old.id)


def test_a_rollback_does_no_more_than_is_listed(opened):
    memory = opened("operations: {allowed: [ADD, SUPERSEDE]}")
    old = memory.remember(OLD).node
    patch_id = memory.remember(NEW, supersedes=old.id).patch_id
    with refused(memory, PolicyDeniedError, rule="policy.operations.allowed", op="RESTORE"):
        memory.rollback(patch_id)


def test_evidence_is_asked_for_as_the_policy_says(opened):
    memory = opened("evidence: {required_for: [REMOVE], roles: [assistant], max_per_patch: 1}")
    added = memory.apply([Add("s", OLD)])
    key = added.operations[0].memory_id
    with refused(memory, EvidenceMissingError, ops=["REMOVE"]):
        memory.apply([Supersede(key, 1, NEW), Remove(key, 2)])
    user = memory.record_event("user", "said").id
    with refused(memory, EvidenceRoleError, role="user", allowed=["assistant"]):
        memory.apply([Add("s", "x")], evidence=user)
    said = [memory.record_event("assistant", "said").id for _ in range(2)]
    with refused(memory, TooLargeError, limit=1):
        memory.apply([Remove(key, 1)], evidence=said)
    memory.apply([Remove(key, 1)], evidence=said[0])


def test_sizes_are_bound_as_the_policy_says(opened):
    memory = opened("""
limits: {max_text_bytes: 40, max_event_bytes: 20}
operations: {max_per_patch: 2}
""")
    event = memory.record_event("user", "x" * 20).id
    note = memory.remember("é" * 20).node
    text, limit = {"rule": "policy.limits.max_text_bytes"}, {"limit_bytes": 40, "size_bytes": 41}
    long = "é" * 20 + "x"
    for write in (
        lambda: memory.remember(long),
        lambda: memory.remember_many(["fine", long]),
        lambda: memory.apply([Add("s", long)], evidence=event),
        lambda: memory.apply([Update(note.memory_id, 1, long)], evidence=event),
        lambda: memory.apply([Supersede(note.memory_id, 1, long)], evidence=event),
    ):
        with refused(memory, TooLargeError, **text, **limit):
            write()
    with refused(memory, TooLargeError, rule="policy.limits.max_event_bytes", size_bytes=21):
        memory.record_event("user", "x" * 21)
    with refused(memory, TooLargeError, count=3, limit=2):
        memory.apply([Add("s", f"n{n}") for n in range(3)], evidence=event)


def test_only_those_listed_may_purge_and_roll_back(opened):
    memory = opened('permissions: {purge: ["admin"], rollback: ["admin", "ops-*"]}')
    note = memory.remember(OLD)
    purge = {"rule": "policy.permissions.purge"}
    undo = {"rule": "policy.permissions.rollback"}
    for actor in (None, "ada", "Admin", "ops-1"):
        with refused(memory, PolicyDeniedError, "Nothing was changed", actor=actor, **purge):
            memory.forget(note.node.id, purge=True, actor=actor)
    for actor in (None, "ada", "ops"):
        for dry_run in (True, False):
            with refused(memory, PolicyDeniedError, actor=actor, **undo):
                memory.rollback(note.patch_id, actor=actor, dry_run=dry_run)
    undone = memory.rollback(note.patch_id, actor="ops-1")
    memory.rollback(undone.patch_id, actor="admin")
    assert memory.forget(note.node.id, purge=True, actor="admin").purged


def test_nobody_may_if_nobody_is_listed(opened):
    memory = opened("permissions: {purge: [], rollback: []}")
    note = memory.remember(OLD)
    for actor in (None, "admin", "*", ""):
        with refused(memory, PolicyDeniedError):
            memory.forget(note.node.id, purge=True, actor=actor)
        with refused(memory, PolicyDeniedError):
            memory.rollback(note.patch_id, actor=actor)
    assert memory.forget(note.node.id).changed


def bytes_of(path):
    """Everything that lies in the files of a store."""
    return b"".join(file.read_bytes() for file in path.parent.glob("store.db*"))


def write_everywhere(memory):
    """Put a secret wherever a caller may put words; return all warnings."""
    text = f"The token is {TOKEN} for now."
    warnings = []
    note = memory.remember(
        text, subject=f"on {TOKEN}", tags=[TOKEN], metadata={"a": [{"b": f"{TOKEN}!"}]}
    )
    warnings += note.warnings
    event = memory.record_event("user", text)
    warnings += event.warnings
    added = memory.apply(
        [
            Add(f"on {TOKEN}", text + "2", tags=[TOKEN], metadata={"k": TOKEN}),
            Update(note.node.memory_id, 1, f"Now it is {TOKEN}.", subject=TOKEN),
            Supersede(note.node.memory_id, 2, f"And {TOKEN}."),
        ],
        evidence=event.id,
        reason=f"because of {TOKEN}",
    )
    return warnings + list(added.warnings)


def test_without_redaction_nobody_looks_for_secrets(opened, path):
    memory = opened("redaction: off")
    assert write_everywhere(memory) == []
    assert TOKEN.encode() in bytes_of(path)
    assert memory.recall(TOKEN).hits[0].node.text == f"And {TOKEN}."


@pytest.mark.promise("raw.kept")
def test_a_secret_that_is_warned_of_is_stored_as_it_is(opened, path):
    memory = opened("redaction: warn")
    warnings = write_everywhere(memory)
    assert len(warnings) == 6
    assert all("GitHub Token" in w and "stored as it is" in w for w in warnings)
    assert not any(TOKEN in warning for warning in warnings)
    assert [w[:12] for w in warnings[2:5]] == [f"Operation {n}:" for n in range(3)]
    assert memory.recall(TOKEN).hits[0].node.text == f"And {TOKEN}."
    assert memory.remember("No secret here.").warnings == ()


def test_a_redacted_secret_is_nowhere_in_the_file(opened, path):
    memory = opened("redaction: redact")
    warnings = write_everywhere(memory)
    assert len(warnings) == 6
    assert all("were replaced before storing: GitHub Token" in w for w in warnings)
    shown = "[redacted: GitHub Token]"
    head = memory.recall("and").hits[0].node
    assert (head.text, head.subject) == (f"And {shown}.", shown)
    first = memory.history(head.id)[-1]
    assert first.text == f"The token is {shown} for now."
    assert (first.tags, first.metadata) == ((shown,), {"a": [{"b": f"{shown}!"}]})
    patch = memory.patch(memory.changes()[-1].patch_id)
    assert patch.reason == f"because of {shown}"
    assert memory.get_event(patch.evidence[0]).content == f"The token is {shown} for now."
    assert TOKEN.encode() not in bytes_of(path)
    assert TOKEN.lower().encode() not in bytes_of(path).lower()
    assert TOKEN not in repr(memory.changes())


def test_the_reasons_of_every_change_are_looked_through(opened, path):
    memory = opened("redaction: redact")
    old, new = memory.remember(OLD).node, memory.remember(NEW).node
    reason = {"reason": f"because of {TOKEN}"}
    memory.link(new.id, supersedes=old.id, **reason)
    memory.unlink(new.id, old.id, **reason)
    memory.forget(old.id, **reason)
    memory.rollback(memory.changes()[-1].patch_id, **reason)
    reasons = {change.reason for change in memory.changes()[2:]}
    assert reasons == {"because of [redacted: GitHub Token]"}
    assert TOKEN.encode() not in bytes_of(path)


def test_secrets_are_refused_wherever_they_stand(opened, path):
    memory = opened("redaction: refuse")
    event = memory.record_event("user", "Go ahead.").id
    note = memory.remember(OLD).node
    rule = {"rule": "policy.redaction"}
    for write in (
        lambda: memory.remember(f"x {TOKEN}"),
        lambda: memory.remember("x", subject=TOKEN),
        lambda: memory.remember("x", tags=["a", TOKEN]),
        lambda: memory.remember("x", metadata={"a": [{"b": TOKEN}]}),
        lambda: memory.remember_many(["fine", f"x {TOKEN}"]),
        lambda: memory.record_event("user", TOKEN),
        lambda: memory.apply([Add("s", "fine"), Add("s", TOKEN)], evidence=event),
        lambda: memory.apply([Add(TOKEN, "x")], evidence=event),
        lambda: memory.apply([Add("s", "x", tags=[TOKEN])], evidence=event),
        lambda: memory.apply([Add("s", "x", metadata={"k": TOKEN})], evidence=event),
        lambda: memory.apply([Update(note.memory_id, 1, TOKEN)], evidence=event),
        lambda: memory.apply([Supersede(note.memory_id, 1, TOKEN)], evidence=event),
        lambda: memory.apply([Add("s", "x")], evidence=event, reason=TOKEN),
        lambda: memory.forget(note.id, reason=TOKEN),
        lambda: memory.rollback(memory.changes()[-1].patch_id, reason=TOKEN),
    ):
        with refused(memory, PolicyDeniedError, secrets=["GitHub Token"], **rule) as caught:
            write()
        assert TOKEN not in str(caught.value.to_dict())
    assert TOKEN.encode() not in bytes_of(path)


def test_every_secret_of_a_text_is_replaced_and_named_once(opened, path):
    memory = opened("redaction: redact")
    result = memory.remember(f"{TOKEN} and {OTHER} and {TOKEN}")
    assert result.node.text == (
        "[redacted: GitHub Token] and [redacted: AWS Access Key] and [redacted: GitHub Token]"
    )
    (warning,) = result.warnings
    assert (warning.count("GitHub"), warning.count("AWS")) == (1, 1)
    raw = bytes_of(path)
    assert TOKEN.encode() not in raw
    assert OTHER.encode() not in raw


@pytest.mark.promise("write.idempotent")
def test_what_was_redacted_is_replayed_and_deduplicated(opened):
    memory = opened("redaction: redact")
    text = f"The token is {TOKEN}."
    first = memory.remember(text, idempotency_key="k")
    assert memory.remember(text, idempotency_key="k").replayed
    assert memory.remember(text).deduplicated
    event = memory.record_event("user", text, external_id="msg-7")
    assert memory.record_event("user", text, external_id="msg-7").replayed
    batch = {"operations": [Add("s", text + "2")], "evidence": event.id, "idempotency_key": "a"}
    done = memory.apply(**batch)
    assert memory.apply(**batch).patch_id == done.patch_id
    assert first.node.text == "The token is [redacted: GitHub Token]."


def test_the_cronista_and_the_linker_see_no_secret(path, policy):
    seen_texts = []

    class Watching:
        name = "watching/1"

        def extract(self, texts):
            seen_texts.extend(texts)
            return [evomem.Extraction("watching/1") for _ in texts]

        def gate(self, note):
            seen_texts.append(repr(note))

        def decide(self, note, candidates):
            seen_texts.append(repr((note, candidates)))
            return evomem.NoLink("none")

    watch = Watching()
    options: dict[str, Any] = {"cronista": watch, "linker": watch, "linking": "suggest"}
    with evomem.open(path, config=policy("redaction: redact"), **options) as memory:
        write_everywhere(memory)
        memory.remember(f"Another {TOKEN}", subject=TOKEN)
    assert len(seen_texts) > 6
    assert not any(TOKEN in text for text in seen_texts)


def test_the_file_is_found_by_its_variable(path, policy, monkeypatch):
    monkeypatch.setenv("EVOMEM_CONFIG", str(policy("limits: {max_text_bytes: 5}")))
    with evomem.open(path, linking="off") as memory, refused(memory, TooLargeError):
        memory.remember("123456")
    other = policy("limits: {max_text_bytes: 6}")
    with evomem.open(path, linking="off", config=other) as memory:
        memory.remember("123456")
    monkeypatch.setenv("EVOMEM_CONFIG", str(path.with_name("missing.yaml")))
    with pytest.raises(InvalidRequestError, match=r"missing\.yaml: the settings cannot be read"):
        evomem.open(path)
    monkeypatch.setenv("EVOMEM_CONFIG", " ")
    with evomem.open(path, linking="off") as memory:
        memory.remember("1234567")


def test_a_policy_with_a_mistake_opens_nothing(tmp_path, policy):
    path = tmp_path / "not-made.db"
    with pytest.raises(InvalidRequestError, match="did you mean redaction") as refusal:
        evomem.open(path, config=policy("redactions: off"))
    assert refusal.value.details["line"] == 3
    assert not path.exists()


@pytest.mark.promise("namespace.wall")
def test_a_policy_holds_in_every_namespace_of_its_handle(opened):
    memory = opened(LOW).within("below")
    old = memory.remember(OLD).node
    with refused(memory, PolicyDeniedError):
        memory.forget(old.id, **BOT)
    assert memory.remember(NEW, supersedes=old.id, **BOT).superseded == ()


def test_a_policy_may_change_between_two_openings(opened):
    memory = opened("redaction: refuse")
    old = memory.remember(OLD).node
    stricter = opened("trust: {default: low, rules: [{actor: ada, trust: high}]}")
    with refused(stricter, PolicyDeniedError):
        stricter.forget(old.id)
    memory.forget(old.id)
    assert stricter.get_node(old.id).status is Status.FORGOTTEN
