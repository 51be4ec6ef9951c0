"""The kernels of copied phrases, compiled by numba; ``riseq.core.copies`` is their door, and nothing is checked here.

They run on one thread: batches are prepared in a thread of their own, beside the sampler's.
"""

import numpy as np
from numpy.typing import NDArray

from riseq.core.kernels import Hashes, find_phrase, hash_slice, inner
from riseq.core.packed import Ints, Offsets

_SIEVE = 1 << 16


@inner
def _equal(a: Ints, a_start: int, b: Ints, b_start: int, count: int) -> bool:
    """Return whether ``count`` words from ``a_start`` and ``b_start`` on are the same."""
    for k in range(count):  # noqa: SIM110 (numba's all() takes no generator)
        if a[a_start + k] != b[b_start + k]:
            return False
    return True


@inner
def find_copies(
    words: Ints, offsets: Offsets, room: Offsets, row: Offsets, said: Ints, start: Offsets, end: Offsets, found: Offsets
) -> None:
    """Write where each slice of ``said`` stands first among the words of its row into ``found``, -1 where nowhere."""
    for k in range(len(found)):
        found[k] = -1
        count = end[k] - start[k]
        for at in range(offsets[row[k]], offsets[row[k] + 1]):
            if room[at] >= count and _equal(words, at, said, start[k], count):
                found[k] = at - offsets[row[k]]
                break


@inner
def find_same(
    words: Ints,
    offsets: Offsets,
    room: Offsets,
    known: Ints,
    edges: Offsets,
    hashes: Hashes,
    ids: Offsets,
    found: NDArray[np.int32],
) -> None:
    """Write the id of each span's words into ``found``: the vocabulary's, or that of the row's first equal span.

    A span's own id, which is also that of one that cannot be copied, is the vocabulary's size and its number on top.
    """
    longest, phrases = found.shape[1], len(edges) - 1
    widest = 0
    for row in range(len(offsets) - 1):
        widest = max(widest, offsets[row + 1] - offsets[row])
    size = 1
    while size < 2 * widest * longest:
        size *= 2
    table = np.empty(size, dtype=np.int32)  # the first of equal spans, by their hash
    maybe = np.zeros(_SIEVE, dtype=np.bool_)  # most spans are no phrase of the vocabulary: seen without a search
    for k in range(len(hashes)):
        maybe[hashes[k] & np.uint64(_SIEVE - 1)] = True
    for row in range(len(offsets) - 1):
        begin = offsets[row]
        table[:] = -1
        for at in range(begin, offsets[row + 1]):
            for n in range(1, longest + 1):
                number = (at - begin) * longest + n - 1
                found[at, n - 1] = phrases + number
                if n > room[at]:
                    continue
                wanted = hash_slice(words, at, at + n)
                slot = wanted & np.uint64(size - 1)
                while table[slot] >= 0:
                    first, words_of_first = begin + table[slot] // longest, table[slot] % longest + 1
                    if words_of_first == n and _equal(words, first, words, at, n):
                        break
                    slot = (slot + np.uint64(1)) & np.uint64(size - 1)
                if table[slot] >= 0:
                    found[at, n - 1] = found[begin + table[slot] // longest, n - 1]
                    continue
                table[slot] = number
                if maybe[wanted & np.uint64(_SIEVE - 1)]:
                    phrase = find_phrase(words, at, at + n, wanted, known, edges, hashes, ids)
                    if phrase >= 0:
                        found[at, n - 1] = phrase
