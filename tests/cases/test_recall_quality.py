"""Questions as people ask them."""

import pytest


@pytest.mark.parametrize(
    "query",
    [
        "why is the ledger not on a bigger database",
        "what database does the ledger use?",
        "Can you tell me which storage the ledger runs on",
    ],
)
def test_a_question_finds_the_note_that_shares_one_word(memory, query):
    """REC-001: Natural question finds nothing because every word must match."""
    memory.remember("Ledger uses SQLite since March.")
    memory.remember("The web team prefers Vue.")
    texts = [hit.node.text for hit in memory.recall(query).hits]
    assert texts[0] == "Ledger uses SQLite since March."


@pytest.mark.parametrize(
    "query",
    ["orphaned", "plugin orphaned", "version orphaned cache", "cache of the orphaned plugin"],
)
def test_words_need_not_stand_side_by_side(memory, found, query):
    """REC-002: Whole query treated as one exact phrase."""
    text = "Orphaned plugin directories keep an old version of the cache."
    first = memory.remember(text).node.id
    memory.remember("Noise.")
    assert found(memory, query) == [first]


def test_notes_that_share_only_stop_words_are_no_confident_answer(memory):
    """REC-003: Only stop words match."""
    memory.remember("When the pager rings, go to the runbook.")
    memory.remember("To the new hires: badge is at the desk.")
    result = memory.recall("when is the weekly team meeting", k=5)
    assert result.hits == ()
    assert result.insufficient
    assert "No memory" in result.to_text()


@pytest.mark.promise("query.text")
def test_a_query_of_stop_words_only_searches_for_them(memory, found):
    """REC-003: DESIGN section 8: only stop words are searched as words."""
    pager = memory.remember("When the pager rings, go to the runbook.").node.id
    memory.remember("Badge: desk.")
    assert found(memory, "to the") == [pager]


@pytest.mark.parametrize("query", ["magic port 48151", "48151", "payments-eu", "payments"])
def test_the_end_of_a_long_note_and_its_tags_are_found(memory, found, query):
    """REC-104: Result hidden in a field that is not indexed."""
    text = "filler sentence. " * 3000 + "The magic port is 48151."
    first = memory.remember(text, tags=["payments-eu"]).node.id
    memory.remember("Another note.")
    assert found(memory, query) == [first]


@pytest.mark.parametrize("query", ["billing", "ledger/database", "invoices"])
def test_subject_and_slot_are_found_too(memory, found, query):
    """REC-104: the same for the other fields that people fill in."""
    options = {"subject": "billing invoices", "slot": "ledger/database"}
    first = memory.remember("We use SQLite.", **options).node.id
    memory.remember("Another note.")
    assert found(memory, query) == [first]
