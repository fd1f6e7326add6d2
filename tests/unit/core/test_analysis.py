import sqlite3
import string
import time
import unicodedata
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.analysis import (
    ANALYSES,
    ANALYSIS_VERSION,
    TOKEN_PUNCTUATION,
    Analysis,
    analysis,
    current,
    is_stop_word,
    terms,
    terms_of,
    tokens,
)
from evomem.domain.text import fold_whitespace
from evomem.errors import SchemaVersionError

# Characters that meet in real notes far more often than chance would have it.
TELLING = st.sampled_from(
    list(TOKEN_PUNCTUATION)
    + list("aAbBsS019 '\",;|()[]{}<>$%^~`\\\t\n\0")
    + ["ing", "ed", "ies", "C++", "n't", "l'", "://", "1,000", "fooBar", "HTTPServer"]
    + list("é\u0301ßİ\u0131øæ\u03c3ς\u2019\u2011\u2026\u00bd\u017f\u1e9e\ufb01")
    + list("账本ガｶﾞ\u3099한\u1112\u1161ไทย\u0e33हि\u094dكِ")
    + list("🚀👩\u200d🏽\ufe0f\u20e3🇩🇪🏴\U000e0067\ud83d\udfff\ufffd\u200b\u00ad\u2028\x85")
)
TEXTS = st.one_of(st.text(st.characters()), st.lists(TELLING, max_size=30).map("".join))


def finds(query: str, text: str) -> bool:
    return not set(terms(query)).isdisjoint(tokens(text))


def stored_by_fts5(stored: list[str]) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE doc USING fts5(body, "
            f"""tokenize="ascii tokenchars '{TOKEN_PUNCTUATION}'")"""
        )
        connection.execute("CREATE VIRTUAL TABLE word USING fts5vocab(doc, instance)")
        connection.execute("INSERT INTO doc VALUES (?)", (" ".join(stored),))
        rows = connection.execute('SELECT term FROM word ORDER BY "offset"')
        return [term for (term,) in rows]


def blank_words(text: str) -> list[str]:
    return text.casefold().split()


@pytest.fixture
def later(monkeypatch):
    """An analysis that a later version of the code might bring."""
    version = ANALYSIS_VERSION + 1
    monkeypatch.setitem(ANALYSES, version, Analysis(version, blank_words, blank_words))
    return ANALYSES[version]


def test_the_present_analysis_is_known_by_its_version():
    assert analysis(ANALYSIS_VERSION) is current()
    assert (current().tokens, current().terms) == (tokens, terms)
    assert current().version == ANALYSIS_VERSION == max(ANALYSES)


def test_an_older_analysis_stays_known_beside_the_current_one(later):
    assert current() is later
    assert analysis(ANALYSIS_VERSION).tokens("Houses") == ["house"]
    assert current().tokens("Houses") == ["houses"]


@pytest.mark.parametrize("version", [0, ANALYSIS_VERSION + 1])
def test_an_unknown_analysis_is_refused_with_both_versions(version):
    message = rf"text analysis {version}; this EvoMem knows {ANALYSIS_VERSION} at most. Upgrade"
    with pytest.raises(SchemaVersionError, match=message) as caught:
        analysis(version)
    assert caught.value.details == {"store": version, "known": ANALYSIS_VERSION}
    with pytest.raises(SchemaVersionError):
        terms_of("", [version])


def test_the_terms_for_several_versions_are_those_of_each_in_order(later):
    query = "the old houses"
    assert terms_of(query, [ANALYSIS_VERSION]) == terms(query) == ["old", "house"]
    assert terms_of(query, [later.version]) == ["the", "old", "houses"]
    both = [later.version, ANALYSIS_VERSION]
    assert terms_of(query, both) == ["the", "old", "houses", "house"]
    assert terms_of(query, both[::-1]) == ["old", "house", "the", "houses"]
    assert terms_of(query, []) == []


