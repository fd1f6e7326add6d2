import pytest
from hypothesis import strategies as st

from evomem import InvalidRequestError
from evomem.domain.namespace import MAX_LABEL_CHARS, MAX_LABELS, parse_namespace

LABELS = st.lists(st.sampled_from(["a", "ab", "b", "a/b", "A"]), max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("user-7", ("user-7",)),
        ("team/ada", ("team", "ada")),
        (["a", "b"], ("a", "b")),
        (("a/b",), ("a/b",)),
        ("账 本", ("账 本",)),
    ],
)
def test_a_namespace_is_one_label_or_several(written, read):
    assert parse_namespace(written) == read
    assert parse_namespace(written, base=("t",)) == ("t", *read)


@pytest.mark.parametrize(
    "written",
    [
        (),
        "",
        "  ",
        ("a", ""),
        ("a", 7),
        (None,),
        "a\x1fb",
        "a\nb",
        "a\0",
        "\ud800",
        "\x85",
        "x" * (MAX_LABEL_CHARS + 1),
        ("a",) * (MAX_LABELS + 1),
    ],
)
def test_what_is_no_namespace_is_refused(written):
    with pytest.raises(InvalidRequestError) as refusal:
        parse_namespace(written)
    assert refusal.value.details["field"] == "namespace"


def test_the_depth_counts_from_the_top():
    with pytest.raises(InvalidRequestError):
        parse_namespace("one more", base=("a",) * MAX_LABELS)
    assert len(parse_namespace("last", base=("a",) * (MAX_LABELS - 1))) == MAX_LABELS
