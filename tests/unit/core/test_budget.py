"""Answers fit a budget of tokens."""

from evomem.domain.budget import estimate_tokens


def test_four_plain_letters_are_a_token_and_every_other_character_is_one():
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("abcd") == 1
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("决定") == 2
    assert estimate_tokens("abcd决") == 2
    assert estimate_tokens("x" * 4000) == 1000
