"""Logistic regression by Newton's method, and predictions for what it was not fitted on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riseq.engine.confidence import Logistic

Floats = NDArray[np.float64]
_STEPS = 100
_CLOSE = 1e-9
_MOST = 4.0
"""How far one step may go: on data that a line separates, Newton's first steps would go far past the answer."""


def fit_logistic(features_NF: Floats, outcomes_N: Floats, ridge: float = 1.0) -> Logistic:
    """Return the most probable model of ``outcomes_N`` (1 or 0), its weights held back by ``ridge`` in standard units.

    A feature that never varies gets the weight 0.
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
    return Logistic(float(weights[0] - own_F @ mean_F), tuple(own_F.tolist()))


def cross_fit(features_NF: Floats, outcomes_N: Floats, folds_N: NDArray[np.integer], ridge: float = 1.0) -> Floats:
    """Return the probability of each row by the model fitted to all folds but its own."""
    likely_N = np.empty(len(outcomes_N))
    for fold in np.unique(folds_N):
        held = folds_N == fold
        model = fit_logistic(features_NF[~held], outcomes_N[~held], ridge)
        likely_N[held] = predict(model, features_NF[held])
    return likely_N


def predict(model: Logistic, features_NF: Floats) -> Floats:
    """Return the model's probability for each row."""
    return rate_all(model.bias + features_NF @ np.array(model.weights))


def rate_all(scores_N: Floats) -> Floats:
    """Return 1 / (1 + exp(-score)), without overflow."""
    likely: Floats = 0.5 * (1 + np.tanh(0.5 * scores_N))
    return likely
