"""A node comes back exactly as it was committed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.builders import HOME, REACH, START, note, patch_of, purge_of, removal, store

from evomem import EvoMemError
from evomem.domain.event import Event
from evomem.domain.extraction import FIELDS, Extraction, Span, Spans
from evomem.domain.identifiers import EVENT, new_id

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
NAMES = st.none() | TEXTS
TIMES = st.datetimes(timezones=st.just(UTC))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.just(""),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def extractions(draw, text):
    def spans():
        ends = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
        sure = st.integers(0, 1000).map(lambda n: n / 1000)
        found = draw(st.lists(st.tuples(ends, sure), max_size=2))
        return Spans(Span(text[a:b], a, b, confidence) for (a, b), confidence in found)

    fields = {name: spans() for name in FIELDS}
    return Extraction(draw(TEXTS), summary=draw(st.just("") | TEXTS), **fields)


@st.composite
def records(draw):
    text = draw(TEXTS)
    return note(
        text,
        extraction=draw(extractions(text)),
        subject=draw(NAMES),
        slot=draw(NAMES),
        scope=draw(NAMES),
        session=draw(NAMES),
        tags=tuple(draw(st.lists(TEXTS, max_size=3))),
        metadata=draw(st.dictionaries(TEXTS, VALUES, max_size=3)),
        created_at=draw(TIMES),
        recorded_at=draw(TIMES),
        valid_from=draw(TIMES),
        valid_to=draw(st.none() | TIMES),
        backdated=draw(st.booleans()),
        version=draw(st.integers(1, 2**31)),
    )


@pytest.mark.promise("raw.kept", "fields.verbatim")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(records(), min_size=1, max_size=3))
def test_every_field_comes_back_as_it_was_committed(engine, nodes):
    receipt = engine.commit(patch_of(*nodes))
    with engine.read() as reader:
        found = reader.records(REACH, [node.id for node in nodes])
    committed = {"sequence": receipt.sequence, "recorded_at": receipt.recorded_at}
    assert found == {node.id: replace(node, **committed) for node in nodes}


@pytest.mark.promise("raw.kept")
@pytest.mark.parametrize(
    "text",
    [
        "  blanks around \n",
        "line\r\nline\rline\u2028line\x85",
        "\ufeffa byte order mark",
        "e\u0301 is not \u00e9",
        "👩‍👩‍👧‍👦 🇩🇪 账本 ガ",
        "\x01\x1b[31m controls \x7f",
        "'; DROP TABLE node; --",
        "x" * 300_000,
    ],
)
def test_a_text_is_stored_as_received(engine, text):
    (node,) = store(engine, text)
    with engine.read() as reader:
        assert reader.records(REACH, [node.id])[node.id].text == text


@pytest.mark.parametrize(
    "value",
    [0, -1, 2**53 + 1, 10**30, 0.1, -0.0, 1e-300, 1.5e308, True, None, "", [], {}, [[{"a": [1]}]]],
)
def test_metadata_keep_their_types(engine, value):
    (node,) = store(engine, "typed", metadata={"value": value})
    with engine.read() as reader:
        kept = reader.records(REACH, [node.id])[node.id].metadata["value"]
    assert (type(kept), repr(kept)) == (type(value), repr(value))


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ],
)
def test_times_come_back_to_the_microsecond(engine, moment):
    (node,) = store(engine, "timed", created_at=moment, valid_from=moment, valid_to=moment)
    with engine.read() as reader:
        kept = reader.records(REACH, [node.id])[node.id]
    assert (kept.created_at, kept.valid_from, kept.valid_to) == (moment, moment, moment)


def test_equal_texts_of_one_patch_are_stored_each(engine):
    one, two = note("said twice"), note("said twice", scope="eu")
    said = Event(new_id(EVENT), "user", "said twice", START)
    engine.commit(patch_of(one, two, events=(said,)))
    with engine.read() as reader:
        found = reader.records(REACH, [one.id, two.id])
    assert [found[n.id].text for n in (one, two)] == ["said twice", "said twice"]


def test_a_purged_node_has_no_text_and_keeps_its_place(engine):
    node = note("secret words", tags=("secret",), subject="secret", metadata={"secret": 1})
    engine.commit(patch_of(node))
    engine.commit(removal(node, purge=True))
    with engine.read() as reader:
        kept = reader.records(REACH, [node.id])[node.id]
        assert reader.figures(REACH.namespace, START).texts == 0
    assert kept.purged
    assert "secret" not in repr(kept)
    assert (kept.memory_id, kept.version, kept.namespace) == (node.memory_id, 1, HOME)


def test_a_forgotten_node_keeps_its_text_until_it_is_purged(engine):
    (node,) = store(engine, "secret words")
    engine.commit(removal(node))
    with engine.read() as reader:
        kept = reader.records(REACH, [node.id])[node.id]
    assert (kept.text, kept.purged) == ("secret words", False)
    engine.commit(purge_of(node))
    with engine.read() as reader:
        kept = reader.records(REACH, [node.id])[node.id]
    assert (kept.text, kept.purged) == ("", True)


def test_purging_one_of_two_equal_texts_leaves_the_other(engine):
    one, two = store(engine, "said twice", "said twice")
    engine.commit(removal(one, purge=True))
    with engine.read() as reader:
        found = reader.records(REACH, [one.id, two.id])
    assert (found[one.id].text, found[two.id].text) == ("", "said twice")


def test_no_id_asks_for_nothing(engine):
    store(engine, "one")
    with engine.read() as reader:
        assert reader.records(REACH, []) == {}
        assert reader.edges(REACH, []) == []
        assert reader.memories(REACH, []) == {}
        assert reader.lineage(REACH, [], START).facts == {}
        assert reader.story(REACH, []).facts == {}
        assert reader.twins(REACH, []) == {}
        assert reader.slots(REACH, []) == {}
        assert reader.slot_values(REACH, [], START) == {}


def test_thousands_of_ids_are_one_question(engine):
    nodes = [note(f"n{n}") for n in range(3000)]
    engine.commit(patch_of(*nodes))
    with engine.read() as reader:
        assert len(reader.records(REACH, [n.id for n in nodes] + ["nunknownnode"])) == 3000
        assert len(reader.lineage(REACH, [n.id for n in nodes], START).facts) == 3000


@pytest.mark.parametrize("prefix_length", [6, 9, 12])
def test_ids_are_found_by_how_they_begin(engine, prefix_length):
    same = [note("a", id=f"nsame{n:07}") for n in (1, 2, 3)]
    other = note("b", id="nother000001")
    engine.commit(patch_of(*same, other))
    with engine.read() as reader:
        assert reader.expand(REACH, other.id[:prefix_length], 5) == [other.id]
        assert set(reader.expand(REACH, "nsame0", 5)) == {n.id for n in same}
        assert len(reader.expand(REACH, "nsame0", 2)) == 2
        assert reader.expand(REACH, "n_ame0", 5) == []
        assert reader.expand(REACH, "nsame%", 5) == []


def test_ids_of_every_kind_are_found_by_how_they_begin(engine):
    node, said = note("one"), Event(new_id(EVENT), "user", "said", START)
    patch = patch_of(node, events=(said,))
    engine.commit(patch)
    with engine.read() as reader:
        for given in (node.id, node.memory_id, patch.id, said.id):
            assert reader.expand(REACH, given[:8], 5) == [given]
            assert reader.expand(REACH, given, 5) == [given]
            assert reader.expand(REACH, given + "0", 5) == []


@pytest.mark.parametrize("given", ["nsame0\0", '"', "%", "\U0010ffff"])
def test_an_id_that_no_text_can_be_is_unknown(engine, given):
    store(engine, "one")
    with engine.read() as reader:
        assert reader.expand(REACH, given, 5) == []
        assert reader.records(REACH, [given]) == {}
        assert reader.lineage(REACH, [given], START).facts == {}


@pytest.mark.parametrize("given", ["\ud800same0", "nsame0\udfff", "nsame0\0"])
def test_half_a_character_in_an_id_is_refused_as_ours(memory, given):
    for use in (memory.get_node, memory.history, memory.forget):
        with pytest.raises(EvoMemError):
            use(given)
