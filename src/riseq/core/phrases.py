"""The phrase vocabulary: what the phrasing policy can say, and how many pairs that reaches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from riseq.core.edits import MARKER
from riseq.core.levenshtein import gold_edits
from riseq.types import InputError

Phrase = tuple[str, ...]
Pair = tuple[Sequence[str], Sequence[str]]
"""A source and its target, each with the marker at position 0."""


@dataclass(frozen=True)
class PhraseVocabulary:
    """Phrases with the most frequent first; a phrase's index is its id."""

    phrases: tuple[Phrase, ...]
    ids: Mapping[Phrase, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ids = {phrase: index for index, phrase in enumerate(self.phrases)}
        if len(ids) != len(self.phrases):
            twice = next(phrase for phrase, count in Counter(self.phrases).items() if count > 1)
            raise ValueError(f"every phrase has one index; {' '.join(twice)!r} has several")
        for phrase in self.phrases:
            if not phrase or any(word.split() != [word] for word in phrase):
                raise ValueError(f"a phrase is one or more words without spaces; got {phrase}")
        object.__setattr__(self, "ids", ids)

    @classmethod
    def from_pairs(cls, pairs: Iterable[Pair], size: int | None = None, min_count: int = 1) -> PhraseVocabulary:
        """Return the ``size`` most frequent phrases of the gold edits of ``pairs`` that occur ``min_count`` times."""
        counts = Counter(phrase for source, target in pairs for phrase in phrases_of(source, target))
        often = (phrase for phrase, count in counts.items() if count >= min_count)
        ranked = sorted(often, key=lambda phrase: (-counts[phrase], phrase))  # equal counts go by the words
        return cls(tuple(ranked[:size]))

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> PhraseVocabulary:
        """Return the vocabulary that ``to_lines`` wrote."""
        phrases: dict[Phrase, int] = {}
        for number, line in enumerate(lines, start=1):
            phrase = tuple(line.split())
            if not phrase:
                raise InputError(f"phrase vocabulary, line {number}: empty, expected the words of a phrase")
            if phrase in phrases:
                again = f"{' '.join(phrase)!r} again, first on line {phrases[phrase]}; expected each phrase once"
                raise InputError(f"phrase vocabulary, line {number}: {again}")
            phrases[phrase] = number
        return cls(tuple(phrases))

    def to_lines(self) -> list[str]:
        """Return one line a phrase, in order, its words parted by spaces."""
        return [" ".join(phrase) for phrase in self.phrases]

    def __len__(self) -> int:
        return len(self.phrases)

    def __iter__(self) -> Iterator[Phrase]:
        return iter(self.phrases)

    def __contains__(self, phrase: object) -> bool:
        return phrase in self.ids

    def __getitem__(self, index: int) -> Phrase:
        return self.phrases[index]

    def coverage(self, pairs: Iterable[Pair], sizes: Sequence[int]) -> dict[int, float]:
        """Return, for each size k, the share of pairs whose gold phrases are all among the k most frequent."""
        # A pair needs the vocabulary up to its rarest phrase; one that is not in it needs more than there is.
        found = ([self.ids.get(phrase, math.inf) for phrase in phrases_of(*pair)] for pair in pairs)
        needed = [max(indices, default=-1) + 1 for indices in found]
        if not needed:
            raise ValueError("coverage needs at least one pair")
        return {k: sum(need <= k for need in needed) / len(needed) for k in sizes}


def phrases_of(source: Sequence[str], target: Sequence[str]) -> list[Phrase]:
    """Return the phrases of the gold edits from ``source`` to ``target``, left to right."""
    for words in (source, target):
        if not words or words[0] != MARKER:
            raise ValueError(f"a sequence starts with {MARKER!r}; got {list(words[:3])}")
    return [edit.phrase for edit in gold_edits(source, target) if edit.phrase]
