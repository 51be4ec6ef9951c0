"""Whether a question is in another language than English: by its letters and its function words, without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from riseq.text.lexicon import CLOSED_CLASS, FOREIGN_SCRAPS, FOREIGN_WORDS, HOMOGRAPHS, QUESTION_STARTS

_ENGLISH = (CLOSED_CLASS | QUESTION_STARTS) - HOMOGRAPHS
_LETTERS = re.compile(r"[^\W\d_]+")
_LAST_LATIN = "\u024f"
"""The last letter of Latin Extended-B; the Vietnamese ones are beyond, in a block of their own."""


def is_foreign(question: str, context: Sequence[str], is_known: Callable[[str], bool]) -> bool:
    """Return whether ``question`` is surely not English; ``is_known`` tells the words of the model's vocabulary.

    One English function word is enough to be English, unless it stands among more foreign ones. One foreign word may be
    of a name, so it counts beside a word that is accented or not known; without one the dialogue decides.
    """
    first, *others = _find_plain_words(question) or [""]
    english, foreign = _count([first, *others])
    if english:
        return first not in _ENGLISH and foreign > english + 1
    accented = {word for word in (first, *others) if not word.isascii()}
    if foreign > 1 or len(accented) > 1 or _is_other_script(question):
        return True
    if foreign and (accented or not all(map(is_known, others))):
        return True
    in_dialogue = [_count(_find_plain_words(text)) for text in context]
    return sum(found for _, found in in_dialogue) > sum(found for found, _ in in_dialogue)


def _find_plain_words(text: str) -> list[str]:
    """Return the words of ``text``, lower-cased, but for those with a capital inside it, which may be names."""
    words = _LETTERS.findall(text)
    return [word.lower() for index, word in enumerate(words) if not index or word[0].islower()]


def _count(words: Sequence[str]) -> tuple[int, int]:
    """Return how many different English and foreign function words there are among ``words``."""
    found = set(words)
    foreign, scraps = len(found & FOREIGN_WORDS), len(found & FOREIGN_SCRAPS)
    return len(found & _ENGLISH), foreign + (scraps > 0 if foreign else scraps > 1)


def _is_other_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    other = sum(letter > _LAST_LATIN and not "\u1e00" <= letter <= "\u1eff" for letter in letters)
    return 2 * other > len(letters)
