import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem import InvalidRequestError, PolicyDeniedError, TooLargeError
from evomem.domain.patch import Op
from evomem.domain.policy import EvidenceRules, Policy, Redaction, Trust, TrustRule
from evomem.errors import EvidenceMissingError, EvidenceRoleError

LOW = TrustRule(Trust.LOW)
USER = {"e1": "user"}


def trusting(*rules, default=Trust.HIGH):
    return Policy(trust=rules, default_trust=default)


def policy_with(name: str, value: Any) -> Policy:
    return Policy(**{name: value})


def test_the_defaults_ask_for_evidence_and_trust_everyone():
    policy = Policy()
    assert policy.evidence.required_for == {Op.ADD, Op.UPDATE, Op.SUPERSEDE, Op.REMOVE}
    assert policy.evidence.roles == {"user", "tool", "system", "document"}
    assert policy.operations == set(Op)
    assert policy.trust_of(None, None, None) is Trust.HIGH
    assert policy.redaction is Redaction.OFF
    assert policy.max_text_bytes == policy.max_event_bytes == 1 << 20


def test_a_policy_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().redaction = Redaction.WARN  # type: ignore[misc]


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_text_bytes": (1 << 20) + 1},
        {"max_event_bytes": 0},
        {"max_operations": 10_001},
        {"max_operations": True},
        {"max_text_bytes": "10"},
    ],
)
def test_limits_can_only_be_lowered(arguments):
    with pytest.raises(InvalidRequestError, match=r"policy\."):
        Policy(**arguments)


def test_the_bound_on_evidence_has_a_range():
    with pytest.raises(InvalidRequestError, match=r"policy\.evidence\.max_per_patch"):
        EvidenceRules(max_per_patch=1001)


@pytest.mark.parametrize(
    ("actor", "glob", "fits"),
    [
        ("scraper-7", "scraper-*", True),
        ("Scraper-7", "scraper-*", False),
        ("scraper", "scraper-*", False),
        ("a/b", "a*", True),
        ("", "*", True),
        (None, "*", True),
        (None, "**", False),
        (None, "", False),
        ("scraper-7", "scraper-[0-9]", True),
    ],
)
def test_actors_and_sources_are_matched_by_globs(actor, glob, fits):
    expected = Trust.LOW if fits else Trust.HIGH
    assert trusting(TrustRule(Trust.LOW, actor=glob)).trust_of(actor, None, None) is expected
    assert trusting(TrustRule(Trust.LOW, source=glob)).trust_of(None, actor, None) is expected


@pytest.mark.parametrize(
    ("scope", "fits"),
    [
        ("production", True),
        (" Production / EU ", True),
        ("production-2", False),
        (None, False),
        ("", False),
    ],
)
@pytest.mark.parametrize("written", ["production", "Production", "/production/"])
def test_a_rule_covers_its_scope_and_what_lies_inside(written, scope, fits):
    policy = trusting(TrustRule(Trust.LOW, scope=written))
    assert policy.trust_of("a", "b", scope) is (Trust.LOW if fits else Trust.HIGH)


@pytest.mark.parametrize(
    ("roles", "fits"),
    [
        ([], False),
        (["tool"], True),
        (["tool", "tool", "document"], True),
        (["tool", "user"], False),
    ],
)
def test_a_rule_about_roles_fits_only_if_all_evidence_is_of_them(roles, fits):
    policy = trusting(TrustRule(Trust.LOW, roles=frozenset({"tool", "document"})))
    assert policy.trust_of(None, None, None, roles) is (Trust.LOW if fits else Trust.HIGH)


def test_all_parts_of_a_rule_must_fit():
    rule = TrustRule(Trust.NONE, "bot-*", "mcp", "production", frozenset({"tool"}))
    caller = {"actor": "bot-1", "source": "mcp", "scope": "production/eu", "roles": ["tool"]}
    assert trusting(rule).trust_of(**caller) is Trust.NONE
    others = {"actor": "ada", "source": "cli", "scope": "staging", "roles": ["user"]}
    for name, other in others.items():
        assert trusting(rule).trust_of(**caller | {name: other}) is Trust.HIGH


def test_the_first_rule_that_fits_decides_and_else_the_default():
    policy = trusting(
        TrustRule(Trust.HIGH, actor="scraper-chief"),
        TrustRule(Trust.LOW, actor="scraper-*"),
        TrustRule(Trust.NONE, source="mail"),
        default=Trust.LOW,
    )
    assert policy.trust_of("scraper-chief", "mail", None) is Trust.HIGH
    assert policy.trust_of("scraper-7", "mail", None) is Trust.LOW
    assert policy.trust_of("ada", "mail", None) is Trust.NONE
    assert policy.trust_of("ada", "cli", None) is Trust.LOW


@pytest.mark.parametrize(
    ("trust", "writes", "replaces"),
    [(Trust.HIGH, True, True), (Trust.LOW, True, False), (Trust.NONE, False, False)],
)
def test_trust_says_what_a_caller_may_do(trust, writes, replaces):
    policy = trusting(TrustRule(trust, actor="Bot"))
    for check, allowed in ((policy.check_write, writes), (policy.check_replace, replaces)):
        if allowed:
            check("Bot", None, "production")
            continue
        with pytest.raises(PolicyDeniedError) as refused:
            check("Bot", None, "production")
        assert refused.value.details == {
            "rule": "policy.trust.rules[0]",
            "trust": str(trust),
            "actor": "Bot",
            "scope": "production",
        }
        assert "'Bot'" in refused.value.message
        assert "policy.trust.rules[0]" in refused.value.message


