"""The scores of a system on a set, as the paper's tables give them, and whether two systems' scores differ."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riseq.core.levenshtein import distance
from riseq.extras import needs_extra
from riseq.metrics.coco import bleu_of_corpus, bleu_of_parts, cider_of_corpus, rouge_l
from riseq.metrics.ngrams import Floats, Integers, check_pairs, count_ngrams
from riseq.text.pieces import scoring_form
from riseq.types import InputError

Mask = NDArray[np.bool_]
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
    bleu_each: Floats
    rouge: Floats
    cider: Floats
    exact: Mask
    distances: Integers

    def __len__(self) -> int:
        return len(self.texts)

    def score(self, metric: str, mask: Mask | None = None) -> float:
        """Return the score of the examples in ``mask`` on the scale of ``Scores``; CIDEr's weights are the set's."""
        if metric.startswith("bleu"):
            parts = self.bleu_parts if mask is None else self.bleu_parts[mask]
            return 100 * float(bleu_of_parts(parts.sum(axis=0))[METRICS.index(metric)])
        each = self.each(metric)
        return float((each if mask is None else each[mask]).mean())

    def each(self, metric: str) -> Floats:
        """Return the metric of each example, on the scale of ``Scores``; BLEU is that of the example alone."""
        if metric.startswith("bleu"):
            return np.asarray(100 * self.bleu_each[:, METRICS.index(metric)], dtype=np.float64)
        columns = {
            "rougeL": 100 * self.rouge,
            "cider": self.cider,
            "exact": 100.0 * self.exact,
            "distance": self.distances,
        }
        return np.asarray(columns[metric], dtype=np.float64)


def score(predictions: Sequence[str], targets: Sequence[str]) -> Scores:
    """Return the corpus's scores of predictions and targets as people write them."""
    check_pairs(predictions, targets)
    measured = score_examples([scoring_form(text) for text in predictions], [scoring_form(text) for text in targets])
    return Scores(len(measured), *(measured.score(metric) for metric in METRICS))


def score_examples(texts: Sequence[str], targets: Sequence[str]) -> ExampleScores:
    """Return the metrics of each of ``texts`` against its target, both in the scoring form."""
    corpus = count_ngrams(texts, targets)
    bleu = bleu_of_corpus(corpus)
    exact, distances = match_exactly(texts, targets), measure_distances(texts, targets)
    pair = rouge_l(texts, targets), cider_of_corpus(corpus)
    return ExampleScores(tuple(texts), bleu.parts, bleu.each, *pair, exact, distances)


def match_exactly(predictions: Sequence[str], targets: Sequence[str]) -> Mask:
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


@dataclass(frozen=True, slots=True)
class TTest:
    """A paired two-sided t-test of the first system's scores minus the second's."""

    difference: float
    statistic: float
    p: float


def t_test(first: ArrayLike, second: ArrayLike) -> TTest:
    """Return the paired t-test of two systems' scores of each example; equal scores throughout give p = 1."""
    with needs_extra("report", "the t-test"):
        from scipy.stats import ttest_rel
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise InputError(f"two systems are compared on the same examples; got shapes {a.shape} and {b.shape}")
    if a.ndim != 1:
        raise InputError(f"the t-test takes one score an example; got arrays of shape {a.shape}")
    if len(a) < 2:
        raise InputError(f"the t-test needs at least two examples; got {len(a)}")
    difference = a - b
    if not difference.any():
        return TTest(0.0, 0.0, 1.0)
    if np.ptp(difference) == 0.0:  # No spread at all: t is infinite, and scipy would warn of lost precision.
        return TTest(float(difference[0]), float(np.copysign(np.inf, difference[0])), 0.0)
    result = ttest_rel(a, b)
    return TTest(float(difference.mean()), float(result.statistic), float(result.pvalue))
