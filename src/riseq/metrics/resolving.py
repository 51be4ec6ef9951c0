"""The way back: how well the words that resolve a question are found, and whether a complete one is left alone."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from riseq.metrics.ngrams import check_pairs
from riseq.text.lexicon import is_content
from riseq.text.words import forms


@dataclass(frozen=True, slots=True)
class ResolveScores:
    """A set's scores beside those of ``riseq.metrics.scores``, in percent except the count."""

    term_precision: float
    """Of the content words that outputs have and their questions lack, those that the targets put in too."""
    term_recall: float
    """Of the content words that the targets put in, those that the outputs have."""
    term_f1: float
    complete: int
    """How many questions are their own target."""
    unchanged: float
    """Of those, how many outputs are the question word for word; 100 where there is none."""

    def as_dict(self) -> dict[str, int | float]:
        """Return the scores by name."""
        return asdict(self)


def score_resolved(questions: Sequence[str], outputs: Sequence[str], targets: Sequence[str]) -> ResolveScores:
    """Return how well ``outputs`` resolve ``questions``; words count as often as they were put in.

    >>> score_resolved(["When was it released?"], ["When was Alien 3 released?"], ["When was Alien released?"])
    ResolveScores(term_precision=50.0, term_recall=100.0, term_f1=66.66666666666667, complete=0, unchanged=100.0)
    """
    check_pairs(outputs, targets)
    put_in, wanted, shared, complete, unchanged = 0, 0, 0, 0, 0
    for question, output, target in zip(questions, outputs, targets, strict=True):
        asked, said, gold = forms(question), forms(output), forms(target)
        mine, theirs = find_terms(asked, said), find_terms(asked, gold)
        put_in, wanted, shared = put_in + mine.total(), wanted + theirs.total(), shared + (mine & theirs).total()
        complete += asked == gold
        unchanged += asked == gold == said
    precision, recall = (100 * shared / count if count else 100.0 for count in (put_in, wanted))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return ResolveScores(precision, recall, f1, complete, 100 * unchanged / complete if complete else 100.0)


def find_terms(question: Sequence[str], output: Sequence[str]) -> Counter[str]:
    """Return the content words of ``output`` that ``question`` lacks."""
    return Counter(filter(is_content, output)) - Counter(question)
