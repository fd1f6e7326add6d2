import math
import struct
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.embed.packing import AnswerError, packed


def unpacked(vector):
    return struct.unpack(f"<{len(vector) // 4}f", vector)


ROWS = [[3.0, 0.0, -4.0], [1e-3, 2e-3, 2e-3]]


@pytest.mark.parametrize(
    "answer",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        (iter(row) for row in ROWS),
        np.array(ROWS),
        np.array(ROWS, dtype=">f4"),
        [np.array(row) for row in ROWS],
        [[Decimal(str(number)) for number in row] for row in ROWS],
        [[np.float32(number) for number in row] for row in ROWS],
    ],
    ids=["lists", "tuples", "iterators", "array", "float32", "arrays", "decimals", "scalars"],
)
def test_rows_of_any_kind_become_unit_vectors_of_little_endian_float32(answer):
    first, second = packed(answer, 2, None)
    assert unpacked(first) == pytest.approx([0.6, 0.0, -0.8])
    assert unpacked(second) == pytest.approx([1 / 3, 2 / 3, 2 / 3])


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_no_size_of_numbers_is_lost_on_the_way_to_float32(scale):
    [vector] = packed([[3 * scale, 4 * scale]], 1, None)
    assert unpacked(vector) == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "answered NoneType where a list should be"),
        ("0.1 0.2", "answered str where"),
        ({"data": [[1.0]]}, "answered dict where"),
        (0.5, "answered float where"),
        (np.array(0.5), "answered ndarray where"),
        ([], "answered 0 vectors for 2 texts"),
        ([[1.0]], "answered 1 vectors for 2 texts"),
        ([[1.0]] * 3, "answered 3 vectors for 2 texts"),
        ([[1.0], None], "answered NoneType where"),
        ([[1.0], b"\0\0\0\0"], "answered bytes where"),
        ([[1.0], bytearray(8)], "answered bytearray where"),
        ([[1.0], "1"], "answered str where"),
        ([0.5, 0.5], "answered float where"),
        ([["0.1"], ["0.2"]], r"that is no number \(must be real number, not str\)"),
        ([[1.0], [None]], "that is no number"),
        ([[[1.0]], [[1.0]]], "that is no number"),
        ([[1j], [1.0]], "that is no number"),
        (np.array([["a"], ["b"]]), "that is no number"),
        ([[1.0, 2.0], [1.0]], "a vector of 1 numbers, not 2 as before"),
        ([[1.0], [math.nan]], "not finite"),
        ([[1.0], [-math.inf]], "not finite"),
        (np.array([[1.0, np.nan], [1.0, 1.0]]), "not finite"),
        ([[1.0], [0.0]], "without any number but zero"),
        ([[], []], "without any number but zero"),
    ],
)
def test_what_is_no_vector_for_each_text_is_refused(answer, message):
    with pytest.raises(AnswerError, match=message):
        packed(answer, 2, None)


def test_the_dimension_is_the_one_of_before():
    assert len(packed([[1.0, 2.0]], 1, 2)) == 1
    with pytest.raises(AnswerError, match="3 numbers, not 2 as before"):
        packed([[1.0, 2.0, 3.0]], 1, 2)


finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(st.lists(finite, min_size=1, max_size=50).filter(any))
def test_every_packed_vector_has_length_one_and_keeps_its_direction(row):
    [vector] = packed([row], 1, None)
    numbers = unpacked(vector)
    assert math.hypot(*numbers) == pytest.approx(1.0, abs=1e-5)
    largest = max(range(len(row)), key=lambda place: abs(row[place]))
    assert math.copysign(1, numbers[largest]) == math.copysign(1, row[largest])


def test_lists_and_arrays_pack_to_the_same_bytes():
    rows = np.random.default_rng(7).normal(size=(20, 384))
    assert packed(rows, 20, None) == packed(rows.tolist(), 20, None)
