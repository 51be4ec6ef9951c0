"""A question that gets another one's beginning, as "what about Lyon" does: the rest is needed, and from there too."""

from collections.abc import Mapping, Sequence

from riseq.core.edits import GONE, KEEP, Edit, Op
from riseq.text.lexicon import AUXILIARIES, ENDS, PREPOSITIONS, QUESTION_WORDS, is_content
from riseq.text.realise import Copied
from riseq.text.words import read_forms

_ASKS = AUXILIARIES | QUESTION_WORDS
_ENOUGH = 3
"""Content words of its own with which a question may say all that the verb needs: "And can my son swim there?"."""


def is_reopened(edits: Sequence[Edit]) -> bool:
    """Return whether the first words of a question are replaced by such as questions begin with."""
    return len(edits) > 1 and edits[1].op is Op.SUBSTITUTE and not _ASKS.isdisjoint(edits[1].phrase)


def complete_frames(words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied]) -> list[Edit]:
    """Return the edits of ``words`` as another question's beginning needs them.

    What is put in is of the same utterance as the beginning: not "the CEO of Microsoft [Sam Altman]". Where that is
    a verb alone, something has to be said of what is asked about: not "[Is] the battery?"; else nothing is edited.
    """
    chosen = list(edits)
    if not is_reopened(edits):
        return chosen
    if (frame := copied.get(1)) is not None:
        for at, source in copied.items():
            if edits[at].op is Op.INSERT and source.utterance != frame.utterance:
                chosen[at] = KEEP
    said = [phrase for edit in chosen[2:] if edit.op is Op.INSERT and (phrase := edit.phrase)]
    bare = AUXILIARIES.issuperset(edits[1].phrase) and all(phrase[0] in PREPOSITIONS for phrase in said)
    asked = [word for word, edit in zip(words, chosen, strict=True) if edit.op not in GONE and is_content(word)]
    return [KEEP] * len(chosen) if bare and len(asked) < _ENOUGH else chosen


def asks_again(words: Sequence[str], asked: Sequence[str], context: Sequence[str]) -> bool:
    """Return whether ``words`` are a question of the dialogue, and not what was ``asked``: nobody asks the same again.

    >>> asks_again(["[SEP]", "is", "it", "far", "?"], ["[SEP]", "and", "it", "?"], ["Is it far?", "No."])
    True
    """
    if words == asked:
        return False
    said = [word for word in words[1:] if word not in ENDS]
    return any(said == [word for word in read_forms(text) if word not in ENDS] for text in context)
