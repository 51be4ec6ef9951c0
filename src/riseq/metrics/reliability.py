"""Probabilities: a regression that gives them, and whether they are reliable: of those near 0.7, are 7 in 10 right?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.metrics.behaviour import Case, judge
from riseq.metrics.ngrams import Floats
from riseq.types import InputError, Simplification

BINS = 15
Weights = tuple[float, tuple[float, ...]]
"""The bias and the weights of a logistic regression."""
_STEPS, _CLOSE, _MOST = 100, 1e-9, 4.0
"""Of Newton's method: how many, when to stop, and how far one may go, for the first would go past the answer."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """The mean probability and the share of right ones in bins of equal size, from the least probable up."""

    error: float
    """The expected calibration error: how far the two are apart, by the size of the bins."""
    discrimination: float
    """The area under the ROC curve: how often a right one is more probable than a wrong one."""
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    counts: tuple[int, ...]


def measure_reliability(probabilities: Floats, right: Floats, bins: int = BINS) -> Reliability:
    """Return how far ``probabilities`` are from the shares of ``right`` (1 or 0), in ``bins`` bins of equal size."""
    if len(probabilities) != len(right) or not len(right):
        raise ValueError(f"{len(probabilities)} probabilities for {len(right)} outcomes, expected one each")
    order = np.argsort(probabilities, kind="stable")
    members = [one for one in np.array_split(order, min(bins, len(order))) if len(one)]
    predicted = tuple(float(probabilities[one].mean()) for one in members)
    observed = tuple(float(right[one].mean()) for one in members)
    counts = tuple(len(one) for one in members)
    apart = (abs(p - o) * n for p, o, n in zip(predicted, observed, counts, strict=True))
    return Reliability(sum(apart) / len(right), _rank(probabilities, right), predicted, observed, counts)


def check_confidence(cases: Sequence[Case], predictions: Sequence[Simplification]) -> Reliability:
    """Return how well the predictions' confidences are calibrated, over the cases that have a dialogue."""
    asked = [pair for pair in zip(cases, predictions, strict=True) if pair[0].example.context]
    known = np.array([one.confidence for _, one in asked if one.confidence is not None])
    if not asked or len(known) < len(asked):
        raise InputError(
            f"{len(asked) - len(known)} of {len(asked)} results with a dialogue tell no confidence; expected all to, "
            "as those of rise do with a model that riseq calibrate has fitted"
        )
    right = np.array([judge(case, prediction.text).right for case, prediction in asked], dtype=np.float64)
    return measure_reliability(known, right)


def _rank(probabilities: Floats, right: Floats) -> float:
    good, bad = probabilities[right == 1], np.sort(probabilities[right == 0])
    if not len(good) or not len(bad):
        return 0.5
    below, not_above = np.searchsorted(bad, good, "left"), np.searchsorted(bad, good, "right")
    return float((below + not_above).sum() / (2 * len(good) * len(bad)))


def fit_logistic(features_NF: Floats, outcomes_N: Floats, ridge: float = 1.0) -> Weights:
    """Return the bias and weights of a logistic regression of ``outcomes_N`` (1 or 0), by Newton's method.

    Weights are held back by ``ridge`` in standard units; a feature that never varies gets the weight 0.
    """
    mean_F, spread_F = features_NF.mean(0), features_NF.std(0)
    varies_F = spread_F > _CLOSE
    scale_F = np.where(varies_F, spread_F, 1.0)
    inputs = np.column_stack([np.ones(len(features_NF)), np.where(varies_F, (features_NF - mean_F) / scale_F, 0.0)])
    # The bias is free, but for what keeps it finite where all outcomes are alike.
    penalty = np.diag([_CLOSE * len(inputs) + 1e-3, *[ridge] * features_NF.shape[1]])
    weights = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        likely = rate_all(inputs @ weights)
        slope = inputs.T @ (outcomes_N - likely) - penalty @ weights
        curve = (inputs * (likely * (1 - likely))[:, None]).T @ inputs + penalty
        step = np.clip(np.linalg.solve(curve, slope), -_MOST, _MOST)
        weights = weights + step
        if np.abs(step).max() < _CLOSE:
            break
    own_F = weights[1:] / scale_F
    return float(weights[0] - own_F @ mean_F), tuple(own_F.tolist())


def cross_fit(features_NF: Floats, outcomes_N: Floats, folds_N: NDArray[np.integer], ridge: float = 1.0) -> Floats:
    """Return the probability of each row by the model fitted to all folds but its own."""
    likely_N = np.empty(len(outcomes_N))
    for fold in np.unique(folds_N):
        held = folds_N == fold
        bias, weights = fit_logistic(features_NF[~held], outcomes_N[~held], ridge)
        likely_N[held] = rate_all(bias + features_NF[held] @ np.array(weights))
    return likely_N


def rate_all(scores_N: Floats) -> Floats:
    """Return 1 / (1 + exp(-score)), without overflow."""
    likely: Floats = 0.5 * (1 + np.tanh(0.5 * scores_N))
    return likely
