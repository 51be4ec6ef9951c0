"""Packed sequences and interned words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from riseq.core.edits import MARKER
from riseq.core.packed import Interner, Packed, pack, unpack


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1))))
def test_packing_and_unpacking_changes_nothing(sequences: list[list[int]]) -> None:
    packed = pack(sequences)
    assert unpack(packed) == sequences
    assert len(packed) == len(sequences)
    assert packed.lengths.tolist() == [len(sequence) for sequence in sequences]
    assert packed.values.dtype == np.int32
    assert packed.offsets.dtype == np.int64


@given(st.lists(st.lists(st.text())))
def test_words_come_back(sequences: list[list[str]]) -> None:
    interner = Interner()
    assert interner.unpack(interner.pack(sequences)) == sequences


def test_numbers_are_given_in_order_and_stay() -> None:
    interner = Interner(["who", "won"])
    assert interner.pack([[MARKER, "who", "lost"], [MARKER, "won"]]).values.tolist() == [0, 1, 3, 0, 2]
    assert interner.intern("lost") == 3
    assert len(interner) == 4
    with pytest.raises(IndexError, match="number 4 of 4 words"):
        interner.word(4)
    with pytest.raises(IndexError, match="number -1 of 4 words"):
        interner.word(-1)


@pytest.mark.parametrize(
    ("values", "offsets"),
    [
        (np.zeros(2, dtype=np.int64), np.array([0, 2])),
        (np.zeros((1, 2), dtype=np.int32), np.array([0, 2])),
        (np.zeros(2, dtype=np.int32), np.array([0, 2], dtype=np.int32)),
        (np.zeros(2, dtype=np.int32), np.array([], dtype=np.int64)),
        (np.zeros(2, dtype=np.int32), np.array([0, 3])),
        (np.zeros(2, dtype=np.int32), np.array([1, 2])),
        (np.zeros(2, dtype=np.int32), np.array([0, 2, 1, 2])),
    ],
)
def test_arrays_that_do_not_fit_are_refused(values: NDArray[Any], offsets: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match=r"values are|offsets"):
        Packed(values, offsets)


def test_a_sequence_beyond_the_last_is_refused() -> None:
    with pytest.raises(IndexError, match="sequence 1 of 1"):
        pack([[1]])[1]