@given(TEXTS)
def test_fts5_stores_exactly_the_tokens(text):
    assert stored_by_fts5(tokens(text)) == tokens(text)


def test_fts5_stores_a_token_of_every_punctuation_character():
    every = [f"a{character}b" for character in TOKEN_PUNCTUATION]
    assert stored_by_fts5(every) == every


@given(TEXTS)
def test_tokens_hold_no_space_control_quote_or_capital(text):
    allowed = set(string.ascii_lowercase + string.digits + TOKEN_PUNCTUATION)
    for token in tokens(text):
        assert 1 <= len(token) <= 64
        assert all(c in allowed or not c.isascii() for c in token)
        assert not any(c.isspace() or unicodedata.category(c) in ("Cc", "Cs") for c in token)


@given(TEXTS)
def test_a_text_is_found_by_each_of_its_words(text):
    for word in text.split():
        assert not terms(word) or finds(word, text)


@given(TEXTS)
def test_a_text_is_found_by_each_of_its_tokens(text):
    for token in tokens(text):
        assert finds(token, text)


@given(TEXTS)
def test_terms_are_distinct_and_empty_only_without_tokens(text):
    asked = terms(text)
    assert len(asked) == len(set(asked))
    assert bool(asked) == bool(tokens(text))
    assert set(asked) <= set(tokens(text))


@given(TEXTS)
def test_letter_case_and_normal_form_do_not_matter(text):
    if tokens(text):
        for variant in (text.lower(), unicodedata.normalize("NFD", text)):
            assert finds(variant, text)


