"""Two candidates: where the dialogue sets two things side by side, the name of the one that is meant stays.

Only what is sure by its form counts: "hamsters or gerbils", "Emma and Wuthering Heights", the items of a list.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from riseq.core.edits import GONE, Op, Ops, set_run
from riseq.engine.dialogue import DialogueWords
from riseq.engine.rules.new_information import find_phrases
from riseq.text import lexicon
from riseq.text.lexicon import find_stem, is_content, is_word
from riseq.text.words import Word, remember, split

_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(.+)", re.MULTILINE)
_SKIPPED = lexicon.DETERMINERS | lexicon.PREPOSITIONS
_IN_SIGHT = 2
"""In how many of the last utterances another candidate is still in sight."""


class _Candidate(NamedTuple):
    """A thing as it was mentioned beside another: the stems there, whether it is a name, and else whether many."""

    stems: tuple[str, ...]
    named: bool
    many: bool
    part: str = "first"
    """Which end of the stems stands for it: the one at the joint, or only all of them."""

    def is_meant(self, meant: tuple[str, ...]) -> bool:
        """Return whether the words ``meant`` are this one's, or a part of its name."""
        first, last = meant == self.stems[: len(meant)], meant == self.stems[-len(meant) :]
        partly = {"first": first or (self.named and last), "last": last or (self.named and first)}
        return meant[-len(self.stems) :] == self.stems or partly.get(self.part, False)


_Pair = tuple[_Candidate, _Candidate]


def keep_candidates(ops: Ops, words: Sequence[str], phrases: Sequence[Sequence[str]], dialogue: DialogueWords) -> None:
    """Keep, in place, each phrase that would go though it names one of two alike that the dialogue has in sight.

    A part of a name may go before the rest, unless another has the same ("[Wilbur] Wright"), and so may everything
    where the question names both.
    """
    pairs = list(_find_pairs(dialogue.context))
    if not pairs and not dialogue.has_long_names:
        return
    stems = list(map(find_stem, words))
    stay = {stem for stem, op in zip(stems, ops, strict=True) if op not in GONE}
    for phrase in list(find_phrases(ops, words)):
        meant, new = tuple(find_stem(word) for word in words[phrase] if is_content(word)), phrases[phrase.start]
        beside = (*words[phrase.stop : phrase.stop + 1], words[phrase.start - 1])
        part = ops[phrase.start] == Op.DELETE and any(is_content(one) or one in lexicon.JOINTS for one in beside)
        clear = not stay.isdisjoint(meant) or not lexicon.JOINTS.isdisjoint(words[phrase])
        if meant and part and dialogue.has_namesake(meant, "".join(stems[phrase.stop : phrase.stop + 1])):
            set_run(ops, phrase, Op.KEEP)
        if not meant or part or clear or (new and lexicon.PRONOUNS.isdisjoint(new)):
            continue
        if any(_is_unclear(meant, pair, stems, new, dialogue) for pair in pairs):
            set_run(ops, phrase, Op.KEEP)


def _is_unclear(
    meant: tuple[str, ...], pair: _Pair, question: Sequence[str], new: Sequence[str], dialogue: DialogueWords
) -> bool:
    one, other = pair
    if one.is_meant(meant) == other.is_meant(meant) or one[1:3] != other[1:3]:
        return False
    own, other_stems = (one.stems, other.stems) if one.is_meant(meant) else (other.stems, one.stems)
    # "Is Lyon or Marseille bigger?" "Marseille is.": what the answer picked is what is talked about.
    picked = set(dialogue.stems[-1]).issuperset(meant) and set(dialogue.stems[-1]).isdisjoint(other_stems)
    # "My son and my daughter", "Cleopatra and Caesar ... she ... him": each has a pronoun of their own.
    both = all(any(form in dialogue for form in sex) for sex in (lexicon.HE, lexicon.SHE))
    sexed = not lexicon.GENERAL_PRONOUNS.keys().isdisjoint(new) and (both or not lexicon.SEXED_NOUNS.isdisjoint(own))
    return not (picked or sexed) and set(other_stems).isdisjoint(question)


def _find_pairs(context: Sequence[str]) -> Iterator[_Pair]:
    """Yield each two that stand side by side in sight."""
    for text in context[-_IN_SIGHT:]:
        yield from _find_joined(text)
    for text in context[-1:]:
        yield from _find_listed(text)


@remember
def _find_joined(text: str) -> tuple[_Pair, ...]:
    """Return each two that a joint stands between."""
    pairs = []
    words = split(text)
    if any(word.form in lexicon.JOINTS for word in words):
        between = next((index for index, word in enumerate(words) if word.form == "between"), len(words))
        for index in [index for index, word in enumerate(words) if word.form in lexicon.JOINTS]:
            joint = words[index].form
            before, after = _read(text, words[:index][::-1], _SKIPPED), _read(text, words[index + 1 :], _SKIPPED)
            # And joins all sorts of ordinary words; of commas only those of a list count: "Jobs, Wozniak and Wayne".
            if not before or not after or (joint in ("and", "&") and not before.named and index < between):
                continue
            end = words[index + 1 + len(after.stems) :][:1]
            if joint != "," or (end and end[0].form in ("and", "or")):
                pairs.append((before._replace(stems=before.stems[::-1], part="last"), after))
    return tuple(pairs)


@remember
def _find_listed(text: str) -> tuple[_Pair, ...]:
    """Return each two that follow each other in a list."""
    items = [_read(line, split(line), lexicon.DETERMINERS) for line in _BULLET.findall(text)]
    return tuple(pairwise(item._replace(part="all") for item in items if item))


def _read(text: str, words: Sequence[Word], skipped: Collection[str]) -> _Candidate | None:
    """Return what the first of ``words`` name, behind marks and ``skipped`` ones: a name, or ordinary words."""

    def is_named(word: Word) -> bool:
        return text[word.start].isupper() or text[word.start].isdigit()

    group = list(dropwhile(lambda word: word.form in skipped or not (is_word(word.form) or word.form == ","), words))
    taken = list(takewhile(lambda word: is_content(word.form) and is_named(word) == is_named(group[0]), group))
    if not taken:
        return None
    named = is_named(taken[0])
    return _Candidate(tuple(find_stem(word.form) for word in taken), named, not named and taken[0].form.endswith("s"))
