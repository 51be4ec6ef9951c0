"""The kernels of the batch core, compiled by numba and parallel over the batch; ``riseq.core.batch`` is their door.

Only this module imports numba. Pair ``k`` of a batch is ``a_values[a_offsets[k]:a_offsets[k + 1]]`` and the same of
``b``. Nothing is checked here: wrong bounds read foreign memory. Each pair is done by one thread from its own seed, so
results do not depend on the number of threads. Kernels compile at their first call and are cached on disk.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from riseq.core.packed import Ints, Offsets
from riseq.extras import needs_extra

with needs_extra("train", "the batch core"):
    from numba import njit
    from numba import prange as prange

Floats = NDArray[np.float64]
Policy = NDArray[np.float32]
Hashes = NDArray[np.uint64]
Codes = NDArray[np.int8]
"""Operations as integers."""
Function = TypeVar("Function", bound=Callable[..., Any])

_KEEP, _DELETE, _INSERT, _SUBSTITUTE = range(4)  # the values of Op, as numba wants them: plain integers
_CHUNK = 32
"""Pairs a task: one set of buffers serves them all."""
_SAFE = 300.0
"""Where no path's log-probability can reach this far from 0, neither M nor v ** 2 leaves the range of a float64."""


def kernel(function: Function) -> Function:
    """Return ``function`` compiled, its ``prange`` loops parallel."""
    compiled: Function = njit(cache=True, nogil=True, parallel=True, error_model="numpy")(function)
    return compiled


def inner(function: Function) -> Function:
    """Return ``function`` compiled for use inside the kernels."""
    compiled: Function = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