def test_punctuation_fits_into_the_tokenizer_option():
    assert not set(TOKEN_PUNCTUATION) & set("\"' \\")
    assert all(c.isascii() and c.isprintable() and not c.isalnum() for c in TOKEN_PUNCTUATION)
    assert ANALYSIS_VERSION == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snake_case", "snake_case snake case"),
        ("__init__", "__init__ init"),
        ("timeoutSeconds", "timeoutseconds timeoutsecond timeout second"),
        ("timeout_seconds", "timeout_seconds timeout second"),
        ("HTTPServer2", "httpserver2 http server 2"),
        ("SQLite", "sqlite"),
        ("PostgreSQL", "postgresql postgre sql"),
        ("VPCs VMs", "vpc vms vm"),
        ("ledger-api", "ledger-api ledger api"),
        ("eth0:1", "eth0:1 eth0 eth 0 1"),
        ("std::vector", "std::vector std vector"),
        ("a/b/c.py", "a/b/c.py c.py a b c py"),
        ("/srv/main.py", "srv/main.py main.py srv main py"),
        ("@acme/parser", "@acme/parser acme parser"),
        ("config.yaml", "config.yaml config yaml"),
        ("v1.2.3", "v1.2.3 1.2.3"),
        ("1.2.3", "1.2.3"),
        ("20.04", "20.04"),
        ("2026-03-19 03:10", "2026-03-19 2026 03:10"),
        ("docker-prune.timer", "docker-prune.timer docker prune timer"),
        ("tests/x.py::test_y", "tests/x.py::test_y x.py test_y test x py y"),
        ("https://x.org/a?b=c&d=e", "https://x.org/a?b=c&d=e x.org http x org a b c d e"),
        ("key=value", "key=value key value"),
        ("#482", "#482 482"),
        ("infra!482", "infra!482 infra 482"),
        ("ana.b@x.org", "ana.b@x.org ana.b x.org ana b x org"),
        ("C++ g++", "c++ c g++ g"),
        ("C/C++17", "c/c++17 c++17 c++ c 17"),
        ("C# F#", "c# c f# f"),
        (".NET", ".net net"),
        ("A* 2*a*b", "a* a 2 a b"),
        ("--error-on-warnings -multi", "error-on-warnings error on warn multi"),
        ("1,000.50 or 3,5", "1000.50 or 3 5"),
        ("30s 200GB 3be91c0", "30s 30 s 200gb 200 gb 3be91c0"),
        ("(WAL, SQLite.)", "wal sqlite"),
        ("`rows[0]` **bold** *staging*", "row 0 bold staging"),
        ("don't dont", "dont dont"),
        ("l'équipe", "equipe"),
        ("O\u2019Brien's", "obrien brien"),
        ("CAFÉ cafe\u0301 Straße Łódź", "cafe cafe strasse lodz"),
        ("ἀρχή Ёлка", "αρχη елка"),
        ("ガ ｶﾞ カ\u200d\u3099 カ", "ガ ガ ガ カ"),
        ("\uff21\uff22\uff23", "abc"),
        ("30秒", "30 秒"),
        ("重跑gen-itgc后", "重 重跑 跑 gen-itgc gen itgc 后"),
        ("한국", "한 한국 국"),
        ("हिन्दी", "हिन्दी"),
        ("كِتَاب", "كتاب"),
        ("🚀👨\u200d👩\u200d👧🇩🇪❤\ufe0f 👍🏽 → €", "🚀 👨\u200d👩\u200d👧 🇩🇪 ❤ 👍"),
        ("o\0er \ud83d ok", "o er ok"),
    ],
)
def test_tokens_of_a_text(text, expected):
    assert sorted(tokens(text)) == sorted(expected.split())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ""),
        (" \n\t\u3000", ""),
        ('" * -- \' ""', ""),
        ("why is the ledger not on a bigger database", "ledger bigger database"),
        ("Can you tell me which storage the ledger runs on", "storage ledger run"),
        ("¿con qué se generan los informes de ventas?", "generan informe venta"),
        ("Womit verwalten wir die VPCs?", "verwalten vpc"),
        ("to be or not to be", "to be or not"),
        ("NOT CI", "ci"),
        ("state-of-the-art", "state-of-the-art state art"),
        ("本", "本"),
        ("运维太贵", "运维 维太 太贵"),
        ("l'équipe utilise l'équipe", "equipe utilise"),
    ],
)
def test_terms_of_a_query(query, expected):
    assert terms(query) == expected.split()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("账本", "我们把账本从 Postgres 迁移到了 SQLite"),
        ("本", "我们把账本从 Postgres 迁移到了 SQLite"),
        ("タイムアウト", "サンドボックスのタイムアウトを30秒に変更した。"),
        ("itgc", "重跑gen-itgc后50条悬空引用清零"),
        ("悬空引用", "重跑gen-itgc后50条悬空引用清零"),
        ("dont cache", "We don't cache tokens; l'équipe refuse."),
        ("l\u2019e\u0301quipe", "We don't cache tokens; l'équipe refuse."),
        ("timeout_seconds", "Set timeoutSeconds to 30."),
        ("timeoutseconds", "Set timeoutSeconds to 30."),
        ("1.2.3", "ship @acme/parser v1.2.3"),
        ("C++", "built as C++17"),
        ("test_empty", "`pytest tests/test_importer.py::test_empty -q`"),
        ("5432", "hosted on db-1.internal:5432."),
        ("multi\u2011agent", "We use a multi-agent queue"),
        ("50 mb", "at most 50MB"),
        ("postgres", "back to PostgreSQL"),
        ("🚀", "🚀 launch checklist"),
    ],
)
def test_a_query_finds_a_text(query, text):
    assert finds(query, text)


def test_a_voiced_kana_is_another_letter():
    assert not finds("カ", "ガ")


