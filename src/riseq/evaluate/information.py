"""Information: which content words of the target an output lacks, and which it has too many of.

No stemming: "film" and "films" are two words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from riseq.text.content import is_content


@dataclass(frozen=True, slots=True)
class Loss:
    """What a set of outputs has lost, in shares from 0 to 1."""

    words: float
    """Of all content words of the targets, those that the outputs lack."""
    questions: float
    """Of all outputs, those that lack at least one."""
    extra: float
    """Of all content words of the outputs, those that the targets don't have: what a person would have left out."""


def find_lost(text: str, target: str) -> list[str]:
    """Return the content words of ``target`` that ``text`` lacks, in order; both have spaces between their words."""
    left = Counter(filter(is_content, text.split()))
    lost = []
    for word in filter(is_content, target.split()):
        if left[word]:
            left[word] -= 1
        else:
            lost.append(word)
    return lost


def measure_loss(texts: Sequence[str], targets: Sequence[str]) -> Loss:
    """Return what ``texts`` lack of ``targets`` and have beyond them, both in the scoring form."""
    lost = [len(find_lost(text, target)) for text, target in zip(texts, targets, strict=True)]
    extra = sum(len(find_lost(target, text)) for text, target in zip(texts, targets, strict=True))
    return Loss(
        sum(lost) / max(1, _count(targets)),
        sum(map(bool, lost)) / max(1, len(lost)),
        extra / max(1, _count(texts)),
    )


def _count(texts: Sequence[str]) -> int:
    return sum(is_content(word) for text in texts for word in text.split())
