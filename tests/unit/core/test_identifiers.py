import re
from collections import Counter

import pytest

from evomem import InvalidRequestError
from evomem.domain.identifiers import EVENT, MEMORY, NODE, PATCH, describe, new_id, parse_id


@pytest.mark.parametrize("kind", [NODE, MEMORY, PATCH, EVENT])
def test_an_id_is_short_plain_and_says_what_it_names(kind):
    made = {new_id(kind) for _ in range(500)}
    assert len(made) == 500
    assert all(re.fullmatch(kind + "[a-z0-9]{11}", one) for one in made)


def test_every_character_is_drawn_about_as_often():
    drawn = Counter("".join(new_id(NODE)[1:] for _ in range(4000)))
    assert len(drawn) == 36
    assert max(drawn.values()) < 1.5 * min(drawn.values())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("n12345678901", "a node"),
        ("mabcdefghijk", "a memory"),
        ("p00000000000", "a patch"),
        ("e00000000000", "an event"),
        ("x00000000000", ""),
        ("n1234567890", ""),
        ("N12345678901", ""),
        ("", ""),
        ("n-1234567890", ""),
    ],
)
def test_the_shape_of_an_id_tells_what_it_names(given, said):
    assert describe(given) == said


def test_an_id_is_read_without_blanks_around_it():
    assert parse_id("  n12345678901\n") == "n12345678901"


@pytest.mark.parametrize("given", [None, 7, "", "  ", ["n1"], b"n1"])
def test_what_is_no_text_is_no_id(given):
    with pytest.raises(InvalidRequestError, match="node_id"):
        parse_id(given, "node_id")
