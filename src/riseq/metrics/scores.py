"""The scores of a system on a set, as the paper's tables give them, and whether two systems' scores differ."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core.levenshtein import distance
from riseq.extras import needs_extra
from riseq.metrics.coco import bleu_of_parts, bleu_parts, cider, rouge_l
from riseq.metrics.ngrams import Floats, check_pairs, count_ngrams
from riseq.text.pieces import scoring_form
from riseq.types import InputError

Mask = NDArray[np.bool_]
WHOLE = slice(None)
METRICS = ("bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider", "exact", "distance")


@dataclass(frozen=True, slots=True)
class Scores:
    """A corpus's scores: in percent, except CIDEr and the mean word-level Levenshtein distance."""

    n: int
    bleu1: float
    bleu2: float
    bleu3: float
    bleu4: float
    rougeL: float
    cider: float
    exact: float
    distance: float

    def as_dict(self) -> dict[str, int | float]:
        """Return the scores by name, in the order of the tables."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ExampleScores:
    """Every metric of each example, so that any part of a set is scored without going back to its texts."""

    texts: tuple[str, ...]
    """In the paper's scoring form."""
    bleu_parts: Floats
    each: Mapping[str, Floats]
    """By metric, on the scale of ``Scores``; BLEU is that of the example alone."""

    def __len__(self) -> int:
        return len(self.texts)

    def score(self, metric: str, mask: Mask | slice = WHOLE) -> float:
        """Return the score of the examples in ``mask`` on the scale of ``Scores``; CIDEr's weights are the set's."""
        if metric.startswith("bleu"):  # a corpus's is not the mean of its examples'
            return 100 * float(bleu_of_parts(self.bleu_parts[mask].sum(axis=0))[METRICS.index(metric)])
        return float(self.each[metric][mask].mean())


def score(predictions: Sequence[str], targets: Sequence[str]) -> Scores:
    """Return the corpus's scores of predictions and targets as people write them."""
    check_pairs(predictions, targets)
    measured = score_examples([scoring_form(text) for text in predictions], [scoring_form(text) for text in targets])
    return Scores(len(measured), *(measured.score(metric) for metric in METRICS))


def score_examples(texts: Sequence[str], targets: Sequence[str]) -> ExampleScores:
    """Return the metrics of each of ``texts`` against its target, both in the scoring form."""
    corpus = count_ngrams(texts, targets)
    parts = bleu_parts(corpus)
    words = [(text.split(), target.split()) for text, target in zip(texts, targets, strict=True)]
    columns = (
        *(100 * bleu_of_parts(parts)).T,
        100 * rouge_l(texts, targets),
        cider(corpus),
        np.array([100.0 * (text == target) for text, target in words]),
        np.array([float(distance(text, target)) for text, target in words]),
    )
    return ExampleScores(tuple(texts), parts, dict(zip(METRICS, columns, strict=True)))


@dataclass(frozen=True, slots=True)
class TTest:
    """A paired two-sided t-test of the first system's scores minus the second's."""

    difference: float
    p: float


def t_test(first: Floats, second: Floats) -> TTest:
    """Return the paired t-test of two systems' scores of the same examples; equal scores throughout give p = 1."""
    with needs_extra("report", "the t-test"):
        from scipy.stats import ttest_rel
    if np.shape(first) != np.shape(second) or np.ndim(first) != 1:
        shapes = f"{np.shape(first)} and {np.shape(second)}"
        raise InputError(f"two systems are compared on the same examples, by one score an example; got shapes {shapes}")
    if len(first) < 2:
        raise InputError(f"the t-test needs at least two examples; got {len(first)}")
    difference = np.subtract(first, second)
    if not difference.any():
        return TTest(0.0, 1.0)
    if np.ptp(difference) == 0.0:  # No spread at all: t is infinite, and scipy would warn of lost precision.
        return TTest(float(difference[0]), 0.0)
    return TTest(float(difference.mean()), float(ttest_rel(first, second).pvalue))
