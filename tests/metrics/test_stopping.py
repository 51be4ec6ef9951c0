"""Which texts got worse, pass by pass."""

from __future__ import annotations

import pytest

from riseq.metrics.passes import measure_stopping
from riseq.types import Simplification, Step

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
