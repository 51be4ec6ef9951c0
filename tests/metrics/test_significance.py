"""Paired tests find differences that are there, and only those."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

from riseq.metrics.bleu import bleu, bleu_of_parts
from riseq.metrics.ngrams import Floats
from riseq.metrics.significance import Bootstrap, TTest, bootstrap, t_test
from riseq.types import InputError


@pytest.fixture
def scores() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(5)
    second = rng.random(400)
    return second + 0.05 + rng.normal(0, 0.2, 400), second


def test_the_t_test_is_scipys(scores: tuple[Floats, Floats]) -> None:
    first, second = scores
    expected = ttest_rel(first, second)
    result = t_test(first, second)
    assert (result.statistic, result.p) == (expected.statistic, expected.pvalue)
    assert result.difference == pytest.approx((first - second).mean())


def test_the_t_test_without_spread() -> None:
    assert t_test([1, 2, 3], [1, 2, 3]) == TTest(0.0, 0.0, 1.0)
    assert t_test([1, 2], [2, 3]) == TTest(-1.0, -np.inf, 0.0)


def test_the_t_test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install 'riseq\[report\]'"):
        t_test([1, 2], [2, 1])


def test_the_bootstrap_agrees_with_the_normal_interval(scores: tuple[Floats, Floats]) -> None:
    first, second = scores
    result = bootstrap(first, second, np.random.default_rng(1), samples=4000)
    difference = first - second
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert result.difference == pytest.approx(difference.mean())
    assert result.low == pytest.approx(difference.mean() - 1.96 * error, abs=0.1 * error)
    assert result.high == pytest.approx(difference.mean() + 1.96 * error, abs=0.1 * error)
    assert result.p < 0.01


def test_the_bootstrap_finds_nothing_between_equals() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(2, 300))
    noise -= noise.mean(axis=1, keepdims=True)
    assert bootstrap(noise[0], noise[1], rng, samples=1000).p > 0.5
    assert bootstrap([1, 2, 3], [1, 2, 3], rng, samples=50) == Bootstrap(0.0, 0.0, 0.0, 1.0)


def test_the_bootstrap_depends_on_its_generator_only(scores: tuple[Floats, Floats]) -> None:
    one, again, other = (bootstrap(*scores, np.random.default_rng(seed), samples=200) for seed in (3, 3, 4))
    assert one == again
    assert one != other


def test_the_bootstrap_takes_corpus_bleu() -> None:
    targets = [f"a{i % 7} b{i % 5} c d e" for i in range(60)]
    good, poor = bleu(targets, targets), bleu([target.replace("c", "x") for target in targets], targets)

    def bleu4(totals: Floats, _: int) -> Floats:
        return bleu_of_parts(totals)[..., 3]

    result = bootstrap(good.parts, poor.parts, np.random.default_rng(0), samples=200, statistic=bleu4)
    assert result.difference == pytest.approx(good.corpus[3] - poor.corpus[3])
    assert result.low > 0
    assert result.p == pytest.approx(2 / 201)


def test_systems_on_different_examples_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="same examples"):
        bootstrap([1, 2], [1, 2, 3], rng)
    with pytest.raises(InputError, match="same examples"):
        t_test([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="on nothing"):
        bootstrap([], [], rng)
    with pytest.raises(InputError, match="at least two examples"):
        t_test([1], [2])
    with pytest.raises(InputError, match="one score an example"):
        t_test([[1], [2]], [[2], [3]])
    with pytest.raises(InputError, match="at least one sample"):
        bootstrap([1], [2], rng, samples=0)
