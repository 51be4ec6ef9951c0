"""The reliability plot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riseq.calibrate.report import plot_reliability
from riseq.metrics.reliability import measure_reliability


def test_the_plot_is_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    curve = measure_reliability(np.linspace(0, 1, 50), np.repeat([0.0, 1.0], 25))
    plot_reliability(tmp_path / "plot.png", {"dev": curve})
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
