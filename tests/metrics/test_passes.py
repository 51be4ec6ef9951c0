"""How many passes, what they bring, how much they edit, and which texts got worse."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.metrics.passes import (
    count_only,
    map_passes,
    measure_stopping,
    share_edited,
    share_worse,
    text_after,
)
from riseq.types import Simplification, Step


def test_the_text_after_some_passes() -> None:
    passes = ["b", "c", "d"]
    assert [text_after("a", passes, limit) for limit in (0, 1, 3, 5, None)] == ["a", "b", "d", "d", "d"]
    assert text_after("a", [], 3) == "a"


def test_words_only_in_one_text_are_counted_as_often_as_they_are_left_over() -> None:
    assert count_only("the cat and the dog", "the cat") == 3
    assert count_only("the cat", "the cat and the dog") == 0


def test_the_map_means_over_the_examples_of_a_field_and_gathers_what_is_beyond_its_edge() -> None:
    questions = ["a b c ?", "a b d ?", "a ?", "a b c d e f ?"]
    texts = ["a it ?", "a he ?", "a ?", "it ?"]
    found = map_passes(questions, texts, [1, 2, 0, 3], columns=4, rows=2)
    assert found.counts.tolist() == [[1, 0, 0, 0], [0, 0, 2, 1]]
    assert found.means[1, 2] == 1.5
    assert found.means[1, 3] == 3
    assert np.isnan(found.means[0, 1])


def test_worse_at_some_pass_and_worse_at_the_end_are_two_things() -> None:
    after = [np.array([5.0, 5.0, 5.0, 5.0]), np.array([4.0, 4.0, 6.0, 5.0]), np.array([6.0, 3.0, 6.0, 5.0])]
    assert share_worse(after) == (0.5, 0.25)


def test_a_pass_that_changes_nothing_keeps_every_word() -> None:
    # Four words, one of them substituted; then the four words of a second pass, all kept.
    assert share_edited(["who saw alien ?"], [["who saw it ?"]], limit=3) == pytest.approx(1 / 8)
    # With no room for the second pass there is only the first.
    assert share_edited(["who saw alien ?"], [["who saw it ?"]], limit=1) == pytest.approx(1 / 4)
    assert share_edited(["who saw alien ?"], [[]], limit=3) == 0


def test_the_marker_counts_only_where_something_follows_it() -> None:
    assert share_edited(["saw alien ?"], [["who saw alien ?"]], limit=1) == pytest.approx(1 / 4)


TARGET = "When did she win the big prize?"
QUESTION = "When did Ada win the big prize?"


def make(*texts: str) -> Simplification:
    return Simplification(QUESTION, texts[-1] if texts else QUESTION, tuple(map(Step, texts)))


RESULTS = [
    make(TARGET, "When did she win the big?"),
    make("When did Ada she win the big prize?", TARGET),
    make(TARGET),
    make("When?", "When did she win the big prize", TARGET),
]


def test_shares_by_hand() -> None:
    one, two, three = measure_stopping(RESULTS, [TARGET] * 4, 3)
    assert [row.passes for row in (one, two, three)] == [1, 2, 3]
    assert [row.changed for row in (one, two, three)] == [100, 75, 25]
    assert one.worse == {"bleu4": 0, "rougeL": 0, "distance": 0}
    assert two.worse == {"bleu4": 25, "rougeL": 25, "distance": 25}
    assert three.worse == two.worse
    assert one.worse_than_question["rougeL"] == pytest.approx(25), "When? is worse than the question"
    assert three.bleu4 > one.bleu4


def test_a_question_that_was_left_alone_is_not_worse() -> None:
    (row,) = measure_stopping([make()], [TARGET], 1)
    assert row.changed == row.worse_than_question["bleu4"] == 0
