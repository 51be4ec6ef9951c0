"""The batch sampler and the batch Levenshtein distance in plain Python, to judge the compiled ones by.

Nothing here comes from ``riseq.core.sampler`` or ``riseq.core.kernels``: loops over lists, in log space, one cell at
a time. The random numbers are SplitMix64 as the compiled sampler draws them (one a cell where three moves are allowed),
so equal seeds must give equal samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from riseq.core.edits import Edit, Move, Op, merge

NOTHING = -math.inf
Row = list[float]


def distances(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[int]:
    """Return the Levenshtein distance of each pair, by the full table."""
    found = []
    for a, b in zip(sources, targets, strict=True):
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i in range(len(a) + 1):
            for j in range(len(b) + 1):
                if i == 0 or j == 0:
                    table[i][j] = i + j
                else:
                    changed = 0 if a[i - 1] == b[j - 1] else 1
                    table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + changed)
        found.append(table[-1][-1])
    return found


def logsumexp(terms: Sequence[float]) -> float:
    """Return log(sum(exp(terms)))."""
    peak = max(terms)
    if peak == NOTHING:
        return NOTHING
    return peak + math.log(sum(math.exp(term - peak) for term in terms))


def log_table(source: Sequence[object], target: Sequence[object], policy: Sequence[Row], method: str) -> list[Row]:
    """Return log M by Eq. 8 and 9."""
    m, n = len(source), len(target)
    table = [[NOTHING] * n for _ in range(m)]
    table[0][0] = 0.0
    for i in range(m):
        for j in range(n):
            if i == 0 and j > 0:
                table[i][j] = policy[i][Op.INSERT] + table[i][j - 1]
            elif j == 0 and i > 0:
                table[i][j] = policy[i][Op.DELETE] + table[i - 1][j]
            elif i and source[i] == target[j]:
                table[i][j] = policy[i][Op.KEEP] + table[i - 1][j - 1]
            elif i:
                values = [
                    policy[i][Op.DELETE] + table[i - 1][j],
                    policy[i][Op.INSERT] + table[i][j - 1],
                    policy[i][Op.SUBSTITUTE] + table[i - 1][j - 1],
                ]
                total = logsumexp(values)
                if method == "dps" and total > NOTHING:
                    table[i][j] = logsumexp([2 * value for value in values]) - total
                else:
                    table[i][j] = total
    return table


def plain_table(source: Sequence[object], target: Sequence[object], policy: Sequence[Row], method: str) -> list[Row]:
    """Return M itself, not its logarithm, from probabilities."""
    m, n = len(source), len(target)
    table = [[0.0] * n for _ in range(m)]
    table[0][0] = 1.0
    for i in range(m):
        for j in range(n):
            values = []
            if i == 0 and j > 0:
                values = [policy[i][Op.INSERT] * table[i][j - 1]]
            elif j == 0 and i > 0:
                values = [policy[i][Op.DELETE] * table[i - 1][j]]
            elif i and source[i] == target[j]:
                values = [policy[i][Op.KEEP] * table[i - 1][j - 1]]
            elif i:
                values = [
                    policy[i][Op.DELETE] * table[i - 1][j],
                    policy[i][Op.INSERT] * table[i][j - 1],
                    policy[i][Op.SUBSTITUTE] * table[i - 1][j - 1],
                ]
            total = sum(values)
            if total > 0:
                table[i][j] = sum(value / total * value for value in values) if method == "dps" else total
    return table


class SplitMix64:
    """Uniform numbers in [0, 1) from a 64-bit seed."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def uniform(self) -> float:
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        return (z >> 11) * 2.0**-53


def sample_path(
    source: Sequence[object], target: Sequence[object], policy: Sequence[Row], seed: int, method: str
) -> list[Move] | None:
    """Return the path the seed draws; None where no path has mass."""
    table = log_table(source, target, policy, method)
    if table[-1][-1] == NOTHING:
        return None
    random = SplitMix64(seed)
    i, j = len(source) - 1, len(target) - 1
    path = []
    while i or j:
        if i == 0:
            op = Op.INSERT
        elif j == 0:
            op = Op.DELETE
        elif source[i] == target[j]:
            op = Op.KEEP
        else:
            moves = [
                (Op.DELETE, policy[i][Op.DELETE] + table[i - 1][j]),
                (Op.INSERT, policy[i][Op.INSERT] + table[i][j - 1]),
                (Op.SUBSTITUTE, policy[i][Op.SUBSTITUTE] + table[i - 1][j - 1]),
            ]
            total = logsumexp([value for _, value in moves])
            left = random.uniform()
            for op, value in [move for move in moves if move[1] > NOTHING]:  # noqa: B007 - the last one if none stops
                left -= math.exp(value - total)
                if left < 0:
                    break
        path.append(Move(op, i, j))
        i -= op is not Op.INSERT
        j -= op is not Op.DELETE
    return path[::-1]


def sample(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    policies: Sequence[Sequence[Row]],
    seeds: Sequence[int],
    method: str = "dps",
) -> list[list[Edit] | None]:
    """Return the merged edits of a sample a pair; None where no path has mass."""
    drawn: list[list[Edit] | None] = []
    for source, target, policy, seed in zip(sources, targets, policies, seeds, strict=True):
        path = sample_path(source, target, policy, seed, method)
        drawn.append(None if path is None else merge(path, target))
    return drawn
