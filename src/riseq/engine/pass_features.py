"""What one pass shows of how sure the network was: a few numbers, from scores that were made anyway."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from riseq.core.edits import Op

CERTAIN = 9.0
"""The log-odds beyond which more say nothing."""


class Signs(NamedTuple):
    """How sure the network was of one pass's edits; logarithms are natural."""

    log_probability: float
    """Of all edits and phrases together."""
    odds: float
    """The same as log-odds."""
    phrases: float
    """The log-probability of the phrases."""
    least: float
    """The log-probability of the edit it was least sure of, and of the next one."""
    second: float
    kept: float
    """The lowest log-probability of keeping among the words kept."""
    edited: float
    """The lowest log-odds against keeping among the words edited."""
    border: float
    """As ``kept``, of words beside an edited one: half a name shows here."""
    runs: float
    """How many runs of neighbours are edited."""
    deleted: float
    inserted: float
    substituted: float
    left: float
    """How many words are kept."""
    length: float
    """The logarithm of the number of words."""
    unchanged: float
    """Whether nothing is edited."""


SIGNS = Signs._fields


def read_signs(scores_WE: Sequence[Sequence[float]], ops_W: Sequence[int], log_of_phrases: float) -> Signs:
    """Return the signs of the edits ``ops_W`` by their scores, the marker's first."""
    keep = Op.KEEP
    logs = [scores_E[op] for scores_E, op in zip(scores_WE, ops_W, strict=True)]
    keeps = [scores_E[keep] for scores_E in scores_WE]
    ordered = sorted(logs)
    edited = [op != keep for op in ops_W]
    beside = [*edited[1:], False]
    kept = [log for log, changed in zip(keeps, edited, strict=True) if not changed]
    border = [
        log for place, log in enumerate(keeps) if place and not edited[place] and (edited[place - 1] or beside[place])
    ]
    against = [log - other for log, other, changed in zip(logs, keeps, edited, strict=True) if changed]
    log_probability = sum(logs) + log_of_phrases
    return Signs(
        log_probability=_cap(log_probability),
        odds=_cap(_find_odds(log_probability)),
        phrases=_cap(log_of_phrases),
        least=_cap(ordered[0]),
        second=_cap(ordered[min(1, len(ordered) - 1)]),
        kept=_cap(min(kept, default=0.0)),
        edited=_cap(min(against, default=CERTAIN)),
        border=_cap(min(border, default=0.0)),
        runs=float(sum(now and not before for before, now in zip([False, *edited], edited, strict=False))),
        deleted=float(ops_W.count(Op.DELETE)),
        inserted=float(ops_W.count(Op.INSERT)),
        substituted=float(ops_W.count(Op.SUBSTITUTE)),
        left=float(len(kept)),
        length=math.log(len(logs)),
        unchanged=float(not any(edited)),
    )


def _find_odds(log_probability: float) -> float:
    # log(p / (1 - p)), where p may be too near to 1 to tell.
    rest = -math.expm1(log_probability)
    return log_probability - math.log(rest) if rest > 0 else CERTAIN


def _cap(value: float) -> float:
    """Return the value within what the data has: a protected word's edits have a probability of nothing."""
    return max(-2 * CERTAIN, min(CERTAIN, value))
