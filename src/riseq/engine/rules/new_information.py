"""A guard against lost information: what only the question says stays, unless the network is sure that it may go.

A person leaves out what the dialogue has said. So a phrase is looked at again before it goes where none of its content
words stands anywhere in the dialogue: "the weather like in Nairobi [in July]". Where a dialogue has questions only,
its answers were heard but are not here, and a word's absence says nothing: there the guard stands back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from riseq.core.edits import GONE, Op, Ops, find_runs, set_run, split_run
from riseq.engine.backends import ScoreArray
from riseq.text.lexicon import PHRASE_OPENERS, QUESTION_STARTS, find_stem, is_content
from riseq.text.words import forms


class DialogueWords:
    """What a dialogue has said: the stems of its words, made when first asked for."""

    def __init__(self, context: Sequence[str]) -> None:
        """Read the utterances, whether the network sees them or not."""
        self._context = context
        self.has_answers = not all(map(_is_question, context))
        """Whether any utterance is no question."""

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(find_stem(word) for text in self._context for word in forms(text))

    def __contains__(self, form: str) -> bool:
        return find_stem(form) in self._stems


def keep_new_information(
    scores_WE: ScoreArray, ops: Ops, words: Sequence[str], dialogue: DialogueWords, sureness: float
) -> None:
    """Keep, in place, each phrase that would go though only the question says it.

    It goes all the same where the edits of its content words are on average ``sureness`` better than keeping them, by
    their log-odds.
    """
    for phrase in _find_phrases(ops, words):
        content = [index for index in range(phrase.start, phrase.stop) if is_content(words[index])]
        if not content:
            continue
        better = scores_WE[content, [ops[index] for index in content]] - scores_WE[content, Op.KEEP]
        if better.mean() < sureness and not any(words[index] in dialogue for index in content):
            set_run(ops, phrase, Op.KEEP)


def _find_phrases(ops: Ops, words: Sequence[str]) -> Iterator[slice]:
    """Yield where phrases go: a run of SUBSTITUTEs as a whole, one of DELETEs from opener to opener."""

    def opens(index: int) -> bool:
        return words[index] in PHRASE_OPENERS and words[index - 1] not in PHRASE_OPENERS

    for run in find_runs(ops, GONE, alike=True):
        if ops[run.start] == Op.DELETE:
            yield from split_run(run, opens)
        else:
            yield run


def _is_question(utterance: str) -> bool:
    if "?" in utterance:
        return True
    words = utterance.split(maxsplit=1)
    return not words or words[0].strip("\"'").lower() in QUESTION_STARTS
