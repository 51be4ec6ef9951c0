"""The kernels of the joint editing policy, compiled by numba: exact draws of edits that make the target.

The table has a cell for each source word, target word and operation: the mass of all edits of the words so far that end
in this operation and have made the target so far. Unlike Eq. 8, where every inserted word is a move of its own, a move
here is the edit of one source word as the policy makes it: KEEP takes an equal target word; INSERT takes one and a
phrase after it; DELETE takes none; a run of SUBSTITUTEs takes its whole phrase at its first word. A replaced run does
not begin with the word that its phrase begins with, nor end with the word that it ends with; and DELETE and SUBSTITUTE
are never neighbours, for together they are one run. ``riseq.core.batch`` is the door, and nothing is checked here.
"""

import numpy as np
from numpy.typing import NDArray

from riseq.core.kernels import Codes, Floats, Policy, inner, kernel, prange, uniform
from riseq.core.packed import Ints, Offsets

_KEEP, _DELETE, _INSERT, _SUBSTITUTE = range(4)


@inner
def _left(a: Ints, b: Ints, table: Floats, i: int, j: int, before: int) -> float:
    """Return the mass of cell (i, j, before) for words after it, which a run that should have ended earlier lacks."""
    if before == _SUBSTITUTE and a[i] == b[j]:
        return 0.0
    return float(table[i, j, before])


@inner
def _fold(total: float, squares: float, dps: bool) -> float:
    """Return M of a cell (Eq. 8, 9) by the sum of its moves' values and that of their squares."""
    return squares / total if dps and total > 0.0 else total


@inner
def _fill(a: Ints, b: Ints, odds: Floats, table: Floats, dps: bool) -> None:
    """Write M into ``table``; each source word's cells are scaled to a largest of 1, which no draw depends on."""
    width = len(b)
    table[:] = 0.0
    table[0, 0, _KEEP] = odds[0, _KEEP, _KEEP]
    for j in range(1, width):
        table[0, j, _INSERT] = odds[0, _KEEP, _INSERT]
    for i in range(1, len(a)):
        inserts, insert_squares, runs, run_squares, peak = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(width):
            total, squares = 0.0, 0.0
            for before in (_KEEP, _DELETE, _INSERT):
                value = table[i - 1, j, before] * odds[i, before, _DELETE]
                total += value
                squares += value * value
            table[i, j, _DELETE] = _fold(total, squares, dps)
            table[i, j, _INSERT] = _fold(inserts, insert_squares, dps)
            if j > 0 and a[i] == b[j]:
                total, squares = 0.0, 0.0
                for before in range(4):
                    left = _left(a, b, table, i - 1, j - 1, before)
                    value = left * odds[i, before, _KEEP]
                    total += value
                    squares += value * value
                    value = left * odds[i, before, _INSERT]
                    inserts += value
                    insert_squares += value * value
                table[i, j, _KEEP] = _fold(total, squares, dps)
            value = table[i - 1, j, _SUBSTITUTE] * odds[i, _SUBSTITUTE, _SUBSTITUTE]
            table[i, j, _SUBSTITUTE] = _fold(runs + value, run_squares + value * value, dps)
            if j + 1 < width and b[j + 1] != a[i]:
                for before in (_KEEP, _INSERT):
                    value = table[i - 1, j, before] * odds[i, before, _SUBSTITUTE]
                    runs += value
                    run_squares += value * value
            for op in range(4):
                peak = max(peak, table[i, j, op])
        if peak > 0.0:
            table[i] /= peak


@inner
def _value(a: Ints, b: Ints, odds: Floats, table: Floats, i: int, j: int, op: int, start: int, before: int) -> float:
    """Return the value of the move into (i, j, op) from target word ``start`` - 1 on, after the operation ``before``.

    ``start`` is the first target word that the move takes, ``j + 1`` where it takes none.
    """
    odd = odds[i, before, op]
    if op == _DELETE:
        return 0.0 if start != j + 1 or before == _SUBSTITUTE else table[i - 1, j, before] * odd
    if op == _SUBSTITUTE:
        if start == j + 1:
            return table[i - 1, j, _SUBSTITUTE] * odd if before == _SUBSTITUTE else 0.0
        fits = start > 0 and before in (_KEEP, _INSERT) and b[start] != a[i]
        return table[i - 1, start - 1, before] * odd if fits else 0.0
    if start == 0 or start > j or a[i] != b[start] or (op == _KEEP) != (start == j):
        return 0.0
    return _left(a, b, table, i - 1, start - 1, before) * odd


@inner
def _walk_back(
    a: Ints, b: Ints, odds: Floats, table: Floats, seed: np.uint64, ops: Codes, start: Offsets, end: Offsets, shift: int
) -> None:
    """Draw edits from the last word back; write them with their phrases, slices of the target moved by ``shift``."""
    i, j, state = len(a) - 1, len(b) - 1, seed
    total = 0.0
    for op in range(4):
        total += _left(a, b, table, i, j, op)
    state += np.uint64(0x9E3779B97F4A7C15)
    point, chosen = uniform(state) * total, -1
    for op in range(4):
        mass = _left(a, b, table, i, j, op)
        if mass > 0.0 and (chosen < 0 or point >= 0.0):
            chosen = op
        point -= mass
    op = chosen
    while i > 0:
        total = 0.0
        for first in range(j + 2):
            for before in range(4):
                total += _value(a, b, odds, table, i, j, op, first, before)
        state += np.uint64(0x9E3779B97F4A7C15)
        point, begun, chosen = uniform(state) * total, -1, -1
        for first in range(j + 2):
            for before in range(4):
                value = _value(a, b, odds, table, i, j, op, first, before)
                # Rounding may put the point past the last move; a move without mass is not taken even then.
                if value > 0.0 and (chosen < 0 or point >= 0.0):
                    begun, chosen = first, before
                point -= value
        ops[i], start[i], end[i] = op, -1, -1
        phrase = begun + (op == _INSERT)
        if op != _KEEP and phrase <= j:
            start[i], end[i] = phrase + shift, j + 1 + shift
        i, j, op = i - 1, begun - 1, chosen
    ops[0], start[0], end[0] = op, -1, -1
    if op == _INSERT:
        start[0], end[0] = 1 + shift, j + 1 + shift


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
    """Write drawn edits a pair into ``ops``, ``start`` and ``end``; into ``ok`` whether any have mass."""
    for k in prange(len(seeds)):
        low, high = a_offsets[k], a_offsets[k + 1]
        a, b = a_values[low:high], b_values[b_offsets[k] : b_offsets[k + 1]]
        odds = np.exp(policies[low:high].astype(np.float64))
        table = np.empty((len(a), len(b), 4))
        _fill(a, b, odds, table, dps)
        ops[low:high], start[low:high], end[low:high] = _KEEP, -1, -1
        mass = 0.0
        for op in range(4):
            mass += _left(a, b, table, len(a) - 1, len(b) - 1, op)
        ok[k] = mass > 0.0
        if ok[k]:
            where = ops[low:high], start[low:high], end[low:high]
            _walk_back(a, b, odds, table, seeds[k], *where, b_offsets[k])
