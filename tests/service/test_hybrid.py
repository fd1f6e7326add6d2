"""Recall by words, by meaning, and by both, with an embedder small enough to know by heart."""

import time

import pytest

import evomem

CONCEPTS = (
    ("ledger", "accounts", "books"),
    ("sqlite", "database", "postgres"),
    ("deploy", "release", "ship"),
    ("tuesday", "weekday"),
)


class Concepts:
    """A vector says which concepts a text touches."""

    name = "concepts/1"

    def __init__(self):
        self.queries = 0
        self.delay_s = 0.0
        self.failing = False

    def embed(self, texts, *, query):
        self.queries += query
        time.sleep(self.delay_s if query else 0)
        if self.failing and query:
            message = "out of order"
            raise RuntimeError(message)
        return [self.vector(text.casefold()) for text in texts]

    @staticmethod
    def vector(text):
        return [0.01, *(float(any(word in text for word in concept)) for concept in CONCEPTS)]


@pytest.fixture
def embedder():
    return Concepts()


@pytest.fixture
def memory(tmp_path, embedder):
    with evomem.open(tmp_path / "evomem.db", linking="off", embedder=embedder) as opened:
        yield opened


def texts(result):
    return [hit.node.text for hit in result.hits]


LEDGER = "The ledger lives in SQLite."
DEPLOY = "We ship every Tuesday."


def test_meaning_finds_what_words_do_not(memory):
    memory.remember(LEDGER)
    memory.remember(DEPLOY)
    assert texts(memory.recall("which release weekday", ranking="lexical")) == []
    result = memory.recall("which release weekday")
    assert texts(result)[0] == DEPLOY
    assert result.hits[0].matched.by == "meaning"
    assert "close in meaning (1.00)" in result.hits[0].why
    assert not result.insufficient


def test_the_ways_of_ranking_answer_from_what_they_name(memory):
    memory.remember(LEDGER)
    memory.remember(DEPLOY)
    lexical = memory.recall("ledger", ranking="lexical").hits
    assert [(hit.node.text, hit.matched.by) for hit in lexical] == [(LEDGER, "text")]
    vector = memory.recall("ledger", ranking="vector").hits
    assert [hit.node.text for hit in vector] == [LEDGER, DEPLOY]
    assert {hit.matched.by for hit in vector} == {"meaning"}
    assert vector[0].score == pytest.approx(0.707, abs=1e-2)
    both = memory.recall("ledger", ranking="hybrid", explain=True).hits
    assert [hit.matched.by for hit in both] == ["both", "meaning"]
    told = both[0].explanation
    assert (told.lexical_rank, told.vector_rank) == (1, 1)
    assert told.similarity == vector[0].score
    assert told.lexical_score == lexical[0].score
    assert "places by words 1 and none; places by meaning 1 and 2" in told.above_next


def test_an_old_version_near_in_meaning_answers_with_its_head(memory):
    old = memory.remember("The books are kept in Postgres.").node.id
    new = memory.remember("They moved elsewhere.", supersedes=old).node.id
    memory.remember(DEPLOY)
    hit = memory.recall("accounts database", ranking="vector").hits[0]
    assert hit.node.id == new
    assert hit.matched.node_id == old
    assert hit.why.startswith("an earlier version is close in meaning")


@pytest.mark.parametrize("ranking", ["vector", "hybrid"])
def test_conditions_hold_for_meaning_too(memory, ranking):
    for n in range(300):
        memory.remember(f"The ledger lives in SQLite, shard {n}.", tags=["common"])
    rare = memory.remember("The books of 1999 are in a cellar.", tags=["rare"]).node.id
    result = memory.recall("accounts database", ranking=ranking, tags=["rare"])
    assert [hit.node.id for hit in result.hits] == [rare]


def test_a_failing_or_hanging_embedder_leaves_the_words(memory, embedder):
    memory.remember(LEDGER)
    embedder.failing = True
    result = memory.recall("ledger")
    assert texts(result) == [LEDGER]
    assert any("by its words alone" in warning for warning in result.warnings)
    embedder.failing, embedder.delay_s = False, 5
    started = time.monotonic()
    result = memory.recall("ledger", deadline_ms=200)
    assert time.monotonic() - started < 3
    assert texts(result) == [LEDGER]
    assert any("by its words alone" in warning for warning in result.warnings)


def test_a_blank_query_is_not_embedded(memory, embedder):
    memory.remember(LEDGER)
    assert texts(memory.recall("  ")) == [LEDGER]
    assert texts(memory.recall("ledger", ranking="lexical")) == [LEDGER]
    assert embedder.queries == 0


def test_a_query_without_words_is_still_near_to_something(memory):
    memory.remember(LEDGER)
    assert memory.recall("???").hits


def test_who_reads_without_the_embedder_reads_by_words(memory):
    memory.remember(LEDGER)
    with evomem.open(memory.path, read_only=True) as plain:
        assert texts(plain.recall("ledger")) == [LEDGER]
        assert texts(plain.recall("accounts")) == []


def test_the_namespace_is_a_wall_for_vectors(memory):
    memory.within("a").remember(LEDGER)
    memory.within("b").remember(DEPLOY)
    assert texts(memory.within("b").recall("accounts database", ranking="vector")) == [DEPLOY]
    everything = memory.recall("accounts database", ranking="vector", include_children=True)
    assert texts(everything) == [LEDGER, DEPLOY]
