"""Which examples a case study shows, by rule and not by taste; and a text before and after as a diff of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import align, distance
from riseq.text.words import Word, split

CaseRule = Literal["best gain", "worst loss", "largest disagreement"]
WANTED: dict[CaseRule, int] = {"best gain": 4, "worst loss": 3, "largest disagreement": 3}


@dataclass(frozen=True, slots=True)
class Chosen:
    """An example by its place in the set, the rule that chose it and the number it was chosen by."""

    place: int
    rule: CaseRule
    by: float


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a diff: kept, gone or new."""

    kind: Literal["same", "old", "new"]
    text: str


def choose_cases(
    questions: Sequence[str],
    targets: Sequence[str],
    texts: Sequence[str],
    others: Mapping[str, Sequence[str]],
    wanted: Mapping[CaseRule, int] = WANTED,
) -> list[Chosen]:
    """Return the cases of a system's ``texts``; all in the scoring form, ties go to the earlier example.

    A gain is the words of Levenshtein distance to the target that the system took away, a loss those it added. The
    disagreement of all systems is the mean distance of each two of their outputs. No example is chosen twice.
    """
    before = np.array([distance(q.split(), t.split()) for q, t in zip(questions, targets, strict=True)])
    after = np.array([distance(y.split(), t.split()) for y, t in zip(texts, targets, strict=True)])
    gains = (before - after).astype(np.float64)
    rankings = {"best gain": gains, "worst loss": -gains, "largest disagreement": _disagree([texts, *others.values()])}
    chosen: list[Chosen] = []
    for rule, count in wanted.items():
        values = rankings[rule]
        taken = {case.place for case in chosen}
        order = [int(place) for place in np.argsort(-values, kind="stable") if place not in taken and values[place] > 0]
        chosen += [Chosen(place, rule, float(values[place])) for place in order[:count]]
    return chosen


def diff_words(before: str, after: str) -> list[Piece]:
    """Return ``before`` and ``after`` as one diff of words; words that differ only in case are the same.

    Side by side, what went stands before what came. A piece has the spacing of the text it is from.
    """
    old, new = split(before), split(after)
    pieces: list[Piece] = []
    gone: list[Word] = []
    came: list[Word] = []
    same: list[Word] = []

    def close() -> None:
        for kind, text, words in (("same", after, same), ("old", before, gone), ("new", after, came)):
            if words:
                pieces.append(Piece(kind, text[words[0].start : words[-1].end]))  # type: ignore[arg-type]
            words.clear()

    for move in align([MARKER, *(word.form for word in old)], [MARKER, *(word.form for word in new)]):
        if move.op is Op.KEEP:
            if gone or came:
                close()
            same.append(new[move.j - 1])
            continue
        if same:
            close()
        if move.op is not Op.INSERT:
            gone.append(old[move.i - 1])
        if move.op is not Op.DELETE:
            came.append(new[move.j - 1])
    close()
    return pieces


def needs_space(text: str) -> bool:
    """Return whether a piece of a diff stands apart from the one before: all do but closing marks."""
    return not text.startswith(tuple("?.,!;:)'’%"))


def _disagree(systems: Sequence[Sequence[str]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    rows = list(zip(*systems, strict=True))
    means = np.zeros(len(rows))
    for place, texts in enumerate(rows):
        pairs = list(combinations(texts, 2))
        if pairs and len(set(texts)) > 1:
            means[place] = sum(distance(a.split(), b.split()) for a, b in pairs) / len(pairs)
    return means
