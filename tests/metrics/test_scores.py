"""The scores of a system, and the paper's Origin row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riseq.metrics.scores import Scores, score, score_each
from riseq.types import InputError

KEYS = ["n", "bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider", "exact", "distance"]


@pytest.mark.parametrize(
    ("name", "rows", "wanted"),
    [
        ("canard/test.qonly.jsonl", 4800, [54.7, 47.0, 40.6, 35.3, 70.9, 3.456]),
        ("canard/test.qa.jsonl", 4800, [54.7, 47.0, 40.6, 35.3, 70.9, 3.456]),
        ("cast19/test.qonly.jsonl", 479, [76.0, 69.2, 63.0, 57.6, 85.0, 5.946]),
    ],
)
def test_the_origin_row_is_the_papers(data_dir: Path, name: str, rows: int, wanted: list[float]) -> None:
    examples = [json.loads(line) for line in (data_dir / name).read_text("utf-8").splitlines()]
    result = score([example["question"] for example in examples], [example["target"] for example in examples])
    shares = [result.bleu1, result.bleu2, result.bleu3, result.bleu4, result.rougeL]
    assert result.n == rows
    assert [*(round(share, 1) for share in shares), round(result.cider, 3)] == wanted


def test_a_perfect_system_scores_everything() -> None:
    texts = ["When did he die?", "Where was she born?"]
    result = score(texts, texts)
    assert result.as_dict() == pytest.approx(dict(zip(KEYS, [2, 100, 100, 100, 100, 100, 10, 100, 0], strict=True)))
    assert list(result.as_dict()) == KEYS


def test_case_accents_and_spacing_do_not_count() -> None:
    result = score(["DID  Beyoncé sing ?"], ["did beyonce sing?"])
    assert (result.exact, result.distance, result.rougeL) == (100, 0, 100)


def test_examples_score_as_the_corpus_does() -> None:
    predictions = ["When did Ira Hayes die?", "Where was she born?", ""]
    targets = ["When did he die?", "Where was she born?", "Why?"]
    each, whole = score_each(predictions, targets), score(predictions, targets)
    assert isinstance(whole, Scores)
    assert np.mean([one.rougeL for one in each]) == pytest.approx(whole.rougeL)
    assert np.mean([one.cider for one in each]) == pytest.approx(whole.cider)
    assert [one.exact for one in each] == [False, True, False]
    assert [one.distance for one in each] == [2, 0, 2]
    assert each[1].bleu4 == pytest.approx(100)
    assert each[2].bleu4 == 0
    assert whole.exact == pytest.approx(100 / 3)
    assert whole.distance == pytest.approx(4 / 3)


@pytest.mark.parametrize(
    ("predictions", "targets", "message"),
    [
        (["a"], ["a", "b"], "cannot score 1 predictions with 2 targets; expected one each"),
        ([], [], "cannot score nothing"),
        ("why", "why", "cannot score a single string"),
    ],
)
def test_what_cannot_be_scored_is_refused(predictions: list[str], targets: list[str], message: str) -> None:
    for measure in (score, score_each):
        with pytest.raises(InputError, match=message):
            measure(predictions, targets)
