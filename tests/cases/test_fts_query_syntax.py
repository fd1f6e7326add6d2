"""Queries that look like the syntax of some index: here they are text."""

import pytest

MIXED = (
    "We use a multi-agent queue; service ledger-api runs C++ code on node 20.04 and calls eth0:1."
)
PLANTS = "Unrelated: the office plants are watered on Fridays."

pytestmark = pytest.mark.promise("query.text")


@pytest.fixture
def mixed(memory):
    first = memory.remember(MIXED).node.id
    memory.remember(PLANTS)
    return first


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize(
    "queries",
    [
        ("multi-agent", "ledger-api", "state-of-the-art", "-multi", "--verbose"),
        ("eth0:1", "12:30", "std::vector", "https://example.org/a?b=c&d=e"),
        ("change:ledger", "trigger: cost", "body:ledger", "focus : ledger", "rowid:1"),
        ('"multi', '"', '""', 'a"b', '"--error-on-warnings"', 'say "multi-agent queue" again"'),
        ("'", "''", "`", "\\", "%", "_", ";", "--", "/*", "x' OR '1'='1", "?1", ":at", "@p", "$v"),
        ("AND", "OR", "NOT", "NEAR", "NEAR(ledger queue, 2)", "NOT CI", "AI AND", "(ledger", ")"),
        ("*", "**", "led*", "* ledger *", "^ledger", "ledger + queue", "{focus body}: ledger"),
        ("C++", "C#", ".NET", "@acme/parser", "v1.2.3", "/srv/app/main.py", "key=value"),
        ("ledger\0queue", "\ud83d", "\ufffe", "\u202eledger", "[ledger]", "<b>", "&amp;"),
    ],
    ids=ascii,
)
def test_no_query_raises(memory, queries):
    """FTS-001, FTS-002, FTS-003, FTS-004, FTS-005, FTS-006, FTS-008: nothing is syntax."""
    for query in queries:
        result = memory.recall(query)
        assert {hit.node.text for hit in result.hits} <= {MIXED, PLANTS}
        assert result.to_text()


@pytest.mark.parametrize("query", ["multi-agent", "ledger-api", "multi agent", "ledger"])
def test_a_compound_word_finds_its_note(memory, mixed, found, query):
    """FTS-001: Hyphenated word is read as a column filter."""
    assert found(memory, query) == [mixed]


@pytest.mark.parametrize("query", ["-multi", "-ledger", "--ledger-api", "queue -ledger"])
def test_a_leading_minus_never_means_not(memory, mixed, found, query):
    """FTS-001: a flag is text too."""
    assert found(memory, query) == [mixed]


@pytest.mark.parametrize("query", ["eth0:1", "change:ledger", "text: queue", "trigger: ledger"])
def test_a_colon_names_no_column(memory, mixed, found, query):
    """FTS-002: Colon makes the index look for a column."""
    assert found(memory, query) == [mixed]


@pytest.mark.parametrize(
    "query", ['say "multi-agent queue" again"', '"multi-agent queue"', '"multi', 'ledger"api']
)
def test_quotes_are_balanced_or_ignored(memory, mixed, found, query):
    """FTS-003: Unbalanced or nested double quotes."""
    assert found(memory, query) == [mixed]


@pytest.mark.parametrize(
    "query",
    ["don't cache", "l'\u00e9quipe", "don\u2019t cache", "l\u2019\u00e9quipe", "\u00e9quipe"],
)
def test_contractions_and_elisions_find_their_note(memory, found, query):
    """FTS-004: Apostrophes and contractions."""
    first = memory.remember("We don't cache tokens; l'\u00e9quipe refuse.").node.id
    memory.remember("Other note.")
    assert found(memory, query) == [first]
    assert first not in found(memory, "O'Brien's queue")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("AI AND ML", "AI AND ML share the GPU pool, NOT the CI runners."),
        ("AI AND", "AI AND ML share the GPU pool, NOT the CI runners."),
        ("NOT GPU", "AI AND ML share the GPU pool, NOT the CI runners."),
        ("runners NOT spot", "The CI runners are on spot machines."),
    ],
)
def test_boolean_words_are_words(memory, query, expected):
    """FTS-005: Boolean words typed by people."""
    memory.remember("AI AND ML share the GPU pool, NOT the CI runners.")
    memory.remember("The CI runners are on spot machines.")
    assert expected in {hit.node.text for hit in memory.recall(query).hits}


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize("query", ["*", "**", "%", "?"])
def test_a_query_of_wildcards_lists_the_latest_and_says_so(memory, query):
    """FTS-006: Asterisk-only and star queries."""
    result = memory.recall(query)
    assert [hit.node.text for hit in result.hits] == [PLANTS, MIXED]
    assert [hit.score for hit in result.hits] == [None, None]
    assert "latest" in result.warnings[0]


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize("query", ["", " ", "\n\t", "\u3000", "\u00a0"])
def test_every_blank_query_lists_the_latest_without_a_score(memory, query):
    """FTS-007: Empty and blank queries."""
    result = memory.recall(query)
    assert [hit.node.text for hit in result.hits] == [PLANTS, MIXED]
    assert [hit.score for hit in result.hits] == [None, None]
    assert [hit.matched.by for hit in result.hits] == ["recent", "recent"]
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        *[
            (query, 0)
            for query in ("C++", "C++ parser", ".NET", ".NET 8", "NET", "v1.2.3", "1.2.3")
        ],
        *[(query, 0) for query in ("@acme/parser", "acme/parser", "acme", "parser")],
        *[(query, 1) for query in ("C#", "C# ui")],
    ],
)
def test_names_made_of_punctuation_are_found_first(memory, found, query, expected):
    """FTS-008: Language and product names made of punctuation."""
    texts = (
        "We write the parser in C++ and ship @acme/parser v1.2.3 for .NET 8.",
        "We write the UI in C# now.",
    )
    ids = [memory.remember(text).node.id for text in texts]
    assert found(memory, query)[0] == ids[expected]
