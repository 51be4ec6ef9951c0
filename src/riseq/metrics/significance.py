"""Whether two systems differ on the same examples: the paper's paired t-test, and the paired bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riseq.metrics.ngrams import Floats
from riseq.types import InputError


@dataclass(frozen=True, slots=True)
class TTest:
    """A paired two-sided t-test of the first system's scores minus the second's."""

    difference: float
    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A paired bootstrap of the first system's score minus the second's, with a 95% interval and a two-sided p."""

    difference: float
    low: float
    high: float
    p: float


def t_test(first: ArrayLike, second: ArrayLike) -> TTest:
    """Return the paired t-test of two systems' scores of each example; equal scores throughout give p = 1."""
    try:
        from scipy.stats import ttest_rel
    except ImportError as error:
        raise InputError("the t-test needs scipy, which is missing; pip install 'riseq[report]'") from error
    a, b = _check(first, second)
    if a.ndim != 1:
        raise InputError(f"the t-test takes one score an example; got arrays of shape {a.shape}")
    if len(a) < 2:
        raise InputError("the t-test needs at least two examples; got one")
    difference = a - b
    if not difference.any():
        return TTest(0.0, 0.0, 1.0)
    if np.ptp(difference) == 0.0:  # No spread at all: t is infinite, and scipy would warn of lost precision.
        return TTest(float(difference[0]), float(np.copysign(np.inf, difference[0])), 0.0)
    result = ttest_rel(a, b)
    return TTest(float(difference.mean()), float(result.statistic), float(result.pvalue))


def take_mean(totals: Floats, examples: int) -> Floats:
    """Return the means of examples whose scores sum to ``totals``."""
    return totals / examples


def bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    rng: np.random.Generator,
    samples: int = 10_000,
    statistic: Callable[[Floats, int], Floats] = take_mean,
) -> Bootstrap:
    """Return how the difference of two systems' scores varies over corpora drawn with replacement from this one.

    ``first`` and ``second`` are one score an example, or rows whose sums ``statistic`` turns into one score a corpus:
    for BLEU-4, ``Bleu.parts`` and ``lambda totals, n: bleu_of_parts(totals)[..., 3]``.
    """
    a, b = _check(first, second)
    if samples < 1:
        raise InputError(f"the bootstrap needs at least one sample; got {samples}")
    n = len(a)
    flat_a, flat_b = a.reshape(n, -1), b.reshape(n, -1)
    shape = a.shape[1:]

    def compare(weights: Floats) -> Floats:
        """Return the difference for each row of weights, which say how often each example was drawn."""
        totals_a = (weights @ flat_a).reshape(-1, *shape)
        totals_b = (weights @ flat_b).reshape(-1, *shape)
        return statistic(totals_a, n) - statistic(totals_b, n)

    observed = float(compare(np.ones((1, n)))[0])
    chunk = max(1, 2_000_000 // n)  # Bounds the weights in memory to 16 MB.
    differences = np.concatenate(
        [compare(_draw(n, min(chunk, samples - done), rng)) for done in range(0, samples, chunk)]
    )
    low, high = np.quantile(differences, [0.025, 0.975])
    # The smaller tail, twice; the sample that was really seen counts as one of them, so p is never 0.
    tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return Bootstrap(observed, float(low), float(high), min(1.0, 2 * (tail + 1) / (samples + 1)))


def _draw(examples: int, samples: int, rng: np.random.Generator) -> Floats:
    weights = np.empty((samples, examples))
    for row in weights:
        row[:] = np.bincount(rng.integers(examples, size=examples), minlength=examples)
    return weights


def _check(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise InputError(f"two systems are compared on the same examples; got shapes {a.shape} and {b.shape}")
    if a.ndim == 0 or not a.size:
        raise InputError("cannot compare two systems on nothing; expected a score for each example")
    return a, b
