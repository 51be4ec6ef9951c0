"""How close outputs are to their targets, for whole batches: what a policy's own outputs are rewarded by.

The mean of three: 1 / (1 + the Levenshtein distance), the first factor of Eq. 7; ROUGE-L's F; and sentence BLEU-4 with
one added to the counts of pairs, triples and fours. All are 1 for the target itself and between 0 and 1 else. The
markers are left out. Needs the extra ``train``.
"""

import numpy as np
from numpy.typing import NDArray

from riseq.core.batch import distances
from riseq.core.kernels import Floats, inner, kernel, prange
from riseq.core.packed import Ints, Offsets, Packed


def measure_closeness(made: Packed, targets: Packed) -> NDArray[np.float64]:
    """Return the closeness of each output to its target."""
    overlap = np.empty(len(made))
    _overlaps(made.values, made.offsets, targets.values, targets.offsets, overlap)
    found: NDArray[np.float64] = (1.0 / (1.0 + distances(made, targets)) + overlap) / 3.0
    return found


@kernel
def _overlaps(a_values: Ints, a_offsets: Offsets, b_values: Ints, b_offsets: Offsets, found: Floats) -> None:
    """Write the sum of ROUGE-L's F and smoothed BLEU-4 of each pair into ``found``."""
    for k in prange(len(found)):
        a = a_values[a_offsets[k] + 1 : a_offsets[k + 1]]
        b = b_values[b_offsets[k] + 1 : b_offsets[k + 1]]
        if len(a) == 0 or len(b) == 0:
            found[k] = 2.0 * (len(a) == len(b))
        else:
            found[k] = 2.0 * _common(a, b) / (len(a) + len(b)) + _bleu(a, b)


@inner
def _common(a: Ints, b: Ints) -> int:
    """Return the length of the longest common subsequence."""
    row = np.zeros(len(b) + 1, dtype=np.int64)
    for i in range(len(a)):
        corner = 0
        for j in range(len(b)):
            above = row[j + 1]
            row[j + 1] = corner + 1 if a[i] == b[j] else max(above, row[j])
            corner = above
    return int(row[len(b)])


@inner
def _bleu(a: Ints, b: Ints) -> float:
    """Return BLEU-4 of ``a`` against ``b``; an n-gram of ``b`` is met by one of ``a`` at most."""
    logs = 0.0
    for n in range(1, 5):
        met, taken = 0, np.zeros(len(b), dtype=np.bool_)
        for i in range(len(a) - n + 1):
            for j in range(len(b) - n + 1):
                same = not taken[j]
                for offset in range(n if same else 0):
                    same = same and a[i + offset] == b[j + offset]
                if same:
                    met += 1
                    taken[j] = True
                    break
        if met == 0 and n == 1:
            return 0.0
        added = n > 1
        logs += np.log((met + added) / (max(0, len(a) - n + 1) + added))
    return float(np.exp(logs / 4 + min(0.0, 1.0 - len(b) / len(a))))
