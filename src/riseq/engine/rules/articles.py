"""The article that copied words need: "my tutor", copied as "tutor" in the place of "they", comes back as "the tutor".

A network that copies learnt spans of words, and a noun of the dialogue is often copied without what stood before it, or
with it where the phrase around it has an article of its own ("the my tutor").
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from riseq.core.edits import Edit, Op
from riseq.text.lexicon import ARTICLES, AUXILIARIES, DETERMINERS, PERSONAL_PRONOUNS, PREPOSITIONS, is_content
from riseq.text.realise import Copied
from riseq.text.words import read_words

_ARTICLE = "the"
_LEADERS = DETERMINERS | {"any", "each", "every", "our", "some"}
"""What stands before a noun that is said for the first time, or is somebody's."""
_ONES = frozenset({"one", "ones"})
_ALONE = PERSONAL_PRONOUNS.keys() | {"him", "them"}
"""Pronouns in whose place a noun stands with its article."""


def add_articles(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits of ``words`` and what they ``copied``, with the articles that copied nouns lack, and none twice.

    A noun gets one where it takes the place of a pronoun or follows a preposition or an auxiliary, if it has a small
    letter in the dialogue and an article, or "my" and the like, before it there. What takes the place of "one" after
    another word of its own ("a decent one") has none.
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
        if _wants_article(words, chosen, at, source) and _has_article(source, context):
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
    return op is Op.SUBSTITUTE and words[at] in _ALONE and alone and whole


def _has_article(source: Copied, context: Sequence[str]) -> bool:
    """Return whether the mention begins with a noun, or what belongs to it, that has an article before it there."""
    if source.utterance is None or not source.first:
        return False
    said = context[source.utterance]
    leader, first = read_words(said)[source.first - 1 : source.first + 1]
    led = leader.form in _LEADERS or leader.form == "s"  # my child's teacher
    return led and said[first.start].islower() and is_content(first.form)
