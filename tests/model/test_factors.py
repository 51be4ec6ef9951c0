"""Differences in few numbers: what is put together is what exact arithmetic says, and near what was asked for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.model.factors import NOISE, Factors, find_factors, find_shift, merge, move, quantise


def draw_numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-127, 128, size=shape).astype(np.int8)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6), st.integers(0, 9))
def test_a_merged_matrix_is_what_exact_arithmetic_says(seed: int, inputs: int, outputs: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, scales = draw_numbers(rng, inputs, outputs), rng.uniform(1e-4, 1, outputs).astype(np.float32)
    factors = Factors(draw_numbers(rng, rank, inputs), draw_numbers(rng, rank, outputs), 2.0 ** -int(rng.integers(12)))
    merged, new_scales = merge(matrix, scales, factors)
    for column in range(outputs):
        exact = [
            int(matrix[row, column])
            + Fraction(factors.unit)
            * sum(int(a) * int(b) for a, b in zip(factors.narrow[:, row], factors.wide[:, column], strict=True))
            for row in range(inputs)
        ]
        largest = max(Fraction(1), *map(abs, exact))
        assert new_scales[column] == pytest.approx(float(scales[column] * largest / 127), rel=1e-6)
        for row in range(inputs):
            assert abs(merged[row, column] - exact[row] * 127 / largest) <= 0.5001


def test_it_is_the_same_bytes_in_whatever_order_parts_are_added() -> None:
    rng = np.random.default_rng(2)
    matrix, scales = draw_numbers(rng, 70, 50), rng.uniform(1e-4, 1, 50).astype(np.float32)
    factors = Factors(draw_numbers(rng, 900, 70), draw_numbers(rng, 900, 50), 0.0123)
    order = rng.permutation(900)
    turned = Factors(factors.narrow[order], factors.wide[order], factors.unit)
    (made, of_columns), (again, of_its) = merge(matrix, scales, factors), merge(matrix, scales, turned)
    assert made.tobytes() == again.tobytes()
    assert of_columns.tobytes() == of_its.tobytes()


@pytest.mark.parametrize("noise", [0.1, NOISE, 2.0])
def test_factors_are_as_near_as_asked_and_have_the_rank_that_it_has(noise: float) -> None:
    rng = np.random.default_rng(3)
    difference = noise * (rng.normal(size=(300, 5)) * [9, 6, 4, 3, 2] @ rng.normal(size=(5, 200)))
    factors = find_factors(difference, noise)
    assert factors is not None
    assert len(factors.narrow) == len(factors.wide) == 5
    said = factors.narrow.T.astype(float) @ factors.wide.astype(float) * factors.unit
    assert noise / 2 < np.sqrt(np.mean((said - difference) ** 2)) < noise * 1.1


def test_what_is_no_smaller_as_factors_is_none() -> None:
    rng = np.random.default_rng(4)
    assert find_factors(rng.normal(size=(60, 60)) * 50) is None


def test_what_is_lost_in_the_rounding_is_no_difference() -> None:
    factors = find_factors(np.random.default_rng(5).normal(size=(60, 60)) * NOISE / 4)
    assert factors is not None
    assert factors.narrow.shape == (0, 60)
    matrix, scales = quantise(np.random.default_rng(6).normal(size=(60, 60)))
    merged, same = merge(matrix, scales, factors)
    assert np.array_equal(merged, matrix)
    np.testing.assert_allclose(same, scales)


@given(st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=30))
def test_a_moved_vector_is_near_what_was_asked(numbers: list[float]) -> None:
    difference = np.array(numbers, dtype=np.float32)
    base = np.linspace(-1, 1, len(numbers), dtype=np.float32)
    shift = find_shift(difference)
    assert np.abs(move(base, shift) - base - difference).max() <= shift.unit * 0.51 + 1e-6
    assert shift.unit <= max(np.abs(difference).mean() / 4, np.abs(difference).max() / 126, 1e-29)
