"""CIDEr equals COCO caption's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from riseq.metrics import coco
from riseq.metrics.ngrams import Floats, count_ngrams

if TYPE_CHECKING:
    from .conftest import Texts


def cider(predictions: list[str], targets: list[str]) -> Floats:
    return coco.cider(count_ngrams(predictions, targets))


def test_random_corpora_score_as_with_coco(random_corpus: Texts) -> None:
    ours = cider(random_corpus.predictions, random_corpus.targets)
    np.testing.assert_allclose(ours, random_corpus.coco.cider_each, rtol=0, atol=1e-6)
    assert ours.mean() == pytest.approx(random_corpus.coco.cider, abs=1e-6)


def test_real_questions_score_as_with_coco(real_corpus: Texts) -> None:
    ours = cider(real_corpus.predictions, real_corpus.targets)
    np.testing.assert_allclose(ours, real_corpus.coco.cider_each, rtol=0, atol=1e-6)


def test_one_example_has_no_rare_words() -> None:
    assert cider(["a b c d"], ["a b c d"]).tolist() == [0.0]


def test_a_perfect_answer_with_four_words_scores_ten() -> None:
    assert cider(["a b c d", "e f g h"], ["a b c d", "e f g h"]) == pytest.approx([10, 10])


def test_targets_without_words_score_nothing() -> None:
    """Where COCO's own code fails."""
    assert cider(["a", ""], ["", ""]).tolist() == [0.0, 0.0]
