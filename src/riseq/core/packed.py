"""Many sequences of different lengths in two arrays, and the words they hold as integers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import MARKER

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Sequence ``k`` is ``values[offsets[k]:offsets[k + 1]]``."""

    values: Ints
    offsets: Offsets

    def __post_init__(self) -> None:
        if self.values.dtype != np.int32 or self.values.ndim != 1:
            raise ValueError(f"values are one row of int32; got {self.values.ndim} axes of {self.values.dtype}")
        if self.offsets.dtype != np.int64 or self.offsets.ndim != 1 or not len(self.offsets):
            raise ValueError(f"offsets are one row of int64, not empty; got {self.offsets.shape} {self.offsets.dtype}")
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.values) or (np.diff(self.offsets) < 0).any():
            raise ValueError(f"offsets rise from 0 to the {len(self.values)} values")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, k: int) -> Ints:
        if not 0 <= k < len(self):
            raise IndexError(f"sequence {k} of {len(self)}")
        return self.values[self.offsets[k] : self.offsets[k + 1]]

    def __iter__(self) -> Iterator[Ints]:
        return (self[k] for k in range(len(self)))

    @property
    def lengths(self) -> Offsets:
        """The length of each sequence."""
        return np.diff(self.offsets)


def pack(sequences: Iterable[Sequence[int] | Ints]) -> Packed:
    """Return the sequences one after the other in one array."""
    rows = [np.asarray(sequence, dtype=np.int32) for sequence in sequences]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return Packed(np.concatenate(rows) if rows else np.zeros(0, dtype=np.int32), offsets)


def unpack(packed: Packed) -> list[list[int]]:
    """Return the sequences as lists."""
    return [row.tolist() for row in packed]


class Interner:
    """Words and the integers that stand for them, given out in the order the words are first seen; the marker is 0."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words: list[str] = []
        self._ids: dict[str, int] = {}
        for word in (MARKER, *words):
            self.intern(word)

    def __len__(self) -> int:
        return len(self._words)

    def intern(self, word: str) -> int:
        """Return the word's integer, a new one where the word is new."""
        found = self._ids.setdefault(word, len(self._words))
        if found == len(self._words):
            self._words.append(word)
        return found

    def word(self, number: int) -> str:
        """Return the word that ``number`` stands for."""
        if not 0 <= number < len(self._words):
            raise IndexError(f"number {number} of {len(self._words)} words")
        return self._words[number]

    def pack(self, sequences: Iterable[Sequence[str]]) -> Packed:
        """Return the word sequences as packed integers."""
        return pack([[self.intern(word) for word in sequence] for sequence in sequences])

    def unpack(self, packed: Packed) -> list[list[str]]:
        """Return the packed integers as word sequences."""
        return [[self.word(number) for number in row] for row in unpack(packed)]