def test_who_may_only_propose_is_told_how():
    with pytest.raises(PolicyDeniedError, match=r"remember\(supersedes=") as refused:
        trusting(default=Trust.LOW).check_replace(None, None, None)
    assert refused.value.details["rule"] == "policy.trust.default"
    assert "names no actor" in refused.value.message


def test_an_operation_that_is_not_listed_is_refused_by_name():
    policy = Policy(operations=frozenset({Op.ADD, Op.LINK}))
    policy.check_operations([Op.ADD, Op.LINK])
    with pytest.raises(
        PolicyDeniedError, match=r"policy\.operations\.allowed .* REMOVE"
    ) as refused:
        policy.check_operations(iter([Op.ADD, Op.REMOVE]))
    assert refused.value.details == {"rule": "policy.operations.allowed", "op": "REMOVE"}


def test_a_patch_holds_at_least_one_and_not_too_many_operations():
    policy = Policy(max_operations=2)
    policy.check_count(1)
    policy.check_count(2)
    with pytest.raises(InvalidRequestError, match="at least one"):
        policy.check_count(0)
    with pytest.raises(TooLargeError, match=r"policy\.operations\.max_per_patch") as refused:
        policy.check_count(3)
    assert refused.value.details["limit"] == 2


@pytest.mark.parametrize("op", [Op.ADD, Op.UPDATE, Op.SUPERSEDE, Op.REMOVE])
def test_evidence_is_required_for_what_changes_memories(op):
    policy = Policy()
    policy.check_evidence([op], ["e1"], USER)
    with pytest.raises(EvidenceMissingError, match="record_event") as refused:
        policy.check_evidence([Op.LINK, op], [], {})
    assert refused.value.details == {"rule": "policy.evidence.required_for", "ops": [str(op)]}


def test_evidence_is_not_required_for_other_operations_or_if_the_policy_says_so():
    Policy().check_evidence([Op.LINK, Op.UNLINK, Op.RESTORE], [], {})
    Policy(evidence=EvidenceRules(required_for=frozenset())).check_evidence([Op.ADD], [], {})


def test_every_unknown_event_is_named():
    with pytest.raises(EvidenceMissingError, match="namespace") as refused:
        Policy().check_evidence([Op.LINK], ["e1", "e2", "e3"], USER)
    assert refused.value.details == {"ids": ["e2", "e3"]}
    assert "record_event" in refused.value.message


def test_an_event_of_another_role_is_no_evidence_even_beside_good_evidence():
    with pytest.raises(EvidenceRoleError) as refused:
        Policy().check_evidence([Op.ADD], ["e1", "e2"], {**USER, "e2": "assistant"})
    assert refused.value.details == {
        "rule": "policy.evidence.roles",
        "event": "e2",
        "role": "assistant",
        "allowed": ["document", "system", "tool", "user"],
    }
    assert isinstance(refused.value, PolicyDeniedError)


def test_a_policy_may_accept_the_words_of_an_assistant():
    rules = EvidenceRules(roles=frozenset({"assistant"}))
    Policy(evidence=rules).check_evidence([Op.ADD], ["e1"], {"e1": "assistant"})


def test_too_much_evidence_is_refused():
    policy = Policy(evidence=EvidenceRules(max_per_patch=1))
    with pytest.raises(TooLargeError, match=r"policy\.evidence\.max_per_patch"):
        policy.check_evidence([Op.ADD], ["e1", "e2"], {**USER, "e2": "user"})


@pytest.mark.parametrize(
    ("check", "key"), [("check_text", "max_text_bytes"), ("check_event", "max_event_bytes")]
)
def test_a_text_is_measured_in_bytes(check, key):
    policy = policy_with(key, 4)
    getattr(policy, check)("éé")
    with pytest.raises(TooLargeError, match=f"policy.limits.{key}") as refused:
        getattr(policy, check)("ééé", "part")
    assert refused.value.details["field"] == "part"
    assert (refused.value.details["size_bytes"], refused.value.details["limit_bytes"]) == (6, 4)


@pytest.mark.parametrize("name", ["purge", "rollback"])
def test_permissions_are_globs_of_actors(name):
    check = f"check_{name}"
    getattr(Policy(), check)(None)
    policy = policy_with(name, ("admin-*", "ada"))
    getattr(policy, check)("admin-1")
    getattr(policy, check)("ada")
    for actor in ("bob", None):
        with pytest.raises(PolicyDeniedError, match=f"policy.permissions.{name}") as refused:
            getattr(policy, check)(actor)
        assert refused.value.details == {"rule": f"policy.permissions.{name}", "actor": actor}
    with pytest.raises(PolicyDeniedError):
        getattr(policy_with(name, ()), check)("ada")


NAMES = st.none() | st.text(max_size=6)


@given(
    NAMES, NAMES, st.sampled_from([None, "a", "a/b"]), st.sets(st.sampled_from(["user", "tool"]))
)
def test_low_trust_for_all_lets_everyone_write_and_nobody_replace(actor, source, scope, roles):
    policy = trusting(LOW, TrustRule(Trust.HIGH))
    policy.check_write(actor, source, scope, roles)
    with pytest.raises(PolicyDeniedError):
        policy.check_replace(actor, source, scope, roles)
