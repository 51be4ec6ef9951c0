"""Information: which content words of the target an output lacks, and which it has too many of.

A content word is a word with a letter or digit that is not of English's closed classes, which are listed here:
articles, pronouns, prepositions, conjunctions, auxiliaries, question words, and a few adverbs and particles. No
stemming: "film" and "films" are two words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_CLOSED = """
a an the
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we us our
ours ourselves they them their theirs themselves one ones this that these those there here
who whom whose which what when where why how whatever whichever whoever
about above across after against along among around as at before behind below beneath beside besides between beyond by
despite down during except for from in inside into like near of off on onto out outside over past per since through
throughout till to toward towards under until up upon via with within without
and but or nor so yet if because although though while whereas than whether then
am is are was were be been being do does did doing done have has had having can could may might must shall should will
would ought
not no any some every each either neither both all another other others else also too very just only even ever again
still already more most much many such same own
s t d ll m re ve n
"""
CLOSED_CLASS = frozenset(_CLOSED.split())


@dataclass(frozen=True, slots=True)
class Loss:
    """What a set of outputs has lost, in shares from 0 to 1."""

    words: float
    """Of all content words of the targets, those that the outputs lack."""
    questions: float
    """Of all outputs, those that lack at least one."""
    extra: float
    """Of all content words of the outputs, those that the targets don't have: what a person would have left out."""


def is_content(word: str) -> bool:
    """Return whether a lower-cased word carries content of its own."""
    return word not in CLOSED_CLASS and any(map(str.isalnum, word))


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
