"""What was learnt above a model that stays, in few bytes: factors of small whole numbers, put into its int8 matrices.

A matrix has ``inputs`` rows and a column for each output, as a graph has it: whole numbers, with a scale a column. What
it differs by from another is measured in that one's scales. Whatever is computed here is the same on every machine, to
the last bit: products of the factors are sums of whole numbers that float32 holds exactly, in whatever order they are
added, and all else is done element by element.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]
LARGEST = 127
NOISE = 0.5
"""How far a matrix's numbers are off, in its columns' scales, for its factors' rounding; int8 alone is off by 0.29.

On every fourth question of canard/dev.qa the first resolve that shipped had BLEU-4 53.03; written with a noise of 0.1
53.06, with 0.25 52.95, with 0.5 52.88, with 1 52.23; on all questions with 0.5 what it had before."""
FINEST = 6.0
"""Numbers of a vector's difference are rounded to this part of their mean size."""


@dataclass(frozen=True, slots=True)
class Factors:
    """A difference to a matrix of int8: the product of two thin matrices of whole numbers, times ``unit``."""

    narrow: Bytes
    """A row for each part of the difference, a column for each input."""
    wide: Bytes
    """A row for each part, a column for each output."""
    unit: float


def find_factors(difference: NDArray[np.float64], noise: float = NOISE) -> Factors | None:
    """Return factors whose product is ``difference`` but for ``noise``; None where they would be no smaller."""
    inputs, outputs = difference.shape
    left, sizes, right = np.linalg.svd(difference, full_matrices=False)
    # Noise of that size has parts as large as this: whatever is smaller cannot be told from it.
    kept = sizes > noise * (inputs**0.5 + outputs**0.5)
    left, right, sizes = left.T[kept], right[kept], sizes[kept]
    if len(sizes) * (inputs + outputs) > difference.size / 2:
        return None
    roots = np.sqrt(sizes)[:, None]
    step = noise * np.sqrt(12 / (sizes.sum() * (1 / inputs + 1 / outputs) + 1e-12))
    step = max(step, np.abs(roots * left).max(initial=0) / LARGEST, np.abs(roots * right).max(initial=0) / LARGEST)
    narrow, wide = (np.rint(roots * one / step).astype(np.int8) for one in (left, right))
    return Factors(narrow, wide, float(step**2))


def merge(matrix: Bytes, scales: Floats, factors: Factors) -> tuple[Bytes, Floats]:
    """Return ``matrix`` with the difference that ``factors`` say, rounded to int8 anew, and its columns' scales."""
    merged = factors.narrow.T.astype(np.float32) @ factors.wide.astype(np.float32)
    merged *= np.float32(factors.unit)
    merged += matrix
    largest = np.maximum(merged.max(axis=0), -merged.min(axis=0))
    np.maximum(largest, np.float32(1), out=largest)
    merged *= np.float32(LARGEST) / largest
    np.rint(merged, out=merged)
    return merged.astype(np.int8), scales * (largest / np.float32(LARGEST))


def quantise(matrix: NDArray[np.float64], largest: int = LARGEST) -> tuple[Bytes, Floats]:
    """Return ``matrix`` in whole numbers up to ``largest``, and its columns' scales."""
    scales = (np.abs(matrix).max(axis=0).clip(1e-12) / largest).astype(np.float32)
    return np.rint(matrix / scales).clip(-largest, largest).astype(np.int8), scales


@dataclass(frozen=True, slots=True)
class Shift:
    """A difference to a vector of floats: whole numbers, times ``unit``."""

    numbers: Bytes
    unit: float


def find_shift(difference: Floats) -> Shift:
    """Return ``difference`` in whole numbers."""
    flat = difference.astype(np.float64).ravel()
    unit = max(float(np.abs(flat).mean()) / FINEST, float(np.abs(flat).max(initial=0)) / LARGEST, 1e-30)
    return Shift(np.rint(flat / unit).astype(np.int8), unit)


def move(vector: Floats, shift: Shift) -> Floats:
    """Return ``vector`` with the difference that ``shift`` says."""
    moved: Floats = vector + shift.numbers * np.float32(shift.unit)
    return moved
