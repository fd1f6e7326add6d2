"""Texts of all scripts, and text that other programs damaged."""

import json

import pytest

LEDGER = "\u6211\u4eec\u628a\u8d26\u672c\u4ece Postgres \u8fc1\u79fb\u5230\u4e86 SQLite\uff0c\u56e0\u4e3a\u8fd0\u7ef4\u592a\u8d35\u3002"
SANDBOX = "サンドボックスのタイムアウトを30秒に変更した。"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("账本", LEDGER),
        ("运维太贵", LEDGER),
        ("サンドボックス", SANDBOX),
        ("タイムアウト", SANDBOX),
    ],
)
def test_a_word_inside_a_sentence_without_blanks_is_found(memory, query, expected):
    """UNI-001: Chinese / Japanese words cannot be found."""
    for text in (LEDGER, SANDBOX):
        assert memory.remember(text).node.text == text
    assert [hit.node.text for hit in memory.recall(query).hits] == [expected]


@pytest.mark.parametrize("query", ["itgc", "gen-itgc", "悬空引用"])
def test_an_identifier_glued_to_chinese_is_found(memory, found, query):
    """UNI-002: Latin identifier glued to CJK text."""
    first = memory.remember("重跑gen-itgc后50条悬空引用清零").node.id
    memory.remember("Noise.")
    assert found(memory, query) == [first]


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize(
    "query", ["caf\u00e9", "cafe\u0301", "Z\u00fcrich", "Zu\u0308rich", "cafe"]
)
def test_both_encodings_of_an_accent_are_found_and_kept(memory, found, query):
    """UNI-003: Composed and decomposed accents differ."""
    texts = ["Le caf\u00e9 de Z\u00fcrich.", "Le cafe\u0301 de Zu\u0308rich, deux."]
    ids = [memory.remember(text).node.id for text in texts]
    assert sorted(found(memory, query)) == sorted(ids)
    assert [memory.get_node(node_id).text.encode() for node_id in ids] == [
        text.encode() for text in texts
    ]


@pytest.mark.promise("raw.kept")
def test_half_an_emoji_is_replaced_with_a_warning_and_harms_nothing(memory, found):
    """UNI-004: Half an emoji (lone surrogate) breaks the save."""
    result = memory.remember("Deploy ok \ud83d and then more text")
    assert result.node.text == "Deploy ok \ufffd and then more text"
    assert any("U+FFFD" in warning for warning in result.warnings)
    assert found(memory, "Deploy ok") == [result.node.id]
    json.dumps(result.to_dict(), ensure_ascii=False).encode()
    assert memory.remember("A later note.").node.id in found(memory, "later")


NAMES = ["tags", "session", "subject", "slot", "scope", "metadata", "actor", "source"]


@pytest.mark.parametrize("damage", ["\ud83d", "\0"], ids=["surrogate", "nul"])
def test_a_damaged_argument_is_mended(memory, damage):
    """UNI-004, UNI-005: the same for everything else that a caller passes."""
    for name in NAMES:
        value = {"key": f"a{damage}b"} if name == "metadata" else f"a{damage}b"
        result = memory.remember(f"Deploy {name}", **{name: value})
        written = json.dumps(result.to_dict(), ensure_ascii=False)
        written.encode()
        assert "\\u0000" not in written


@pytest.mark.parametrize("damage", ["\ud83d", "\0"], ids=["surrogate", "nul"])
def test_a_mended_argument_is_named_in_a_warning(memory, damage):
    """UNI-004, UNI-005: DESIGN section 8: with a warning."""
    silent = []
    for name in NAMES:
        value = {"key": f"a{damage}b"} if name == "metadata" else f"a{damage}b"
        result = memory.remember(f"Deploy {name}", **{name: value})
        if not any("U+FFFD" in warning for warning in result.warnings):
            silent.append(name)
    assert silent == []


@pytest.mark.promise("raw.kept")
def test_nothing_after_a_nul_is_lost(memory, found):
    """UNI-005: NUL byte inside a note."""
    result = memory.remember("o\0er credits after the NUL: keyword zebra")
    assert found(memory, "zebra") == [result.node.id]
    text = memory.get_node(result.node.id).text
    assert text == "o\ufffder credits after the NUL: keyword zebra"
    assert result.warnings


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize(
    "query", ["\U0001f680", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "🇩🇪"]
)
def test_emoji_are_found_and_come_back_whole(memory, found, query):
    """UNI-104: Emoji-only search and ZWJ sequences."""
    text = "\U0001f680 launch checklist \U0001f468\u200d\U0001f469\u200d\U0001f467 🇩🇪"
    first = memory.remember(text).node.id
    memory.remember("plain")
    assert found(memory, query) == [first]
    assert memory.get_node(first).text.encode() == text.encode()


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize(
    "text",
    [
        "  leading and trailing blanks  \n",
        "tabs\tand\r\nDOS line ends\r\n\r\n",
        "\ufeffa byte order mark in front",
        "bidi \u202eoverride\u202c and zero\u200bwidth",
        "e" + "\u0301" * 200,
        "\u2028line\u2029separators\x0b\x0c\x1f\x7f\x85",
        "private \ue000 and last \U0010ffff",
    ],
    ids=ascii,
)
def test_odd_texts_come_back_byte_for_byte(memory, text):
    """UNI-104: the text is stored as received."""
    node = memory.remember(text).node
    assert memory.get_node(node.id).text.encode() == text.encode()
    assert memory.history(node.id)[0].text.encode() == text.encode()
