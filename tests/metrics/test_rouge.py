"""ROUGE-L equals COCO caption's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocoevalcap.rouge.rouge import my_lcs

from riseq.metrics.coco import count_common, rouge_l
from riseq.types import InputError

if TYPE_CHECKING:
    from .conftest import Texts


def test_random_corpora_score_as_with_coco(random_corpus: Texts) -> None:
    ours = rouge_l(random_corpus.predictions, random_corpus.targets)
    np.testing.assert_allclose(ours, random_corpus.coco.rouge_each, rtol=0, atol=1e-6)
    assert ours.mean() == pytest.approx(random_corpus.coco.rouge, abs=1e-6)


def test_real_questions_score_as_with_coco(real_corpus: Texts) -> None:
    ours = rouge_l(real_corpus.predictions, real_corpus.targets)
    np.testing.assert_allclose(ours, real_corpus.coco.rouge_each, rtol=0, atol=1e-6)


words = st.lists(st.sampled_from("abc"), max_size=80)


@given(words, words)
def test_the_common_subsequence_is_as_long_as_the_tables(first: list[str], second: list[str]) -> None:
    assert count_common(first, second) == my_lcs(first, second)


def test_empty_texts_are_alike() -> None:
    assert rouge_l(["", "", "a"], ["", "a", ""]).tolist() == [1.0, 0.0, 0.0]


def test_unpaired_texts_are_refused() -> None:
    with pytest.raises(InputError, match="cannot score 1 predictions with 0 targets"):
        rouge_l(["a"], [])