@pytest.mark.parametrize(
    "group",
    [
        "cache caches cached caching",
        "use uses used using",
        "move moves moved moving",
        "deploy deploys deployed deploying",
        "supersede supersedes superseded superseding",
        "prune prunes pruned pruning",
        "process processes processed processing",
        "configure configures configured configuring",
        "create creates created creating",
        "write writes writing",
        "store stores stored storing",
        "plan plans planned planning",
        "cancel cancels canceled cancelled cancelling",
        "install installs installed installing",
        "embed embeds embedded embedding embeddings",
        "handle handles handled handling",
        "change changes changed changing",
        "apply applies applied applying",
        "try tries tried trying",
        "type types typed typing",
        "need needs needed needing",
        "focus focuses focused focusing",
        "index indexes indices indexed indexing",
        "policy policies",
        "cookie cookies",
        "bus buses",
        "status statuses",
        "address addresses",
        "alias aliases",
        "database databases",
        "house houses",
        "setting settings",
        "informe informes",
        "decision decisiones",
        "rechnung rechnungen",
        "redis Redis REDIS",
        "kubernetes Kubernetes",
    ],
)
def test_forms_of_one_word_share_their_token(group):
    assert len({tuple(tokens(word)) for word in group.split()}) == 1


@pytest.mark.parametrize(
    "group",
    [
        "news new",
        "string ring",
        "thing the",
        "being be bee",
        "bring br",
        "evening even",
        "staging stage",
        "setting set",
        "deployment deploy",
        "plane plan",
        "note not",
        "pipe pip",
        "care car",
        "embed emb",
        "lens len",
        "pandas panda",
        "speed seed feed need",
        "unused use",
        "us use",
        "cs c css",
    ],
)
def test_unrelated_words_stay_apart(group):
    words = group.split()
    assert len({tuple(tokens(word)) for word in words}) == len(words)


def test_words_that_only_look_inflected_are_kept():
    text = "string thing bring being need seed speed feed embed news status process address bus "
    text += "redis analysis hundred something class this setting meeting"
    assert tokens(text) == text.split()


def test_identifiers_keep_their_endings():
    assert tokens("cached_values")[0] == "cached_values"
    assert tokens("utf8s")[0] == "utf8s"


def test_function_words_are_stop_words_and_content_words_are_not():
    function = "the What does don't our us not no el qué für nicht welche où nous during hers"
    assert all(is_stop_word(token) for token in tokens(function))
    content = "use moved current new set run cache car ai id dir well month now time up off"
    assert not any(is_stop_word(token) for token in tokens(content))


def test_a_long_word_is_cut_alike_on_both_sides():
    word = "x" * 63 + "-tail"
    assert tokens(word)[0] == "x" * 63
    assert finds(word, f"see {word}.")
    assert len(tokens("y" * 1000)[0]) == 64


def test_random_strings_are_not_taken_for_camel_case():
    assert tokens("aGVsbG8gV29ybGQ") == ["agvsbg8gv29ybgq"]


@pytest.mark.parametrize(
    "unit",
    [
        *["a", "aB", "a_", "a.", "a'", "1,000", "ing", ".-/!", "#", "'", "+", "_", "\0", "\ud800"],
        *["账", "ｶﾞ", "\u1100", "ไ", "\u0301", "\u0301\u0316", "\uff9e\u0315", "\u093c\u094d"],
        *["\u0316" * 10 + "\u0301" * 10 + "\u200c", "👩\u200d", "🇩", "\u200d", "\U000e0067"],
    ],
)
def test_time_is_linear_in_the_text(unit):
    # A quadratic step takes minutes here; the usual time is a tenth of a second.
    text = "x" + unit * (2**18 // len(unit))
    start = time.perf_counter()
    tokens(text)
    terms(text)
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a \t b\r\n\u00a0c\u3000d\u2028 ", "a b c d"),
        ("same", "same"),
        (" \n ", ""),
        ("a\u200bb", "a\u200bb"),
    ],
)
def test_whitespace_is_folded_to_one_blank(text, expected):
    assert fold_whitespace(text) == expected


@given(TEXTS)
def test_folding_whitespace_twice_changes_nothing(text):
    assert fold_whitespace(fold_whitespace(text)) == fold_whitespace(text)
