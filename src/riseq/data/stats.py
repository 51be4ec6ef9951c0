"""What a set of examples is like, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from riseq.text.lexicon import PRONOUNS
from riseq.text.words import forms
from riseq.types import Example

"""Words by which a conversational question points back at its dialogue."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean, the median and the largest of some counts; zeros where there are none."""

    mean: float
    median: float
    max: int


@dataclass(frozen=True, slots=True)
class DatasetStats:
    """The size and shape of a set of examples; the shares are of the rows with a target."""

    rows: int
    with_target: int
    with_context: int
    utterances: Spread
    """Earlier utterances a row, answers included where the file has them."""

    question_words: Spread
    target_words: Spread
    unchanged: float
    """The share whose target has the question's very words, in any case."""

    shorter: float
    """The share whose target has fewer words than the question."""

    pronoun: float
    """The share whose target has one of PRONOUNS that the question lacks."""


def stats(examples: Iterable[Example]) -> DatasetStats:
    """Return the numbers of ``examples``, taken one at a time."""
    rows = with_context = unchanged = shorter = pronoun = 0
    utterances: list[int] = []
    question_words: list[int] = []
    target_words: list[int] = []
    for example in examples:
        rows += 1
        with_context += bool(example.context)
        utterances.append(len(example.context))
        question = forms(example.question)
        question_words.append(len(question))
        if example.target is not None:
            target = forms(example.target)
            target_words.append(len(target))
            unchanged += target == question
            shorter += len(target) < len(question)
            pronoun += bool(PRONOUNS.intersection(target).difference(question))
    return DatasetStats(
        rows=rows,
        with_target=len(target_words),
        with_context=with_context,
        utterances=_spread(utterances),
        question_words=_spread(question_words),
        target_words=_spread(target_words),
        unchanged=unchanged / max(1, len(target_words)),
        shorter=shorter / max(1, len(target_words)),
        pronoun=pronoun / max(1, len(target_words)),
    )


def _spread(counts: Sequence[int]) -> Spread:
    return Spread(fmean(counts), float(median(counts)), max(counts)) if counts else Spread(0.0, 0.0, 0)
