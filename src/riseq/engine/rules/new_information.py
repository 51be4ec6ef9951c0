"""A guard against lost information: what only the question says stays, unless the network is sure that it may go.

A person leaves out what the dialogue has said. So a phrase is looked at again before it goes where none of its content
words stands anywhere in the dialogue: "the weather like in Nairobi [in July]". Where a dialogue has questions only,
its answers were heard but are not here, and a word's absence says nothing: there the guard stands back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import Op
from riseq.engine.rules.stranded_words import DETERMINERS, PREPOSITIONS
from riseq.text.lexicon import find_stem, is_content
from riseq.text.words import forms

_OPENERS = (PREPOSITIONS | DETERMINERS | {"to", "against", "between", "into", "through", "within", "without"}) | {
    *("and", "or", "but", "that", "which", "who")
}
"""Words that begin a phrase of their own: a run of deletions is looked at phrase by phrase."""
_QUESTION_WORDS = ("who", "whom", "whose", "what", "which", "when", "where", "why", "how", "any", "anything")
_AUXILIARIES = ("am", "is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will")
_ASKING = frozenset({*_QUESTION_WORDS, *_AUXILIARIES, "would", "should", "may", "might", "and", "or", "so", "tell"})
"""How questions begin whose "?" was left out or cut off."""


class Said:
    """What a dialogue has said: the stems of its words, made when first asked for."""

    def __init__(self, context: Sequence[str]) -> None:
        """Take the utterances, whether the network sees them or not."""
        self._context = context
        self.has_answers = not all(map(_is_question, context))
        """Whether any utterance is no question."""

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(find_stem(word) for text in self._context for word in forms(text))

    def __contains__(self, form: str) -> bool:
        return find_stem(form) in self._stems


def hold_back(
    scores_WE: NDArray[np.floating], ops: list[int], words: Sequence[str], said: Said, sureness: float
) -> None:
    """Keep, in place, each phrase that would go though only the question says it.

    It goes all the same where the edits of its content words are on average ``sureness`` better than keeping them, by
    their log-odds.
    """
    for start, end in _find_phrases(list(ops), words):
        places = [place for place in range(start, end) if is_content(words[place])]
        if not places:
            continue
        better = scores_WE[places, [ops[place] for place in places]] - scores_WE[places, Op.KEEP]
        if better.mean() < sureness and not any(words[place] in said for place in places):
            ops[start:end] = [Op.KEEP] * (end - start)


def _find_phrases(ops: Sequence[int], words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where phrases go: a run of SUBSTITUTEs as a whole, one of DELETEs from opener to opener."""
    start = 1
    for place in range(1, len(ops) + 1):
        if place < len(ops) and ops[place] == ops[start] and not _opens(words, ops, place, start):
            continue
        if ops[start] in (Op.DELETE, Op.SUBSTITUTE):
            yield start, place
        start = place


def _opens(words: Sequence[str], ops: Sequence[int], place: int, start: int) -> bool:
    deletes = ops[place] == Op.DELETE and place > start
    return deletes and words[place] in _OPENERS and words[place - 1] not in _OPENERS


def _is_question(utterance: str) -> bool:
    if "?" in utterance:
        return True
    words = utterance.split(maxsplit=1)
    return not words or words[0].strip("\"'").lower() in _ASKING
