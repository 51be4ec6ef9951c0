"""ROUGE-L as COCO caption computes it, with one reference each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riseq.metrics.ngrams import Floats, check_pairs

BETA = 1.2
"""How much more recall counts than precision."""


def rouge_l(predictions: Sequence[str], targets: Sequence[str]) -> Floats:
    """Return the ROUGE-L of each prediction, between 0 and 1; the corpus's is their mean.

    Words stand between single spaces. As in COCO, a text without words is one empty word: it is like another empty text
    and unlike any other.
    """
    check_pairs(predictions, targets)
    return np.fromiter(map(_rouge_l, predictions, targets), dtype=np.float64, count=len(predictions))


def _rouge_l(prediction: str, target: str) -> float:
    predicted, wanted = prediction.split(" "), target.split(" ")
    common = len(predicted) if predicted == wanted else count_common(predicted, wanted)
    if not common:
        return 0.0
    precision, recall = common / len(predicted), common / len(wanted)
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def count_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    # One row of the usual table is one integer: bit i is 0 where the row steps up at first[i]. A row follows from the
    # one above by an addition, whose carry finds the next step up (Hyyro, 2004); Python's integers have no width.
    masks: dict[str, int] = {}
    for index, word in enumerate(first):
        masks[word] = masks.get(word, 0) | 1 << index
    full = (1 << len(first)) - 1
    row = full
    for word in second:
        matches = row & masks.get(word, 0)
        row = ((row + matches) | (row - matches)) & full
    return len(first) - row.bit_count()
