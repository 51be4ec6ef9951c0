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
def _find_middle(
    before: Ints,
    before_edges: Offsets,
    after: Ints,
    after_edges: Offsets,
    template: int,
    longest: int,
    said: Ints,
    start: int,
    end: int,
) -> tuple[int, int]:
    """Return where in ``said`` the span is that a slice has in ``template``; an empty one where it has none."""
    first = start + before_edges[template + 1] - before_edges[template]
    last = end - (after_edges[template + 1] - after_edges[template])
    if last <= first or last - first > longest:
        return start, start
    if not _equal(before, before_edges[template], said, start, first - start):
        return start, start
    if not _equal(after, after_edges[template], said, last, end - last):
        return start, start
    return first, last


@inner
def _find_next(words: Ints, stop: int, room: Offsets, at: int, said: Ints, first: int, last: int) -> int:
    """Return the next word from ``at`` on, before ``stop``, where the words ``said[first:last]`` stand, else -1."""
    count = last - first
    while at < stop:
        if room[at] >= count and _equal(words, at, said, first, count):
            return at
        at += 1
    return -1


@inner
def find_copies(
    words: Ints,
    offsets: Offsets,
    room: Offsets,
    longest: int,
    before: Ints,
    before_edges: Offsets,
    after: Ints,
    after_edges: Offsets,
    row: Offsets,
    said: Ints,
    start: Offsets,
    end: Offsets,
    found: Offsets,
) -> None:
    """Write the number of the first template's first span that says each slice of ``said``, -1 where none does."""
    templates = len(before_edges) - 1
    for k in range(len(found)):
        found[k] = -1
        begin, stop = offsets[row[k]], offsets[row[k] + 1]
        for template in range(templates):
            first, last = _find_middle(
                before, before_edges, after, after_edges, template, longest, said, start[k], end[k]
            )
            if last == first:
                continue
            at = _find_next(words, stop, room, begin, said, first, last)
            if at >= 0:
                found[k] = ((at - begin) * longest + last - first - 1) * templates + template
                break


@inner
def list_ways(
    words: Ints,
    offsets: Offsets,
    room: Offsets,
    longest: int,
    before: Ints,
    before_edges: Offsets,
    after: Ints,
    after_edges: Offsets,
    row: Offsets,
    said: Ints,
    start: Offsets,
    end: Offsets,
    of: Offsets,
    spans: Offsets,
    templates: Offsets,
) -> int:
    """Return how many spans in templates say slices of ``said``; write slice, span and template of what has room."""
    number = 0
    for k in range(len(start)):
        begin, stop = offsets[row[k]], offsets[row[k] + 1]
        for template in range(len(before_edges) - 1):
            first, last = _find_middle(
                before, before_edges, after, after_edges, template, longest, said, start[k], end[k]
            )
            if last == first:
                continue
            at = _find_next(words, stop, room, begin, said, first, last)
            while at >= 0:
                if number < len(of):
                    of[number] = k
                    spans[number] = (at - begin) * longest + last - first - 1
                    templates[number] = template
                number += 1
                at = _find_next(words, stop, room, at + 1, said, first, last)
    return number


@inner
def write(
    words: Ints,
    starts: Offsets,
    ends: Offsets,
    before: Ints,
    before_edges: Offsets,
    after: Ints,
    after_edges: Offsets,
    template: Offsets,
    values: Ints,
    offsets: Offsets,
) -> None:
    """Write each span in its template into ``values`` at ``offsets``."""
    for k in range(len(starts)):
        at = offsets[k]
        for word in range(before_edges[template[k]], before_edges[template[k] + 1]):
            values[at] = before[word]
            at += 1
        for word in range(starts[k], ends[k]):
            values[at] = words[word]
            at += 1
        for word in range(after_edges[template[k]], after_edges[template[k] + 1]):
            values[at] = after[word]
            at += 1


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
