"""BLEU, ROUGE-L and CIDEr (in its clipped form, CIDEr-D) as COCO caption computes them, with one reference each.

With one reference, COCO's "closest" reference length is that reference's length.
"""

from collections.abc import Sequence

import numpy as np

from riseq.metrics.ngrams import HIGHEST, Corpus, Floats, check_pairs

BETA = 1.2
"""How much more recall than precision counts in ROUGE-L."""
SIGMA = 6.0
"""The standard deviation of CIDEr's length penalty."""

# COCO's two constants keep every ratio defined: nothing correct of nothing guessed is 0, not 0 / 0.
_TINY = 1e-15
_SMALL = 1e-9


def bleu_parts(corpus: Corpus) -> Floats:
    """Return what BLEU is computed from, shape (examples, 10); a sum of rows scores those examples as a corpus."""
    correct = [
        np.bincount(order.pair, weights=np.minimum(order.predicted, order.target), minlength=len(corpus))
        for order in corpus.orders
    ]
    guessed = [np.maximum(0, corpus.predicted_lengths - k) for k in range(HIGHEST)]
    return np.column_stack([corpus.predicted_lengths, corpus.target_lengths, *correct, *guessed])


def bleu_of_parts(parts: Floats) -> Floats:
    """Return BLEU-1 to BLEU-4, between 0 and 1, from lengths, correct and guessed n-grams in the last axis."""
    precisions = (parts[..., 2 : 2 + HIGHEST] + _TINY) / (parts[..., 2 + HIGHEST :] + _SMALL)
    geometric = np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, HIGHEST + 1))
    ratio = (parts[..., 0] + _TINY) / (parts[..., 1] + _SMALL)
    brevity = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    scores: Floats = geometric * brevity[..., None]
    return scores


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


def cider(corpus: Corpus) -> Floats:
    """Return the CIDEr of each prediction, between 0 and 10; the corpus's is their mean.

    An n-gram's weight comes from how many targets have it, so an example's score depends on its corpus, and a corpus of
    one example scores 0.
    """
    total = np.zeros(len(corpus))
    for order in corpus.orders:
        documents = np.bincount(order.gram, weights=order.target > 0)
        rarity = np.log(float(len(corpus))) - np.log(np.maximum(1.0, documents))
        predicted, wanted = (counts * rarity[order.gram] for counts in (order.predicted, order.target))
        weights = (np.minimum(predicted, wanted) * wanted, predicted**2, wanted**2)
        products, ours, theirs = (np.bincount(order.pair, weights=one, minlength=len(corpus)) for one in weights)
        norms = np.sqrt(ours) * np.sqrt(theirs)
        total += np.divide(products, norms, out=np.zeros(len(corpus)), where=norms != 0)
    # COCO takes the number of 2-grams for the length.
    lengths = np.maximum(0, corpus.predicted_lengths - 1) - np.maximum(0, corpus.target_lengths - 1)
    penalty = np.exp(-(lengths.astype(np.float64) ** 2) / (2 * SIGMA**2))
    scores: Floats = 10.0 * total * penalty / HIGHEST
    return scores
