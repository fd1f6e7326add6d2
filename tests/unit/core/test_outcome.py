"""What a write says of itself."""

import pytest

import evomem


@pytest.fixture
def memory():
    with evomem.open(":memory:", linking="suggest") as opened:
        yield opened


def test_a_note_says_its_id_and_what_it_replaced(memory):
    old = memory.remember("Deploys run on Mondays.")
    assert old.to_text() == f"Remembered as {old.node.id}, version 1 (active)."
    new = memory.remember("Deploys run on Tuesdays.", supersedes=old.node.id)
    assert new.to_text().endswith(f"version 2 (active). Replaced {old.node.id}.")


def test_an_equal_note_and_a_replay_say_that_nothing_was_stored(memory):
    first = memory.remember("Deploys run on Mondays.", idempotency_key="a")
    again = memory.remember("Deploys run on Mondays.")
    assert again.to_text().startswith(f"Known already as {first.node.id}; nothing new")
    replay = memory.remember("Deploys run on Mondays.", idempotency_key="a")
    assert replay.to_text() == f"Replayed: stored before as {first.node.id} (now active)."


def test_a_candidate_is_quoted_on_one_line_with_the_call_that_confirms_it(memory):
    old = memory.remember("We picked Postgres\nfor the ledger.").node.id
    new = memory.remember("We moved the ledger from Postgres to SQLite.")
    offer = new.to_text().splitlines()[1]
    assert f'It may replace {old}: "We picked Postgres for the ledger."' in offer
    assert offer.endswith(f"call link(node_id='{new.node.id}', supersedes=['{old}']).")


def test_a_link_and_its_undoing_say_what_they_did(memory):
    old = memory.remember("The door is red.").node.id
    new = memory.remember("Cats sleep all day.").node.id
    assert memory.link(new, supersedes=old).to_text() == f"{new} now replaces {old}."
    assert memory.unlink(new, old).to_text() == f"{new} no longer replaces {old}."


def test_a_node_that_had_been_replaced_says_what_was_extended_instead(memory):
    old = memory.remember("Deploys run on Mondays.").node.id
    new = memory.remember("Deploys run on Tuesdays.", supersedes=old).node.id
    told = memory.remember("Deploys run on Fridays.", supersedes=old).to_text()
    assert f"{old} had been replaced: {new} was replaced instead." in told


def test_forgetting_says_what_is_kept(memory):
    node = memory.remember("Deploys run on Mondays.").node.id
    assert memory.forget(node).to_text().startswith(f"Forgot {node}: it is out of recall")
    assert memory.forget(node).to_text().startswith(f"{node} had been forgotten before.\n")
    assert memory.forget(node, purge=True).to_text().startswith(f"Purged {node}: ")
