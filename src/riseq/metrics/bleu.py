"""BLEU-1 to BLEU-4 as COCO caption computes them, with one reference each.

With one reference, COCO's "closest" reference length is that reference's length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riseq.metrics.ngrams import Corpus, Floats, count_ngrams

HIGHEST = 4

# COCO's two constants keep every ratio defined: nothing correct of nothing guessed is 0, not 0 / 0.
_TINY = 1e-15
_SMALL = 1e-9


@dataclass(frozen=True, slots=True)
class Bleu:
    """BLEU-1 to BLEU-4, between 0 and 1."""

    corpus: tuple[float, float, float, float]
    """Of the corpus as a whole, which is not the mean of its examples."""
    each: Floats
    """Of each example, shape (examples, 4)."""
    parts: Floats
    """What BLEU is computed from, shape (examples, 10); a sum of rows scores those examples as a corpus."""


def bleu(predictions: Sequence[str], targets: Sequence[str]) -> Bleu:
    """Return the BLEU of predictions whose words stand between spaces."""
    return bleu_of_corpus(count_ngrams(predictions, targets, HIGHEST))


def bleu_of_corpus(corpus: Corpus) -> Bleu:
    """Return the BLEU of texts whose n-grams are already counted."""
    parts = np.empty((len(corpus), 2 + 2 * HIGHEST))
    parts[:, 0] = corpus.predicted_lengths
    parts[:, 1] = corpus.target_lengths
    for k, order in enumerate(corpus.orders[:HIGHEST]):
        predicted, target = order.shared
        clipped = np.minimum(order.predicted.count[predicted], order.target.count[target])
        parts[:, 2 + k] = np.bincount(order.predicted.text[predicted], weights=clipped, minlength=len(corpus))
        parts[:, 2 + HIGHEST + k] = np.maximum(0, corpus.predicted_lengths - k)
    whole = bleu_of_parts(parts.sum(axis=0))
    return Bleu((float(whole[0]), float(whole[1]), float(whole[2]), float(whole[3])), bleu_of_parts(parts), parts)


def bleu_of_parts(parts: Floats) -> Floats:
    """Return BLEU-1 to BLEU-4 from lengths, correct and guessed n-grams in the last axis."""
    precisions = (parts[..., 2 : 2 + HIGHEST] + _TINY) / (parts[..., 2 + HIGHEST :] + _SMALL)
    geometric = np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, HIGHEST + 1))
    ratio = (parts[..., 0] + _TINY) / (parts[..., 1] + _SMALL)
    brevity = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    scores: Floats = geometric * brevity[..., None]
    return scores
