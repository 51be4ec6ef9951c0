"""The calibration error by hand, and a regression against what made its data."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.engine.confidence import Logistic
from riseq.metrics.behaviour import Case
from riseq.metrics.reliability import check_confidence, cross_fit, fit_logistic, measure_reliability, rate_all
from riseq.types import Example, InputError, Simplification


def test_bins_of_equal_size_by_hand() -> None:
    likely = np.array([0.9, 0.1, 0.8, 0.3])
    right = np.array([1.0, 0.0, 0.0, 1.0])
    found = measure_reliability(likely, right, bins=2)
    assert found.predicted == pytest.approx((0.2, 0.85))
    assert found.observed == pytest.approx((0.5, 0.5))
    assert found.error == pytest.approx((0.3 + 0.35) / 2)
    assert found.counts == (2, 2)
    assert found.discrimination == pytest.approx(3 / 4)


def test_a_kept_word_has_no_error_and_a_boast_has() -> None:
    rng = np.random.default_rng(1)
    likely = rng.random(50_000)
    right = (rng.random(50_000) < likely).astype(np.float64)
    assert measure_reliability(likely, right).error < 0.01
    assert measure_reliability(np.sqrt(likely), right).error > 0.1


def test_all_right_has_nothing_to_rank() -> None:
    assert measure_reliability(np.array([0.2, 0.4]), np.ones(2)).discrimination == 0.5


def test_one_outcome_for_each_probability() -> None:
    with pytest.raises(ValueError, match="1 probabilities for 2 outcomes"):
        measure_reliability(np.ones(1), np.ones(2))


def test_confidences_are_held_against_what_is_right_of_questions_with_a_dialogue() -> None:
    question = "When was Alien released?"
    film = Case(Example("film", ("Who directed Alien?",), question), ("When was it released?",))
    alone = Case(Example("alone", (), "Who is he?"), ("Who?",))
    right = Simplification(question, "when was it  released ?", (), confidence=0.75)
    wrong = Simplification(question, question, (), confidence=0.25)
    unread = Simplification("Who is he?", "Who is he?", (), confidence=1.0)
    found = check_confidence([film, film, alone], [right, wrong, unread])
    assert found.error == pytest.approx(0.25)
    assert found.discrimination == 1.0
    with pytest.raises(InputError, match="1 of 2 results with a dialogue tell no confidence"):
        check_confidence([film, film], [right, Simplification(question, question, ())])
    with pytest.raises(InputError, match="0 of 0 results"):
        check_confidence([alone], [unread])


RNG_SEED = 3


def make_data(rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(RNG_SEED)
    features = np.column_stack([rng.normal(5, 2, rows), rng.integers(0, 2, rows), np.full(rows, 7.0)])
    likely = rate_all(-3 + 0.8 * features[:, 0] - 1.5 * features[:, 1])
    return features, (rng.random(rows) < likely).astype(np.float64)


def test_it_finds_the_weights_that_made_the_data() -> None:
    model = Logistic(*fit_logistic(*make_data()))
    assert model.bias == pytest.approx(-3, abs=0.2)
    assert model.weights == pytest.approx((0.8, -1.5, 0.0), abs=0.1)


def test_one_and_many_are_rated_alike() -> None:
    features, outcomes = make_data(500)
    bias, weights = fit_logistic(features, outcomes)
    one = Logistic(bias, weights)
    many = rate_all(bias + features @ np.array(weights))
    assert many.tolist() == pytest.approx([one.rate(row) for row in features.tolist()])


def test_what_a_line_separates_stays_finite() -> None:
    features = np.arange(20.0)[:, None]
    model = Logistic(*fit_logistic(features, (features[:, 0] > 9).astype(np.float64)))
    assert np.isfinite([model.bias, *model.weights]).all()
    assert model.rate([0.0]) < 0.1 < 0.9 < model.rate([19.0])


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_outcomes_all_alike_stay_finite(outcome: float) -> None:
    model = Logistic(*fit_logistic(np.arange(30.0)[:, None], np.full(30, outcome)))
    assert abs(model.rate([3.0]) - outcome) < 0.05


def test_no_row_is_rated_by_a_model_that_saw_it() -> None:
    # A feature that names each fold's outcome is worth nothing to the others.
    folds = np.repeat(np.arange(5), 40)
    outcomes = (folds % 2).astype(np.float64)
    features = (folds[:, None] == np.arange(5)[None, :]).astype(np.float64)
    bias, weights = fit_logistic(features, outcomes)
    seen = rate_all(bias + features @ np.array(weights))
    unseen = cross_fit(features, outcomes, folds)
    assert ((seen > 0.5) == outcomes).all()
    assert ((unseen > 0.5) == outcomes).mean() < 0.7
