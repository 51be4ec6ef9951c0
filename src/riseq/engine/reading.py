"""What of a long dialogue the network reads: the last turn, and before it the sentences that go with the question."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log

from riseq.engine.dialogue import DialogueWords
from riseq.model.inputs import CutUtterances, CutWord
from riseq.text.lexicon import ABBREVIATIONS, ENDS, find_stem, is_content
from riseq.text.pieces import Pieces
from riseq.text.words import split

BUDGET = int(os.environ.get("BUDGET", "128"))
STRATEGY = os.environ.get("STRATEGY", "share")
LAST_TURN = 2
CLOSING = frozenset("\"'”’)]*")


@dataclass(frozen=True, slots=True)
class Sentence:
    utterance: int
    start: int
    stop: int
    size: int
    stems: frozenset[str]


class Reader:
    """A dialogue as its questions need it: its words, its pieces, its sentences, each made once."""

    def __init__(self, words: DialogueWords, pieces: Pieces) -> None:
        self.words, self.utterances = words, CutUtterances(pieces, words.context)

    @cached_property
    def sentences(self) -> list[Sentence]:
        found = []
        for index, text in enumerate(self.words.context[:-LAST_TURN]):
            cut, stems = self.utterances[index], self.words.stems[index]
            forms_ = self.words.forms[index]
            for start, stop in split_sentences(text):
                content = frozenset(s for s, f in zip(stems[start:stop], forms_[start:stop]) if is_content(f))
                found.append(Sentence(index, start, stop, sum(map(len, cut[start:stop])), content))
        return found

    def size(self, first: int) -> int:
        return sum(1 + sum(map(len, self.utterances[i])) for i in range(first, len(self.utterances)))

    def choose(self, question: Sequence[str], budget: int = BUDGET) -> CutUtterances | list[list[CutWord]]:
        if self.size(0) <= budget:
            return self.utterances
        last = max(0, len(self.utterances) - LAST_TURN)
        room = budget - self.size(last)
        S = self.sentences
        df: dict[str, int] = {}
        for s in S:
            for st in s.stems:
                df[st] = df.get(st, 0) + 1
        wanted = {find_stem(f) for f in question if is_content(f)}
        def weight(st: str) -> float:
            return log(1 + len(S) / df[st])
        chosen: set[int] = set()
        strategy = STRATEGY
        scored = []
        for i, s in enumerate(S):
            shared = s.stems & wanted
            scored.append((sum(map(weight, shared)), i))
        if strategy.startswith("share"):
            order = [i for sc, i in sorted(scored, reverse=True) if sc > 0]
        elif strategy.startswith("latest"):
            order = [i for sc, i in reversed(scored) if sc > 0]
        elif strategy.startswith("cover"):
            left = set(wanted); order = []
            rest = [i for sc, i in scored if sc > 0]
            while rest and left:
                best = max(rest, key=lambda i: (sum(map(weight, S[i].stems & left)), i))
                if not S[best].stems & left: break
                left -= S[best].stems; rest.remove(best); order.append(best)
            if "only" not in strategy:
                order += sorted(rest, reverse=True)
        else:
            order = []
        if "fill" in strategy:
            order += [i for i in reversed(range(len(S))) if i not in set(order)]
        for i in order:
            if S[i].size + 1 <= room:
                chosen.add(i); room -= S[i].size + 1
            elif "stop" in strategy: break
        rows: dict[int, list[CutWord]] = {}
        for i in sorted(chosen):
            s = S[i]
            rows.setdefault(s.utterance, []).extend(self.utterances[s.utterance][s.start:s.stop])
        return [*rows.values(), *(self.utterances[i] for i in range(last, len(self.utterances)))]


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of ``text`` begins and stops, in words."""
    words = split(text)
    start = 0
    for index, (word, after) in enumerate(pairwise(words), 1):
        gap = text[word.end : after.start]
        if not gap or ("\n" not in gap and not _ends(words, index)):
            continue
        yield start, index
        start = index
    if words:
        yield start, len(words)


def _ends(words, index) -> bool:
    last = index - 1
    while last > 0 and words[last].form in CLOSING:
        last -= 1
    if words[last].form not in ENDS: return False
    return words[last].form != "." or last == 0 or not (words[last-1].form in ABBREVIATIONS or len(words[last-1].form) == 1 and words[last-1].form.isalpha())
