"""States in batches: each once, of like length, within the budget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.core.packed import pack
from riseq.train.corpus import States, concatenate, cut_batches, sorted_batches, take_rows
from riseq.train.policy import WIDTHS, pad_width

lengths = st.lists(st.integers(1, 60), min_size=1, max_size=120).map(lambda x: np.array(x, dtype=np.int64))


@given(lengths, st.integers(1, 400))
def test_sorted_batches_hold_every_index_once_within_the_budget(lengths: np.ndarray, tokens: int) -> None:
    batches = sorted_batches(lengths, tokens)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or lengths[batch].max() * len(batch) <= tokens
    order = [int(lengths[k]) for batch in batches for k in batch]
    assert order == sorted(order)


def test_sorted_batches_fill_their_budget() -> None:
    assert [len(batch) for batch in sorted_batches(np.full(100, 10), 250)] == [25] * 4


@given(lengths, st.integers(1, 20), st.integers(0, 99), st.integers(1, 4))
def test_training_batches_hold_every_index_once(lengths: np.ndarray, size: int, seed: int, together: int) -> None:
    batches = cut_batches(lengths, size, np.random.default_rng(seed), together)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert max(map(len, batches)) <= size
    assert sum(len(batch) < size for batch in batches) <= 1


def test_training_batches_are_of_like_length_and_shuffled() -> None:
    lengths = np.arange(1000)
    batches = cut_batches(lengths, 10, np.random.default_rng(0), together=100)
    assert all(np.ptp(lengths[batch]) == 9 for batch in batches)
    starts = [int(batch.min()) for batch in batches]
    assert starts != sorted(starts)


def test_states_are_taken_and_joined_by_their_words() -> None:
    words = pack([[0, 1], [0, 2, 3], [0]])
    states = States(np.array([5, 6, 7]), words)
    taken = states.take(np.array([2, 1]))
    assert taken.example.tolist() == [7, 6]
    assert [row.tolist() for row in taken.words] == [[0], [0, 2, 3]]
    joined = concatenate([taken, states])
    assert joined.example.tolist() == [7, 6, 5, 6, 7]
    assert [row.tolist() for row in joined.words][2:] == [[0, 1], [0, 2, 3], [0]]
    assert len(take_rows(words, np.zeros(0, dtype=np.int64))) == 0


@pytest.mark.parametrize(("longest", "wanted"), [(1, 32), (32, 32), (33, 40), (256, 256), (257, 264), (264, 264)])
def test_widths_are_the_next_of_a_few(longest: int, wanted: int) -> None:
    assert pad_width(longest) == wanted
    assert pad_width(longest) in WIDTHS or longest > WIDTHS[-1]
