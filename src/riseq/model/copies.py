"""Where a padded batch's words are that phrases can be copied from, and which spans of them are equal.

Dimensions in names: B rows, C words of the longest row, markers among them, K spans of it, N phrases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core.copyable import Copyable

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CopyBatch:
    """The words of a batch's rows in the order of their pieces, packed; padded arrays are made of them on demand."""

    copyable: Copyable
    piece_counts: IntArray
    """How many pieces each word has."""
    same: NDArray[np.int32] | None = None
    """The id that stands for each span's words (``riseq.core.copies.find_same``); None where there are templates."""
    phrases: int = 0
    """The vocabulary's size, for those ids."""

    @property
    def first_BC(self) -> IntArray:
        """Where each word's first piece stands."""
        return self._pad(self._count_before())

    @property
    def last_BC(self) -> IntArray:
        """Where each word's last piece stands."""
        return self._pad(self._count_before() + self.piece_counts - 1)

    @property
    def room_BC(self) -> IntArray:
        """How many words can be copied from each word on; none past a row's words."""
        return self._pad(self.copyable.room)

    @property
    def same_BK(self) -> NDArray[np.int32] | None:
        """The id that stands for each span's words, its own where it cannot be copied; None with templates."""
        if self.same is None:
            return None
        words, longest = self.copyable.words, self.copyable.longest
        width = int(words.lengths.max(initial=0))
        own = self.phrases + np.arange(width * longest, dtype=np.int32).reshape(1, width, longest)
        same = np.repeat(own, len(words), axis=0)
        same[np.arange(width)[None, :] < words.lengths[:, None]] = self.same
        return same.reshape(len(words), -1)

    def _count_before(self) -> IntArray:
        """Return how many pieces stand before each word in its row."""
        ends = np.concatenate([[0], np.cumsum(self.piece_counts)])
        words = self.copyable.words
        before: IntArray = ends[:-1] - np.repeat(ends[words.offsets[:-1]], words.lengths)
        return before

    def _pad(self, values: IntArray) -> IntArray:
        lengths = self.copyable.words.lengths
        width = int(lengths.max(initial=0))
        padded = np.zeros((len(lengths), width), dtype=np.int64)
        padded[np.arange(width)[None, :] < lengths[:, None]] = values
        return padded
