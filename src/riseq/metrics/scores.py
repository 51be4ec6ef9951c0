"""The scores of a system on a set, as the paper's tables give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from riseq.metrics.bleu import Bleu, bleu_of_corpus
from riseq.metrics.cider import cider_of_corpus
from riseq.metrics.edits import match_exactly, measure_distances
from riseq.metrics.ngrams import Floats, check_pairs, count_ngrams
from riseq.metrics.rouge import rouge_l
from riseq.text.pieces import scoring_form


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
    """One example's scores, on the same scales as ``Scores``; BLEU-4 is that of the example alone."""

    bleu4: float
    rougeL: float
    cider: float
    exact: bool
    distance: int


@dataclass(frozen=True, slots=True)
class _Measured:
    """Every metric of a corpus, example by example, between 0 and 1 where a share."""

    bleu: Bleu
    rouge: Floats
    cider: Floats
    exact: Sequence[bool]
    distances: Sequence[int]


def score(predictions: Sequence[str], targets: Sequence[str]) -> Scores:
    """Return the corpus's scores of predictions and targets as people write them."""
    measured = _measure(predictions, targets)
    n = len(predictions)
    bleu1, bleu2, bleu3, bleu4 = (100 * value for value in measured.bleu.corpus)
    return Scores(
        n,
        bleu1,
        bleu2,
        bleu3,
        bleu4,
        rougeL=100 * float(measured.rouge.mean()),
        cider=float(measured.cider.mean()),
        exact=100 * sum(measured.exact) / n,
        distance=sum(measured.distances) / n,
    )


def score_each(predictions: Sequence[str], targets: Sequence[str]) -> list[ExampleScores]:
    """Return the scores of each prediction, in order, for significance tests and case studies."""
    measured = _measure(predictions, targets)
    columns = (
        (100 * measured.bleu.each[:, 3]).tolist(),
        (100 * measured.rouge).tolist(),
        measured.cider.tolist(),
        measured.exact,
        measured.distances,
    )
    return [ExampleScores(*row) for row in zip(*columns, strict=True)]


def _measure(predictions: Sequence[str], targets: Sequence[str]) -> _Measured:
    check_pairs(predictions, targets)
    ours, gold = [scoring_form(text) for text in predictions], [scoring_form(text) for text in targets]
    corpus = count_ngrams(ours, gold)
    return _Measured(
        bleu_of_corpus(corpus),
        rouge_l(ours, gold),
        cider_of_corpus(corpus),
        match_exactly(ours, gold).tolist(),
        measure_distances(ours, gold).tolist(),
    )
