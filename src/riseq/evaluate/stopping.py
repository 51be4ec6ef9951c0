"""Whether an engine knows when to stop: how many of its texts score lower after the last pass than before it.

The score of a text is its sentence's BLEU-4 against what a person wrote, as in the paper's section on the number of
editing iterations, or ROUGE-L, or the word-level Levenshtein distance; all of them in the scoring form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riseq.metrics.scores import score, score_each
from riseq.types import Simplification

PASSES = 5
METRICS = ("bleu4", "rougeL", "distance")
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Stopping:
    """What a set scores with at most so many passes, in percent, and which shares of it got worse."""

    passes: int
    bleu4: float
    changed: float
    """The share of texts that the last of these passes changed."""
    worse: dict[str, float]
    """By metric: the share of texts that score lower than after an earlier pass, the best of them."""
    worse_than_question: dict[str, float]
    """The same, where the question itself counts as an earlier text."""


def measure_stopping(results: Sequence[Simplification], targets: Sequence[str], most: int = PASSES) -> list[Stopping]:
    """Return the shares for at most 1, 2, ... ``most`` passes, from results that were given at least that many."""
    after = [[_text_after(result, passes) for result in results] for passes in range(most + 1)]
    each = [score_each(texts, targets) for texts in after]
    # The distance is better the smaller it is.
    values = {
        metric: np.array([[getattr(one, metric) * (-1 if metric == "distance" else 1) for one in row] for row in each])
        for metric in METRICS
    }
    return [
        Stopping(
            passes,
            score(after[passes], targets).bleu4,
            _share([now != before for now, before in zip(after[passes], after[passes - 1], strict=True)]),
            {metric: _share_lower(rows[passes], rows[1:passes]) for metric, rows in values.items()},
            {metric: _share_lower(rows[passes], rows[:passes]) for metric, rows in values.items()},
        )
        for passes in range(1, most + 1)
    ]


def _text_after(result: Simplification, passes: int) -> str:
    made = result.steps[:passes]
    return made[-1].text if made else result.question


def _share_lower(last: np.ndarray, earlier: np.ndarray) -> float:
    return _share(last < earlier.max(0) - _CLOSE) if len(earlier) else 0.0


def _share(which: Sequence[bool] | np.ndarray) -> float:
    return 100 * float(np.mean(which))
