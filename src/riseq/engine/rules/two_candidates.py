"""Two candidates: where the dialogue sets two things side by side, the name of the one that is meant stays.

Only what is sure by its form counts: "hamsters or gerbils", "Emma and Wuthering Heights", the items of a list.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from riseq.core.edits import GONE, Op, Ops, set_run
from riseq.engine.dialogue import DialogueWords
from riseq.engine.rules.new_information import find_phrases
from riseq.text.lexicon import (
    CANDIDATE_JOINTS,
    DETERMINERS,
    GENERAL_PRONOUNS,
    HE,
    PREPOSITIONS,
    PRONOUNS,
    SEXED_NOUNS,
    SHE,
    find_stem,
    is_content,
    is_word,
)
from riseq.text.words import Word, split

_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(.+)", re.MULTILINE)
_SKIPPED = DETERMINERS | PREPOSITIONS
_IN_SIGHT = 2
"""In how many of the last utterances another candidate is still in sight."""


class _Candidate(NamedTuple):
    """A thing as it was mentioned beside another: the stems of the words there, and of which kind it is."""

    stems: tuple[str, ...]
    kind: tuple[bool, bool]
    """Whether it is a name, and whether an ordinary word is many."""
    leads: bool = False
    """Whether it comes before the joint, so that its end touches the other, not its beginning."""
    whole: bool = False
    """Whether no part of it stands for it."""

    def is_meant(self, meant: tuple[str, ...]) -> bool:
        """Return whether the words ``meant`` are this one's, or a part of its name."""
        if self.whole or meant[-len(self.stems) :] == self.stems:
            return meant[-len(self.stems) :] == self.stems
        ends = self.stems[: len(meant)], self.stems[-len(meant) :]
        return meant in (ends if self.kind[0] else ends[self.leads :][:1])


def keep_candidates(ops: Ops, words: Sequence[str], phrases: Sequence[Sequence[str]], dialogue: DialogueWords) -> None:
    """Keep, in place, each phrase that would go though it names one of two alike that the dialogue has in sight.

    A part of a name may go before the rest, and so may everything where the question names both.
    """
    pairs: list[tuple[_Candidate, _Candidate]] | None = None
    stems = list(map(find_stem, words))
    stay = {stem for stem, op in zip(stems, ops, strict=True) if op not in GONE}
    for phrase in list(find_phrases(ops, words)):
        meant = tuple(stem for stem, word in zip(stems[phrase], words[phrase], strict=True) if is_content(word))
        beside = [*words[phrase.stop : phrase.stop + 1], *words[phrase.start - 1 : phrase.start]]
        part = ops[phrase.start] == Op.DELETE and any(is_content(word) or word in CANDIDATE_JOINTS for word in beside)
        new = phrases[phrase.start]
        both = not CANDIDATE_JOINTS.isdisjoint(words[phrase])
        if not meant or not stay.isdisjoint(meant) or part or both or (new and PRONOUNS.isdisjoint(new)):
            continue
        pairs = list(_find_pairs(dialogue.context)) if pairs is None else pairs
        if any(_is_unclear(meant, *pair, stems, new, dialogue) for pair in pairs):
            set_run(ops, phrase, Op.KEEP)


def _is_unclear(
    meant: tuple[str, ...],
    one: _Candidate,
    other: _Candidate,
    question: Sequence[str],
    new: Sequence[str],
    dialogue: DialogueWords,
) -> bool:
    if one.is_meant(meant) == other.is_meant(meant) or one.kind != other.kind:
        return False
    own, rival = (one.stems, other.stems) if one.is_meant(meant) else (other.stems, one.stems)
    last = set(dialogue.stems[-1])
    # "Is Lyon or Marseille bigger?" "Marseille is.": what the answer picked is what is talked about.
    picked = last.issuperset(meant) and last.isdisjoint(rival)
    # "My son and my daughter", "Cleopatra and Caesar ... she ... him": each has a pronoun of their own.
    sexed = not GENERAL_PRONOUNS.keys().isdisjoint(new)
    told = sexed and (not SEXED_NOUNS.isdisjoint(own) or all(map(dialogue.says_any, (HE, SHE))))
    return not (picked or told) and set(rival).isdisjoint(question)


def _find_pairs(context: Sequence[str]) -> Iterator[tuple[_Candidate, _Candidate]]:
    """Yield each two that stand side by side in sight."""
    for text in context[-_IN_SIGHT:]:
        words = split(text)
        between = False
        for index, word in enumerate(words):
            between |= word.form == "between"
            if word.form not in CANDIDATE_JOINTS:
                continue
            before, after = _read(text, words[:index][::-1], _SKIPPED), _read(text, words[index + 1 :], _SKIPPED)
            if not before or not after:
                continue
            # Of commas only those of a list count, "Jobs, Wozniak and Wayne"; and joins all sorts of ordinary words.
            end = words[index + 1 + len(after.stems) :][:1]
            listed = word.form != "," or (end and end[0].form in ("and", "or"))
            if listed and (before.kind[0] or between or word.form not in ("and", "&")):
                yield before._replace(stems=before.stems[::-1], leads=True), after
    items = [_read(line, split(line), DETERMINERS) for line in _BULLET.findall(context[-1] if context else "")]
    yield from pairwise(item._replace(whole=True) for item in items if item)


def _read(text: str, words: Sequence[Word], skipped: Collection[str]) -> _Candidate | None:
    """Return what the first of ``words`` name, behind marks and ``skipped`` ones: a name, or ordinary words."""

    def is_named(word: Word) -> bool:
        return text[word.start].isupper() or text[word.start].isdigit()

    group = list(dropwhile(lambda word: word.form in skipped or not (is_word(word.form) or word.form == ","), words))
    taken = list(takewhile(lambda word: is_content(word.form) and is_named(word) == is_named(group[0]), group))
    if not taken:
        return None
    many = not is_named(taken[0]) and taken[0].form.endswith("s")
    return _Candidate(tuple(find_stem(word.form) for word in taken), (is_named(taken[0]), many))
