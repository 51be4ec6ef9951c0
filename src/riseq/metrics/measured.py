"""Every metric of every example, measured once, so that any part of a set is scored without going back to its texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.metrics.bleu import bleu_of_corpus, bleu_of_parts
from riseq.metrics.cider import cider_of_corpus
from riseq.metrics.edits import match_exactly, measure_distances
from riseq.metrics.ngrams import Floats, count_ngrams
from riseq.metrics.rouge import rouge_l

Mask = NDArray[np.bool_]
BLEU_PLACES = {"bleu1": 0, "bleu2": 1, "bleu3": 2, "bleu4": 3}


@dataclass(frozen=True, slots=True)
class Measured:
    """A set's metrics, one entry an example; texts are in the paper's scoring form."""

    texts: tuple[str, ...]
    bleu_parts: Floats
    bleu_each: Floats
    rouge: Floats
    cider: Floats
    exact: Mask
    distances: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.texts)

    def score(self, metric: str, mask: Mask | None = None) -> float:
        """Return the score of the examples in ``mask`` on the scale of the tables; CIDEr's weights are the set's."""
        if metric in BLEU_PLACES:
            parts = self.bleu_parts if mask is None else self.bleu_parts[mask]
            return 100 * float(bleu_of_parts(parts.sum(axis=0))[BLEU_PLACES[metric]])
        each = self.each(metric)
        return float((each if mask is None else each[mask]).mean())

    def each(self, metric: str) -> Floats:
        """Return the metric of each example, on the scale of the tables."""
        if metric in BLEU_PLACES:
            found: Floats = 100 * self.bleu_each[:, BLEU_PLACES[metric]]
            return found
        columns = {
            "rougeL": 100 * self.rouge,
            "cider": self.cider,
            "exact": 100.0 * self.exact,
            "distance": self.distances.astype(np.float64),
        }
        return np.asarray(columns[metric], dtype=np.float64)


def measure(texts: Sequence[str], targets: Sequence[str]) -> Measured:
    """Return the metrics of ``texts`` against ``targets``, both in the scoring form."""
    corpus = count_ngrams(texts, targets)
    bleu = bleu_of_corpus(corpus)
    return Measured(
        tuple(texts),
        bleu.parts,
        bleu.each,
        rouge_l(texts, targets),
        cider_of_corpus(corpus),
        match_exactly(texts, targets),
        measure_distances(texts, targets),
    )
