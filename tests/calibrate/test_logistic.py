"""The regression against what made the data, and against what it must not see."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.calibrate.logistic import cross_fit, fit_logistic, predict, rate_all

RNG_SEED = 3


def make_data(rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(RNG_SEED)
    features = np.column_stack([rng.normal(5, 2, rows), rng.integers(0, 2, rows), np.full(rows, 7.0)])
    likely = rate_all(-3 + 0.8 * features[:, 0] - 1.5 * features[:, 1])
    return features, (rng.random(rows) < likely).astype(np.float64)


def test_it_finds_the_weights_that_made_the_data() -> None:
    model = fit_logistic(*make_data())
    assert model.bias == pytest.approx(-3, abs=0.2)
    assert model.weights == pytest.approx((0.8, -1.5, 0.0), abs=0.1)


def test_one_and_many_are_rated_alike() -> None:
    features, outcomes = make_data(500)
    model = fit_logistic(features, outcomes)
    assert predict(model, features).tolist() == pytest.approx([model.rate(row) for row in features.tolist()])


def test_what_a_line_separates_stays_finite() -> None:
    features = np.arange(20.0)[:, None]
    model = fit_logistic(features, (features[:, 0] > 9).astype(np.float64))
    assert np.isfinite([model.bias, *model.weights]).all()
    assert model.rate([0.0]) < 0.1 < 0.9 < model.rate([19.0])


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_outcomes_all_alike_stay_finite(outcome: float) -> None:
    model = fit_logistic(np.arange(30.0)[:, None], np.full(30, outcome))
    assert abs(model.rate([3.0]) - outcome) < 0.05


def test_no_row_is_rated_by_a_model_that_saw_it() -> None:
    # A feature that names each fold's outcome is worth nothing to the others.
    folds = np.repeat(np.arange(5), 40)
    outcomes = (folds % 2).astype(np.float64)
    features = (folds[:, None] == np.arange(5)[None, :]).astype(np.float64)
    seen = predict(fit_logistic(features, outcomes), features)
    unseen = cross_fit(features, outcomes, folds)
    assert ((seen > 0.5) == outcomes).all()
    assert ((unseen > 0.5) == outcomes).mean() < 0.7
