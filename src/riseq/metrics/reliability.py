"""Whether probabilities keep their word: of those near 0.7, are seven in ten right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from riseq.files import replace_file
from riseq.metrics.edits import match_exactly
from riseq.text.pieces import scoring_form
from riseq.types import Example, InputError, Simplification

Floats = NDArray[np.float64]
BINS = 15
_LABEL = 30  # characters: a long path would push the plot off its page


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


def check_confidence(examples: Sequence[Example], predictions: Sequence[Simplification]) -> Reliability:
    """Return how well the predictions' confidences keep their word, over the examples that have a dialogue."""
    asked = [pair for pair in zip(examples, predictions, strict=True) if pair[0].context]
    told = [prediction.confidence for _, prediction in asked]
    known = np.array([one for one in told if one is not None])
    if not asked or len(known) < len(told):
        raise InputError(
            f"{len(told) - len(known)} of {len(told)} results with a dialogue tell no confidence; expected all to, as "
            "those of rise do with a model that riseq calibrate has fitted"
        )
    texts = [scoring_form(prediction.text) for _, prediction in asked]
    right = match_exactly(texts, [scoring_form(example.target or "") for example, _ in asked])
    return measure_reliability(known, right.astype(np.float64))


def _rank(probabilities: Floats, right: Floats) -> float:
    good, bad = probabilities[right == 1], np.sort(probabilities[right == 0])
    if not len(good) or not len(bad):
        return 0.5
    below, not_above = np.searchsorted(bad, good, "left"), np.searchsorted(bad, good, "right")
    return float((below + not_above).sum() / (2 * len(good) * len(bad)))


def plot_reliability(path: Path, curves: dict[str, Reliability]) -> None:
    """Write a reliability plot, one line a curve, to ``path``."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise InputError("a plot needs matplotlib; install it with: pip install 'riseq[report]'") from error
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="calibrated")
    for name, curve in curves.items():
        axes.plot(curve.predicted, curve.observed, marker="o", label=f"{name[-_LABEL:]}, ECE {curve.error:.3f}")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share that a person wrote so", aspect="equal")
    axes.legend()
    with replace_file(path) as out:
        figure.savefig(out, format=path.suffix.lstrip(".") or "png", dpi=150)
