"""What a linker may do, and what becomes of marks when nodes are replaced."""

from __future__ import annotations

import pytest

import evomem
from evomem import Abstain, Amend, Link, LinkerError, NoLink, Override, Suggestion


class Fixed:
    """A linker that answers as told; a function gets the candidates."""

    name = "fixed/1"

    def __init__(self, answer):
        self.answer = answer

    def gate(self, note):
        return None

    def decide(self, note, candidates):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(candidates)


def opened(linking, answer):
    return evomem.open(":memory:", linking=linking, linker=Fixed(answer))


OLD, NEW = "The ledger runs on Postgres 16.", "The ledger runs on SQLite now."


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize("error", [LinkerError("no answer"), RuntimeError("boom")])
@pytest.mark.parametrize("linking", ["suggest", "auto"])
def test_a_linker_that_fails_costs_the_link_and_not_the_note(linking, error):
    with opened(linking, error) as memory:
        result = memory.remember(NEW)
        assert memory.get_node(result.node.id).text == NEW
        assert str(error) in result.decision.reason
        assert result.candidates == ()


@pytest.mark.promise("link.never-guess")
@pytest.mark.parametrize(
    "answer",
    [
        lambda c: Link((c[0].node_id,), "says moved", 0.99),
        lambda c: Amend(c[0].node_id, "Postgres 16", "says so", 0.99),
        lambda c: Override(c[0].node_id, "narrower", 0.99),
    ],
    ids=["link", "amend", "override"],
)
def test_in_suggest_mode_every_link_is_a_question(answer):
    with opened("suggest", answer) as memory:
        # The first note has no candidates, so the answer fails and costs nothing.
        old = memory.remember(OLD).node.id
        result = memory.remember(NEW, scope="eu")
        assert [c.node_id for c in result.candidates] == [old]
        assert memory.get_node(old).status == "active"
        assert memory.get_node(old).relations == {}
        assert [p.candidate.id for p in memory.review()] == [old]


@pytest.mark.promise("link.never-guess")
def test_in_auto_mode_a_link_is_made_named_and_undone():
    with opened("auto", lambda c: Link((c[0].node_id,), "says moved", 0.9)) as memory:
        old = memory.remember(OLD).node.id
        result = memory.remember(NEW)
        assert result.superseded == (old,)
        assert result.decision.outcome == "link"
        assert any("fixed/1 made this link on its own" in w for w in result.warnings)
        assert memory.unlink(result.node.id, old).restored == (old,)


@pytest.mark.promise("link.never-guess")
@pytest.mark.parametrize(
    "answer",
    [
        lambda c: Link(("nzzzzzzzzzzz",), "invented", 1.0),
        lambda c: Link((), "nothing", 1.0),
        lambda c: Abstain((Suggestion("nzzzzzzzzzzz", "x", "invented", 0.5),), "unsure"),
    ],
    ids=["link", "nothing", "abstain"],
)
def test_a_node_that_was_no_candidate_is_neither_linked_nor_shown(answer):
    with opened("auto", answer) as memory:
        old = memory.remember(OLD).node.id
        result = memory.remember(NEW)
        assert result.candidates == ()
        assert result.superseded == ()
        assert memory.get_node(old).status == "active"


@pytest.mark.parametrize(
    ("answer", "scope"),
    [
        (lambda c: Link((c[0].node_id,), "x", 1.0), "eu"),
        (lambda c: Override(c[0].node_id, "x", 1.0), None),
        (lambda c: Amend(c[0].node_id, "not in it", "x", 1.0), None),
    ],
    ids=["link", "override", "amend"],
)
def test_what_a_caller_may_not_do_a_linker_only_suggests(answer, scope):
    with opened("auto", answer) as memory:
        old = memory.remember(OLD).node.id
        result = memory.remember(NEW, scope=scope)
        assert [c.node_id for c in result.candidates] == [old]
        assert memory.get_node(old).status == "active"


def test_a_linker_is_not_asked_when_the_caller_named_the_target_or_a_slot():
    def never(candidates):
        pytest.fail("the linker was asked")

    with opened("auto", lambda c: NoLink("first")) as memory:
        old = memory.remember(OLD).node.id
        memory._context.linker.answer = never
        memory.remember(NEW, supersedes=old)
        memory.remember("5432", slot="ledger/port")


@pytest.mark.promise("recall.head")
def test_an_override_wins_over_the_successors_of_the_broad_node_too():
    with evomem.open(":memory:", linking="off") as memory:
        broad = memory.remember("Retention of logs is 30 days.").node.id
        narrow = memory.remember(
            "Retention of logs is 90 days.", scope="eu", overrides=broad
        ).node.id
        newer = memory.remember("Retention of logs is 14 days.", supersedes=broad).node.id
        hits = memory.recall("retention of logs", scope="eu").hits
        assert [(h.node.id, h.overridden) for h in hits] == [(narrow, ()), (newer, (narrow,))]
        assert memory.get_node(newer).relations["overridden_by"] == (narrow,)
        elsewhere = memory.recall("retention of logs", scope="us").hits
        assert [(h.node.id, h.overridden) for h in elsewhere] == [(newer, ())]


@pytest.mark.promise("recall.head")
def test_an_amendment_lives_on_in_refinements_and_ends_with_a_replacement():
    with evomem.open(":memory:", linking="off") as memory:
        plan = memory.remember("Deploys run on Fridays at noon by hand.").node.id
        part = memory.remember(
            "Deploys start at ten.", amends={"id": plan, "part": "at noon"}
        ).node.id
        refined = memory.remember("We deploy on Fridays at noon by hand.", refines=plan).node.id
        assert memory.get_node(refined).relations["amended_by"] == (part,)
        shown = memory.recall("deploy fridays noon by hand").hits
        assert [h.node.id for h in shown][:2] == [refined, part]
        replaced = memory.remember("Deploys are continuous.", supersedes=refined).node.id
        assert "amended_by" not in memory.get_node(replaced).relations


def test_a_purge_takes_the_quotations_of_the_text_along(tmp_path):
    path = tmp_path / "m.db"
    with evomem.open(path, linking="off") as memory:
        old = memory.remember("The vault code is ZYX98765 for now.").node.id
        memory.remember("The code has changed.", amends={"id": old, "part": "ZYX98765 for now"})
        memory.forget(old, purge=True)
        with memory._context.engine.read() as reader:
            edges = reader.edges(memory._context.reach, [old])
        assert [edge.part for edge in edges] == [None]
        assert memory._context.engine.verify() == []


def test_near_copies_of_what_was_replaced_are_named():
    with evomem.open(":memory:", linking="off") as memory:
        old = memory.remember("The API gateway times out after thirty seconds.").node.id
        copy = memory.remember(
            "The API gateway times out after thirty seconds!", scope="eu"
        ).node.id
        other = memory.remember("The web team prefers Vue.").node.id
        result = memory.remember("The API gateway times out after a minute.", supersedes=old)
        assert any(copy in w and "still active" in w for w in result.warnings)
        assert not any(other in w for w in result.warnings)
