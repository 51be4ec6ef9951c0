"""CIDEr as COCO caption computes it (the CIDEr-D form: clipped, with a length penalty), with one reference each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riseq.metrics.ngrams import Corpus, Counts, Floats, count_ngrams

SIGMA = 6.0
"""The standard deviation of the length penalty."""
HIGHEST = 4


def cider(predictions: Sequence[str], targets: Sequence[str]) -> Floats:
    """Return the CIDEr of each prediction, between 0 and 10; the corpus's is their mean.

    An n-gram's weight comes from how many targets have it, so an example's score depends on its corpus, and a corpus of
    one example scores 0.
    """
    return cider_of_corpus(count_ngrams(predictions, targets, HIGHEST))


def cider_of_corpus(corpus: Corpus) -> Floats:
    """Return the CIDEr of each text whose n-grams are already counted."""
    total = np.zeros(len(corpus))
    for order in corpus.orders[:HIGHEST]:
        documents = np.bincount(order.target.gram, minlength=order.size)
        rarity = np.log(float(len(corpus))) - np.log(np.maximum(1.0, documents))
        predicted, wanted = _weigh(order.predicted, rarity), _weigh(order.target, rarity)
        p, t = order.shared
        clipped = np.minimum(predicted[p], wanted[t]) * wanted[t]
        products = np.bincount(order.predicted.text[p], weights=clipped, minlength=len(corpus))
        norms = _norms(order.predicted, predicted, len(corpus)) * _norms(order.target, wanted, len(corpus))
        total += np.divide(products, norms, out=np.zeros(len(corpus)), where=norms != 0)
    # COCO takes the number of 2-grams for the length.
    lengths = np.maximum(0, corpus.predicted_lengths - 1) - np.maximum(0, corpus.target_lengths - 1)
    penalty = np.exp(-(lengths.astype(np.float64) ** 2) / (2 * SIGMA**2))
    scores: Floats = 10.0 * total * penalty / HIGHEST
    return scores


def _weigh(counts: Counts, rarity: Floats) -> Floats:
    return counts.count * rarity[counts.gram]


def _norms(counts: Counts, weights: Floats, texts: int) -> Floats:
    return np.sqrt(np.bincount(counts.text, weights=weights**2, minlength=texts))
