"""The n-grams of a corpus, counted once for every metric that needs them.

Words become integers and an n-gram becomes one integer, so that a whole corpus is counted by a few sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from riseq.types import InputError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each n-gram of one order stands in each text, one entry a (text, n-gram), sorted by both."""

    text: Integers
    gram: Integers
    count: Integers


@dataclass(frozen=True, slots=True)
class Order:
    """The n-grams of one order: of the predictions, of the targets, and which entries of the two are the same."""

    size: int
    """How many different n-grams of this order there are."""
    predicted: Counts
    target: Counts
    shared: tuple[Integers, Integers]
    """Indices into ``predicted`` and ``target`` of the n-grams that both texts of a pair have."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Predictions with one target each, as word counts and n-gram counts."""

    predicted_lengths: Integers
    target_lengths: Integers
    orders: tuple[Order, ...]

    def __len__(self) -> int:
        return len(self.predicted_lengths)


def check_pairs(predictions: Sequence[str], targets: Sequence[str]) -> None:
    """Raise unless there is one target for each of one or more predictions."""
    if isinstance(predictions, str) or isinstance(targets, str):
        raise InputError("cannot score a single string; expected a sequence of predictions and one of targets")
    if len(predictions) != len(targets):
        raise InputError(f"cannot score {len(predictions)} predictions with {len(targets)} targets; expected one each")
    if not len(predictions):
        raise InputError("cannot score nothing; expected at least one prediction and its target")


def count_ngrams(predictions: Sequence[str], targets: Sequence[str], highest: int = 4) -> Corpus:
    """Return the n-grams of order 1 to ``highest`` of texts whose words stand between spaces."""
    check_pairs(predictions, targets)
    split = [text.split() for text in chain(predictions, targets)]
    lengths = np.fromiter(map(len, split), dtype=np.int64, count=len(split))
    numbers: dict[str, int] = {}
    each = (numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(split))
    words = np.fromiter(each, dtype=np.int64, count=int(lengths.sum()))
    pairs = len(predictions)
    text = np.repeat(np.arange(len(split), dtype=np.int64), lengths)
    # The words from each position to the end of its text: an n-gram starts where there are at least n.
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(words), dtype=np.int64)
    size, base = len(numbers), max(1, len(numbers))
    gram = words
    starts = np.arange(len(words), dtype=np.int64)
    orders = []
    for n in range(1, highest + 1):
        if n > 1:
            kept = left[starts] >= n
            starts = starts[kept]
            # An n-gram is the number of its first n - 1 words and the number of its last; both are renumbered from 0,
            # so their product stays far inside 64 bits.
            distinct, gram = np.unique(gram[kept] * base + words[starts + n - 1], return_inverse=True)
            size = len(distinct)
        orders.append(_count_order(text[starts], gram, size, pairs))
    return Corpus(lengths[:pairs], lengths[pairs:], tuple(orders))


def _count_order(text: Integers, gram: Integers, size: int, pairs: int) -> Order:
    keys, counts = np.unique(text * max(1, size) + gram, return_counts=True)
    text, gram = np.divmod(keys, max(1, size))
    border = int(np.searchsorted(text, pairs))
    offset = pairs * max(1, size)
    _, predicted, target = np.intersect1d(
        keys[:border], keys[border:] - offset, assume_unique=True, return_indices=True
    )
    return Order(
        size,
        Counts(text[:border], gram[:border], counts[:border]),
        Counts(text[border:] - pairs, gram[border:], counts[border:]),
        (predicted, target),
    )
