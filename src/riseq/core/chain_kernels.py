"""The kernels of the joint editing policy, compiled by numba: exact draws of edits that make the target.

The edits are those that some path of Eq. 10, merged, gives; their odds are the joint policy's own. The table has a cell
for each source word, target word and operation: the mass of all edits of the words so far that end in this operation
and have made the target so far. A move into it is the edit of one word as the policy makes it: KEEP takes an equal
target word, INSERT takes one and a phrase after it, DELETE takes none; a run of SUBSTITUTEs is one move, which takes
its whole phrase. ``riseq.core.batch`` is the door, and nothing is checked here.
"""

import numpy as np
from numpy.typing import NDArray

from riseq.core.kernels import Codes, Floats, Policy, inner, kernel, prange, uniform
from riseq.core.packed import Ints, Offsets

_KEEP, _DELETE, _INSERT, _SUBSTITUTE = range(4)
_START = 1e140
"""The mass that a table begins with: far from both ends of a float64's range, for the squares of DPS too."""

Cells = NDArray[np.bool_]


@inner
def _reach(a: Ints, b: Ints, row: int, first: int, came: Cells, opens: bool) -> None:
    """Turn, in place, the columns that a run reaches in the row before into those that it reaches in ``row``.

    It ``opens`` in the row after the one where it left column ``first``. No move of it enters a cell of equal words
    (Eq. 10).
    """
    corner = False
    for j in range(first, len(b)):
        above = j == first if opens else came[j]
        moves = above or corner or (j > first and came[j - 1])
        corner = above
        came[j] = moves and (j == 0 or a[row] != b[j])


@inner
def _fold(total: float, squares: float, dps: bool) -> float:
    """Return M of a cell (Eq. 8, 9) by the sum of its moves' values and that of their squares."""
    return squares / total if dps and total > 0.0 else total


@inner
def _fill(a: Ints, b: Ints, odds: Floats, table: Floats, squares: Floats, came: Cells, dps: bool) -> None:
    """Write M into ``table``; ``squares`` is room for the squares of the runs into each cell."""
    width = len(b)
    table[:] = 0.0
    squares[:] = 0.0
    table[0, 0, _KEEP] = _START * odds[0, _KEEP, _KEEP]
    for j in range(1, width):
        table[0, j, _INSERT] = _START * odds[0, _KEEP, _INSERT]
    for i in range(1, len(a)):
        for j in range(width):
            for before in (_KEEP, _INSERT):
                value = table[i - 1, j, before] * odds[i, before, _SUBSTITUTE]
                if value > 0.0:
                    _add_run(a, b, odds, table, squares, came, i, j, value)
        inserts, insert_squares = 0.0, 0.0
        for j in range(width):
            table[i, j, _SUBSTITUTE] = _fold(table[i, j, _SUBSTITUTE], squares[i, j], dps)
            total, square = 0.0, 0.0
            if j > 0 and a[i] == b[j]:
                inserts, insert_squares = 0.0, 0.0  # no phrase after this word goes past its equal
                for before in range(4):
                    value = table[i - 1, j - 1, before] * odds[i, before, _KEEP]
                    total += value
                    square += value * value
                    value = table[i - 1, j - 1, before] * odds[i, before, _INSERT]
                    inserts += value
                    insert_squares += value * value
                table[i, j, _KEEP] = _fold(total, square, dps)
            else:
                table[i, j, _INSERT] = _fold(inserts, insert_squares, dps)
                for before in (_KEEP, _DELETE, _INSERT):
                    value = table[i - 1, j, before] * odds[i, before, _DELETE]
                    total += value
                    square += value * value
                table[i, j, _DELETE] = _fold(total, square, dps)


@inner
def _add_run(
    a: Ints, b: Ints, odds: Floats, table: Floats, squares: Floats, came: Cells, i: int, first: int, value: float
) -> None:
    """Add a run that begins with word ``i`` after target word ``first`` to every cell where it may end."""
    for row in range(i, len(a)):
        _reach(a, b, row, first, came, row == i)
        if row > i:
            value *= odds[row, _SUBSTITUTE, _SUBSTITUTE]
        for j in range(first + 1, len(b)):
            if came[j]:
                table[row, j, _SUBSTITUTE] += value
                squares[row, j] += value * value


