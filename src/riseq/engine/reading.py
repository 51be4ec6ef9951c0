"""What of a long dialogue the network reads: the last turn, and of what was before it the sentences a question needs.

The engine's rules see the whole dialogue all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import log

from riseq.engine.dialogue import DialogueWords
from riseq.model.inputs import ContextIds, ContextWindow, CutUtterances, ShownRow, encode_cut
from riseq.text.lexicon import ABBREVIATIONS, ENDS, GENERIC_WORDS, find_stem, is_content
from riseq.text.pieces import Pieces
from riseq.text.words import Word, split

LONG = 224
"""A dialogue of at most so many pieces, a mark after each utterance counted, is read whole."""
BUDGET = 128
"""How many pieces of a longer one are read, unless its last turn alone has more."""
LAST_TURN = 2
"""How many utterances are a turn: a question and its answer."""
_CLOSING = frozenset("\"'”’)]*")
"""What may stand between a sentence's last mark and the space after it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a dialogue: its utterance's words ``start`` to ``stop``."""

    utterance: int
    start: int
    stop: int
    size: int
    """How many pieces it has."""
    stems: frozenset[str]
    """Of the words that say what it is about."""


class Reader:
    """A dialogue as a network reads it, cut into pieces and sentences once for all questions after it."""

    def __init__(self, dialogue: DialogueWords, pieces: Pieces) -> None:
        """Read what ``dialogue`` said; nothing is cut before it is asked for."""
        self.dialogue, self._pieces = dialogue, pieces
        self.utterances = CutUtterances(pieces, dialogue.context, dialogue.find_forms)

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences before the last turn, oldest first."""
        found = []
        for index, text in enumerate(self.dialogue.context[:-LAST_TURN]):
            cut, words = self.utterances[index], self.dialogue.find_forms(index)
            for start, stop in split_sentences(text):
                size = sum(map(len, cut[start:stop]))
                found.append(Sentence(index, start, stop, size, find_subject(words[start:stop])))
        return found

    @cached_property
    def is_long(self) -> bool:
        """Whether the dialogue is longer than what is always read whole."""
        return self._measure(0, LONG) > LONG

    def choose(self, question: Sequence[str]) -> list[Sentence]:
        """Return the sentences before the last turn that share most with the words of ``question``, in their order.

        A word counts the more the fewer sentences have it; of equals the latest are read. Those that share nothing are
        not read, nor those for which there is no room beside the last turn.
        """
        room = BUDGET - self._measure(len(self.utterances) - LAST_TURN, BUDGET)
        wanted = find_subject(question)
        shared = [one.stems & wanted for one in self.sentences]
        counts = Counter(stem for stems in shared for stem in stems)
        weights = [sum(log(1 + len(shared) / counts[stem]) for stem in sorted(stems)) for stems in shared]
        chosen = []
        for index in sorted(range(len(shared)), key=lambda index: (weights[index], index), reverse=True):
            cost = self.sentences[index].size + 1  # its own mark, at most
            if shared[index] and cost <= room:
                chosen.append(index)
                room -= cost
        return [self.sentences[index] for index in sorted(chosen)]

    def encode(self, question: Sequence[str], window: ContextWindow, relevant: bool = False) -> ContextIds:
        """Return what ``window`` shows of the dialogue, or if it is long of what is ``relevant`` to the question."""
        if not relevant or not self.is_long:
            return encode_cut(self._pieces, self.utterances, window)
        chosen = self.choose(question)
        places: dict[int, list[int]] = {}
        for one in chosen:
            places.setdefault(one.utterance, []).extend(range(one.start, one.stop))
        for index in range(max(0, len(self.utterances) - LAST_TURN), len(self.utterances)):
            places[index] = list(range(len(self.utterances[index])))
        indices = list(places)
        cut = [[self.utterances[index][place] for place in places[index]] for index in indices]
        encoded = encode_cut(self._pieces, cut, window)
        rows = [ShownRow(indices[row], tuple(places[indices[row]][at] for at in words)) for row, words in encoded.rows]
        return replace(encoded, rows=rows, truncated=encoded.truncated or len(chosen) < len(self.sentences))

    def _measure(self, first: int, enough: int) -> int:
        """Return how many pieces the utterances from ``first`` on have; past ``enough`` it counts no further."""
        size = 0
        for index in reversed(range(max(0, first), len(self.utterances))):
            size += len(self.utterances.join(index)) + 1
            if size > enough:
                break
        return size


def find_subject(words: Sequence[str]) -> frozenset[str]:
    """Return the stems of the ``words`` that say what a sentence is about."""
    return frozenset(find_stem(word) for word in words if is_content(word) and word not in GENERIC_WORDS)


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of ``text`` begins and stops, in words; a line's end ends a sentence too."""
    words = split(text)
    start = 0
    for index, (word, after) in enumerate(pairwise(words), 1):
        between = text[word.end : after.start]
        if "\n" in between or (between and _ends_sentence(words, start, index - 1)):
            yield start, index
            start = index
    if words:
        yield start, len(words)


def _ends_sentence(words: Sequence[Word], first: int, last: int) -> bool:
    """Return whether the sentence from word ``first`` on may end with word ``last``: not after Dr. or J."""
    while last > first and words[last].form in _CLOSING:
        last -= 1
    if words[last].form != "." or last == first:
        return words[last].form in ENDS
    before = words[last - 1].form
    return before not in ABBREVIATIONS and not (len(before) == 1 and before.isalpha())
