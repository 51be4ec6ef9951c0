"""Phrases that are copied: spans of consecutive words of what a policy reads, on packed integers.

What a state's policy reads is a row of words with the marker before each utterance. A span of n words from word i of
its row on has the number ``i * longest + n - 1``; as a phrase its id is that on top of the vocabulary's size. Several
spans may have the same words: the id that stands for all is the vocabulary's, or the first span's. Needs the extra
``train``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core import copy_kernels as compiled
from riseq.core.batch import PhraseIndex
from riseq.core.packed import Ints, Offsets, Packed

MARKED = 0
"""The marker's integer (``riseq.core.packed.Interner``)."""


@dataclass(frozen=True, slots=True, eq=False)
class Copyable:
    """Rows of words to copy from, at most ``longest`` at a time."""

    words: Packed
    longest: int
    room: Offsets
    """How many words can be copied from each word on, up to its utterance's end; none from a marker on."""

    def find_slices(self, row: Offsets, numbers: Offsets) -> tuple[Offsets, Offsets]:
        """Return where the spans of these numbers start and end in the words' values."""
        starts = self.words.offsets[row] + numbers // self.longest
        counts = numbers % self.longest + 1
        inside = starts < self.words.offsets[row + 1]
        if not inside.all() or (counts > self.room[starts]).any():
            raise ValueError("a span that is copied lies within an utterance of its row")
        return starts, starts + counts


def make_copyable(words: Packed, longest: int) -> Copyable:
    """Return rows of words, each with a marker before every utterance, as what can be copied from."""
    if longest < 1:
        raise ValueError(f"a copied phrase has one word or more; got at most {longest}")
    if len(words) and (not words.lengths.min() or words.values[words.offsets[:-1]].any()):
        raise ValueError("a row of words to copy from starts with its marker")
    ends = np.append(np.flatnonzero(words.values == MARKED), len(words.values))
    at = np.arange(len(words.values))
    return Copyable(words, longest, np.minimum(ends[np.searchsorted(ends, at)] - at, longest))


def find_copies(copyable: Copyable, row: Offsets, words: Ints, start: Offsets, end: Offsets) -> Offsets:
    """Return the number of the first span of row ``row`` that has the words ``words[start:end]``, -1 where none has."""
    if len(start) and (start.min() < 0 or (end <= start).any() or end.max() > len(words)):
        raise ValueError(f"a phrase is a slice of the {len(words)} words and not empty")
    found = np.empty(len(start), dtype=np.int64)
    rows = copyable.words
    compiled.find_copies(rows.values, rows.offsets, copyable.room, row, words, start, end, found)
    return np.where(found < 0, -1, found * copyable.longest + end - start - 1)


def find_same(copyable: Copyable, index: PhraseIndex) -> NDArray[np.int32]:
    """Return the id that stands for each span's words, by word and by length, [words, longest].

    A span that cannot be copied has its own.
    """
    rows = copyable.words
    found = np.empty((len(rows.values), copyable.longest), dtype=np.int32)
    vocabulary = (index.phrases.values, index.phrases.offsets, index.hashes, index.ids)
    compiled.find_same(rows.values, rows.offsets, copyable.room, *vocabulary, found)
    return found
