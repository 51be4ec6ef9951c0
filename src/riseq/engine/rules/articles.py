"""The article that copied words need: "my tutor", copied as "tutor" in the place of "they", comes back as "the tutor".

A network that copies learnt spans of words, and a noun of the dialogue is often copied without what stood before it, or
with it where the phrase around it has an article of its own ("the my tutor").
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from riseq.core.edits import Edit, Op
from riseq.text.lexicon import (
    ARTICLES,
    AUXILIARIES,
    DEMONSTRATIVES,
    DETERMINERS,
    NUMBERS,
    PERSONAL_PRONOUNS,
    PREPOSITIONS,
    is_content,
)
from riseq.text.realise import Copied
from riseq.text.words import read_words

_ARTICLE = "the"
_LEADERS = DETERMINERS | {"any", "each", "every", "our", "some"}
"""What stands before a noun that is said for the first time, or is somebody's."""
_ONES = frozenset({"one", "ones"})
_QUANTITIES = NUMBERS | {"all", "any", "both", "each", "few", "many", "most", "none", "one", "several", "some", "which"}
"""Before "of" these want one: "how many of the steps"."""
_ALONE = PERSONAL_PRONOUNS.keys() | {"him", "them"}
"""Pronouns in whose place a noun stands with its article."""


def add_articles(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits of ``words`` and what they ``copied``, with the articles that copied nouns lack, and none twice.

    A noun gets one where it takes the place of a pronoun, or of "this" or "that era", or follows a preposition or an
    auxiliary, if it has a small letter in the dialogue and an article, or "my" and the like, before it there. What
    takes the place of "one" after another word of its own ("a decent one") has none.
    """
    chosen, known = list(edits), dict(copied)
    for at, source in copied.items():
        led = not source.before and chosen[at].phrase[0] in ARTICLES and len(chosen[at].phrase) > 1
        if led and _is_one(words, chosen, at):
            chosen[at] = replace(chosen[at], phrase=chosen[at].phrase[1:])
            known[at] = source = replace(source, first=source.first + 1)
        doubled = [k for k in _find_doubled(chosen[at].phrase) if k < source.before]
        if doubled:
            left = tuple(word for k, word in enumerate(chosen[at].phrase) if k not in doubled)
            chosen[at] = replace(chosen[at], phrase=left)
            known[at] = source = replace(source, before=source.before - len(doubled))
        if _wants_article(words, chosen, at, source) and _has_article(source, context, _is_part(words, at)):
            before, after = chosen[at].phrase[: source.before], chosen[at].phrase[source.before :]
            chosen[at] = replace(chosen[at], phrase=(*before, _ARTICLE, *after))
            known[at] = replace(source, before=source.before + 1)
    return chosen, known


def _is_one(words: Sequence[str], edits: Sequence[Edit], at: int) -> bool:
    """Return whether an edit replaces the "one" of "a decent one", what stands before which stays."""
    leader = words[at - 2] if is_content(words[at - 1]) else words[at - 1]
    return (
        words[at] in _ONES and edits[at].op is Op.SUBSTITUTE and edits[at - 1].op is Op.KEEP and leader in DETERMINERS
    )


def _find_doubled(phrase: Sequence[str]) -> list[int]:
    """Return the places of articles that stand before another determiner, or before "of"."""
    return [k for k, (one, after) in enumerate(pairwise(phrase)) if one in ARTICLES and after in DETERMINERS | {"of"}]


def _wants_article(words: Sequence[str], edits: Sequence[Edit], at: int, source: Copied) -> bool:
    """Return whether copied words stand where a noun has its article."""
    op, phrase = edits[at].op, edits[at].phrase
    if source.before:
        return phrase[source.before - 1] in PREPOSITIONS | AUXILIARIES
    alone = at + 1 == len(edits) or edits[at + 1].op is not Op.SUBSTITUTE
    whole = len(phrase) == source.stop - source.first
    points = words[at] in DEMONSTRATIVES and words[at - 1] in PREPOSITIONS | AUXILIARIES
    return op is Op.SUBSTITUTE and whole and (points or (alone and words[at] in _ALONE))


def _is_part(words: Sequence[str], at: int) -> bool:
    """Return whether the word ``at`` is of "how many of them"."""
    return at > 2 and words[at - 1] == "of" and words[at - 2] in _QUANTITIES


def _has_article(source: Copied, context: Sequence[str], is_part: bool) -> bool:
    """Return whether the mention begins with a noun, or what belongs to it, that has an article before it there.

    Another word may stand between the two ("our new teacher"), and what ``is_part`` of something needs none there.
    """
    if source.utterance is None:
        return False
    said = context[source.utterance]
    spoken = read_words(said)
    first, leaders = spoken[source.first], [word.form for word in spoken[max(source.first - 2, 0) : source.first]]
    led = is_part or (bool(leaders) and (leaders[-1] in _LEADERS or leaders[-1] == "s"))  # my child's teacher
    led |= len(leaders) == 2 and leaders[0] in _LEADERS and is_content(leaders[1])
    return led and said[first.start].islower() and is_content(first.form)
