"""BM25: what is found, in which order, and what a word counts."""

from __future__ import annotations

import doctest

import pytest

from riseq.engine import bm25
from riseq.engine.bm25 import Bm25, find_subject
from riseq.types import InputError

TEXTS = ["The Nile is long.", "The Rhine is a river, a long river.", "Saturn has rings.", "Why?"]


def test_the_example_of_the_docstring() -> None:
    results = doctest.testmod(bm25, optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


def test_only_texts_that_share_a_word_are_found_the_best_first() -> None:
    index = Bm25(TEXTS)
    assert [hit.index for hit in index.search("Are rivers such as the Rhine longer than the Nile?")] == [1, 0]
    assert [hit.index for hit in index.search("Rings")] == [2]
    assert index.search("What is it?") == []
    assert len(index.search("Nile, Rhine, Saturn", 2)) == 2


def test_a_score_by_hand() -> None:
    # Two texts of one word each, which one of them has: log(1 + 1.5 / 1.5) times 2.5 / 2.5.
    (hit,) = Bm25(["Saturn", "Rhine"]).search("saturn")
    assert hit.index == 0
    assert hit.score == pytest.approx(0.6931, abs=1e-4)


def test_of_equals_the_first_and_a_word_said_twice_counts_twice() -> None:
    index = Bm25(["Nile", "Rhine", "Nile"])
    assert [hit.index for hit in index.search("Nile")] == [0, 2]
    once, twice = (index.search(query)[0].score for query in ("Nile", "Nile Nile"))
    assert twice == pytest.approx(2 * once)


def test_stems_and_words_that_say_nothing() -> None:
    assert find_subject("Rivers and a river") == {"river": 2}
    assert not find_subject("How many of them are there?")


def test_nothing_and_mistakes() -> None:
    assert Bm25([]).search("Nile") == []
    with pytest.raises(InputError, match="expected a list of strings"):
        Bm25("Nile")
    with pytest.raises(InputError, match="n is 0, expected 1 or more"):
        Bm25(TEXTS).search("Nile", 0)
