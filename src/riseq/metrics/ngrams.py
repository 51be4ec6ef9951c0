"""The n-grams of a corpus, counted once for every metric that needs them.

Words become integers and an n-gram becomes one integer, so that a whole corpus is counted by a few sorts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from riseq.types import InputError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


HIGHEST = 4
"""The longest n-gram of BLEU and CIDEr."""


@dataclass(frozen=True, slots=True)
class Order:
    """The n-grams of one order: an entry for each that a pair has, sorted by both, and how often either text has it."""

    pair: Integers
    gram: Integers
    predicted: Integers
    target: Integers


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


def count_ngrams(predictions: Sequence[str], targets: Sequence[str]) -> Corpus:
    """Return the n-grams of order 1 to ``HIGHEST`` of texts whose words stand between spaces."""
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
    starts, gram = np.arange(len(words), dtype=np.int64), np.zeros_like(words)
    orders = []
    for n in range(1, HIGHEST + 1):
        kept = left[starts] >= n
        starts = starts[kept]
        # An n-gram is the number of its first n - 1 words and the number of its last; both are renumbered from 0, so
        # their product stays far inside 64 bits.
        distinct, gram = np.unique(gram[kept] * len(numbers) + words[starts + n - 1], return_inverse=True)
        orders.append(_count_order(text[starts], gram, max(1, len(distinct)), pairs))
    return Corpus(lengths[:pairs], lengths[pairs:], tuple(orders))


def _count_order(text: Integers, gram: Integers, size: int, pairs: int) -> Order:
    keys, entry = np.unique(text % pairs * size + gram, return_inverse=True)
    predicted, target = (np.bincount(entry[side], minlength=len(keys)) for side in (text < pairs, text >= pairs))
    return Order(*np.divmod(keys, size), predicted, target)
