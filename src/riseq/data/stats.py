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
class CountSummary:
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
    utterances: CountSummary
    """Earlier utterances a row, answers included where the file has them."""

    question_words: CountSummary
    target_words: CountSummary
    unchanged: float
    """The share whose target has the question's very words, in any case."""

    shorter: float
    """The share whose target has fewer words than the question."""

    pronoun: float
    """The share whose target has one of PRONOUNS that the question lacks."""


def stats(examples: Iterable[Example]) -> DatasetStats:
    """Return the numbers of ``examples``, taken one at a time."""
    utterances: list[int] = []
    question_words: list[int] = []
    target_words: list[int] = []
    unchanged = shorter = pronoun = 0
    for example in examples:
        question = forms(example.question)
        utterances.append(len(example.context))
        question_words.append(len(question))
        if example.target is not None:
            target = forms(example.target)
            target_words.append(len(target))
            unchanged += target == question
            shorter += len(target) < len(question)
            pronoun += bool(PRONOUNS.intersection(target).difference(question))
    with_target = len(target_words)
    return DatasetStats(
        rows=len(utterances),
        with_target=with_target,
        with_context=sum(map(bool, utterances)),
        utterances=_summarise(utterances),
        question_words=_summarise(question_words),
        target_words=_summarise(target_words),
        unchanged=unchanged / max(1, with_target),
        shorter=shorter / max(1, with_target),
        pronoun=pronoun / max(1, with_target),
    )


def _summarise(counts: Sequence[int]) -> CountSummary:
    return CountSummary(fmean(counts), float(median(counts)), max(counts)) if counts else CountSummary(0.0, 0.0, 0)