@kernel
def distances(a_values: Ints, a_offsets: Offsets, b_values: Ints, b_offsets: Offsets, found: Ints) -> None:
    """Write the Levenshtein distance of each pair into ``found``."""
    count = len(found)
    for chunk in prange((count + _CHUNK - 1) // _CHUNK):
        first, last = chunk * _CHUNK, min(count, (chunk + 1) * _CHUNK)
        row = np.empty(_longest(b_offsets, first, last) + 1, dtype=np.int32)
        for k in range(first, last):
            a_start, a_end = a_offsets[k], a_offsets[k + 1]
            b_start, b_end = b_offsets[k], b_offsets[k + 1]
            while a_start < a_end and b_start < b_end and a_values[a_start] == b_values[b_start]:
                a_start += 1
                b_start += 1
            while a_start < a_end and b_start < b_end and a_values[a_end - 1] == b_values[b_end - 1]:
                a_end -= 1
                b_end -= 1
            m, n = a_end - a_start, b_end - b_start
            if m == 0 or n == 0:
                found[k] = m + n
            elif m <= 64:
                found[k] = _distance_by_bits(a_values, a_start, m, b_values, b_start, n)
            elif n <= 64:
                found[k] = _distance_by_bits(b_values, b_start, n, a_values, a_start, m)
            else:
                found[k] = _distance_by_rows(a_values, a_start, m, b_values, b_start, n, row)


@inner
def _longest(offsets: Offsets, first: int, last: int) -> int:
    """Return the length of the longest sequence from ``first`` up to ``last``."""
    longest = 0
    for k in range(first, last):
        longest = max(longest, offsets[k + 1] - offsets[k])
    return longest


@inner
def _distance_by_bits(a: Ints, a_start: int, m: int, b: Ints, b_start: int, n: int) -> int:
    """Return the distance by the bit-vector recursion of Myers and Hyyrö: a column of the table in two words."""
    one = np.uint64(1)
    top = one << np.uint64(m - 1)
    plus = ~np.uint64(0)  # bit i: the column rises by one from row i to i + 1
    minus = np.uint64(0)  # bit i: it falls by one
    score = m
    for j in range(n):
        equal = np.uint64(0)
        for i in range(m):
            equal |= np.uint64(a[a_start + i] == b[b_start + j]) << np.uint64(i)
        vertical = equal | minus
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        rises = minus | ~(horizontal | plus)
        falls = plus & horizontal
        if rises & top:
            score += 1
        elif falls & top:
            score -= 1
        rises = (rises << one) | one
        falls = falls << one
        plus = falls | ~(vertical | rises)
        minus = rises & vertical
    return score


@inner
def _distance_by_rows(a: Ints, a_start: int, m: int, b: Ints, b_start: int, n: int, row: Ints) -> int:
    """Return the distance by one row of the table, where both sequences are longer than a machine word."""
    for j in range(n + 1):
        row[j] = j
    for i in range(m):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(n):
            above = row[j + 1]
            if a[a_start + i] == b[b_start + j]:
                row[j + 1] = diagonal
            else:
                row[j + 1] = min(min(row[j], above), diagonal) + 1
            diagonal = above
    return int(row[n])


@inner
def _is_safe(policy: Policy, target_length: int) -> bool:
    """Return whether no path of this pair can leave the range in which plain arithmetic is exact."""
    total, insert = 0.0, 0.0
    for i in range(len(policy)):
        worst = 0.0
        for op in range(4):
            size = np.float64(abs(policy[i, op]))
            if size < np.inf:
                if op == _INSERT:
                    insert = max(insert, size)
                else:
                    worst = max(worst, size)
        total += worst
    return total + target_length * insert < _SAFE


@inner
def _fill_plain(a: Ints, b: Ints, policy: Policy, table: Floats, odds: Floats, dps: bool) -> None:
    """Write M (Eq. 8, 9) into ``table``, row by row, in plain arithmetic, and the policy's own odds into ``odds``."""
    width = len(b)
    for i in range(len(a)):
        for op in range(4):
            odds[i, op] = np.exp(np.float64(policy[i, op]))
    table[0] = 1.0
    for j in range(1, width):
        table[j] = odds[0, _INSERT] * table[j - 1]
    for i in range(1, len(a)):
        keep, delete, insert, substitute = odds[i, _KEEP], odds[i, _DELETE], odds[i, _INSERT], odds[i, _SUBSTITUTE]
        row = i * width
        corner = table[row - width]
        left = delete * corner
        table[row] = left
        for j in range(1, width):
            above = table[row - width + j]
            if a[i] == b[j]:
                left = keep * corner
            else:
                x, y, z = delete * above, insert * left, substitute * corner
                left = x + y + z
                if dps and left > 0.0:
                    left = (x * x + y * y + z * z) / left
            table[row + j] = left
            corner = above


@inner
def _fill_log(a: Ints, b: Ints, policy: Policy, table: Floats, dps: bool) -> None:
    """Write log M into ``table``, row by row: slower, and right however small M gets."""
    width = len(b)
    table[0] = 0.0
    for j in range(1, width):
        table[j] = policy[0, _INSERT] + table[j - 1]
    for i in range(1, len(a)):
        row = i * width
        table[row] = policy[i, _DELETE] + table[row - width]
        for j in range(1, width):
            here = row + j
            if a[i] == b[j]:
                table[here] = policy[i, _KEEP] + table[here - width - 1]
                continue
            x = policy[i, _DELETE] + table[here - width]
            y = policy[i, _INSERT] + table[here - 1]
            z = policy[i, _SUBSTITUTE] + table[here - width - 1]
            peak = max(x, y, z)
            if peak == -np.inf:
                table[here] = peak
                continue
            x, y, z = np.exp(x - peak), np.exp(y - peak), np.exp(z - peak)
            total = x + y + z
            table[here] = peak + np.log((x * x + y * y + z * z) / total if dps else total)


@inner
def uniform(state: np.uint64) -> float:
    """Return a number in [0, 1) from a state of SplitMix64."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * 2.0**-53


@inner
def _walk_back(
    a: Ints,
    b: Ints,
    policy: Policy,
    table: Floats,
    odds: Floats,
    logs: bool,
    seed: np.uint64,
    ops: Codes,
    start: Offsets,
    end: Offsets,
) -> None:
    """Draw a path back from the last cell (Eq. 11); write how each token is left and its row's slice of the target."""
    width = len(b)
    state = seed
    i, j = len(a) - 1, len(b) - 1
    end[i] = j + 1
    while i > 0:
        if j == 0:
            op = _DELETE
        elif a[i] == b[j]:
            op = _KEEP
        else:
            here = i * width + j
            above, left, corner = table[here - width], table[here - 1], table[here - width - 1]
            if logs:
                x, y, z = policy[i, _DELETE] + above, policy[i, _INSERT] + left, policy[i, _SUBSTITUTE] + corner
                peak = max(x, y, z)
                x, y, z = np.exp(x - peak), np.exp(y - peak), np.exp(z - peak)
            else:
                x, y, z = odds[i, _DELETE] * above, odds[i, _INSERT] * left, odds[i, _SUBSTITUTE] * corner
            state += np.uint64(0x9E3779B97F4A7C15)
            point = uniform(state) * (x + y + z)
            # Rounding may put the point on the far edge; a move without mass is not taken even then.
            if point < x:
                op = _DELETE
            elif z > 0.0 and point >= x + y:
                op = _SUBSTITUTE
            else:
                op = _INSERT if y > 0.0 else _DELETE
        if op == _INSERT:
            j -= 1
            continue
        ops[i] = op
        start[i] = j if op == _SUBSTITUTE else j + 1
        i -= 1
        j -= op != _DELETE
        end[i] = j + 1
    ops[0] = _KEEP
    start[0] = 1


@inner
def _merge(ops: Codes, start: Offsets, end: Offsets, shift: int) -> None:
    """Turn each row's leaving move and slice into merged edits, as ``edits.merge`` does; ``shift`` moves the slices.

    DELETE takes nothing from the target, so a block's phrase runs from its first row's start to its last row's end.
    """
    count = len(ops)
    i = 0
    while i < count:
        if ops[i] == _KEEP:
            if start[i] < end[i]:
                ops[i] = _INSERT
                start[i] += shift
                end[i] += shift
            else:
                start[i] = end[i] = -1
            i += 1
            continue
        after = i
        while after < count and ops[after] != _KEEP:
            after += 1
        phrase_start, phrase_end = start[i], end[after - 1]
        spoken = phrase_start < phrase_end
        for k in range(i, after):
            ops[k] = _SUBSTITUTE if spoken else _DELETE
            start[k] = end[k] = -1
        if spoken:
            start[i], end[i] = phrase_start + shift, phrase_end + shift
        i = after


@kernel
def sample(
    a_values: Ints,
    a_offsets: Offsets,
    b_values: Ints,
    b_offsets: Offsets,
    policies: Policy,
    seeds: NDArray[np.uint64],
    dps: bool,
    ops: Codes,
    start: Offsets,
    end: Offsets,
    ok: NDArray[np.bool_],
) -> None:
    """Write a drawn path a pair, merged, into ``ops``, ``start`` and ``end``; into ``ok`` whether one has mass."""
    count = len(seeds)
    for chunk in prange((count + _CHUNK - 1) // _CHUNK):
        first, last = chunk * _CHUNK, min(count, (chunk + 1) * _CHUNK)
        longest_a, longest_b = _longest(a_offsets, first, last), _longest(b_offsets, first, last)
        table = np.empty(longest_a * longest_b)
        odds = np.empty((longest_a, 4))
        for k in range(first, last):
            low, high, b_low, b_high = a_offsets[k], a_offsets[k + 1], b_offsets[k], b_offsets[k + 1]
            for i in range(low, high):
                ops[i], start[i], end[i] = _KEEP, -1, -1
            # Equal tokens are only kept, so the walk back goes straight through a common ending.
            while high - low > 1 and b_high - b_low > 1 and a_values[high - 1] == b_values[b_high - 1]:
                if policies[high - 1, _KEEP] == -np.inf:
                    break
                high -= 1
                b_high -= 1
            a, b, policy = a_values[low:high], b_values[b_low:b_high], policies[low:high]
            if len(a) == 1 and len(b) == 1:
                ok[k] = True
                continue
            logs = not _is_safe(policy, len(b))
            if logs:
                _fill_log(a, b, policy, table, dps)
            else:
                _fill_plain(a, b, policy, table, odds, dps)
            mass = table[len(a) * len(b) - 1]
            ok[k] = mass > (-np.inf if logs else 0.0)
            if ok[k]:
                _walk_back(a, b, policy, table, odds, logs, seeds[k], ops[low:high], start[low:high], end[low:high])
                _merge(ops[low:high], start[low:high], end[low:high], b_low)


@inner
def hash_slice(values: Ints, start: int, end: int) -> np.uint64:
    """Return a 64-bit hash of ``values[start:end]``."""
    mixed = np.uint64(end - start)
    for k in range(start, end):
        mixed = (mixed ^ np.uint64(values[k])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed


@kernel
def hashes(values: Ints, start: Offsets, end: Offsets, found: Hashes) -> None:
    """Write the hash of each slice into ``found``."""
    for k in prange(len(found)):
        found[k] = hash_slice(values, start[k], end[k])


@inner
def find_phrase(
    words: Ints, start: int, end: int, wanted: np.uint64, known: Ints, edges: Offsets, hashes: Hashes, ids: Offsets
) -> int:
    """Return the index in the vocabulary of ``words[start:end]``, whose hash is ``wanted``, -1 where it has none."""
    at = np.searchsorted(hashes, wanted)
    # Different known may share a hash: every one of them is compared word by word.
    while at < len(hashes) and hashes[at] == wanted:
        low, high = edges[ids[at]], edges[ids[at] + 1]
        if np.array_equal(known[low:high], words[start:end]):
            return int(ids[at])
        at += 1
    return -1


@kernel
def lookup(
    words: Ints, start: Offsets, end: Offsets, known: Ints, edges: Offsets, hashes: Hashes, ids: Offsets, found: Offsets
) -> None:
    """Write the index in the vocabulary of each slice of ``words`` into ``found``, -1 where it has none."""
    for k in prange(len(found)):
        found[k] = -1
        if start[k] >= 0:
            wanted = hash_slice(words, start[k], end[k])
            found[k] = find_phrase(words, start[k], end[k], wanted, known, edges, hashes, ids)


@kernel
def apply(
    a_values: Ints, a_offsets: Offsets, ops: Codes, words: Ints, start: Offsets, end: Offsets, made: Ints, ends: Offsets
) -> None:
    """Write what the edits make of each source into ``made``, source ``k`` from ``ends[k]`` on."""
    for k in prange(len(ends) - 1):
        at = ends[k]
        for i in range(a_offsets[k], a_offsets[k + 1]):
            if ops[i] == _KEEP or ops[i] == _INSERT:
                made[at] = a_values[i]
                at += 1
            for w in range(start[i], end[i]):
                made[at] = words[w]
                at += 1
