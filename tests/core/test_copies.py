"""Copied phrases on packed integers against plain searches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riseq.core.batch import index_phrases
from riseq.core.copies import find_copies, find_same
from riseq.core.copyable import Copyable, make_copyable
from riseq.core.packed import pack

words = st.integers(1, 3)
rows = st.lists(st.lists(st.integers(0, 3), max_size=9).map(lambda row: [0, *row]), min_size=1, max_size=4)
vocabularies = st.lists(st.lists(words, min_size=1, max_size=3).map(tuple), max_size=5, unique=True)


def spans(row: list[int], longest: int) -> dict[int, tuple[int, ...]]:
    """Return the words of every span of a row that can be copied, by its number."""
    cuts = {i * longest + n - 1: tuple(row[i : i + n]) for i in range(len(row)) for n in range(1, longest + 1)}
    return {number: cut for number, cut in cuts.items() if len(cut) == number % longest + 1 and 0 not in cut}


def make(lists: list[list[int]], longest: int) -> Copyable:
    return make_copyable(pack(lists), longest)


@settings(deadline=None)  # the first call compiles
@given(rows, st.integers(1, 4), vocabularies)
def test_the_id_of_equal_words_is_what_a_search_finds(
    lists: list[list[int]], longest: int, phrases: list[tuple[int, ...]]
) -> None:
    found = find_same(copyable := make(lists, longest), index_phrases(pack(phrases)))
    for k, row in enumerate(lists):
        start, end = copyable.words.offsets[k : k + 2]
        ids = found[start:end].reshape(-1).tolist()
        sayable = spans(row, longest)
        for number, own in enumerate(ids):
            wanted = len(phrases) + number
            if number in sayable:
                cut = sayable[number]
                equal = min(other for other, their in sayable.items() if their == cut)
                wanted = phrases.index(cut) if cut in phrases else len(phrases) + equal
            assert own == wanted


@settings(deadline=None)
@given(rows, st.integers(1, 4), st.lists(words, min_size=1, max_size=5), st.data())
def test_the_first_span_of_the_same_words_is_found(
    lists: list[list[int]], longest: int, said: list[int], data: st.DataObject
) -> None:
    copyable = make(lists, longest)
    row = data.draw(st.lists(st.integers(0, len(lists) - 1), min_size=1, max_size=4))
    start = [data.draw(st.integers(0, len(said) - 1)) for _ in row]
    end = [data.draw(st.integers(at + 1, len(said))) for at in start]
    found = find_copies(copyable, np.array(row), np.array(said, dtype=np.int32), np.array(start), np.array(end))
    for k, number in enumerate(found.tolist()):
        same = [one for one, cut in spans(lists[row[k]], longest).items() if list(cut) == said[start[k] : end[k]]]
        assert number == min(same, default=-1)
        if number >= 0:
            (at,), (to,) = copyable.find_slices(np.array([row[k]]), np.array([number]))
            assert copyable.words.values[at:to].tolist() == said[start[k] : end[k]]


def test_room_ends_with_the_utterance() -> None:
    assert make([[0, 1, 2, 3, 0, 1], [0], [0, 0, 2, 2]], 2).room.tolist() == [0, 2, 2, 1, 0, 1, 0, 0, 0, 2, 1]


def test_what_cannot_be_copied_is_refused() -> None:
    copyable = make([[0, 1, 2], [0, 3]], 2)
    for row, number in ((0, 0), (0, 5), (1, 4), (1, 3)):  # a marker, past the end, another row's word, past the end
        with pytest.raises(ValueError, match="within an utterance"):
            copyable.find_slices(np.array([row]), np.array([number]))
    with pytest.raises(ValueError, match="one word or more"):
        make([[0]], 0)
    with pytest.raises(ValueError, match="starts with its marker"):
        make([[1, 2]], 1)
    with pytest.raises(ValueError, match="not empty"):
        find_copies(copyable, np.array([0]), np.array([1], dtype=np.int32), np.array([0]), np.array([0]))
