"""The next best pass: where all edits together would break a question, those without the one that breaks it."""

from collections.abc import Sequence

from riseq.core.edits import EDITED, KEEP, Edit, Op, apply, find_runs
from riseq.engine.rules.repetition import repeats_itself


def drop_repeating(words: Sequence[str], edits: Sequence[Edit], probabilities: Sequence[float]) -> list[Edit]:
    """Return the edits of ``words`` without the least probable one that makes them say something twice.

    Where no single edit does, and the question does not do so itself, none is left.
    """
    chosen = list(edits)
    if not repeats_itself(apply(words, chosen)) or repeats_itself(words):
        return chosen
    runs = find_runs([edit.op for edit in chosen], EDITED, alike=True)
    parts = [part for run in runs for part in _split(chosen, run)]
    for part in sorted(parts, key=lambda part: min(probabilities[part.start : part.stop])):
        left = [*chosen[: part.start], *[KEEP] * (part.stop - part.start), *chosen[part.stop :]]
        if not repeats_itself(apply(words, left)):
            return left
    return [KEEP] * len(chosen)


def _split(edits: Sequence[Edit], run: slice) -> list[slice]:
    """Return the single edits of a run: each of several insertions is one."""
    if edits[run.start].op is not Op.INSERT:
        return [run]
    return [slice(at, at + 1) for at in range(run.start, run.stop)]
