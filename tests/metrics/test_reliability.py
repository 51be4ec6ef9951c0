"""The calibration error by hand, and the plot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riseq.metrics.reliability import check_confidence, measure_reliability, plot_reliability
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


def test_the_plot_is_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    curve = measure_reliability(np.linspace(0, 1, 50), np.repeat([0.0, 1.0], 25))
    plot_reliability(tmp_path / "plot.png", {"dev": curve})
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_confidences_are_held_against_exact_matches_of_questions_with_a_dialogue() -> None:
    film = Example("film", ("Who directed Alien?",), "When was Alien released?", "When was it released?")
    alone = Example("alone", (), "Who is he?", "Who?")
    right = Simplification(film.question, "when was it  released ?", (), confidence=0.75)
    wrong = Simplification(film.question, film.question, (), confidence=0.25)
    unread = Simplification(alone.question, alone.question, (), confidence=1.0)
    found = check_confidence([film, film, alone], [right, wrong, unread])
    assert found.error == pytest.approx(0.25)
    assert found.discrimination == 1.0
    with pytest.raises(InputError, match="1 of 2 results with a dialogue tell no confidence"):
        check_confidence([film, film], [right, Simplification(film.question, film.question, ())])
    with pytest.raises(InputError, match="0 of 0 results"):
        check_confidence([alone], [unread])
