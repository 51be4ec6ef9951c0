"""Exact match, distance to the target, and which edits a system makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import Edit, Op
from riseq.core.levenshtein import distance
from riseq.metrics.ngrams import Integers, check_pairs


def match_exactly(predictions: Sequence[str], targets: Sequence[str]) -> NDArray[np.bool_]:
    """Return for each prediction whether it is its target, word for word."""
    check_pairs(predictions, targets)
    same = (prediction.split() == target.split() for prediction, target in zip(predictions, targets, strict=True))
    return np.fromiter(same, dtype=np.bool_, count=len(predictions))


def measure_distances(predictions: Sequence[str], targets: Sequence[str]) -> Integers:
    """Return for each prediction how many words have to be put in, taken out or replaced to make it its target."""
    check_pairs(predictions, targets)
    distances = (
        distance(prediction.split(), target.split()) if prediction != target else 0
        for prediction, target in zip(predictions, targets, strict=True)
    )
    return np.fromiter(distances, dtype=np.int64, count=len(predictions))


def share_by_kind(sequences: Iterable[Sequence[Edit]]) -> dict[Op, float]:
    """Return the share of all positions that each operation takes; the marker counts where something follows it.

    The marker is always there and nearly always kept, so counting its KEEPs would only blur the shares.
    """
    counts = dict.fromkeys(Op, 0)
    for edits in sequences:
        for position, edit in enumerate(edits):
            if position or edit.op is not Op.KEEP:
                counts[edit.op] += 1
    total = sum(counts.values())
    return {op: count / total if total else 0.0 for op, count in counts.items()}