@inner
def _pick(values: Floats, count: int, point: float) -> int:
    """Return which of the first ``count`` values the share ``point`` of their sum falls on."""
    left, chosen = point * values[:count].sum(), -1
    for k in range(count):
        # Rounding may put the point past the last value; one without mass is not taken even then.
        if values[k] > 0.0 and (chosen < 0 or left >= 0.0):
            chosen = k
        left -= values[k]
    return chosen


@inner
def _walk_back(
    a: Ints,
    b: Ints,
    odds: Floats,
    table: Floats,
    came: Cells,
    seed: np.uint64,
    ops: Codes,
    start: Offsets,
    end: Offsets,
) -> None:
    """Draw edits from the last word back; write them with their phrases, slices of the target."""
    i, j, state = len(a) - 1, len(b) - 1, seed
    values = np.zeros(4 * max(4, len(a) * len(b)))
    op = _SUBSTITUTE
    for before in range(4):
        values[before] = table[i, j, before]
    state += np.uint64(0x9E3779B97F4A7C15)
    op = _pick(values, 4, uniform(state))
    while i > 0:
        state += np.uint64(0x9E3779B97F4A7C15)
        point = uniform(state)
        if op == _SUBSTITUTE:
            _weigh_runs(a, b, odds, table, came, i, j, values)
            row, left = divmod(_pick(values, 4 * i * len(b), point), 4 * len(b))
            first, before = divmod(left, 4)
            for k in range(row + 1, i + 1):
                ops[k] = _SUBSTITUTE
            start[row + 1], end[row + 1] = first + 1, j + 1
            i, j, op = row, first, before
            continue
        ops[i] = op
        column = j - (op == _KEEP)
        if op == _INSERT:
            column -= 1
            while a[i] != b[column + 1]:
                column -= 1
            start[i], end[i] = column + 2, j + 1
        for before in range(4):
            values[before] = table[i - 1, column, before] * odds[i, before, op]
        if op == _DELETE:
            values[_SUBSTITUTE] = 0.0
        i, j, op = i - 1, column, _pick(values, 4, point)
    ops[0] = op
    if op == _INSERT:
        start[0], end[0] = 1, j + 1


@inner
def _weigh_runs(a: Ints, b: Ints, odds: Floats, table: Floats, came: Cells, i: int, j: int, values: Floats) -> None:
    """Write the value of each run into cell (i, j) by the row, the column and the operation that it comes from."""
    values[: 4 * i * len(b)] = 0.0
    inside = 1.0
    for row in range(i - 1, -1, -1):
        for first in range(j):
            keep, insert = table[row, first, _KEEP], table[row, first, _INSERT]
            if keep > 0.0 or insert > 0.0:
                for below in range(row + 1, i + 1):
                    _reach(a, b, below, first, came, below == row + 1)
                if came[j]:
                    at = 4 * (row * len(b) + first)
                    values[at + _KEEP] = inside * keep * odds[row + 1, _KEEP, _SUBSTITUTE]
                    values[at + _INSERT] = inside * insert * odds[row + 1, _INSERT, _SUBSTITUTE]
        inside *= odds[row + 1, _SUBSTITUTE, _SUBSTITUTE]


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
        low, high, b_low = a_offsets[k], a_offsets[k + 1], b_offsets[k]
        a, b = a_values[low:high], b_values[b_low : b_offsets[k + 1]]
        odds = np.exp(policies[low:high].astype(np.float64))
        table, came = np.empty((len(a), len(b), 4)), np.zeros(len(b), dtype=np.bool_)
        _fill(a, b, odds, table, np.empty((len(a), len(b))), came, dps)
        ops[low:high], start[low:high], end[low:high] = _KEEP, -1, -1
        ok[k] = table[len(a) - 1, len(b) - 1].sum() > 0.0
        if ok[k]:
            _walk_back(a, b, odds, table, came, seeds[k], ops[low:high], start[low:high], end[low:high])
            for i in range(low, high):
                if start[i] >= 0:
                    start[i] += b_low
                    end[i] += b_low
