"""The samplers on plain sequences: DPS (Eq. 8-11) and the exact posterior.

A policy is an array of log-probabilities, one row a source position (the marker's first) and four columns in ``Op``
order; ``-inf`` is a probability of zero. Both samplers walk back from the last cell of a table ``M`` over source and
target prefixes. They differ in ``M`` alone, where ``v`` are the values of the moves that lead into a cell:

- ``"dps"``: ``M = sum(p * v)`` with ``p = v / sum(v)``, the paper's expectation (Eq. 8, 9);
- ``"posterior"``: ``M = sum(v)``, so that a path is drawn in proportion to the product of its moves' probabilities.
"""

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riseq.core.edits import STEPS, Edit, Move, Op, merge

Method = Literal["dps", "posterior"]
Floats = NDArray[np.float64]


def allowed(source: Sequence[Hashable], target: Sequence[Hashable], i: int, j: int) -> tuple[Op, ...]:
    """Return the moves that may lead into cell (i, j) (Eq. 10): KEEP exactly where the two tokens are equal."""
    if i == 0:
        return (Op.INSERT,) if j else ()
    if j == 0:
        return (Op.DELETE,)
    return (Op.KEEP,) if source[i] == target[j] else (Op.DELETE, Op.INSERT, Op.SUBSTITUTE)


def expectation(
    source: Sequence[Hashable], target: Sequence[Hashable], log_policy: ArrayLike, method: Method = "dps"
) -> Floats:
    """Return ``log M``, a row a source position and a column a target position; ``log M[0, 0]`` is 0."""
    policy = check_policy(source, target, log_policy)
    if method not in get_args(Method):
        raise ValueError(f"the method is one of {', '.join(get_args(Method))}; got {method!r}")
    log_m = np.full((len(source), len(target)), -np.inf)
    log_m[0, 0] = 0.0
    for i in range(len(source)):
        for j in range(len(target)):
            if (i, j) == (0, 0):
                continue
            values = _log_values(source, target, policy, log_m, i, j)
            total = np.logaddexp.reduce(values)
            if method == "dps" and total > -np.inf:
                # Eq. 8 with Eq. 9 put in: sum(p v) = sum(v ** 2) / sum(v).
                log_m[i, j] = np.logaddexp.reduce(2 * values) - total
            else:
                log_m[i, j] = total
    return log_m


def move_probabilities(
    source: Sequence[Hashable], target: Sequence[Hashable], log_policy: ArrayLike, log_m: Floats
) -> Floats:
    """Return ``p`` (Eq. 9), indexed by source position, target position and ``Op``; zeros where nothing has mass."""
    policy = check_policy(source, target, log_policy)
    p = np.zeros((len(source), len(target), len(Op)))
    for i in range(len(source)):
        for j in range(len(target)):
            values = _log_values(source, target, policy, log_m, i, j)
            if values.max() > -np.inf:
                p[i, j] = np.exp(values - np.logaddexp.reduce(values))
    return p


def sample_path(
    source: Sequence[Hashable],
    target: Sequence[Hashable],
    log_policy: ArrayLike,
    rng: np.random.Generator,
    method: Method = "dps",
) -> list[Move]:
    """Return the moves of a path from ``source`` to ``target``, drawn by walking back from the last cell (Eq. 11)."""
    log_m = expectation(source, target, log_policy, method)
    if log_m[-1, -1] == -np.inf:
        raise ValueError("no path from the source to the target has mass under this policy")
    p = move_probabilities(source, target, log_policy, log_m)
    i, j = len(source) - 1, len(target) - 1
    path: list[Move] = []
    while i or j:
        op = Op(int(rng.choice(len(Op), p=p[i, j])))
        path.append(Move(op, i, j))
        i, j = i - STEPS[op][0], j - STEPS[op][1]
    path.reverse()
    return path


def sample(
    source: Sequence[str],
    target: Sequence[str],
    log_policy: ArrayLike,
    rng: np.random.Generator,
    method: Method = "dps",
) -> list[Edit]:
    """Return drawn edits that turn ``source`` into ``target``; raise ValueError where no path has mass."""
    return merge(sample_path(source, target, log_policy, rng, method), target)


def check_policy(source: Sequence[Hashable], target: Sequence[Hashable], log_policy: ArrayLike) -> Floats:
    """Return ``log_policy`` as an array; raise ValueError where it does not fit the two sequences."""
    policy = np.asarray(log_policy, dtype=np.float64)
    if not source or not target:
        raise ValueError(f"a sequence starts with its marker; got {len(source)} source and {len(target)} target tokens")
    if policy.shape != (len(source), len(Op)):
        raise ValueError(f"a policy of shape {policy.shape}, expected {(len(source), len(Op))}")
    if np.isnan(policy).any() or (policy == np.inf).any():
        raise ValueError("a policy holds log-probabilities, finite or -inf; got nan or inf")
    return policy


def _log_values(
    source: Sequence[Hashable], target: Sequence[Hashable], policy: Floats, log_m: Floats, i: int, j: int
) -> Floats:
    """Return ``log v`` of the four moves into cell (i, j): the move's probability times where it comes from (Eq. 8)."""
    values = np.full(len(Op), -np.inf)
    for op in allowed(source, target, i, j):
        down_source, down_target = STEPS[op]
        values[op] = policy[i, op] + log_m[i - down_source, j - down_target]
    return values
