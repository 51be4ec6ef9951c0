"""BLEU equals COCO caption's, example by example and as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from riseq.metrics.coco import bleu_of_parts, bleu_parts
from riseq.metrics.ngrams import Floats, count_ngrams
from riseq.types import InputError

if TYPE_CHECKING:
    from .conftest import Texts


def measure_parts(predictions: list[str], targets: list[str]) -> Floats:
    return bleu_parts(count_ngrams(predictions, targets))


def bleu(predictions: list[str], targets: list[str]) -> list[float]:
    return list(bleu_of_parts(measure_parts(predictions, targets).sum(axis=0)))


def test_random_corpora_score_as_with_coco(random_corpus: Texts) -> None:
    parts = measure_parts(random_corpus.predictions, random_corpus.targets)
    np.testing.assert_allclose(bleu_of_parts(parts.sum(axis=0)), random_corpus.coco.bleu, rtol=0, atol=1e-6)
    np.testing.assert_allclose(bleu_of_parts(parts), random_corpus.coco.bleu_each, rtol=0, atol=1e-6)


def test_real_questions_score_as_with_coco(real_corpus: Texts) -> None:
    parts = measure_parts(real_corpus.predictions, real_corpus.targets)
    np.testing.assert_allclose(bleu_of_parts(parts.sum(axis=0)), real_corpus.coco.bleu, rtol=0, atol=1e-6)
    np.testing.assert_allclose(bleu_of_parts(parts), real_corpus.coco.bleu_each, rtol=0, atol=1e-6)


def test_a_small_case_by_hand() -> None:
    # Two of three words are right ("the" only once), no two in a row; no brevity penalty.
    result = bleu(["the cat the"], ["the dog cat"])
    assert result[0] == pytest.approx(2 / 3)
    assert result[1] == pytest.approx(0, abs=1e-6)


def test_brevity_is_punished() -> None:
    assert bleu(["a b"], ["a b c d"])[0] == pytest.approx(np.exp(1 - 4 / 2))


def test_nothing_said_scores_nothing() -> None:
    assert bleu(["", ""], ["a", ""]) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("predictions", "targets", "message"),
    [
        (["a"], ["a", "b"], "cannot score 1 predictions with 2 targets"),
        ([], [], "cannot score nothing"),
        ("a b", "a b", "cannot score a single string"),
    ],
)
def test_unpaired_texts_are_refused(predictions: list[str], targets: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bleu(predictions, targets)
