"""What the passes of an editing system do: how many it makes, what more bring, and when they make a text worse."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import gold_edits
from riseq.metrics.ngrams import Floats, Integers
from riseq.metrics.scores import score_examples
from riseq.text.pieces import scoring_form
from riseq.text.words import forms
from riseq.types import Simplification

Passes = Sequence[str]
METRICS = ("bleu4", "rougeL", "distance")
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The mean number of passes by the words only in x (columns) and only in y (rows); the last of each is "or more".

    ``means`` is NaN where there are no examples.
    """

    means: Floats
    counts: Integers


def text_after(question: str, passes: Passes, limit: int | None) -> str:
    """Return the text after at most ``limit`` passes; None is all of them."""
    made = passes[:limit]
    return made[-1] if made else question


def count_only(first: str, second: str) -> int:
    """Return how many words of ``first`` are not in ``second``, a repeated word counted as often as it is left over."""
    return (Counter(first.split()) - Counter(second.split())).total()


def map_passes(
    questions: Sequence[str], texts: Sequence[str], numbers: Sequence[int], columns: int = 11, rows: int = 7
) -> Heatmap:
    """Return the mean of ``numbers`` of passes by the words only in the question and only in the text it became."""
    totals, counts = np.zeros((rows, columns)), np.zeros((rows, columns), dtype=np.int64)
    for question, text, number in zip(questions, texts, numbers, strict=True):
        field = min(count_only(text, question), rows - 1), min(count_only(question, text), columns - 1)
        totals[field] += number
        counts[field] += 1
    means = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
    return Heatmap(means, counts)


def share_worse(after: Sequence[Floats]) -> tuple[float, float]:
    """Return the shares of examples with a score below the one of the pass before at some pass, and at the end.

    ``after`` has the scores of each example after at most 1, 2, ... passes; the second share compares the last with
    the first.
    """
    scores = np.stack(after)
    drops = (np.diff(scores, axis=0) < -_CLOSE).any(axis=0)
    return float(drops.mean()), float((scores[-1] < scores[0] - _CLOSE).mean())


def share_edited(questions: Iterable[str], passes: Iterable[Passes], limit: int) -> float:
    """Return the share of positions that the passes run, up to ``limit``, don't keep.

    The edits of a pass are read from its text before and after, at the least distance. A pass that changed nothing,
    which is how an example that stops early ends, is a pass that kept every word.
    """
    ops: list[Op] = []
    for question, texts in zip(questions, passes, strict=True):
        words = [[MARKER, *forms(text)] for text in (question, *texts[:limit])]
        if len(words) <= limit:
            words.append(words[-1])
        for before, after in pairwise(words):
            marker, *others = (edit.op for edit in gold_edits(before, after))
            # The marker is always there and nearly always kept, so counting its KEEPs would only blur the share.
            ops += others if marker is Op.KEEP else [marker, *others]
    return 1 - ops.count(Op.KEEP) / max(1, len(ops))


@dataclass(frozen=True, slots=True)
class Stopping:
    """What a set scores with at most so many passes, in percent, and which shares of it got worse."""

    passes: int
    bleu4: float
    changed: float
    """The share of texts that the last of these passes changed."""
    worse: dict[str, float]
    """By metric: the share of texts that score lower than after an earlier pass, the best of them."""
    worse_than_question: dict[str, float]
    """The same, where the question itself counts as an earlier text."""


def measure_stopping(results: Sequence[Simplification], targets: Sequence[str], most: int) -> list[Stopping]:
    """Return the shares for at most 1, 2, ... ``most`` passes, from results that were given at least that many."""
    made = [(one.question, [step.text for step in one.steps]) for one in results]
    after = [[text_after(*one, passes) for one in made] for passes in range(most + 1)]
    gold = [scoring_form(target) for target in targets]
    each = [score_examples([scoring_form(text) for text in texts], gold) for texts in after]
    values = {metric: np.array([one.each[metric] for one in each]) for metric in METRICS}
    values["distance"] = -values["distance"]  # it is better the smaller it is
    found = []
    for passes in range(1, most + 1):
        changed = [now != before for now, before in zip(after[passes], after[passes - 1], strict=True)]
        worse, than_question = (
            {
                name: _percent(rows[passes] < rows[at:passes].max(0, initial=-np.inf) - _CLOSE)
                for name, rows in values.items()
            }
            for at in (1, 0)
        )
        found.append(Stopping(passes, each[passes].score("bleu4"), _percent(changed), worse, than_question))
    return found


def _percent(which: Sequence[bool] | np.ndarray) -> float:
    return 100 * float(np.mean(which))
