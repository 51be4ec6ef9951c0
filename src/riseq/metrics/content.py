"""Content words: which of them an output lacks, and whether a gold edit is anaphora, ellipsis, both or none."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import align
from riseq.text.lexicon import PRONOUNS, is_content
from riseq.text.words import forms


@dataclass(frozen=True, slots=True)
class Loss:
    """What a set of outputs has lost, in shares from 0 to 1."""

    words: float
    """Of all content words of the targets, those that the outputs lack."""
    questions: float
    """Of all outputs, those that lack at least one."""
    extra: float
    """Of all content words of the outputs, those that the targets don't have: what a person would have left out."""


def count_lost(text: str, target: str) -> int:
    """Return how many content words of ``target`` are not in ``text``; both have spaces between their words."""
    return (Counter(filter(is_content, target.split())) - Counter(text.split())).total()


def measure_loss(texts: Sequence[str], targets: Sequence[str]) -> Loss:
    """Return what ``texts`` lack of ``targets`` and have beyond them, both in the scoring form."""
    lost = [count_lost(text, target) for text, target in zip(texts, targets, strict=True)]
    extra = sum(count_lost(target, text) for text, target in zip(texts, targets, strict=True))
    wanted, found = (sum(is_content(word) for text in side for word in text.split()) for side in (targets, texts))
    return Loss(sum(lost) / max(1, wanted), sum(map(bool, lost)) / max(1, len(lost)), extra / max(1, found))


class Kind(StrEnum):
    """What a target does to its question."""

    ANAPHORA = "anaphora"
    ELLIPSIS = "ellipsis"
    BOTH = "both"
    UNCHANGED = "none: unchanged"
    REWORDED = "none: reworded"


def find_kind(question: str, target: str) -> Kind:
    """Return what ``target`` does to ``question``."""
    changes = list(find_changes(question, target))
    anaphora = any(PRONOUNS.intersection(new).difference(old) for old, new in changes)
    dropped = [new for old, new in changes if any(map(is_content, old))]
    ellipsis = not all(any(is_content(word) or word in PRONOUNS for word in new) for new in dropped)
    if anaphora:
        return Kind.BOTH if ellipsis else Kind.ANAPHORA
    return Kind.ELLIPSIS if ellipsis else Kind.REWORDED if changes else Kind.UNCHANGED


def find_changes(question: str, target: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words that went and the words that came in each changed stretch, from left to right."""
    source, wanted = [MARKER, *forms(question)], [MARKER, *forms(target)]
    for kept, run in groupby(align(source, wanted), key=lambda move: move.op is Op.KEEP):
        if not kept:
            moves = list(run)
            old = [source[move.i] for move in moves if move.op is not Op.INSERT]
            yield old, [wanted[move.j] for move in moves if move.op is not Op.DELETE]
