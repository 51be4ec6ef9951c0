"""The scores of a system, the paper's Origin row, and paired tests that find differences that are there."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

from riseq.metrics.ngrams import Floats
from riseq.metrics.scores import METRICS, Scores, TTest, score, score_examples, t_test
from riseq.types import InputError

KEYS = ["n", *METRICS]
TEXTS = ["when was it released ?", "who saw alien ?", "what are the symptoms of it ?", "why ?"]
TARGETS = ["when was it out ?", "who saw alien ?", "what are the symptoms ?", "why not ?"]


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
    predictions = ["when did ira hayes die ?", "where was she born ?", ""]
    targets = ["when did he die ?", "where was she born ?", "why ?"]
    each, whole = score_examples(predictions, targets), score(predictions, targets)
    assert isinstance(whole, Scores)
    assert np.mean(each.each["rougeL"]) == pytest.approx(whole.rougeL)
    assert np.mean(each.each["cider"]) == pytest.approx(whole.cider)
    assert each.each["exact"].tolist() == [0, 100, 0]
    assert each.each["distance"].tolist() == [2, 0, 2]
    assert each.each["bleu4"].tolist()[1:] == pytest.approx([100, 0])
    assert whole.exact == pytest.approx(100 / 3)
    assert whole.distance == pytest.approx(4 / 3)


@pytest.mark.parametrize("metric", METRICS)
def test_a_whole_set_has_the_scores_of_the_scorer(metric: str) -> None:
    assert score_examples(TEXTS, TARGETS).score(metric) == getattr(score(TEXTS, TARGETS), metric)


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "cider"])
def test_a_part_has_the_scores_it_would_have_alone(metric: str) -> None:
    mask = np.array([True, False, True, False])
    alone = score([TEXTS[0], TEXTS[2]], [TARGETS[0], TARGETS[2]])
    assert score_examples(TEXTS, TARGETS).score(metric, mask) == pytest.approx(getattr(alone, metric))


def test_an_unknown_metric_is_an_error() -> None:
    with pytest.raises(KeyError, match="meteor"):
        score_examples(TEXTS, TARGETS).score("meteor")


def test_a_match_is_word_for_word() -> None:
    found = score_examples(["a b", "a  b", "a b", ""], ["a b", "a b", "ab", ""])
    assert found.each["exact"].tolist() == [100, 100, 0, 100]


def test_distances_count_words() -> None:
    predictions = ["when did ira hayes die ?", "a b", "", "same", "a  b"]
    found = score_examples(predictions, ["when did he die ?", "", "a b", "same", "a b"])
    assert found.each["distance"].tolist() == [2, 2, 2, 0, 0]


@pytest.mark.parametrize(
    ("predictions", "targets", "message"),
    [
        (["a"], ["a", "b"], "cannot score 1 predictions with 2 targets; expected one each"),
        ([], [], "cannot score nothing"),
        ("why", "why", "cannot score a single string"),
    ],
)
def test_what_cannot_be_scored_is_refused(predictions: list[str], targets: list[str], message: str) -> None:
    for measure in (score, score_examples):
        with pytest.raises(InputError, match=message):
            measure(predictions, targets)


@pytest.fixture
def scores() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(5)
    second = rng.random(400)
    return second + 0.05 + rng.normal(0, 0.2, 400), second


def test_the_t_test_is_scipys(scores: tuple[Floats, Floats]) -> None:
    first, second = scores
    expected = ttest_rel(first, second)
    result = t_test(first, second)
    assert result.p == expected.pvalue
    assert result.difference == pytest.approx((first - second).mean())


def test_the_t_test_without_spread() -> None:
    assert t_test(np.array([1.0, 2, 3]), np.array([1.0, 2, 3])) == TTest(0.0, 1.0)
    assert t_test(np.array([1.0, 2]), np.array([2.0, 3])) == TTest(-1.0, 0.0)


def test_the_t_test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("scipy"):
            raise ModuleNotFoundError(name, name=name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install '\.\[report\]'"):
        t_test(np.array([1.0, 2]), np.array([2.0, 1]))


def test_systems_on_different_examples_are_refused() -> None:
    with pytest.raises(InputError, match="same examples"):
        t_test(np.ones(2), np.ones(3))
    for scores in (np.ones(1), np.ones(0)):
        with pytest.raises(InputError, match="at least two examples"):
            t_test(scores, scores)
    with pytest.raises(InputError, match="one score an example"):
        t_test(np.ones((2, 1)), np.ones((2, 1)))
