"""BLEU equals COCO caption's, example by example and as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from riseq.metrics.coco import bleu, bleu_of_parts
from riseq.types import InputError

if TYPE_CHECKING:
    from .conftest import Texts


def test_random_corpora_score_as_with_coco(random_corpus: Texts) -> None:
    ours = bleu(random_corpus.predictions, random_corpus.targets)
    np.testing.assert_allclose(ours.corpus, random_corpus.coco.bleu, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.each, random_corpus.coco.bleu_each, rtol=0, atol=1e-6)


def test_real_questions_score_as_with_coco(real_corpus: Texts) -> None:
    ours = bleu(real_corpus.predictions, real_corpus.targets)
    np.testing.assert_allclose(ours.corpus, real_corpus.coco.bleu, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.each, real_corpus.coco.bleu_each, rtol=0, atol=1e-6)


def test_a_small_case_by_hand() -> None:
    # Two of three words are right ("the" only once), no two in a row; no brevity penalty.
    result = bleu(["the cat the"], ["the dog cat"])
    assert result.corpus[0] == pytest.approx(2 / 3)
    assert result.corpus[1] == pytest.approx(0, abs=1e-6)


def test_brevity_is_punished() -> None:
    assert bleu(["a b"], ["a b c d"]).corpus[0] == pytest.approx(np.exp(1 - 4 / 2))


def test_nothing_said_scores_nothing() -> None:
    assert bleu(["", ""], ["a", ""]).corpus == (0, 0, 0, 0)


def test_summed_parts_score_the_corpus() -> None:
    result = bleu(["a b c", "a b d e f"], ["a b c", "a c d e"])
    np.testing.assert_allclose(bleu_of_parts(result.parts.sum(axis=0)), result.corpus)


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
