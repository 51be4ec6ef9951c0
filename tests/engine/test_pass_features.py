"""What a pass shows of its sureness."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.core.edits import Op
from riseq.engine.confidence import CERTAIN, PassFeatures, measure_pass

ROWS = [[0.9, 0.05, 0.05, 0.0], [0.6, 0.4, 0.0, 0.0], [0.1, 0.2, 0.0, 0.7], [0.2, 0.0, 0.0, 0.8], [0.99, 0.01, 0, 0]]


def test_a_pass_by_hand() -> None:
    with np.errstate(divide="ignore"):
        scores = np.log(np.array(ROWS))
    ops = [Op.KEEP, Op.KEEP, Op.SUBSTITUTE, Op.SUBSTITUTE, Op.KEEP]
    features = measure_pass(scores.tolist(), ops, math.log(0.5))
    together = 0.9 * 0.6 * 0.7 * 0.8 * 0.99 * 0.5
    assert features.log_probability == pytest.approx(math.log(together))
    assert features.odds == pytest.approx(math.log(together / (1 - together)))
    assert (features.least, features.second) == pytest.approx((math.log(0.6), math.log(0.7)))
    assert features.kept == features.border == pytest.approx(math.log(0.6))
    assert features.edited == pytest.approx(math.log(0.8 / 0.2))
    assert (features.runs, features.deleted, features.inserted, features.substituted, features.left) == (1, 0, 0, 2, 3)
    assert features.unchanged == 0
    assert tuple(features) == tuple(getattr(features, name) for name in PassFeatures._fields)


def test_a_certain_pass_has_finite_signs() -> None:
    features = measure_pass([[0.0, -math.inf, -math.inf, -math.inf]] * 2, [0, 0], 0.0)
    assert features.odds == CERTAIN
    assert features.unchanged == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.floats(-1e6, 0), min_size=4, max_size=4)), min_size=1))
def test_signs_are_finite(words: list[tuple[int, list[float]]]) -> None:
    features = measure_pass([row for _, row in words], [op for op, _ in words], -3.0)
    assert all(map(math.isfinite, features))
