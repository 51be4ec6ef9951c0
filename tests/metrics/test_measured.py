"""Every metric of every example, and of parts of a set."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.metrics.measured import measure
from riseq.metrics.scores import score, score_each

TEXTS = ["when was it released ?", "who saw alien ?", "what are the symptoms of it ?", "why ?"]
TARGETS = ["when was it out ?", "who saw alien ?", "what are the symptoms ?", "why not ?"]
METRICS = ("bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider", "exact", "distance")


@pytest.mark.parametrize("metric", METRICS)
def test_a_whole_set_has_the_scores_of_the_scorer(metric: str) -> None:
    assert measure(TEXTS, TARGETS).score(metric) == pytest.approx(getattr(score(TEXTS, TARGETS), metric))


@pytest.mark.parametrize("metric", ["bleu4", "rougeL", "cider", "distance"])
def test_each_example_has_the_scores_of_the_scorer(metric: str) -> None:
    expected = [getattr(one, metric) for one in score_each(TEXTS, TARGETS)]
    assert measure(TEXTS, TARGETS).each(metric).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "cider"])
def test_a_part_has_the_scores_it_would_have_alone(metric: str) -> None:
    mask = np.array([True, False, True, False])
    alone = score([TEXTS[0], TEXTS[2]], [TARGETS[0], TARGETS[2]])
    assert measure(TEXTS, TARGETS).score(metric, mask) == pytest.approx(getattr(alone, metric))
